// SPDX-License-Identifier: Apache-2.0
// A catalog's lines, and what a catalog is sorted and divided by: parts of its format.
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

// Place of a stored profile, with its row. An entry without a name has the one that BundleEntryName
// gives.
struct CatalogEntry {
  std::string bundle = {};  // the object's key
  BundleEntry entry = {};
};

// One JSON object and a line feed. An entry's name is left out where it is BundleEntryName's.
std::string CatalogLineOf(const CatalogEntry& one);

// Reads lines one after another. Most of a row is the same as in the row before: that is read once.
class CatalogLineParser {
 public:
  // Parses a line without its line feed. kCorrupt for a line that is no entry, or one that no
  // bundle can hold. Callers check that `bundle` is the key of a bundle.
  Result<CatalogEntry> Parse(std::string_view line);
  // The same, but for the name that the line leaves out: entry() has it empty then. No more is
  // allocated than what is longer than in the lines before.
  Status Read(std::string_view line);
  // Returns the last line that Read accepted.
  const CatalogEntry& entry() const { return one_; }

 private:
  Status ReadRow(std::string_view text);

  // Text before and behind the numbers of the row.
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

// Places, containers, types, starts, bundles and places in them decide which is first.
bool ComesBefore(const CatalogEntry& a, const CatalogEntry& b);

// Which shard holds the rows of a workload; `shards` is a power of two, and the rows of shard i of
// 2n are those of shard i % n of n.
uint64_t ShardHash(std::string_view namespace_name, std::string_view workload);
inline uint32_t ShardOf(std::string_view namespace_name, std::string_view workload,
                        uint32_t shards) {
  return static_cast<uint32_t>(ShardHash(namespace_name, workload) & (shards - 1));
}

// The bits of a pod in a Bloom filter of `bits`, at least 1. Ten bits a pod and seven probes: one
// pod in a hundred is looked for in vain.
inline constexpr size_t kFilterBitsPerPod = 10;
template <typename Visit>
void ForEachProbe(uint64_t pod_hash, size_t bits, const Visit& visit) {
  constexpr uint64_t kProbes = 7;
  // Two halves make as many independent probes as one likes (Kirsch and Mitzenmacher, 2006).
  const uint64_t step = (pod_hash >> 32) | 1;
  for (uint64_t i = 0; i < kProbes; ++i) visit((pod_hash + i * step) % bits);
}

}  // namespace firetower::store
