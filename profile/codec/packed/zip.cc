// SPDX-License-Identifier: Apache-2.0
// Sections 4.3.7 (local header), 4.3.12 (central header) and 4.3.16 (end of central directory).
// Numbers are little-endian.
#include "profile/codec/packed/zip.h"

#include <fmt/core.h>
#include <libdeflate.h>

#include <algorithm>
#include <memory>

#include "profile/import.h"

namespace firetower::profile {
namespace {

constexpr std::string_view kLocalMark = "PK\x03\x04";
constexpr std::string_view kCentralMark = "PK\x01\x02";
constexpr std::string_view kEndMark = "PK\x05\x06";
constexpr size_t kLocalBytes = 30;
constexpr size_t kCentralBytes = 46;
constexpr size_t kEndBytes = 22;
constexpr size_t kMaxCommentBytes = 0xffff;
constexpr size_t kMaxNameBytes = 1024;
constexpr uint64_t kIn64Bits = 0xffffffff;  // where ZIP64 has a number elsewhere
constexpr uint32_t kStored = 0;
constexpr uint32_t kDeflated = 8;
constexpr uint32_t kEncrypted = 1;
// One length code of 258 bytes in two bits.
constexpr size_t kMaxExpansion = 1032;

uint32_t Number(std::string_view bytes, size_t at, size_t width) {
  uint32_t value = 0;
  for (size_t i = 0; i < width; ++i) {
    value |= uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return value;
}
uint32_t U16(std::string_view bytes, size_t at) { return Number(bytes, at, 2); }
uint32_t U32(std::string_view bytes, size_t at) { return Number(bytes, at, 4); }

Error Corrupt(std::string_view why) {
  return {ErrorCode::kCorrupt, fmt::format("the ZIP is damaged or cut off: {}", why), kGetItAgain};
}
Error Unsupported(std::string_view why) {
  return {ErrorCode::kUnsupported,
          fmt::format("the ZIP {}: unpack it with `unzip`, and give a file of it", why)};
}

// The end of the central directory; a comment may follow it.
Result<size_t> FindEnd(std::string_view zip) {
  if (zip.size() < kEndBytes) return Corrupt("it has no directory");
  const size_t last = zip.size() - kEndBytes;
  for (size_t back = 0; back <= std::min(last, kMaxCommentBytes); ++back) {
    const size_t at = last - back;
    if (zip.substr(at).starts_with(kEndMark) && U16(zip, at + 20) == back) return at;
  }
  return Corrupt("it has no directory");
}

// Reads the header at the front of `rest` and moves past it.
Result<ZipEntry> TakeCentral(std::string_view* rest) {
  if (rest->size() < kCentralBytes || !rest->starts_with(kCentralMark)) {
    return Corrupt("an entry of the directory has no header");
  }
  const size_t name = U16(*rest, 28);
  const size_t after_name = size_t{U16(*rest, 30)} + U16(*rest, 32);
  if (rest->size() - kCentralBytes < name + after_name) {
    return Corrupt("an entry of the directory is cut off");
  }
  if (name == 0 || name > kMaxNameBytes) return Corrupt("a name of unlikely length");
  const ZipEntry entry{.name = rest->substr(kCentralBytes, name),
                       .method = U16(*rest, 10),
                       .flags = U16(*rest, 8),
                       .crc32 = U32(*rest, 16),
                       .packed_bytes = U32(*rest, 20),
                       .bytes = U32(*rest, 24),
                       .header_offset = U32(*rest, 42)};
  if (entry.packed_bytes == kIn64Bits || entry.bytes == kIn64Bits ||
      entry.header_offset == kIn64Bits) {
    return Unsupported("is of the kind ZIP64");
  }
  rest->remove_prefix(kCentralBytes + name + after_name);
  return entry;
}

// A ZIP whose entries share bytes could hold far more than any that was packed in earnest.
Status BoundEntries(uint64_t directory_offset, std::vector<ZipEntry>* entries) {
  std::vector<ZipEntry*> order;
  order.reserve(entries->size());
  for (ZipEntry& entry : *entries) order.push_back(&entry);
  std::ranges::sort(order, {}, [](const ZipEntry* entry) { return entry->header_offset; });
  for (size_t i = 0; i < order.size(); ++i) {
    order[i]->end_offset = i + 1 < order.size() ? order[i + 1]->header_offset : directory_offset;
    const uint64_t least = order[i]->header_offset + kLocalBytes + order[i]->name.size();
    if (least + order[i]->packed_bytes > order[i]->end_offset) return Corrupt("entries overlap");
  }
  return OkStatus();
}

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
};

Result<std::string> Inflate(std::string_view packed, uint64_t bytes) {
  // A claim that no data of this length could keep costs no memory.
  if (bytes > packed.size() * kMaxExpansion) return Corrupt("an entry's length cannot be right");
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> inflater(
      libdeflate_alloc_decompressor());
  if (!inflater) return Error(ErrorCode::kExhausted, "no memory to inflate an entry of a ZIP");
  std::string out(bytes, '\0');
  const libdeflate_result result = libdeflate_deflate_decompress(
      inflater.get(), packed.data(), packed.size(), out.data(), out.size(), nullptr);
  if (result != LIBDEFLATE_SUCCESS) return Corrupt("an entry does not inflate to its length");
  return out;
}

}  // namespace

bool IsZip(std::string_view bytes) {
  return bytes.starts_with(kLocalMark) || bytes.starts_with(kEndMark);
}

Result<std::vector<ZipEntry>> ReadZipDirectory(std::string_view zip) {
  ASSIGN_OR_RETURN(const size_t end, FindEnd(zip));
  const uint64_t offset = U32(zip, end + 16);
  const uint64_t size = U32(zip, end + 12);
  const uint32_t count = U16(zip, end + 10);
  if (offset == kIn64Bits || size == kIn64Bits || count == 0xffff) {
    return Unsupported("is of the kind ZIP64");
  }
  if (U16(zip, end + 4) != 0 || U16(zip, end + 6) != 0 || U16(zip, end + 8) != count) {
    return Unsupported("is split into several files");
  }
  if (offset + size != end) return Corrupt("the directory does not lie before its end");
  std::string_view rest = zip.substr(offset, size);
  std::vector<ZipEntry> entries;
  entries.reserve(std::min<size_t>(count, size / kCentralBytes));
  for (uint32_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(ZipEntry entry, TakeCentral(&rest));
    entries.push_back(entry);
  }
  if (!rest.empty()) return Corrupt("bytes follow the last entry of its directory");
  RETURN_IF_ERROR(BoundEntries(offset, &entries));
  std::erase_if(entries, [](const ZipEntry& entry) { return entry.name.ends_with('/'); });
  return entries;
}

Result<std::string> ReadZipEntry(std::string_view zip, const ZipEntry& entry, size_t max_bytes) {
  if ((entry.flags & kEncrypted) != 0) return Unsupported("has an entry that is encrypted");
  if (entry.method != kStored && entry.method != kDeflated) {
    return Unsupported(fmt::format("has an entry that is compressed by method {}", entry.method));
  }
  if (entry.bytes > max_bytes) {
    return Error(
        ErrorCode::kExhausted,
        fmt::format("the entry has {} bytes, more than the limit of {}", entry.bytes, max_bytes));
  }
  const std::string_view local = zip.substr(entry.header_offset);
  if (!local.starts_with(kLocalMark)) return Corrupt("an entry has no header of its own");
  const uint64_t data = entry.header_offset + kLocalBytes + U16(local, 26) + U16(local, 28);
  if (data + entry.packed_bytes > entry.end_offset) return Corrupt("entries overlap");
  const std::string_view packed = zip.substr(data, entry.packed_bytes);
  std::string out;
  if (entry.method == kStored) {
    if (entry.bytes != packed.size()) return Corrupt("an entry has two lengths");
    out = packed;
  } else {
    ASSIGN_OR_RETURN(out, Inflate(packed, entry.bytes));
  }
  if (libdeflate_crc32(0, out.data(), out.size()) != entry.crc32) {
    return Corrupt("the checksum of an entry is wrong");
  }
  return out;
}

}  // namespace firetower::profile
