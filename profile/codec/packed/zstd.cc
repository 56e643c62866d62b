// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/packed/zstd.h"

#include <fmt/core.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <cstdint>
#include <memory>

#include "profile/codec/packed/room.h"
#include "profile/import.h"

namespace firetower::profile {
namespace {

struct FreeStream {
  void operator()(ZSTD_DCtx* stream) const { ZSTD_freeDCtx(stream); }
};

Error DecodeError(size_t code) {
  if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge) {
    return {ErrorCode::kExhausted,
            "zstd data needs a window of more than 128 MiB: unpack it with `zstd -d --long=31`",
            kSaidByMessage};
  }
  return {ErrorCode::kCorrupt,
          fmt::format("zstd data is damaged: {}", std::string_view(ZSTD_getErrorName(code))),
          kGetItAgain};
}

}  // namespace

bool IsZstd(std::string_view bytes) {
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) return true;
  // 0x184D2A50 to 0x184D2A5F, little-endian.
  return bytes.size() >= 8 && (static_cast<uint8_t>(bytes[0]) & 0xf0) == 0x50 &&
         bytes.substr(1).starts_with("\x2a\x4d\x18");
}

Result<std::string> ZstdDecompress(std::string_view bytes, size_t max_bytes) {
  const std::unique_ptr<ZSTD_DCtx, FreeStream> stream(ZSTD_createDCtx());
  if (!stream) return Error(ErrorCode::kExhausted, "no memory to unpack zstd data");
  std::string out;
  ZSTD_inBuffer input{.src = bytes.data(), .size = bytes.size(), .pos = 0};
  size_t written = 0;
  size_t expected = 1;  // 0: a frame is at its end
  while (input.pos < input.size || expected != 0) {
    if (written == out.size()) {
      // One byte more than is allowed tells data of just that length from longer ones.
      MakeRoom(written, NextRoom(written, max_bytes + 1), max_bytes + 1, &out);
    }
    ZSTD_outBuffer output{.dst = out.data(), .size = out.size(), .pos = written};
    const size_t begin = input.pos;
    expected = ZSTD_decompressStream(stream.get(), &output, &input);
    if (ZSTD_isError(expected) != 0) return DecodeError(expected);
    const bool moved = input.pos != begin || output.pos != written;
    written = output.pos;
    if (written > max_bytes) {
      return Error(ErrorCode::kExhausted,
                   fmt::format("zstd data unpacks to more than the limit of {} bytes", max_bytes));
    }
    if (!moved && expected != 0)
      return Error(ErrorCode::kCorrupt, "zstd data is cut off", kGetItAgain);
  }
  out.resize(written);
  return out;
}

}  // namespace firetower::profile
