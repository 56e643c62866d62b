// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/unwind/unwinder.h"

namespace firetower::testing {

// Nobody who could read unwind tables.
class NoTables : public daemon::TableSource {
 public:
  bool WantTable(uint32_t, const std::shared_ptr<const daemon::Module>&, const daemon::Process&,
                 const daemon::ProcessMapping&) override {
    return false;
  }
  std::optional<daemon::LoadedTable> TryPopTable() override { return std::nullopt; }
};

}  // namespace firetower::testing
