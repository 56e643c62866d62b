// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/gzip_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "profile/codec/gzip.h"

namespace firetower::profile {
namespace {

// Some of it compresses well, some not at all.
std::string Mixed(size_t bytes) {
  std::mt19937 random(7);
  std::string text;
  while (text.size() < bytes) {
    if (random() % 2 == 0) {
      text.append(random() % 300, 'x');
    } else {
      for (auto i = random() % 300; i > 0; --i) text += static_cast<char>(random());
    }
  }
  text.resize(bytes);
  return text;
}

std::string InPieces(std::string_view text, size_t piece) {
  GzipWriter writer;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    writer.Append(text.substr(0, piece));
  }
  return std::move(writer).Finish();
}

// libdeflate, another library, inflates and checks the length and the checksum.
TEST(GzipWriter, WhatComesInPiecesIsOneMember) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{4095}, size_t{70'000}, size_t{3} << 20}) {
    const std::string text = Mixed(bytes);
    for (const size_t piece : {size_t{1} << 30, size_t{65'536}, size_t{1001}, size_t{13}}) {
      auto back = GzipDecompress(InPieces(text, piece), bytes + 1);
      ASSERT_TRUE(back) << bytes << " in " << piece << ": " << back.error().message();
      EXPECT_TRUE(*back == text) << bytes << " in " << piece;
    }
  }
}

TEST(GzipWriter, EmptyPiecesChangeNothing) {
  GzipWriter writer;
  writer.Append("");
  writer.Append("a stack");
  writer.Append("");
  EXPECT_EQ(GzipDecompress(std::move(writer).Finish(), 100).value(), "a stack");
}

TEST(GzipWriter, GivesTheSameBytesEachTime) {
  const std::string text = Mixed(200'000);
  EXPECT_EQ(InPieces(text, 10'000), InPieces(text, 10'000));
}

TEST(GzipWriter, MakesTextSmaller) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "module::Class::Method" + std::to_string(i);
  EXPECT_LT(InPieces(text, 65'536).size(), text.size() / 4);
}

}  // namespace
}  // namespace firetower::profile
