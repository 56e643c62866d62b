// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace firetower::symbolizer {

// NUL-terminated names in one block, which has megabytes for large programs. It grows and shrinks
// by realloc(), which moves such blocks by their page tables. A string would copy them, even to
// free unused capacity.
class NameBlob {
 public:
  NameBlob() = default;
  // Begins with the names that are in `bytes`.
  explicit NameBlob(std::string_view bytes) {
    Resize(bytes.size() + 1);
    Add(bytes);
  }

  // Adds a name and returns its offset. The owner must keep the total below 4 GiB.
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
