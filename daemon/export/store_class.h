// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "k8s/policy/enums.h"
#include "store/key.h"

namespace firetower::daemon {

// Converts a policy's retention class into the store's.
inline store::RetentionClass StoreClass(k8s::RetentionClass retention) {
  switch (retention) {
    case k8s::RetentionClass::kShort:
      return store::RetentionClass::kShort;
    case k8s::RetentionClass::kStandard:
      return store::RetentionClass::kStandard;
    case k8s::RetentionClass::kLong:
      return store::RetentionClass::kLong;
  }
  return store::RetentionClass::kStandard;
}

}  // namespace firetower::daemon
