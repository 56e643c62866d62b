// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace firetower::profile {

// View of the location ids of a stack, leaf first, stored with two or four bytes each. Owns
// nothing.
class StackView {
 public:
  class Iterator {
   public:
    using value_type = uint32_t;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    uint32_t operator*() const { return At(ids_, is_wide_, at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++at_;
      return before;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    friend class StackView;
    Iterator(const StackView& stack, size_t at)
        : ids_(stack.ids_), at_(at), is_wide_(stack.is_wide_) {}

    const void* ids_ = nullptr;
    size_t at_ = 0;
    bool is_wide_ = false;
  };

  StackView() = default;
  // Implicit on purpose: a span of ids is a stack.
  // NOLINTNEXTLINE(google-explicit-constructor)
  StackView(std::span<const uint16_t> ids) : ids_(ids.data()), size_(ids.size()) {}
  template <std::convertible_to<std::span<const uint32_t>> Ids>
  StackView(const Ids& ids) : is_wide_(true) {  // NOLINT(google-explicit-constructor)
    const std::span<const uint32_t> wide = ids;
    ids_ = wide.data();
    size_ = wide.size();
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  uint32_t operator[](size_t i) const { return At(ids_, is_wide_, i); }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }

  // Tells whether both views point to the same ids in memory. Equal ids elsewhere do not count.
  bool IsSame(const StackView& other) const { return ids_ == other.ids_ && size_ == other.size_; }

 private:
  static uint32_t At(const void* ids, bool is_wide, size_t i) {
    return is_wide ? static_cast<const uint32_t*>(ids)[i] : static_cast<const uint16_t*>(ids)[i];
  }

  const void* ids_ = nullptr;
  size_t size_ = 0;
  bool is_wide_ = false;
};

}  // namespace firetower::profile
