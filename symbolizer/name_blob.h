// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace firetower::symbolizer {

// NUL-terminated names in one block, of megabytes for large programs. It grows and shrinks by
// realloc(), which moves such blocks by their page tables; a string would copy them, also to give
// back what it did not need.
class NameBlob {
 public:
  NameBlob() = default;
  // With the names that are in `bytes` already.
  explicit NameBlob(std::string_view bytes) {
    Resize(bytes.size() + 1);
    Add(bytes);
  }

  // Adds a name, and returns its offset. Less than 4 GiB in all, which the owner sees to.
  uint32_t Add(std::string_view name);
  void ShrinkToFit() { Resize(size_); }

  const char* At(uint32_t offset) const { return bytes_.get() + offset; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  void Resize(size_t capacity);

  std::unique_ptr<char[], Free> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace firetower::symbolizer
