// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace firetower {

// Cell for the latest immutable value: one thread publishes it and any thread reads it, and neither
// waits for the other's work. The mutex covers only the copy of a pointer. The standard library's
// atomic<shared_ptr> takes a lock as well, one that thread sanitizers do not know.
template <typename T>
class SnapshotCell {
 public:
  void Publish(std::shared_ptr<const T> value) {
    // The old value, which `value` holds after the swap, is released outside the lock.
    std::lock_guard<std::mutex> lock(mutex_);
    value_.swap(value);
  }
  // Returns nullptr before the first Publish.
  std::shared_ptr<const T> Get() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace firetower
