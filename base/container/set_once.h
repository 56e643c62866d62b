// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace firetower {

// Value that any thread may set once and any thread may read. The value lives as long as its owner,
// so readers need no reference of their own.
template <typename T>
class SetOnce {
 public:
  SetOnce() = default;
  SetOnce(const SetOnce&) = delete;
  SetOnce& operator=(const SetOnce&) = delete;
  ~SetOnce() { delete value_.load(); }

  // Returns null while no value is set.
  const T* Get() const { return value_.load(std::memory_order_acquire); }
  // Sets the value unless it is set already. Returns the value that is then set: the first
  // caller's.
  const T& Set(T value) {
    if (const T* known = Get()) return *known;
    auto mine = std::make_unique<const T>(std::move(value));
    const T* known = nullptr;
    if (value_.compare_exchange_strong(known, mine.get(), std::memory_order_acq_rel)) {
      return *mine.release();
    }
    return *known;
  }

 private:
  std::atomic<const T*> value_{nullptr};
};

}  // namespace firetower
