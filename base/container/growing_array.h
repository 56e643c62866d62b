// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace firetower {

// Array that grows at its end, for types that can be copied as bytes. Unlike std::vector it grows
// by realloc: the pages of a large array are moved and not copied, so the old and the new array are
// never in memory together. Throws std::bad_alloc when memory runs out.
template <typename T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));

 public:
  using value_type = T;
  using const_iterator = const T*;

  GrowingArray() = default;
  GrowingArray(const GrowingArray& other) { append(other); }
  GrowingArray(GrowingArray&& other) noexcept { swap(other); }
  GrowingArray& operator=(GrowingArray other) noexcept {
    swap(other);
    return *this;
  }
  ~GrowingArray() = default;

  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  // The memory held, for byte budgets.
  size_t bytes() const { return capacity_ * sizeof(T); }
  bool empty() const { return size_ == 0; }
  const T* data() const { return items_.get(); }
  T* data() { return items_.get(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& operator[](size_t i) { return data()[i]; }
  const T& back() const { return data()[size_ - 1]; }

  void reserve(size_t items) {
    if (items > capacity_) Reallocate(items);
  }
  // `item` and `items` must not lie in this array.
  void push_back(const T& item) {
    if (size_ == capacity_) Grow(1);
    items_.get()[size_++] = item;
  }
  void append(std::span<const T> items) {
    if (items.empty()) return;
    if (items.size() > capacity_ - size_) Grow(items.size());
    std::memcpy(static_cast<void*>(items_.get() + size_), items.data(), items.size_bytes());
    size_ += items.size();
  }
  // Drops everything behind the first `items`, which must exist. Keeps the memory.
  void truncate(size_t items) { size_ = items; }

 private:
  struct Free {
    void operator()(T* items) const { std::free(static_cast<void*>(items)); }
  };

  void Grow(size_t more) { Reallocate(std::max(size_ + more, capacity_ * 2)); }
  void Reallocate(size_t items) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(items, sizeof(T), &bytes)) throw std::bad_alloc();
    void* grown = std::realloc(static_cast<void*>(items_.get()), bytes);
    if (grown == nullptr) throw std::bad_alloc();  // the old one is still ours
    static_cast<void>(items_.release());
    items_.reset(static_cast<T*>(grown));
    capacity_ = items;
  }
  void swap(GrowingArray& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  std::unique_ptr<T[], Free> items_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace firetower
