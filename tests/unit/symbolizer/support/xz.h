// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lzma.h>

#include <stdexcept>
#include <string>

namespace firetower::symbolizer {

inline std::string PackXz(const std::string& bytes, uint32_t preset = 6) {
  std::string packed(lzma_stream_buffer_bound(bytes.size()), '\0');
  size_t size = 0;
  lzma_ret code = lzma_easy_buffer_encode(
      preset, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const uint8_t*>(bytes.data()),
      bytes.size(), reinterpret_cast<uint8_t*>(packed.data()), &size, packed.size());
  if (code != LZMA_OK) throw std::runtime_error("lzma_easy_buffer_encode");
  packed.resize(size);
  return packed;
}

}  // namespace firetower::symbolizer
