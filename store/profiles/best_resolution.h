// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "store/key.h"
#include "store/query.h"

namespace firetower::store {

// An answer at one resolution.
template <typename T>
struct Attempt {
  T answer = {};
  int64_t held = 0;           // samples, or the value, of what could be read
  bool lost_roll_up = false;  // a roll-up could not be read
};

inline bool IsRollUp(const std::string& key) {
  const Result<BundleKey> parsed = ParseBundleKey(key);
  return parsed && parsed->rolled_up;
}

// Answers with the best resolution. `attempt(resolution)` reads all of an answer. It uses roll-ups
// first. If a roll-up is lost, its windows may still exist, so it then tries windows and uses that
// answer if it has as much and stays within the limits. Only one answer is in memory at a time, so
// the first one may be read twice.
template <typename T, typename Read>
Result<T> AtBestResolution(const Read& attempt) {
  int64_t held = 0;
  {
    ASSIGN_OR_RETURN(Attempt<T> first, attempt(Resolution::kCoarsest));
    if (!first.lost_roll_up) return std::move(first.answer);
    held = first.held;
  }
  {
    Result<Attempt<T>> windows = attempt(Resolution::kWindows);
    // Windows have many times the bytes; if they exceed the limits, the answer of the roll-ups is
    // used.
    if (!windows && windows.error().code() != ErrorCode::kExhausted) return windows.error();
    if (windows && windows->held >= held) return std::move(windows->answer);
  }
  ASSIGN_OR_RETURN(Attempt<T> again, attempt(Resolution::kCoarsest));
  return std::move(again.answer);
}

}  // namespace firetower::store
