// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/symbols/string_table.h"

#include <algorithm>
#include <cstring>

namespace firetower::symbolizer {

namespace {

constexpr size_t kWindowBytes = 64 * 1024;
static_assert(kWindowBytes > StringTable::kMaxNameBytes);

}  // namespace

std::optional<std::string_view> StringTable::Get(uint64_t name) {
  if (name >= size_) return std::nullopt;
  for (bool fresh = false;; fresh = true) {
    if (name >= window_start_ && name - window_start_ < window_.size()) {
      const char* begin = window_.data() + (name - window_start_);
      auto rest = static_cast<size_t>(window_.data() + window_.size() - begin);
      if (const void* end = std::memchr(begin, '\0', rest)) {
        auto length = static_cast<size_t>(static_cast<const char*>(end) - begin);
        return std::string_view(begin, std::min(length, kMaxNameBytes));
      }
      if (rest > kMaxNameBytes) return std::string_view(begin, kMaxNameBytes);
    }
    if (fresh || !Fill(name)) return std::nullopt;
  }
}

bool StringTable::Fill(uint64_t name) {
  window_.resize(std::min<uint64_t>(kWindowBytes, size_ - name));
  window_start_ = name;
  if (source_->ReadAt(offset_ + name, std::as_writable_bytes(std::span(window_)))) return true;
  window_.clear();
  return false;
}

}  // namespace firetower::symbolizer
