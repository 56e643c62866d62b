// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "store/access/wrapping_store.h"

namespace firetower::store {

// A store whose calls begin only while its limits allow: what ObjectStore::Limited gives for stores
// whose single calls are short.
class LimitedStore final : public WrappingStore<LimitedStore> {
 public:
  LimitedStore(ObjectStore& store, CallLimits limits, const Clock& clock = Clock::System())
      : WrappingStore(store), limits_(std::move(limits)), clock_(clock) {}

  template <typename Call>
  auto Around(StoreOperation /*operation*/, uint64_t /*written*/, Call call) const
      -> decltype(call()) {
    RETURN_IF_ERROR(CheckLimits(limits_, clock_));
    return call();
  }

 private:
  CallLimits limits_;
  const Clock& clock_;
};

}  // namespace firetower::store
