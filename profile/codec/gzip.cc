// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/gzip.h"

#include <fmt/core.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/check.h"
#include "profile/codec/packed/room.h"
#include "profile/import.h"

namespace firetower::profile {
namespace {

// RFC 1952: header of 10 bytes, trailer of CRC-32 and length.
constexpr size_t kMinMemberBytes = 18;
// Deflate expands at most 1032-fold: one length code of 258 bytes in two bits.
constexpr size_t kMaxExpansion = 1032;

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
};
using Decompressor = std::unique_ptr<libdeflate_decompressor, FreeDecompressor>;

// The length the trailer claims, right for a single member below 4 GiB; only a first guess.
size_t ClaimedLength(std::string_view bytes) {
  size_t length = 0;
  for (size_t i = 0; i < 4; ++i) {
    length |= size_t{static_cast<unsigned char>(bytes[bytes.size() - 4 + i])} << (8 * i);
  }
  return length;
}

Error TooLong(size_t max_bytes) {
  return {ErrorCode::kExhausted,
          fmt::format("gzip data inflates to more than the limit of {} bytes", max_bytes)};
}

// Writes one member behind `*end` bytes of `out`, which may hold more; returns the compressed bytes
// used.
Result<size_t> InflateMember(libdeflate_decompressor* decompressor, std::string_view bytes,
                             size_t max_bytes, size_t* end, std::string* out) {
  const size_t begin = *end;
  size_t ceiling = std::min(max_bytes - begin, bytes.size() * kMaxExpansion);
  size_t room = std::min(ClaimedLength(bytes), ceiling);
  while (true) {
    // The bytes from an earlier use are overwritten, so that only growth beyond them costs zeros.
    MakeRoom(begin, begin + room, max_bytes, out);
    size_t used = 0;
    size_t written = 0;
    libdeflate_result result = libdeflate_gzip_decompress_ex(
        decompressor, bytes.data(), bytes.size(), out->data() + begin, room, &used, &written);
    if (result == LIBDEFLATE_SUCCESS) {
      *end = begin + written;
      return used;
    }
    if (result != LIBDEFLATE_INSUFFICIENT_SPACE) {
      return Error(ErrorCode::kCorrupt, "gzip data is damaged or cut off", kGetItAgain);
    }
    if (room >= ceiling) {
      if (ceiling < max_bytes - begin)
        return Error(ErrorCode::kCorrupt, "gzip data is damaged", kGetItAgain);
      return TooLong(max_bytes);
    }
    room = std::min(ceiling, std::max<size_t>(room * 2, 64 << 10));
  }
}

}  // namespace

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string GzipCompress(std::string_view bytes, int level) {
  std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      libdeflate_alloc_compressor(std::clamp(level, 1, 12)), libdeflate_free_compressor);
  CHECK(compressor);  // no memory
  // Not initialized: pages that the result does not reach are never touched.
  const size_t bound = libdeflate_gzip_compress_bound(compressor.get(), bytes.size());
  const auto room = std::make_unique_for_overwrite<char[]>(bound);
  const size_t size =
      libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(), room.get(), bound);
  return {room.get(), size};
}

Result<std::string> GzipDecompress(std::string_view bytes, size_t max_bytes) {
  std::string out;
  RETURN_IF_ERROR(GzipDecompress(bytes, max_bytes, &out));
  return out;
}

Status GzipDecompress(std::string_view bytes, size_t max_bytes, std::string* out) {
  Decompressor decompressor(libdeflate_alloc_decompressor());
  if (!decompressor) return Error(ErrorCode::kExhausted, "no memory to inflate gzip data");
  size_t end = 0;
  bool is_first = true;
  do {
    if (!is_first && !IsGzip(bytes)) {
      return Error(
          ErrorCode::kCorrupt,
          fmt::format("{} bytes that are none of its own follow the gzip data: cut them off",
                      bytes.size()));
    }
    is_first = false;
    if (bytes.size() < kMinMemberBytes) {
      return Error(ErrorCode::kCorrupt, "gzip data is cut off", kGetItAgain);
    }
    if (!IsGzip(bytes)) return Error(ErrorCode::kCorrupt, "this is no gzip data");
    ASSIGN_OR_RETURN(const size_t used,
                     InflateMember(decompressor.get(), bytes, max_bytes, &end, out));
    bytes.remove_prefix(used);
  } while (!bytes.empty());
  out->resize(end);
  return OkStatus();
}

}  // namespace firetower::profile
