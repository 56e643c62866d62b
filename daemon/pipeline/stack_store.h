// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/container/flat_map.h"
#include "daemon/capture/round.h"
#include "daemon/policy/selection.h"

namespace firetower::daemon {

// The stack bodies of two epochs, by hash. The kernel side sends a body once an epoch; samples name
// it from then on. A turn of the epoch drops the bodies of the one before the last.
//
// Bounded by its words and bodies a generation: what is beyond them is counted and its stack lost
// until the epoch turns. So the epoch has to turn when WantsTurn() says so, half-way: the other
// half is for what is in flight by then.
class StackStore {
 public:
  static constexpr size_t kMaxWords = 2u << 20;  // 16 MiB a generation
  static constexpr size_t kLeastWords = kMaxWords / 4;
  // Half of it holds what waits in eight rounds and their ring, all of it bodies (128 KiB a CPU).
  static constexpr size_t kWordsPerCpu = 256u << 10;
  // Entries weigh about 50 bytes: as much as the words when stacks are 16 deep, and a bound for
  // storms of processes that live for one sample.
  static constexpr size_t kWordsPerBody = 16;

  struct Body {
    uint32_t begin = 0;  // first address, in words
    uint16_t user_frames = 0;
    uint8_t kernel_frames = 0;
    uint8_t stop = 0;
    uint8_t generation = 0;
    uint32_t pid = 0;
    uint32_t identity = 0;  // ft_identity() of the process's image
    // Cache of the resolver: valid for one slice, one state of the process's mappings and the parts
    // that were asked for.
    StackParts parts = StackParts::kUserAndKernel;
    uint32_t slice_serial = 0;
    uint32_t mapping_generation = 0;
    uint32_t slice_stack = 0;
  };

  explicit StackStore(size_t max_words = kMaxWords)
      : max_words_(max_words), max_bodies_(max_words / kWordsPerBody) {}
  static size_t WordsFor(size_t cpus);

  // Takes the bodies of a round.
  void Add(const Round& round);
  // Nullptr if the body is not here: it was lost, or its epoch is over.
  Body* Find(uint64_t hash);
  std::span<const uint64_t> Addresses(const Body& body) const;

  // True once the bodies of `epoch` fill half a generation; false while there are none of it yet.
  bool WantsTurn(uint32_t epoch) const;
  // Of the newest bodies.
  uint32_t epoch() const { return generations_[newest_].epoch; }
  size_t max_words() const { return max_words_; }
  size_t max_bodies() const { return max_bodies_; }
  uint64_t refused() const { return refused_; }
  size_t bytes() const;

 private:
  struct Generation {
    uint32_t epoch = 0;
    std::vector<uint64_t> words;
    FlatMap<Body> bodies;
  };

  // Nullptr for an epoch that is over.
  Generation* GenerationOf(uint32_t epoch);

  size_t max_words_;
  size_t max_bodies_;
  Generation generations_[2];
  int newest_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace firetower::daemon
