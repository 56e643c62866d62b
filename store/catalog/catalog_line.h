// SPDX-License-Identifier: Apache-2.0
// The lines of a catalog, and its order and shards: parts of its format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "store/bundle.h"
#include "store/catalog.h"

namespace firetower::store {

// The place of a stored profile, with its row. An entry without a name has the one that
// BundleEntryName returns.
struct CatalogEntry {
  std::string bundle = {};  // the object's key
  BundleEntry entry = {};
};

// Returns one JSON object and a line feed. Omits the entry's name if it equals BundleEntryName's.
std::string CatalogLineOf(const CatalogEntry& one);

// Parses lines one after another. Consecutive rows are mostly equal, and the equal part is parsed
// once.
class CatalogLineParser {
 public:
  // Parses a line without its line feed. kCorrupt: the line is not an entry, or one that no bundle
  // can contain. Callers check that `bundle` is the key of a bundle.
  Result<CatalogEntry> Parse(std::string_view line);
  // Parses a line in the same way, but leaves a missing name empty in entry(). Allocates only for
  // texts that are longer than in earlier lines.
  Status Read(std::string_view line);
  // Returns the last line that Read accepted.
  const CatalogEntry& entry() const { return one_; }

 private:
  Status ReadRow(std::string_view text);

  // The text before and behind the numbers of the row.
  std::string head_;
  std::string tail_;
  CatalogEntry one_;
};

// Returns the first sort key of a catalog: namespace, workload, pod, with line feeds in between,
// which sort before every character of a name.
std::string PlaceOf(std::string_view namespace_name, std::string_view workload,
                    std::string_view pod);
inline std::string PlaceOf(const CatalogRow& row) {
  return PlaceOf(row.namespace_name, row.workload, row.pod);
}

// Compares entries by place, container, type, start, bundle and place in the bundle.
bool ComesBefore(const CatalogEntry& a, const CatalogEntry& b);

// Return the shard of a workload's rows. `shards` is a power of two; the rows of shard i of 2n are
// those of shard i % n of n.
uint64_t ShardHash(std::string_view namespace_name, std::string_view workload);
inline uint32_t ShardOf(std::string_view namespace_name, std::string_view workload,
                        uint32_t shards) {
  return static_cast<uint32_t>(ShardHash(namespace_name, workload) & (shards - 1));
}

// The bits of a pod in a Bloom filter of `bits`, at least 1. With ten bits per pod and seven
// probes, one in a hundred absent pods is looked for in vain.
inline constexpr size_t kFilterBitsPerPod = 10;
template <typename Visit>
void ForEachProbe(uint64_t pod_hash, size_t bits, const Visit& visit) {
  constexpr uint64_t kProbes = 7;
  // Two halves give any number of independent probes (Kirsch and Mitzenmacher, 2006).
  const uint64_t step = (pod_hash >> 32) | 1;
  for (uint64_t i = 0; i < kProbes; ++i) visit((pod_hash + i * step) % bits);
}

}  // namespace firetower::store
