// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace firetower {

// Bounded lock-free queue between exactly one producer thread and one consumer thread. A full queue
// refuses the item and counts it: the producer never waits. The caller must wake the consumer (by
// an eventfd beside the queue).
template <typename T>
class SpscQueue {
 public:
  explicit SpscQueue(size_t capacity) : slots_(capacity + 1) {}

  // For the producer only. Returns false and increments dropped() when the queue is full; `item` is
  // then unchanged.
  bool TryPush(T&& item) {
    size_t head = head_.load(std::memory_order_relaxed);
    size_t next = Next(head);
    if (next == tail_.load(std::memory_order_acquire)) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    slots_[head].emplace(std::move(item));
    head_.store(next, std::memory_order_release);
    return true;
  }

  // For the consumer only.
  std::optional<T> TryPop() {
    size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail == head_.load(std::memory_order_acquire)) return std::nullopt;
    std::optional<T> item(std::in_place, *std::move(slots_[tail]));
    slots_[tail].reset();
    tail_.store(Next(tail), std::memory_order_release);
    return item;
  }

  // For any thread. The result may be outdated at once.
  bool empty() const {
    return tail_.load(std::memory_order_acquire) == head_.load(std::memory_order_acquire);
  }
  size_t size() const {
    size_t head = head_.load(std::memory_order_acquire);
    size_t tail = tail_.load(std::memory_order_acquire);
    return head >= tail ? head - tail : head + slots_.size() - tail;
  }
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  size_t Next(size_t index) const { return index + 1 == slots_.size() ? 0 : index + 1; }

  std::vector<std::optional<T>> slots_;
  alignas(64) std::atomic<size_t> head_{0};
  alignas(64) std::atomic<size_t> tail_{0};
  std::atomic<uint64_t> dropped_{0};
};

}  // namespace firetower
