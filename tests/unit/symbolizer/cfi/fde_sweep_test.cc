// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/fde_sweep.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

namespace firetower::symbolizer {
namespace {

struct Stretch {
  uint64_t begin;
  uint64_t end;
  uint32_t rank;
  bool operator==(const Stretch&) const = default;
};

std::vector<Stretch> Sweep(std::vector<FdeRange> fdes, uint64_t* given_up = nullptr) {
  FdeSweep sweep(std::move(fdes));
  std::vector<Stretch> stretches;
  FdePiece piece;
  while (sweep.Next(piece)) {
    stretches.push_back({piece.begin_elf_vaddr, piece.end_elf_vaddr, piece.fde.rank});
  }
  if (given_up != nullptr) *given_up = sweep.given_up();
  return stretches;
}

TEST(FdeSweep, SortsByAddress) {
  EXPECT_EQ(Sweep({}), std::vector<Stretch>{});
  EXPECT_EQ(Sweep({{30, 5, 0}, {10, 5, 1}, {20, 5, 2}}),
            (std::vector<Stretch>{{10, 15, 1}, {20, 25, 2}, {30, 35, 0}}));
}

TEST(FdeSweep, GivesAnAddressToTheFirstInTheFile) {
  EXPECT_EQ(Sweep({{10, 10, 0}, {10, 10, 1}}), (std::vector<Stretch>{{10, 20, 0}}));
  EXPECT_EQ(Sweep({{15, 10, 0}, {10, 20, 1}}),
            (std::vector<Stretch>{{10, 15, 1}, {15, 25, 0}, {25, 30, 1}}));
  EXPECT_EQ(Sweep({{10, 20, 0}, {15, 10, 1}, {25, 10, 2}}),
            (std::vector<Stretch>{{10, 30, 0}, {30, 35, 2}}));
}

TEST(FdeSweep, ReachesTheLastAddress) {
  EXPECT_EQ(Sweep({{UINT64_MAX - 16, 16, 0}}),
            (std::vector<Stretch>{{UINT64_MAX - 16, UINT64_MAX, 0}}));
}

TEST(FdeSweep, GivesUpAnFdeThatIsCutTooOften) {
  std::vector<FdeRange> fdes;
  for (uint32_t i = 0; i < 20; ++i) fdes.push_back({100 + 10 * i, 5, i});
  fdes.push_back({90, 1000, 20});
  uint64_t given_up = 0;
  size_t pieces = 0;
  for (const Stretch& stretch : Sweep(fdes, &given_up)) pieces += stretch.rank == 20;
  EXPECT_EQ(pieces, FdeSweep::kMaxPieces);
  EXPECT_EQ(given_up, 1u);
}

// Against the definition: at each address, the lowest rank of all that cover it.
TEST(FdeSweep, AgreesWithTheDefinition) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    constexpr uint64_t kSpace = 60;
    std::vector<FdeRange> fdes;
    for (uint32_t i = 0; i < 1 + random() % 9; ++i) {
      fdes.push_back({1 + random() % (kSpace - 1), 1 + static_cast<uint32_t>(random() % 20), i});
    }
    std::vector<std::optional<uint32_t>> swept(kSpace + 30);
    uint64_t last = 0;
    for (const Stretch& stretch : Sweep(fdes)) {
      ASSERT_LE(last, stretch.begin);
      ASSERT_LT(stretch.begin, stretch.end);
      last = stretch.end;
      for (uint64_t at = stretch.begin; at < stretch.end; ++at) swept[at] = stretch.rank;
    }
    for (uint64_t at = 0; at < swept.size(); ++at) {
      std::optional<uint32_t> best;
      for (const FdeRange& fde : fdes) {
        const bool covers = at >= fde.begin_elf_vaddr && at < fde.end_elf_vaddr();
        if (covers && (!best || fde.rank < *best)) best = fde.rank;
      }
      ASSERT_EQ(swept[at], best) << "round " << round << " at " << at;
    }
  }
}

}  // namespace
}  // namespace firetower::symbolizer
