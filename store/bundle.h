// SPDX-License-Identifier: Apache-2.0
// A bundle: one node's profiles of one window, a plain ZIP of stored .pb.gz entries. `unzip` opens
// it; its central directory is the index, so one tail read and one ranged read serve an entry. A
// profile may have a side entry right behind it, of the same name with .times.gz: when its samples
// were taken (profile/times/sample_times.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/catalog.h"
#include "store/store.h"

namespace firetower::store {

// Returns "<namespace>/<pod>/<container>/<type>-<id12>.pb.gz"; bytes that do not fit a file name
// become '_'.
std::string BundleEntryName(const CatalogRow& row);
// Returns the name of the side entry of an entry; "" if that is not named like a profile.
std::string TimesEntryName(std::string_view entry_name);

// Collects entries and writes the file. The same calls give the same bytes.
class BundleWriter {
 public:
  static constexpr size_t kMaxEntries = 65'000;          // a plain ZIP counts in 16 bits
  static constexpr uint64_t kMaxBytes = 0xFFFF'0000ull;  // and addresses in 32

  // `window_start_ns` is the time stamp of every entry.
  explicit BundleWriter(int64_t window_start_ns);
  ~BundleWriter();
  BundleWriter(BundleWriter&&) noexcept;
  BundleWriter& operator=(BundleWriter&&) noexcept;

  // Adds an entry. `pprof_gz` is a complete profile; `times_gz` becomes its side entry unless it is
  // empty. Rows with equal names get a numeric suffix. kExhausted: the file would exceed a plain
  // ZIP's limits.
  Status Add(const CatalogRow& row, std::string pprof_gz, std::string times_gz = {});
  size_t entries() const;  // without side entries

  // Returns the file. The writer must not be used afterwards.
  Result<std::string> Finish() &&;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct BundleEntry {
  std::string name = {};
  CatalogRow row = {};
  uint32_t crc32 = 0;
  uint64_t header_offset = 0;  // of the local header
  uint64_t end_offset = 0;     // of the next local header, or of the central directory
  uint64_t size = 0;           // of the data
};

// An entry whose row cannot be read; the others are valid.
struct BadEntry {
  std::string name = {};
  std::string reason = {};
};

struct BundleIndex {
  std::vector<BundleEntry> entries = {};
  std::vector<BadEntry> bad_entries = {};
};

// Reads bytes [offset, offset + length) of a file.
using RangeReader = std::function<Result<std::string>(uint64_t offset, uint64_t length)>;
// Returns a reader for a file in memory, which must outlive the reader. kCorrupt: a range beyond
// its end.
RangeReader ReaderOf(std::string_view bytes);

// Reads the central directory of a file of `size` bytes, with one range if it fits
// kBundleTailBytes, else with two. kCorrupt names the problem. kUnsupported: a ZIP that is not one
// of ours (compressed, encrypted, ZIP64, split).
inline constexpr uint64_t kBundleTailBytes = 64 << 10;  // a directory of some fifty containers
inline constexpr uint64_t kMaxBundleDirectoryBytes = uint64_t{64} << 20;
Result<BundleIndex> ReadBundleIndex(uint64_t size, const RangeReader& read);
// Reads the data of one entry, with one range. kCorrupt: its header or CRC-32 does not match.
Result<std::string> ReadBundleEntry(const BundleEntry& entry, const RangeReader& read);

// Reads the side entry of an entry, with one range or two. Returns "" if it has none.
Result<std::string> ReadBundleTimes(const BundleEntry& entry, const RangeReader& read);

Result<BundleIndex> ReadBundleIndex(const ObjectStore& store, std::string_view key);
Result<std::string> ReadBundleEntry(const ObjectStore& store, std::string_view key,
                                    const BundleEntry& entry);
Result<std::string> ReadBundleTimes(const ObjectStore& store, std::string_view key,
                                    const BundleEntry& entry);

}  // namespace firetower::store
