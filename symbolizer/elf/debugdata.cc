// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/debugdata.h"

#include <fmt/core.h>
#include <lzma.h>

#include <algorithm>
#include <array>

namespace firetower::symbolizer {

namespace {

class Decoder {
 public:
  Decoder() = default;
  ~Decoder() { lzma_end(&stream_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  lzma_stream* get() { return &stream_; }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

Error XzError(lzma_ret code) {
  if (code == LZMA_MEMLIMIT_ERROR || code == LZMA_MEM_ERROR) {
    return Error(ErrorCode::kExhausted, "xz: needs more memory than allowed");
  }
  return Error(ErrorCode::kCorrupt, fmt::format("xz: error {}", static_cast<int>(code)));
}

}  // namespace

Result<std::vector<std::byte>> UnpackXz(const RandomAccess& source, uint64_t offset, uint64_t size,
                                        const LoadLimits& limits) {
  Decoder decoder;
  lzma_stream* stream = decoder.get();
  lzma_ret code = lzma_stream_decoder(stream, limits.max_lzma_memory_bytes, 0);
  if (code != LZMA_OK) return XzError(code);

  std::array<std::byte, 16 * 1024> input;
  std::vector<std::byte> output(std::min<size_t>(64 * 1024, limits.max_debugdata_bytes));
  size_t written = 0;
  while (code != LZMA_STREAM_END) {
    if (stream->avail_in == 0 && size > 0) {
      size_t chunk = std::min<uint64_t>(size, input.size());
      RETURN_IF_ERROR(source.ReadAt(offset, std::span(input).first(chunk)));
      stream->next_in = reinterpret_cast<const uint8_t*>(input.data());
      stream->avail_in = chunk;
      offset += chunk;
      size -= chunk;
    }
    if (written == output.size()) {
      if (output.size() >= limits.max_debugdata_bytes) {
        return Error(ErrorCode::kExhausted, fmt::format(".gnu_debugdata unpacks to more than {}",
                                                        limits.max_debugdata_bytes));
      }
      output.resize(std::min<size_t>(output.size() * 2, limits.max_debugdata_bytes));
    }
    stream->next_out = reinterpret_cast<uint8_t*>(output.data() + written);
    stream->avail_out = output.size() - written;
    code = lzma_code(stream, size == 0 ? LZMA_FINISH : LZMA_RUN);
    written = output.size() - stream->avail_out;
    // LZMA_BUF_ERROR with room for output means that the input has ended too early.
    bool full = code == LZMA_BUF_ERROR && stream->avail_out == 0;
    if (code != LZMA_OK && code != LZMA_STREAM_END && !full) return XzError(code);
  }
  output.resize(written);
  return output;
}

}  // namespace firetower::symbolizer
