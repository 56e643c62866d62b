// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "store/spool/both_stores.h"
#include "store/spool/spool.h"

namespace firetower::store {

// A store behind its spool: what is put is spooled, and there for readers at once; someone else
// (the uploader) takes it to the store, where readers find it from then on.
class SpooledStore : public BothStores {
 public:
  // Both outlive this. `on_put`: something waits for its way; any thread.
  SpooledStore(Spool& spool, ObjectStore& remote, std::function<void()> on_put)
      : BothStores(spool.pending(), remote),
        spool_(spool),
        remote_(remote),
        on_put_(std::move(on_put)) {}

  Status Put(std::string_view key, std::string_view bytes) override;
  // From both.
  Status Delete(std::string_view key) override;

 private:
  Spool& spool_;
  ObjectStore& remote_;
  const std::function<void()> on_put_;
};

}  // namespace firetower::store
