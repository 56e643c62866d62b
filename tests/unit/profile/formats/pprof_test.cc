// SPDX-License-Identifier: Apache-2.0
#include "profile/pprof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/export.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;
using ::testing::HasSubstr;

Profile Rich() {
  StackBuilder stacks;
  ProfileBuilder& builder = stacks.builder();
  builder.meta().comments = {"node: n1", "container: shop/web"};
  builder.meta().doc_url = "https://example.org";
  // In the order that a file has.
  stacks.Add({"main"}, 1);
  stacks.Add({"main", "serve", "parse"}, 3, {{"thread", "worker"}});
  Line inlined[] = {{.function = builder.AddFunction("inner", "_inner", "a.cc"), .line = 7},
                    {.function = builder.AddFunction("outer", "_outer", "a.cc", 3), .line = 9}};
  uint32_t leaf = builder.AddLocation(stacks.mapping(), 0x400999, inlined);
  int64_t values[] = {1, 5};
  Label label = builder.NumberLabel("tid", -42, "id");
  builder.AddSample({&leaf, 1}, values, {&label, 1});
  return stacks.Build();
}

// A message by hand: field tags and lengths as the protobuf encoding document defines them.
std::string Field(int number, std::string_view bytes) {
  std::string out;
  out += static_cast<char>(number << 3 | 2);
  out += static_cast<char>(bytes.size());
  return out + std::string(bytes);
}
std::string Strings() { return Field(6, "") + Field(6, "cpu") + Field(6, "nanoseconds"); }
std::string OneType() { return Field(1, "\x08\x01\x10\x02"); }

std::string DecodeError(std::string_view bytes) {
  auto profile = DecodePprof(bytes);
  return profile ? "no error" : profile.error().message();
}

TEST(Pprof, ComesBackTheSame) {
  Profile profile = Rich();
  for (bool gzip : {true, false}) {
    std::string bytes = EncodePprof(profile, {.gzip = gzip});
    auto back = DecodePprof(bytes);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(back->meta(), profile.meta());
    EXPECT_EQ(ToJson(*back), ToJson(profile));
  }
}

TEST(Pprof, GivesTheSameBytesForTheSameProfile) {
  EXPECT_EQ(EncodePprof(Rich()), EncodePprof(Rich()));
}

TEST(Pprof, GivesCompressedBytesBackThatItWasGiven) {
  const Profile profile = Rich();
  std::string gz = EncodePprof(profile);
  auto back = DecodePprof(std::move(gz));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(ToJson(*back), ToJson(profile));
  EXPECT_TRUE(gz.empty());
}

TEST(Pprof, WritesTheEmptyProfile) {
  auto back = DecodePprof(EncodePprof(Profile()));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->sample_count(), 0u);
}

TEST(Pprof, NeverReadsAPrefixOfARawProfileAsTheWhole) {
  std::string whole = EncodePprof(Rich(), {.gzip = false});
  for (size_t length = 0; length < whole.size(); ++length) {
    auto profile = DecodePprof(std::string_view(whole).substr(0, length));
    // The texts stand last: without them the indices of what comes before lead nowhere.
    EXPECT_FALSE(profile) << length;
  }
  std::string gz = EncodePprof(Rich());
  for (size_t length = 0; length < gz.size(); ++length) {
    EXPECT_FALSE(DecodePprof(std::string_view(gz).substr(0, length))) << length;
  }
}

TEST(Pprof, ReadsAFileWrittenByHand) {
  std::string sample = "\x0a\x01\x05\x12\x01\x2a";                   // location 5, value 42
  std::string location = Field(4, std::string("\x08\x05\x18\x7f"));  // id 5, address 0x7f
  auto profile = DecodePprof(OneType() + Field(2, sample) + location + Strings());
  ASSERT_TRUE(profile) << profile.error().message();
  ASSERT_EQ(profile->sample_count(), 1u);
  EXPECT_EQ(profile->sample(0).values[0], 42);
  EXPECT_EQ(profile->location(profile->sample(0).locations[0]).address, 0x7fu);
  EXPECT_EQ(profile->sample_types()[0], (ValueType{"cpu", "nanoseconds"}));
}

TEST(Pprof, SaysWhatIsWrong) {
  std::string head = OneType() + Strings();
  EXPECT_THAT(DecodeError(""), HasSubstr("empty"));
  EXPECT_THAT(DecodeError("hello there"), HasSubstr("not a pprof profile"));
  EXPECT_THAT(DecodeError(Field(6, "cpu")), HasSubstr("string 0: the first one must be empty"));
  EXPECT_THAT(DecodeError(Field(1, "\x08\x09") + Strings()),
              HasSubstr("sample type 1: string index 9 is outside the table of 3"));
  EXPECT_THAT(DecodeError(head + Field(2, "\x0a\x01\x05\x12\x01\x2a")),
              HasSubstr("sample 1: location 5 does not exist"));
  EXPECT_THAT(DecodeError(head + Field(2, std::string("\x12\x02\x01\x02", 4))),
              HasSubstr("sample 1: 2 values for 1 sample types"));
  EXPECT_THAT(DecodeError(head + Field(4, "\x08\x01\x10\x03")),
              HasSubstr("location 1: mapping 3 does not exist"));
  EXPECT_THAT(DecodeError(head + Field(4, "\x08\x01\x22\x02\x08\x04")),
              HasSubstr("location 1: function 4 does not exist"));
  EXPECT_THAT(DecodeError(head + Field(5, "\x08\x01") + Field(5, "\x08\x01")),
              HasSubstr("function 2: id 1 is 0 or taken"));
  EXPECT_THAT(DecodeError(head + Field(3, "")), HasSubstr("mapping 1: id 0 is 0 or taken"));
  EXPECT_THAT(DecodeError(Strings() + Field(2, "\x12\x01\x2a")), HasSubstr("no sample types"));
}

// A frame of inlined calls, the inner one without a function, and one that has nothing else.
TEST(Pprof, ReadsLinesWithoutAFunctionAsFramesWithoutAName) {
  const std::string names = Strings() + Field(6, "main");
  const std::string function = Field(5, "\x08\x07\x10\x03");
  const std::string inlined =
      Field(4, std::string("\x08\x01\x18\x7f") + Field(4, "\x10\x21") + Field(4, "\x08\x07"));
  const std::string alone = Field(4, std::string("\x08\x02\x18\x10") + Field(4, ""));
  const std::string sample = Field(2, "\x0a\x02\x01\x02\x12\x01\x2a");
  const auto profile = DecodePprof(OneType() + sample + inlined + alone + function + names);
  ASSERT_TRUE(profile) << profile.error().message();
  for (const Profile& one : {*profile, *DecodePprof(EncodePprof(*profile))}) {
    EXPECT_EQ(ToFolded(one, 0), "0x10;main;0x7f 42\n");
    EXPECT_EQ(one.location(one.sample(0).locations[0]).lines[0].line, 0x21);
    EXPECT_EQ(one.function_count(), 2u);
  }
}

TEST(Pprof, HoldsItsLimits) {
  std::string bytes = EncodePprof(Rich());
  auto small = DecodePprof(bytes, {.max_inflated_bytes = 100});
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().code(), ErrorCode::kExhausted);
  auto few = DecodePprof(bytes, {.max_entries = 2});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().code(), ErrorCode::kExhausted);
}

}  // namespace
}  // namespace firetower::profile
