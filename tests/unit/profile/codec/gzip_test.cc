// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/gzip.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/support/command.h"

namespace firetower::profile {
namespace {

TEST(Gzip, IsReadByGzip) {
  if (!testing::HaveCommand("gzip")) GTEST_SKIP() << "Gzip.IsReadByGzip: no gzip on PATH";
  testing::ScratchFolder folder;
  std::string path = folder.path() + "/x.gz";
  ASSERT_TRUE(WriteFileAtomic(path, GzipCompress("hello stacks", 1)));
  EXPECT_EQ(testing::RunCommand("gzip -dc " + path).output, "hello stacks");
}

TEST(Gzip, GivesTheSameBytesEachTime) {
  std::string text(100'000, 'x');
  EXPECT_EQ(GzipCompress(text, 1), GzipCompress(text, 1));
}

TEST(Gzip, ReadsSeveralMembers) {
  std::string two = GzipCompress("one ", 1) + GzipCompress("two", 1);
  auto text = GzipDecompress(two, 100);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, "one two");
}

TEST(Gzip, TellsBytesBehindItFromACut) {
  const std::string whole = GzipCompress("hello stacks", 1);
  for (const size_t size : {1u, 17u, 100u}) {
    const auto more = GzipDecompress(whole + std::string(size, 'x'), 100);
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().message(), std::to_string(size) +
                                          " bytes that are none of its own follow the gzip data: "
                                          "cut them off");
  }
  const auto cut = GzipDecompress(whole.substr(0, 15), 100);
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().message().find("cut off"), std::string::npos);
}

TEST(Gzip, StopsABombAtTheLimit) {
  std::string bomb = GzipCompress(std::string(50 << 20, '\0'), 9);
  ASSERT_LT(bomb.size(), 100u << 10);
  auto text = GzipDecompress(bomb, 1 << 20);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code(), ErrorCode::kExhausted);
  EXPECT_NE(text.error().message().find("1048576"), std::string::npos) << text.error().message();
}

TEST(Gzip, RefusesEveryPrefix) {
  std::string whole = GzipCompress("the quick brown fox jumps over the lazy dog", 1);
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(GzipDecompress(whole.substr(0, length), 1 << 20)) << length;
  }
}

TEST(Gzip, RefusesEachFlippedChecksum) {
  std::string whole = GzipCompress("checksummed", 1);
  for (size_t at = whole.size() - 8; at < whole.size(); ++at) {
    std::string broken = whole;
    broken[at] = static_cast<char>(broken[at] ^ 1);
    EXPECT_FALSE(GzipDecompress(broken, 1 << 20)) << at;
  }
}

}  // namespace
}  // namespace firetower::profile
