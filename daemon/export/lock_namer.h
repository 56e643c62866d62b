// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/export/frame_namer.h"
#include "daemon/export/lock_kind.h"
#include "daemon/pipeline/slice.h"

namespace firetower::daemon {

// Looks at the functions of a stack that waits for a lock. Owned by the export thread.
class LockNamer {
 public:
  // `namer` must outlive this.
  explicit LockNamer(FrameNamer& namer) : namer_(namer) {}

  // Returns the kind of what a stack of `slice` waits for.
  LockKind KindOf(const Slice& slice, uint32_t stack, FutexUse use);
  // Returns the function that takes the lock, or gave it up: the innermost one of user space that
  // is no part of how that is done; nullptr if there is none.
  const Frame* Taker(const Slice& slice, uint32_t stack);
  // Returns the functions of user space from the outermost to that one, separated by ";", those
  // nearest to it if they are more than kMost: "main;serve;update".
  std::string Path(const Slice& slice, uint32_t stack);

 private:
  static constexpr size_t kMost = 12;

  std::string FunctionOf(const Frame& frame);

  FrameNamer& namer_;
  std::vector<std::string> names_;  // scratch
};

}  // namespace firetower::daemon
