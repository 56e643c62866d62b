// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/name_blob.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace firetower::symbolizer {

namespace {

constexpr size_t kFirstBytes = 4096;

}  // namespace

uint32_t NameBlob::Add(std::string_view name) {
  const auto offset = static_cast<uint32_t>(size_);
  const size_t end = size_ + name.size() + 1;
  if (end > capacity_) Resize(std::max({end, 2 * capacity_, kFirstBytes}));
  std::memcpy(bytes_.get() + offset, name.data(), name.size());
  bytes_[end - 1] = '\0';
  size_ = end;
  return offset;
}

void NameBlob::Resize(size_t capacity) {
  if (capacity == capacity_) return;
  auto* bytes = static_cast<char*>(std::realloc(bytes_.release(), capacity));
  CHECK(bytes != nullptr);  // as operator new would
  bytes_.reset(bytes);
  capacity_ = capacity;
}

}  // namespace firetower::symbolizer
