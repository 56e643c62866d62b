// SPDX-License-Identifier: Apache-2.0
#include "store/capture.h"

#include <algorithm>
#include <utility>

namespace firetower::store {
namespace {

// RFC 1952 §2.3: magic, method, flags, time, extra flags, system.
constexpr size_t kHeaderBytes = 10;
constexpr size_t kFlagsAt = 3;
constexpr char kExtraFlag = 4;
constexpr std::string_view kMagicDeflate = "\x1f\x8b\x08";
constexpr std::string_view kSubfield = "FT";
constexpr size_t kSubfieldHeaderBytes = 4;

void AppendU16(size_t value, std::string* out) {
  out->push_back(static_cast<char>(value & 0xFF));
  out->push_back(static_cast<char>(value >> 8));
}
size_t U16(std::string_view bytes, size_t at) {
  return static_cast<unsigned char>(bytes[at]) | size_t{static_cast<unsigned char>(bytes[at + 1])}
                                                     << 8;
}
Error Corrupt(std::string why) { return {ErrorCode::kCorrupt, std::move(why)}; }

}  // namespace

Result<std::string> EncodeCapture(const CatalogRow& row, std::string_view pprof_gz) {
  if (pprof_gz.size() < kHeaderBytes || !pprof_gz.starts_with(kMagicDeflate) ||
      pprof_gz[kFlagsAt] != 0) {
    return Error(ErrorCode::kInvalid, "capture: not a gzip member with an empty header");
  }
  std::string json = CatalogRowToJson(row);
  std::string out(pprof_gz.substr(0, kHeaderBytes));
  out[kFlagsAt] = kExtraFlag;
  AppendU16(kSubfieldHeaderBytes + json.size(), &out);
  out += kSubfield;
  AppendU16(json.size(), &out);
  out += json;
  out += pprof_gz.substr(kHeaderBytes);
  return out;
}

Result<CatalogRow> ReadCaptureRow(std::string_view head) {
  if (head.size() < kHeaderBytes + 2 || !head.starts_with(kMagicDeflate)) {
    return Corrupt("truncated or not a capture: no gzip header");
  }
  if ((head[kFlagsAt] & kExtraFlag) == 0) return Corrupt("not a capture: no catalog row");
  size_t extra = U16(head, kHeaderBytes);
  std::string_view fields = head.substr(kHeaderBytes + 2);
  if (fields.size() < extra) return Corrupt("truncated: the gzip header is cut off");
  fields = fields.substr(0, extra);
  while (fields.size() >= kSubfieldHeaderBytes) {
    size_t length = U16(fields, 2);
    if (fields.size() - kSubfieldHeaderBytes < length) break;
    if (fields.starts_with(kSubfield)) {
      return CatalogRowFromJson(fields.substr(kSubfieldHeaderBytes, length));
    }
    fields.remove_prefix(kSubfieldHeaderBytes + length);
  }
  return Corrupt("not a capture: no catalog row");
}

Result<CatalogRow> ReadCaptureRow(const ObjectStore& store, std::string_view key, uint64_t size) {
  // The longest header: the extra field is counted in 16 bits.
  constexpr uint64_t kMaxHead = kHeaderBytes + 2 + 0xFFFF;
  ASSIGN_OR_RETURN(std::string head, store.GetRange(key, 0, std::min(size, kMaxHead)));
  return ReadCaptureRow(head);
}

}  // namespace firetower::store
