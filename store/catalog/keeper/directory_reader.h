// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "base/thread.h"
#include "store/bundle.h"
#include "store/store.h"

namespace firetower::store {

// Reads directories of bundles, several at a time, and hands them out in the order in which they
// were asked for. One thread asks and takes; threads of its own read, as many as there is work for,
// and wait when there is none (docs/adr/0022-directories-read-at-once.md). Whether and when a read
// ends is the store's: one whose work is stopped ends them.
//
// The mutex: several threads take from one queue, once for a request to the store, so that nobody
// waits for it.
class DirectoryReader {
 public:
  // An answer over a network takes 10 to 50 ms, and 5,000 nodes write a bundle a minute each.
  static constexpr size_t kAtOnce = 8;
  // Asked for and not taken: more than are read at a time, so that a slow one holds up no others.
  static constexpr size_t kMaxHeld = 2 * kAtOnce;
  // Larger ranges, of some 800 profiles, are read by who takes them, one at a time: what is held
  // is bounded by kMaxHeld of these.
  static constexpr uint64_t kMaxRangeBytes = uint64_t{1} << 20;

  struct Directory {
    ObjectInfo bundle;
    Result<BundleIndex> index;
  };

  // `store` outlives this.
  explicit DirectoryReader(const ObjectStore& store) : store_(store) {}
  ~DirectoryReader();
  DirectoryReader(const DirectoryReader&) = delete;
  DirectoryReader& operator=(const DirectoryReader&) = delete;

  bool empty() const { return held_ == 0; }
  bool is_full() const { return held_ == kMaxHeld; }
  // Only while not full.
  void Ask(ObjectInfo bundle);
  // The first that was asked for and not taken; waits for it. Only while not empty.
  Directory Take();
  // Forgets what was asked for and not taken, and waits for reads that have begun.
  void Drop();

 private:
  struct Read {
    ObjectInfo bundle;
    Result<BundleIndex> index = BundleIndex{};
    bool too_large = false;  // for one of several: nothing is read yet
    bool done = false;
  };

  void Run(const std::stop_token& stop) noexcept;
  void ReadOne(Read& read) const;

  const ObjectStore& store_;
  size_t held_ = 0;  // of reads_, by the one thread
  std::mutex mutex_;
  std::condition_variable_any asked_;
  std::condition_variable done_;
  std::deque<Read> reads_;  // what is in it stays where it is
  size_t begun_ = 0;        // of the first ones
  std::vector<NamedThread> threads_;
};

}  // namespace firetower::store
