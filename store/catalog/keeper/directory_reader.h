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

// Reads directories of bundles, several at a time, and returns them in the order of the requests
// (docs/adr/0022-directories-read-at-once.md). Used by one thread. Reads end with the store's
// limits.
class DirectoryReader {
 public:
  // Larger ranges, of some 800 profiles, are read by the taking thread, one at a time: so the held
  // data is bounded by kMaxHeld times this.
  static constexpr uint64_t kMaxRangeBytes = uint64_t{1} << 20;
  static constexpr size_t kMaxHeld = kMaxHeldInOrder;

  struct Directory {
    ObjectInfo bundle;
    Result<BundleIndex> index;
  };

  // `store` must outlive this.
  explicit DirectoryReader(const ObjectStore& store)
      : store_(store), reads_("bundles", [this](Read& read) { ReadOne(read); }) {}

  bool empty() const { return reads_.empty(); }
  bool is_full() const { return reads_.is_full(); }
  // Requires that it is not full.
  void Ask(ObjectInfo bundle) { reads_.Ask({.bundle = std::move(bundle)}); }
  // Returns the first directory that was requested and not taken; waits for it. Requires that it is
  // not empty.
  Directory Take();
  // Drops the directories that were requested and not taken, and waits for running reads.
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
