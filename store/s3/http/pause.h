// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "store/store.h"

namespace firetower::store::s3 {

// Waits between two tries; a fake one in tests.
class Pause {
 public:
  virtual ~Pause() = default;
  // Until `ns` have passed or `limits` say that it is over.
  virtual void For(int64_t ns, const CallLimits& limits) = 0;

  static Pause& System();
};

}  // namespace firetower::store::s3
