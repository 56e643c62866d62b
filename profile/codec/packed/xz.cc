// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/packed/xz.h"

#include <fmt/core.h>
#include <lzma.h>

#include <cstdint>

#include "profile/codec/packed/room.h"
#include "profile/import.h"

namespace firetower::profile {
namespace {

// `xz -9` has a dictionary of 64 MiB.
constexpr uint64_t kMaxMemoryBytes = 128 << 20;

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

Error DecodeError(lzma_ret code) {
  switch (code) {
    case LZMA_MEM_ERROR:
    case LZMA_MEMLIMIT_ERROR:
      return {ErrorCode::kExhausted,
              "xz data needs more than 128 MiB to be unpacked: do it with `xz -d`", kSaidByMessage};
    case LZMA_OPTIONS_ERROR:
      return {ErrorCode::kUnsupported,
              "xz data has filters that liblzma does not know: unpack it with what packed it"};
    case LZMA_BUF_ERROR:
      return {ErrorCode::kCorrupt, "xz data is cut off", kGetItAgain};
    default:
      return {ErrorCode::kCorrupt, "xz data is damaged", kGetItAgain};
  }
}

}  // namespace

bool IsXz(std::string_view bytes) {
  return bytes.starts_with(
      std::string_view("\xfd"
                       "7zXZ\0",
                       6));
}

Result<std::string> XzDecompress(std::string_view bytes, size_t max_bytes) {
  Decoder decoder;
  lzma_stream* stream = decoder.get();
  lzma_ret code = lzma_stream_decoder(stream, kMaxMemoryBytes, LZMA_CONCATENATED);
  if (code != LZMA_OK) return DecodeError(code);
  stream->next_in = reinterpret_cast<const uint8_t*>(bytes.data());
  stream->avail_in = bytes.size();
  std::string out;
  size_t written = 0;
  while (code != LZMA_STREAM_END) {
    if (written == out.size()) {
      // One byte more than is allowed tells data of just that length from longer ones.
      MakeRoom(written, NextRoom(written, max_bytes + 1), max_bytes + 1, &out);
    }
    stream->next_out = reinterpret_cast<uint8_t*>(out.data() + written);
    stream->avail_out = out.size() - written;
    code = lzma_code(stream, LZMA_FINISH);
    written = out.size() - stream->avail_out;
    if (written > max_bytes) {
      return Error(ErrorCode::kExhausted,
                   fmt::format("xz data unpacks to more than the limit of {} bytes", max_bytes));
    }
    const bool is_full = code == LZMA_BUF_ERROR && stream->avail_out == 0;
    if (code != LZMA_OK && code != LZMA_STREAM_END && !is_full) return DecodeError(code);
  }
  out.resize(written);
  return out;
}

}  // namespace firetower::profile
