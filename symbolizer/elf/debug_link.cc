// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/debug_link.h"

#include <fmt/core.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

namespace firetower::symbolizer {

namespace {

constexpr size_t kMaxNameBytes = 255;  // NAME_MAX
constexpr size_t kChunkBytes = 256u << 10;

}  // namespace

std::optional<DebugLink> ParseDebugLink(std::span<const std::byte> section) {
  const std::string_view text(reinterpret_cast<const char*>(section.data()), section.size());
  const size_t length = text.find('\0');
  if (length == std::string_view::npos || length == 0 || length > kMaxNameBytes)
    return std::nullopt;
  const size_t crc_at = (length + 1 + 3) / 4 * 4;
  if (crc_at + sizeof(uint32_t) > section.size()) return std::nullopt;
  DebugLink link{std::string(text.substr(0, length)), 0};
  if (link.file_name.find('/') != std::string::npos || link.file_name == "." ||
      link.file_name == "..") {
    return std::nullopt;
  }
  std::memcpy(&link.crc32, section.data() + crc_at, sizeof(uint32_t));
  return link;
}

Result<uint32_t> Crc32(const RandomAccess& source, uint64_t max_bytes) {
  if (source.size() > max_bytes) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("{} bytes, more than the limit of {}", source.size(), max_bytes));
  }
  std::vector<std::byte> chunk(std::min<uint64_t>(source.size(), kChunkBytes));
  uint32_t crc = 0;
  for (uint64_t at = 0; at < source.size(); at += chunk.size()) {
    chunk.resize(std::min<uint64_t>(source.size() - at, kChunkBytes));
    RETURN_IF_ERROR(source.ReadAt(at, chunk));
    crc = libdeflate_crc32(crc, chunk.data(), chunk.size());
  }
  return crc;
}

}  // namespace firetower::symbolizer
