// SPDX-License-Identifier: Apache-2.0
// Layouts: PKWARE's APPNOTE.TXT 6.3, sections 4.3.7 (local header), 4.3.12 (central header),
// 4.3.16 (end of central directory). Numbers are little-endian.
#include <fmt/core.h>
#include <libdeflate.h>

#include <algorithm>
#include <utility>

#include "store/bundle.h"

namespace firetower::store {
namespace {

constexpr uint64_t kLocalBytes = 30;
constexpr uint64_t kCentralBytes = 46;
constexpr uint64_t kEndBytes = 22;
constexpr size_t kMaxNameBytes = 1024;

uint32_t Number(std::string_view bytes, size_t at, size_t width) {
  uint32_t value = 0;
  for (size_t i = 0; i < width; ++i) {
    value |= uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return value;
}
uint32_t U16(std::string_view bytes, size_t at) { return Number(bytes, at, 2); }
uint32_t U32(std::string_view bytes, size_t at) { return Number(bytes, at, 4); }

Error Corrupt(std::string why) { return {ErrorCode::kCorrupt, std::move(why)}; }
Error Unsupported(std::string_view what) {
  return {ErrorCode::kUnsupported, fmt::format("not a bundle of ours: {}", what)};
}

Result<std::string> Checked(std::string bytes, uint32_t want) {
  const uint32_t crc = libdeflate_crc32(0, bytes.data(), bytes.size());
  if (crc == want) return bytes;
  return Corrupt(fmt::format("bad CRC-32: {:08x} instead of {:08x}", crc, want));
}

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t entries = 0;
};

Result<Directory> ParseEnd(std::string_view end, uint64_t file_size) {
  if (!end.starts_with("PK\x05\x06")) {
    return Corrupt("truncated or not a ZIP: no end of central directory");
  }
  uint32_t comment = U16(end, 20);
  if (comment != 0) return Unsupported("it has an archive comment");
  Directory directory{.offset = U32(end, 16), .size = U32(end, 12), .entries = U16(end, 10)};
  if (directory.offset == 0xFFFFFFFF || directory.size == 0xFFFFFFFF ||
      directory.entries == 0xFFFF) {
    return Unsupported("ZIP64");
  }
  if (U16(end, 4) != 0 || U16(end, 6) != 0 || U16(end, 8) != directory.entries) {
    return Unsupported("it is split over several files");
  }
  if (directory.offset + directory.size + kEndBytes != file_size) {
    return Corrupt(
        fmt::format("truncated: the central directory of {} bytes at {} does not end "
                    "where a file of {} bytes should",
                    directory.size, directory.offset, file_size));
  }
  return directory;
}

// Reads the header at the front of `rest` and moves past it.
Result<std::pair<BundleEntry, std::string_view>> TakeCentral(std::string_view* rest,
                                                             size_t number) {
  auto corrupt = [number](std::string_view why) {
    return Corrupt(fmt::format("entry {} of the central directory: {}", number, why));
  };
  if (rest->size() < kCentralBytes || !rest->starts_with("PK\x01\x02")) {
    return corrupt("no header");
  }
  size_t name = U16(*rest, 28);
  size_t extra = U16(*rest, 30);
  size_t comment = U16(*rest, 32);
  if (rest->size() - kCentralBytes < name + extra + comment) return corrupt("cut off");
  if (name == 0 || name > kMaxNameBytes) return corrupt("a name of unlikely length");
  BundleEntry entry{.name = std::string(rest->substr(kCentralBytes, name)),
                    .crc32 = U32(*rest, 16),
                    .header_offset = U32(*rest, 42),
                    .size = U32(*rest, 20)};
  if ((U16(*rest, 8) & 1) != 0) return Unsupported("an entry is encrypted");
  if (U16(*rest, 10) != 0 || entry.size != U32(*rest, 24)) {
    return Unsupported("an entry is compressed a second time");
  }
  if (U16(*rest, 34) != 0) return Unsupported("it is split over several files");
  if (entry.size == 0xFFFFFFFF || entry.header_offset == 0xFFFFFFFF) return Unsupported("ZIP64");
  std::string_view text = rest->substr(kCentralBytes + name + extra, comment);
  rest->remove_prefix(kCentralBytes + name + extra + comment);
  return std::pair(std::move(entry), text);
}

Result<BundleIndex> ParseDirectory(std::string_view bytes, const Directory& directory) {
  BundleIndex index;
  std::vector<std::pair<BundleEntry, std::string_view>> found;
  found.reserve(std::min<size_t>(directory.entries, bytes.size() / kCentralBytes));
  for (size_t i = 1; i <= directory.entries; ++i) {
    ASSIGN_OR_RETURN(auto entry, TakeCentral(&bytes, i));
    found.push_back(std::move(entry));
  }
  if (!bytes.empty()) return Corrupt("bytes follow the last entry of the central directory");
  std::string side;  // the name that a side entry has here
  // Each entry ends where the next begins: one range then holds header and data. A side entry has
  // no row: who reads it knows its profile.
  for (size_t i = 0; i < found.size(); ++i) {
    BundleEntry& entry = found[i].first;
    entry.end_offset = i + 1 < found.size() ? found[i + 1].first.header_offset : directory.offset;
    if (entry.header_offset + kLocalBytes + entry.name.size() + entry.size > entry.end_offset) {
      return Corrupt(fmt::format("entry {} overlaps what follows it", entry.name));
    }
    if (entry.name == std::exchange(side, TimesEntryName(entry.name))) continue;
    Result<CatalogRow> row = CatalogRowFromJson(found[i].second);
    if (!row) {
      index.bad_entries.push_back({.name = entry.name, .reason = row.error().message()});
      continue;
    }
    entry.row = *std::move(row);
    index.entries.push_back(std::move(entry));
  }
  return index;
}

}  // namespace

RangeReader ReaderOf(std::string_view bytes) {
  return [bytes](uint64_t offset, uint64_t length) -> Result<std::string> {
    if (offset > bytes.size() || length > bytes.size() - offset)
      return Corrupt("it ends too early");
    return std::string(bytes.substr(offset, length));
  };
}

Result<BundleIndex> ReadBundleIndex(uint64_t size, const RangeReader& read) {
  if (size < kEndBytes) return Corrupt(fmt::format("truncated or not a ZIP: {} bytes", size));
  uint64_t tail_bytes = std::min(size, kBundleTailBytes);
  ASSIGN_OR_RETURN(std::string tail, read(size - tail_bytes, tail_bytes));
  if (tail.size() != tail_bytes) return Corrupt("truncated: fewer bytes than its size says");
  ASSIGN_OR_RETURN(Directory directory,
                   ParseEnd(std::string_view(tail).substr(tail_bytes - kEndBytes), size));
  if (directory.size > kMaxBundleDirectoryBytes) {
    return Error(ErrorCode::kExhausted, fmt::format("a central directory of {} bytes, at most {}",
                                                    directory.size, kMaxBundleDirectoryBytes));
  }
  uint64_t with_end = directory.size + kEndBytes;
  if (with_end <= tail_bytes) {
    return ParseDirectory(std::string_view(tail).substr(tail_bytes - with_end, directory.size),
                          directory);
  }
  ASSIGN_OR_RETURN(std::string bytes, read(directory.offset, directory.size));
  if (bytes.size() != directory.size) return Corrupt("truncated: fewer bytes than its size says");
  return ParseDirectory(bytes, directory);
}

Result<std::string> ReadBundleEntry(const BundleEntry& entry, const RangeReader& read) {
  uint64_t length = entry.end_offset - entry.header_offset;
  ASSIGN_OR_RETURN(std::string bytes, read(entry.header_offset, length));
  if (bytes.size() != length) return Corrupt("truncated: fewer bytes than its size says");
  if (length < kLocalBytes || !bytes.starts_with("PK\x03\x04")) return Corrupt("no local header");
  size_t name = U16(bytes, 26);
  uint64_t begin = kLocalBytes + name + U16(bytes, 28);
  if (begin + entry.size > length) return Corrupt("the local header disagrees with the directory");
  if (std::string_view(bytes).substr(kLocalBytes, name) != entry.name) {
    return Corrupt("the local header has another name");
  }
  bytes.resize(begin + entry.size);
  bytes.erase(0, begin);
  return Checked(std::move(bytes), entry.crc32);
}

Result<std::string> ReadBundleTimes(const BundleEntry& entry, const RangeReader& read) {
  const std::string name = TimesEntryName(entry.name);
  if (name.empty()) return std::string();
  // The directory behind the last entry has more bytes for an entry than a local header, and this
  // entry's row beside them: a small side entry comes with its header.
  constexpr uint64_t kFirstBytes = 64;
  const uint64_t head = kLocalBytes + name.size();
  const Result<std::string> bytes = read(entry.end_offset, head + kFirstBytes);
  if (!bytes) return bytes.error();
  const std::string_view first = *bytes;
  if (first.size() < head || !first.starts_with("PK\x03\x04") ||
      first.substr(kLocalBytes, U16(first, 26)) != name) {
    return std::string();
  }
  const uint64_t begin = head + U16(first, 28), size = U32(first, 18);
  const uint32_t crc = U32(first, 14);
  if (begin + size <= first.size()) return Checked(std::string(first.substr(begin, size)), crc);
  ASSIGN_OR_RETURN(std::string data, read(entry.end_offset + begin, size));
  if (data.size() != size) return Corrupt("truncated: fewer bytes than its header says");
  return Checked(std::move(data), crc);
}

Result<BundleIndex> ReadBundleIndex(const ObjectStore& store, std::string_view key) {
  ASSIGN_OR_RETURN(ObjectTail tail, store.GetTail(key, kBundleTailBytes));
  const uint64_t begin = tail.object_size - tail.bytes.size();
  return ReadBundleIndex(tail.object_size,
                         [&](uint64_t offset, uint64_t length) -> Result<std::string> {
                           if (offset < begin) return store.GetRange(key, offset, length);
                           return tail.bytes.substr(offset - begin, length);
                         });
}

Result<std::string> ReadBundleEntry(const ObjectStore& store, std::string_view key,
                                    const BundleEntry& entry) {
  return ReadBundleEntry(
      entry, [&](uint64_t offset, uint64_t length) { return store.GetRange(key, offset, length); });
}

Result<std::string> ReadBundleTimes(const ObjectStore& store, std::string_view key,
                                    const BundleEntry& entry) {
  return ReadBundleTimes(
      entry, [&](uint64_t offset, uint64_t length) { return store.GetRange(key, offset, length); });
}

}  // namespace firetower::store
