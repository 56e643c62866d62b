// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace firetower::daemon {

// A file that has the code of an interpreter.
struct RuntimeNote {
  std::string runtime;  // "CPython 3.11"
  std::string file;     // as its process sees it
  std::string why;      // its functions have no names, for people; empty: they have
};

// The interpreters among the files that sampled processes map, by whatever names a file (its build
// id, or the cache key of its module). Bounded by kMax: further ones are not noted. Any thread.
class RuntimeNotes {
 public:
  static constexpr size_t kMax = 4096;

  void Add(std::string_view key, std::shared_ptr<const RuntimeNote> note);
  // Returns null if there is none.
  std::shared_ptr<const RuntimeNote> Find(std::string_view key) const;

 private:
  mutable std::mutex mutex_;  // written once a file
  std::unordered_map<std::string, std::shared_ptr<const RuntimeNote>> notes_;
};

}  // namespace firetower::daemon
