// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::query {

// Answers that were cut, until they are read on. Each has a name that nobody can guess: whoever
// knows it was given the answer. Any thread.
class KeptAnswers {
 public:
  static constexpr size_t kMost = 64;
  static constexpr size_t kMostBytes = size_t{32} << 20;  // of all; the oldest go first

  // Keeps an answer and returns its name. kUnavailable: the system gave no random bytes.
  Result<std::string> Keep(std::shared_ptr<const std::string> text);
  // Returns nullptr if there is no such answer, or no more.
  std::shared_ptr<const std::string> Find(std::string_view name) const;

 private:
  struct Kept {
    std::string name;
    std::shared_ptr<const std::string> text;
  };

  mutable std::mutex mutex_;
  std::deque<Kept> kept_;
  size_t bytes_ = 0;
};

}  // namespace firetower::query
