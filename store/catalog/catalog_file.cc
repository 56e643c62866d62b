// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/catalog_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text/hex.h"
#include "profile/codec/gzip.h"
#include "store/catalog/catalog_format.h"
#include "store/catalog/scanner.h"
#include "store/key.h"

namespace firetower::store {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxBlockBytes = 16 << 20;

Error Corrupt(std::string_view why) {
  return {ErrorCode::kCorrupt, fmt::format("catalog: {}", why)};
}

bool ReadText(const Json& json, const char* name, std::string& out) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_string()) return false;
  out = found->get<std::string>();
  return true;
}

// The list of that name; null when it is none.
const Json* ListOf(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found == json.end() || !found->is_array() ? nullptr : &*found;
}

bool Passes(const CatalogFilter& filter, const CatalogRow& row) {
  const auto is = [](const std::optional<std::string>& wanted, const std::string& value) {
    return !wanted || *wanted == value;
  };
  return is(filter.namespace_name, row.namespace_name) && is(filter.workload, row.workload) &&
         is(filter.pod, row.pod);
}

class IndexReader {
 public:
  explicit IndexReader(uint64_t end_offset) { index_.end_offset = end_offset; }

  Result<CatalogFile::Index> Read(std::string_view text) && {
    std::string rest;
    const bool scanned = ScanBlocks(text, rest);
    const Json json = Json::parse(scanned ? rest : text, nullptr, /*allow_exceptions=*/false);
    std::string format;
    if (!json.is_object() || !ReadText(json, "format", format)) return Corrupt("it has no index");
    if (format != kCatalogFormat) {
      return Error(ErrorCode::kUnsupported, fmt::format("a catalog of format \"{}\", not \"{}\"",
                                                        format.substr(0, 40), kCatalogFormat));
    }
    RETURN_IF_ERROR(ReadHeader(json));
    RETURN_IF_ERROR(scanned ? CheckBlocks() : ReadBlocks(json));
    std::string pods;
    if (!ReadText(json, "pods", pods)) return Corrupt("it has no filter of pods");
    std::optional<std::string> filter = FromHex(pods);
    if (!filter) return Corrupt("its filter of pods is damaged");
    index_.pods = *std::move(filter);
    index_.bytes += sizeof(CatalogFile) + index_.pods.size();
    return std::move(index_);
  }

 private:
  Status ReadHeader(const Json& json) {
    CatalogHeader& header = index_.header;
    uint64_t start = 0, seconds = 0, shard = 0, shards = 0, last_end = 0;
    const Json* replaces = ListOf(json, "replaces");
    const Json* unreadable = ListOf(json, "unreadable");
    const bool good = JsonNumber(json, "start", kMaxStartSeconds, start) &&
                      JsonNumber(json, "seconds", kMaxWindowSeconds, seconds) &&
                      JsonNumber(json, "shard", kMaxShards, shard) &&
                      JsonNumber(json, "shards", kMaxShards, shards) &&
                      JsonNumber(json, "rows", INT64_MAX, header.rows) &&
                      JsonNumber(json, "last_end", INT64_MAX, last_end) && shard < shards &&
                      replaces != nullptr && unreadable != nullptr &&
                      unreadable->size() <= CatalogHeader::kMaxUnreadable;
    if (!good) return Corrupt("its index is damaged");
    header.start_s = static_cast<int64_t>(start);
    header.seconds = static_cast<int64_t>(seconds);
    header.shard = static_cast<uint32_t>(shard);
    header.shards = static_cast<uint32_t>(shards);
    header.last_end_s = static_cast<int64_t>(last_end);
    for (const Json& key : *replaces) {
      if (!key.is_string()) return Corrupt("it replaces an object without a name");
      header.replaces.push_back(key.get<std::string>());
      index_.bytes += header.replaces.back().size() + sizeof(std::string);
    }
    for (const Json& one : *unreadable) {
      Unreadable item;
      if (!one.is_object() || !ReadText(one, "bundle", item.bundle) ||
          !ReadText(one, "entry", item.entry) || !ReadText(one, "reason", item.reason)) {
        return Corrupt("its list of what could not be read is damaged");
      }
      index_.bytes += sizeof(item) + item.bundle.size() + item.entry.size() + item.reason.size();
      header.unreadable.push_back(std::move(item));
    }
    return OkStatus();
  }

  // Takes the blocks out of a text that has the form we write: they are most of it.
  bool ScanBlocks(std::string_view text, std::string& rest) {
    constexpr std::string_view kOffsets = ",\"offsets\":[", kFirsts = "],\"firsts\":[";
    const size_t begin = text.find(kOffsets);
    if (begin == std::string_view::npos) return false;
    std::vector<CatalogFile::Block> blocks;
    Scanner scanner(text.substr(begin + kOffsets.size()));
    for (uint64_t offset = 0; scanner.Number(index_.end_offset, offset); scanner.Skip(","))
      blocks.push_back({.offset = offset});
    if (!scanner.Skip(kFirsts)) return false;
    for (CatalogFile::Block& block : blocks) {
      if (&block != blocks.data() && !scanner.Skip(",")) return false;
      if (!scanner.Skip("\"") || !scanner.Lines(block.first)) return false;
    }
    if (!scanner.Skip("]")) return false;
    rest = text.substr(0, begin);
    rest += scanner.rest();
    index_.blocks = std::move(blocks);
    return true;
  }

  Status ReadBlocks(const Json& json) {
    const Json* offsets = ListOf(json, "offsets");
    const Json* firsts = ListOf(json, "firsts");
    if (offsets == nullptr || firsts == nullptr || offsets->size() != firsts->size())
      return Corrupt("it has no blocks");
    for (size_t i = 0; i < offsets->size(); ++i) {
      const std::optional<int64_t> offset = JsonInteger((*offsets)[i]);
      if (!offset || *offset < 0 || !(*firsts)[i].is_string())
        return Corrupt("its index is damaged");
      index_.blocks.push_back(
          {.offset = static_cast<uint64_t>(*offset), .first = (*firsts)[i].get<std::string>()});
    }
    return CheckBlocks();
  }

  Status CheckBlocks() {
    const std::vector<CatalogFile::Block>& all = index_.blocks;
    for (size_t i = 0; i < all.size(); ++i) {
      const bool in_order =
          i == 0 ? all[i].offset == 0
                 : all[i - 1].offset < all[i].offset && all[i - 1].first <= all[i].first;
      if (!in_order) return Corrupt("its blocks are not in order");
      index_.bytes += sizeof(all[i]) + all[i].first.size();
    }
    if (all.empty() != (index_.end_offset == 0) ||
        (!all.empty() && all.back().offset >= index_.end_offset)) {
      return Corrupt("its blocks are not where they should be");
    }
    return OkStatus();
  }

  CatalogFile::Index index_;
};

}  // namespace

Result<CatalogFile> CatalogFile::Open(uint64_t size, const RangeReader& read) {
  if (size < kLocatorBytes)
    return Corrupt(fmt::format("truncated, or not a catalog: {} bytes", size));
  const uint64_t tail_bytes = TailBytes(size);
  ASSIGN_OR_RETURN(const std::string tail, read(size - tail_bytes, tail_bytes));
  if (tail.size() != tail_bytes) return Corrupt("truncated: fewer bytes than its size says");
  ASSIGN_OR_RETURN(const uint64_t offset,
                   ReadCatalogLocator(std::string_view(tail).substr(tail_bytes - kLocatorBytes)));
  const uint64_t end = size - kLocatorBytes;
  if (offset >= end) return Corrupt("its index lies behind its end");
  if (end - offset > kMaxIndexBytes) return Corrupt("its index is too large");
  std::string own;
  std::string_view packed;
  if (size - offset <= tail_bytes) {
    packed = std::string_view(tail).substr(tail_bytes - (size - offset), end - offset);
  } else {
    ASSIGN_OR_RETURN(own, read(offset, end - offset));
    if (own.size() != end - offset) return Corrupt("truncated: fewer bytes than its size says");
    packed = own;
  }
  ASSIGN_OR_RETURN(const std::string json, profile::GzipDecompress(packed, kMaxIndexBytes));
  ASSIGN_OR_RETURN(Index index, IndexReader(offset).Read(json));
  return CatalogFile(std::move(index));
}

bool CatalogFile::MayHoldPod(std::string_view pod) const {
  if (index_.pods.empty()) return false;
  bool may = true;
  ForEachProbe(HashText(pod), index_.pods.size() * 8,
               [&](uint64_t bit) { may &= (index_.pods[bit / 8] >> (bit % 8) & 1) != 0; });
  return may;
}

std::pair<size_t, size_t> CatalogFile::BlocksOf(const CatalogFilter& filter) const {
  if (!filter.namespace_name) return {0, blocks()};
  // Every place with this beginning: '\n' ends it, and is one below '\v'.
  std::string low = *filter.namespace_name + '\n';
  if (filter.workload) low += *filter.workload + '\n';
  if (filter.workload && filter.pod) low += *filter.pod;
  std::string high = low;
  if (filter.workload && filter.pod)
    high += '\0';
  else
    high.back() = '\v';
  const auto begin = std::ranges::lower_bound(index_.blocks, low, {}, &Block::first);
  const auto end = std::ranges::lower_bound(index_.blocks, high, {}, &Block::first);
  // The block before may hold it too.
  const auto first = begin - index_.blocks.begin() - (begin == index_.blocks.begin() ? 0 : 1);
  return {static_cast<size_t>(first), static_cast<size_t>(end - index_.blocks.begin())};
}

namespace {

// Calls `visit` for each line of a block, without its line feed, until one fails.
template <typename Visit>
Status ForEachLine(std::string_view packed, const Visit& visit) {
  Result<std::string> lines = profile::GzipDecompress(packed, kMaxBlockBytes);
  // A block that would be larger is none of ours.
  if (!lines) return Corrupt(lines.error().message());
  for (std::string_view rest = *lines; !rest.empty();) {
    const size_t line = rest.find('\n');
    if (line == std::string_view::npos) return Corrupt("a line without an end");
    RETURN_IF_ERROR(visit(rest.substr(0, line)));
    rest.remove_prefix(line + 1);
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<CatalogEntry>> CatalogFile::ParseBlock(std::string_view packed) {
  std::vector<CatalogEntry> entries;
  CatalogLineParser parser;
  const auto take = [&](std::string_view line) -> Status {
    ASSIGN_OR_RETURN(CatalogEntry one, parser.Parse(line));
    entries.push_back(std::move(one));
    return OkStatus();
  };
  RETURN_IF_ERROR(ForEachLine(packed, take));
  return entries;
}

Status CatalogFile::Read(const CatalogFilter& filter, const RangeReader& read,
                         const std::function<Status(const CatalogEntry& entry)>& visit) const {
  if (filter.pod && !MayHoldPod(*filter.pod)) return OkStatus();
  const auto [first, last] = BlocksOf(filter);
  CatalogLineParser parser;
  const auto take = [&](std::string_view line) -> Status {
    RETURN_IF_ERROR(parser.Read(line));
    const CatalogEntry& one = parser.entry();
    return Passes(filter, one.entry.row) ? visit(one) : OkStatus();
  };
  for (size_t block = first; block < last;) {
    const uint64_t begin = BlockOffset(block);
    size_t end = block + 1;
    while (end < last && BlockEnd(end) - begin <= kReadBytes) ++end;
    ASSIGN_OR_RETURN(const std::string packed, read(begin, BlockEnd(end - 1) - begin));
    if (packed.size() != BlockEnd(end - 1) - begin) return Corrupt("truncated");
    for (; block < end; ++block) {
      const std::string_view bytes(packed);
      const size_t offset = BlockOffset(block) - begin;
      RETURN_IF_ERROR(
          ForEachLine(bytes.substr(offset, BlockEnd(block) - BlockOffset(block)), take));
    }
  }
  return OkStatus();
}

}  // namespace firetower::store
