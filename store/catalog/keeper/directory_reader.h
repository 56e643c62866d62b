// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/result.h"
#include "store/access/in_order.h"
#include "store/bundle.h"
#include "store/store.h"

namespace firetower::store {

// Reads directories of bundles, several at a time, and hands them out in the order in which they
// were asked for (docs/adr/0022-directories-read-at-once.md). Used by one thread. Whether and when
// a read ends is the store's: one whose work is stopped ends them.
class DirectoryReader {
 public:
  // Larger ranges, of some 800 profiles, are read by who takes them, one at a time: what is held
  // is bounded by kMaxHeld of these.
  static constexpr uint64_t kMaxRangeBytes = uint64_t{1} << 20;
  static constexpr size_t kMaxHeld = kMaxHeldInOrder;

  struct Directory {
    ObjectInfo bundle;
    Result<BundleIndex> index;
  };

  // `store` outlives this.
  explicit DirectoryReader(const ObjectStore& store)
      : store_(store), reads_("bundles", [this](Read& read) { ReadOne(read); }) {}

  bool empty() const { return reads_.empty(); }
  bool is_full() const { return reads_.is_full(); }
  // Only while not full.
  void Ask(ObjectInfo bundle) { reads_.Ask({.bundle = std::move(bundle)}); }
  // The first that was asked for and not taken; waits for it. Only while not empty.
  Directory Take();
  // Forgets what was asked for and not taken, and waits for reads that have begun.
  void Drop() { reads_.Drop(); }

 private:
  struct Read {
    ObjectInfo bundle;
    Result<BundleIndex> index = BundleIndex{};
    bool too_large = false;  // for one of several: nothing is read yet
  };

  void ReadOne(Read& read) const;

  const ObjectStore& store_;
  InOrder<Read> reads_;
};

}  // namespace firetower::store
