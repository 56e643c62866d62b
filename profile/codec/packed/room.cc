// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/packed/room.h"

#include <algorithm>

namespace firetower::profile {
namespace {

constexpr size_t kFirstRoom = 64 << 10;
constexpr size_t kParts = 8;

}  // namespace

void MakeRoom(size_t kept, size_t size, size_t max_bytes, std::string* out) {
  if (size > out->capacity()) {
    out->resize(std::min(kept, out->size()));
    if (size > max_bytes / kParts) out->reserve(max_bytes);
  }
  out->resize(size);
}

size_t NextRoom(size_t size, size_t max_bytes) {
  const size_t more = std::max(kFirstRoom, std::min(size, max_bytes / kParts));
  return std::min(max_bytes, size + more);
}

}  // namespace firetower::profile
