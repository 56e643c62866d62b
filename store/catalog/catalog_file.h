// SPDX-License-Identifier: Apache-2.0
// A catalog: the sorted rows of many bundles, with an index at its end, so that a query reads only
// two short ranges (docs/adr/0014-catalogs.md). The file consists of gzip members with JSON lines,
// which `zcat` shows: blocks of rows, then the index (store/catalog/catalog_format.h explains how
// it is found).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/bundle.h"
#include "store/catalog/catalog_line.h"

namespace firetower::store {

// A bundle, or an entry of one, that could not be read. No query may omit it silently.
struct Unreadable {
  std::string bundle = {};
  std::string entry = {};  // empty: all of it
  std::string reason = {};
  auto operator<=>(const Unreadable&) const = default;
};

struct CatalogHeader {
  static constexpr size_t kMaxUnreadable = 100;

  int64_t start_s = 0;  // of bundles whose windows start in [start_s, start_s + seconds)
  int64_t seconds = 0;
  uint32_t shard = 0;  // of `shards`, by ShardOf
  uint32_t shards = 1;
  uint64_t rows = 0;
  int64_t last_end_s = 0;                   // of its windows; 0: it has none
  std::vector<std::string> replaces = {};   // catalogs whose rows of this shard are all in it
  std::vector<Unreadable> unreadable = {};  // in whatever shard, at most kMaxUnreadable
};

// Filter with which a reader skips blocks unread. An unset field accepts any value.
struct CatalogFilter {
  std::optional<std::string> namespace_name = {};
  std::optional<std::string> workload = {};
  std::optional<std::string> pod = {};
};

// A catalog whose index was read. Immutable, and a few kilobytes large.
class CatalogFile {
 public:
  // A member of sorted rows; the next one begins where it ends.
  struct Block {
    uint64_t offset = 0;
    std::string first = {};  // PlaceOf
  };
  struct Index {
    CatalogHeader header = {};
    std::vector<Block> blocks = {};
    uint64_t end_offset = 0;  // of the last block
    std::string pods = {};    // Bloom filter of ForEachProbe
    size_t bytes = 0;         // of memory, about
  };

  static constexpr uint64_t kMaxIndexBytes = uint64_t{64} << 20;
  // Returns the number of bytes at a file's end to read first: the index takes somewhat less than a
  // hundredth of the file.
  static constexpr uint64_t TailBytes(uint64_t file_bytes) {
    constexpr uint64_t kLeast = 4 << 10, kMost = 64 << 10;
    const uint64_t share = file_bytes / 96;
    const uint64_t tail = share < kLeast ? kLeast : share > kMost ? kMost : share;
    return tail < file_bytes ? tail : file_bytes;
  }

  // Opens a file of `size` bytes, with one range, or two if the index is longer than usual.
  // kCorrupt names the damage.
  static Result<CatalogFile> Open(uint64_t size, const RangeReader& read);

  const CatalogHeader& header() const { return index_.header; }
  // Calls `visit` for each entry that passes the filter, in order, until one fails. Their names are
  // empty if they equal BundleEntryName's. Reads the blocks that may contain such entries, which
  // are contiguous, kReadBytes or one block at a time.
  static constexpr uint64_t kReadBytes = 1 << 20;
  Status Read(const CatalogFilter& filter, const RangeReader& read,
              const std::function<Status(const CatalogEntry& entry)>& visit) const;
  size_t bytes() const { return index_.bytes; }  // of memory, about

  // For reading block by block: the entries of one block, and its position.
  size_t blocks() const { return index_.blocks.size(); }
  uint64_t BlockOffset(size_t block) const { return index_.blocks[block].offset; }
  uint64_t BlockEnd(size_t block) const {
    return block + 1 < blocks() ? BlockOffset(block + 1) : index_.end_offset;
  }
  // `packed` has the bytes of a block.
  static Result<std::vector<CatalogEntry>> ParseBlock(std::string_view packed);

 private:
  explicit CatalogFile(Index index) : index_(std::move(index)) {}
  bool MayHoldPod(std::string_view pod) const;
  // Returns the range [first, last) of blocks that may contain entries for the filter.
  std::pair<size_t, size_t> BlocksOf(const CatalogFilter& filter) const;

  Index index_;
};

}  // namespace firetower::store
