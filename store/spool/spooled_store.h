// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "store/spool/both_stores.h"
#include "store/spool/spool.h"

namespace firetower::store {

// A store behind its spool: an object that is put is spooled, and readers see it at once. The
// uploader takes it to the store, where readers find it from then on.
class SpooledStore : public BothStores {
 public:
  // Both must outlive this. `on_put` is called on any thread when an object waits.
  SpooledStore(Spool& spool, ObjectStore& remote, std::function<void()> on_put)
      : BothStores(spool.pending(), remote),
        spool_(spool),
        remote_(remote),
        on_put_(std::move(on_put)) {}

  Status Put(std::string_view key, std::string_view bytes) override;
  // Deletes from both.
  Status Delete(std::string_view key) override;

 private:
  Spool& spool_;
  ObjectStore& remote_;
  const std::function<void()> on_put_;
};

}  // namespace firetower::store
