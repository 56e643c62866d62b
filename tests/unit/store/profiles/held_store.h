// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tests/support/memory_store.h"

namespace firetower::testing {

// Reads are answered when the test lets them, or all after ten seconds.
class HeldStore : public MemoryStore {
 public:
  Result<std::string> GetRange(std::string_view key, uint64_t offset,
                               uint64_t length) const override {
    {
      std::unique_lock lock(mutex_);
      ++begun;
      most_at_once = std::max(most_at_once, ++at_once);
      changed_.notify_all();
      const auto may_end = [&] { return timed_out || !may_answer || may_answer(std::string(key)); };
      if (!changed_.wait_for(lock, std::chrono::seconds(10), may_end)) timed_out = true;
      // Time for one that must not come.
      if (must_not_be) changed_.wait_for(lock, std::chrono::milliseconds(20), must_not_be);
      --at_once;
      answered.emplace_back(key);
      changed_.notify_all();
      if (const auto found = errors.find(std::string(key)); found != errors.end())
        return found->second;
    }
    return MemoryStore::GetRange(key, offset, length);
  }
  // Waits for reads that other threads begin.
  bool WaitForReads(size_t most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return at_once >= most; });
  }
  void Change(const std::function<void()>& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }

  std::function<bool(const std::string& key)> may_answer;
  std::function<bool()> must_not_be;
  std::map<std::string, Error> errors;  // instead of an answer
  mutable size_t begun = 0;
  mutable size_t at_once = 0;
  mutable size_t most_at_once = 0;
  mutable std::vector<std::string> answered;
  mutable bool timed_out = false;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
};

}  // namespace firetower::testing
