// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace firetower {

// Owning pointer with the semantics of a value: copying it copies the object. A class with such a
// member must define its constructors, assignments and destructor where T is complete.
template <typename T>
class ClonedPtr {
 public:
  ClonedPtr() = default;
  explicit ClonedPtr(std::unique_ptr<T> owned) : owned_(std::move(owned)) {}
  ClonedPtr(const ClonedPtr& other)
      : owned_(other.owned_ ? std::make_unique<T>(*other.owned_) : nullptr) {}
  ClonedPtr(ClonedPtr&&) noexcept = default;
  ClonedPtr& operator=(ClonedPtr other) noexcept {
    owned_ = std::move(other.owned_);
    return *this;
  }
  ~ClonedPtr() = default;

  explicit operator bool() const { return owned_ != nullptr; }
  T* operator->() const { return owned_.get(); }

 private:
  std::unique_ptr<T> owned_;
};

}  // namespace firetower
