// SPDX-License-Identifier: Apache-2.0
#include "net/client/body.h"

#include <cstring>

#include "base/check.h"

namespace firetower::net {

HttpBody HttpBody::Part(uint64_t offset, uint64_t size) const {
  CHECK(offset <= size_ && size <= size_ - offset);
  HttpBody part = *this;
  if (source_ == nullptr) part.text_ = text_.substr(offset, size);
  part.offset_ += offset;
  part.size_ = size;
  return part;
}

Status HttpBody::ReadAt(uint64_t offset, std::span<std::byte> out) const {
  CHECK(offset <= size_ && out.size() <= size_ - offset);
  if (source_ != nullptr) return source_->ReadAt(offset_ + offset, out);
  if (!out.empty()) std::memcpy(out.data(), text_.data() + offset, out.size());
  return OkStatus();
}

}  // namespace firetower::net
