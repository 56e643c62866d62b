// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/container/flat_map.h"
#include "daemon/capture/rounds/round.h"
#include "daemon/policy/selection.h"

namespace firetower::daemon {

// The stack bodies of two epochs, by hash. The kernel side sends a body once per epoch; later
// samples refer to it by its hash. A new epoch drops the bodies of the one before the last.
//
// Bounded by words and bodies per generation. Beyond a bound, stacks are counted as lost until the
// next epoch. Therefore the epoch must change when WantsTurn() returns true, at half the bound: the
// other half is for the bodies that are still in flight.
class StackStore {
 public:
  static constexpr size_t kMaxWords = 2u << 20;  // 16 MiB a generation
  static constexpr size_t kLeastWords = kMaxWords / 4;
  // Half of it holds all that can wait in eight rounds and their ring, if all of it is bodies (128
  // KiB per CPU).
  static constexpr size_t kWordsPerCpu = 256u << 10;
  // An entry takes about 50 bytes: as much as its words when stacks are 16 deep. The bound matters
  // when many processes live for one sample only.
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

  // Adds the bodies of a round.
  void Add(const Round& round);
  // Returns nullptr if the body is missing: it was lost, or its epoch is over.
  Body* Find(uint64_t hash);
  std::span<const uint64_t> Addresses(const Body& body) const;
  // Keeps a body for another epoch, because a sample that refers to it is still to come.
  void Keep(uint64_t hash);

  // Returns true when the bodies of `epoch` fill half a generation; false while there are none.
  bool WantsTurn(uint32_t epoch) const;
  // The epoch of the newest bodies.
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

  // Returns nullptr for an epoch that is over.
  Generation* GenerationOf(uint32_t epoch);
  // Adds a body of that many addresses. Returns nullptr if there is no room.
  Body* Insert(Generation& generation, uint64_t hash, size_t frames);

  size_t max_words_;
  size_t max_bodies_;
  Generation generations_[2];
  int newest_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace firetower::daemon
