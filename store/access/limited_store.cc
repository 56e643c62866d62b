// SPDX-License-Identifier: Apache-2.0
#include "store/access/limited_store.h"

#include <memory>
#include <utility>

namespace firetower::store {

std::unique_ptr<ObjectStore> ObjectStore::DoLimited(CallLimits limits) {
  return std::make_unique<LimitedStore>(*this, std::move(limits));
}

}  // namespace firetower::store
