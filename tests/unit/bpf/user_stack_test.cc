// SPDX-License-Identifier: Apache-2.0
// bpf/walk/user_stack.h against reads of each word by itself: two pages, and nothing beside them.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "bpf/walk/walk_state.h"

namespace firetower {
namespace {

constexpr uint64_t kBegin = 0x7ffd00001000;
constexpr uint64_t kBytes = 2 * FT_PAGE_BYTES;

struct Pages {
  std::vector<uint64_t> words;
  int reads = 0;
};

Pages& Memory() {
  static Pages pages;
  return pages;
}

int Probe(void* to, uint64_t size, uint64_t address) {
  ++Memory().reads;
  const uint64_t at = address - kBegin;  // wraps to a large number below it
  if (at >= kBytes || kBytes - at < size) return -1;
  std::memcpy(to, std::as_bytes(std::span(Memory().words)).data() + at, size);
  return 0;
}

}  // namespace
}  // namespace firetower

#define FT_PROBE_USER(to, size, address) ::firetower::Probe(to, size, address)

// The kernel side's integer conversions are its own.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "bpf/walk/user_stack.h"
#pragma GCC diagnostic pop

namespace firetower {
namespace {

using Words = std::vector<uint64_t>;

class UserStack : public ::testing::Test {
 protected:
  UserStack() {
    Memory() = {};
    for (uint64_t i = 0; i < kBytes / 8; ++i) Memory().words.push_back(i * 0x9e3779b97f4a7c15);
  }
  std::optional<Words> Read(uint32_t size, uint64_t address) {
    Words to(size / 8);
    if (read_user_stack(&window_, to.data(), size, address) != 0) return std::nullopt;
    return to;
  }
  static std::optional<Words> Alone(uint32_t size, uint64_t address) {
    Words to(size / 8);
    if (Probe(to.data(), size, address) != 0) return std::nullopt;
    return to;
  }

  stack_window window_{};
};

// From each place that a window may be in to each that may be read next, whole words or not.
TEST_F(UserStack, GivesWhatIsThereWhereverTheWindowIs) {
  for (const uint64_t middle : {kBegin, kBegin + FT_PAGE_BYTES, kBegin + kBytes}) {
    for (uint64_t first = middle - 160; first < middle + 160; first += 8) {
      for (uint64_t next = middle - 200; next < middle + 200; next += 4) {
        for (const uint32_t size : {8u, 16u}) {
          window_.bytes = 0;
          ASSERT_EQ(Read(8, first), Alone(8, first)) << first - middle;
          ASSERT_EQ(Read(size, next), Alone(size, next)) << first - middle << ' ' << next - middle;
        }
      }
    }
  }
}

TEST_F(UserStack, ReadsOnceForFramesThatLieTogether) {
  const uint64_t line = kBegin + 256;
  for (uint64_t at = 0; at < 128; at += 16) EXPECT_EQ(Read(16, line + at), Alone(16, line + at));
  EXPECT_EQ(Memory().reads, 8 + 1);
}

TEST_F(UserStack, AtTheEndsOfTheAddressSpaceThereIsNothing) {
  for (const uint64_t address :
       {uint64_t{0}, uint64_t{8}, ~uint64_t{7}, ~uint64_t{15}, ~uint64_t{0}}) {
    EXPECT_EQ(Read(8, kBegin), Alone(8, kBegin));
    EXPECT_FALSE(Read(8, address)) << address;
    EXPECT_FALSE(Read(16, address)) << address;
  }
}

}  // namespace
}  // namespace firetower
