// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/frame_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/symbolizer/support/row_list.h"

namespace firetower::symbolizer {
namespace {

constexpr uint64_t kSkipped = 1000;  // bytes of the file before the part

// Counts what is read, and can fail.
class CountingSource : public RandomAccess {
 public:
  explicit CountingSource(size_t size) : bytes_(size) {
    std::mt19937 random(1);
    for (std::byte& byte : bytes_) byte = static_cast<std::byte>(random());
  }
  uint64_t size() const override { return bytes_.size(); }
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const override {
    if (fails) return Error(ErrorCode::kCorrupt, "fails");
    read_bytes += out.size();
    return MemorySource(bytes_).ReadAt(offset, out);
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  mutable uint64_t read_bytes = 0;
  bool fails = false;

 private:
  std::vector<std::byte> bytes_;
};

TEST(FrameBytes, ReadsAnyPlaceOfAPartLargerThanItKeeps) {
  CountingSource source(kSkipped + (9u << 20) + 123);
  const uint64_t size = source.size() - kSkipped;
  FrameBytes bytes(source, kSkipped, size);
  std::mt19937 random(2);
  for (int i = 0; i < 3000; ++i) {
    const uint64_t offset = random() % (size + 100);
    const size_t length = i % 10 == 0 ? random() % FrameBytes::kMaxLength : random() % 300;
    auto got = bytes.Get(offset, length);
    const uint64_t expected = offset < size ? std::min<uint64_t>(length, size - offset) : 0;
    ASSERT_EQ(got.size(), expected);
    ASSERT_TRUE(std::equal(got.begin(), got.end(),
                           source.bytes().begin() + static_cast<ptrdiff_t>(kSkipped + offset)));
  }
  EXPECT_TRUE(bytes.status());
}

TEST(FrameBytes, ReadsEachByteOfASmallPartOnce) {
  CountingSource source(kSkipped + 300'000);
  FrameBytes bytes(source, kSkipped, 300'000);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t offset = 0; offset < 300'000; offset += 50) bytes.Get(offset, 100);
  }
  EXPECT_EQ(source.read_bytes, 300'000u);
}

TEST(FrameBytes, RemembersAFailure) {
  CountingSource source(kSkipped + 300'000);
  FrameBytes bytes(source, kSkipped, 300'000);
  EXPECT_EQ(bytes.Get(0, 10).size(), 10u);
  source.fails = true;
  EXPECT_TRUE(bytes.Get(100'000, 10).empty());
  EXPECT_EQ(bytes.status().error().code(), ErrorCode::kCorrupt);
  source.fails = false;
  EXPECT_TRUE(bytes.Get(0, 10).empty());
}

TEST(FrameBytes, HasNothingOfAnEmptyPart) {
  CountingSource source(10);
  FrameBytes bytes(source, 10, 0);
  EXPECT_TRUE(bytes.Get(0, 10).empty());
  EXPECT_TRUE(bytes.status());
}

}  // namespace
}  // namespace firetower::symbolizer
