// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "profile/diff.h"
#include "profile/export.h"
#include "profile/import.h"
#include "profile/selector.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The example of speedscope's own wiki, "Importing from custom sources", in both forms: in a;b for
// 5, in a;b;c for 5, in a;b;d for 4.
constexpr std::string_view kFrames =
    R"("shared":{"frames":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]})";
constexpr std::string_view kSampled =
    R"({"type":"sampled","name":"simple.txt","unit":"none","startValue":0,"endValue":14,)"
    R"("samples":[[0,1,2],[0,1,2],[0,1,3],[0,1,2],[0,1]],"weights":[1,1,4,3,5]})";
constexpr std::string_view kEvented =
    R"({"type":"evented","name":"simple.txt","unit":"none","startValue":0,"endValue":14,"events":[)"
    R"({"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":0},{"type":"O","frame":2,"at":0},)"
    R"({"type":"C","frame":2,"at":2},{"type":"O","frame":3,"at":2},{"type":"C","frame":3,"at":6},)"
    R"({"type":"O","frame":2,"at":6},{"type":"C","frame":2,"at":9},{"type":"C","frame":1,"at":14},)"
    R"({"type":"C","frame":0,"at":14}]})";

std::string File(std::string_view profiles, std::string_view frames = kFrames) {
  return R"({"version":"0.0.1","$schema":"https://www.speedscope.app/file-format-schema.json",)" +
         std::string(frames) + R"(,"profiles":[)" + std::string(profiles) + "]}";
}
// One sampled profile with those members.
std::string Sampled(std::string_view unit, std::string_view samples, std::string_view weights) {
  return File(R"({"type":"sampled","name":"p","unit":")" + std::string(unit) +
              R"(","startValue":0,"endValue":1,"samples":)" + std::string(samples) +
              R"(,"weights":)" + std::string(weights) + "}");
}
std::string Evented(std::string_view events) {
  return File(
      R"({"type":"evented","name":"p","unit":"none","startValue":0,"endValue":1,"events":)" +
      std::string(events) + "}");
}

std::string ErrorOf(std::string_view text) {
  auto profile = DecodeSpeedscope(text);
  return profile ? "no error" : profile.error().message();
}

TEST(SpeedscopeDecode, ReadsSampledAndEventedAlike) {
  for (std::string_view form : {kSampled, kEvented}) {
    auto profile = DecodeSpeedscope(File(form));
    ASSERT_TRUE(profile) << profile.error().message();
    EXPECT_THAT(profile->sample_types(), ElementsAre(ValueType{"samples", "count"}));
    EXPECT_EQ(ToFolded(*profile, 0), "a;b 5\na;b;c 5\na;b;d 4\n");
  }
}

TEST(SpeedscopeDecode, TakesMembersInAnyOrderAndPassesOverOthers) {
  std::string text = R"({"profiles":[)" + std::string(kSampled) +
                     R"(],"extra":[{"frames":[1,{}]},null,true],)" + std::string(kFrames) + "}";
  auto profile = DecodeSpeedscope(text);
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile->Total(0), 14);
}

TEST(SpeedscopeDecode, ScalesUnitsToWholeOnes) {
  struct Row {
    const char* unit;
    const char* weight;
    int64_t value;
    ValueType type;
  } rows[] = {
      {"seconds", "0.25", 250'000'000, {"time", "nanoseconds"}},
      {"milliseconds", "3", 3'000'000, {"time", "nanoseconds"}},
      {"microseconds", "1.5", 1'500, {"time", "nanoseconds"}},
      {"nanoseconds", "9007199254740993", 9007199254740993, {"time", "nanoseconds"}},
      {"bytes", "4096", 4096, {"space", "bytes"}},
      {"none", "7", 7, {"samples", "count"}},
  };
  for (const Row& row : rows) {
    auto profile =
        DecodeSpeedscope(Sampled(row.unit, "[[0]]", std::string("[") + row.weight + "]"));
    ASSERT_TRUE(profile) << row.unit << profile.error().message();
    EXPECT_EQ(profile->Total(0), row.value) << row.unit;
    EXPECT_THAT(profile->sample_types(), ElementsAre(row.type));
  }
}

TEST(SpeedscopeDecode, TellsSeveralProfilesApartByALabel) {
  std::string one(kSampled);
  std::string two(kEvented);
  two.replace(two.find("simple.txt"), 10, "thread 2");
  auto profile = DecodeSpeedscope(File(one + "," + two));
  ASSERT_TRUE(profile);
  EXPECT_EQ(ToFolded(*profile, 0), "a;b 10\na;b;c 10\na;b;d 8\n");
  auto first = FilterSamples(*profile, *Selector::Parse("{profile=\"simple.txt\"}"));
  EXPECT_EQ(first.Total(0), 14);
  auto second = FilterSamples(*profile, *Selector::Parse("{profile=\"thread 2\"}"));
  EXPECT_EQ(second.Total(0), 14);
}

TEST(SpeedscopeDecode, SaysWhereItIsWrong) {
  struct Row {
    std::string text;
    const char* says;
  } rows[] = {
      {"", "speedscope: "},
      {"[1]", "must be an object"},
      {"{}", "no list 'shared.frames'"},
      {"{" + std::string(kFrames) + "}", "no list 'profiles'"},
      {R"({"profiles":{}})", "profiles must be a list"},
      {R"({"shared":[]})", "shared must be an object"},
      {R"({"shared":{"frames":[7]}})", "frames: holds a number"},
      {R"({"shared":{"frames":[{"file":"x"}]}})", "frame 1: has no name"},
      {File(R"({"type":"other","unit":"none"})"), "profile 1: its type must be sampled or evented"},
      {Sampled("hours", "[]", "[]"), "profile 1: its unit must be none"},
      {Sampled("none", "[[0],[1]]", "[1]"), "profile 1: 1 weights for 2 samples"},
      {Sampled("none", "[[0],[4]]", "[1,1]"), "profile 1, sample 2: frame 4 is not one of the 4"},
      {Sampled("none", "[[0.5]]", "[1]"), "sample 1: a frame is a whole number"},
      {Sampled("none", "[[-1]]", "[1]"), "a frame is a whole number"},
      {Sampled("none", "[[[0]]]", "[1]"), "sample 1: holds a list"},
      {Sampled("none", "[[0]]", "[null]"), "weight 1: holds null"},
      {Sampled("none", "[[0]]", "[1e300]"), "sample 1: the weight does not fit"},
      {Sampled("seconds", "[[0]]", "[9223372036854775807]"), "does not fit in 64 bits"},
      {Evented(R"([{"type":"C","frame":0,"at":0}])"), "event 1: leaves frame 0"},
      {Evented(R"([{"type":"O","frame":0,"at":0}])"), "leaves 1 frames open"},
      {Evented(R"([{"type":"O","frame":0,"at":5},{"type":"C","frame":0,"at":4}])"),
       "event 2: is before the last one"},
      {Evented(R"([{"type":"O","frame":9,"at":0}])"), "event 1: frame 9 is not one of the 4"},
      {Evented(R"([{"type":"X","frame":0,"at":0}])"), "event 1: must have a type"},
      {Evented(R"([{"type":"O","frame":0}])"), "event 1: must have a type"},
  };
  for (const Row& row : rows) EXPECT_THAT(ErrorOf(row.text), HasSubstr(row.says)) << row.text;
}

TEST(SpeedscopeDecode, BoundsDepthAndEntries) {
  EXPECT_THAT(ErrorOf(R"({"a":)" + std::string(100'000, '[')), HasSubstr("more than 64 levels"));
  auto few = DecodeSpeedscope(File(kSampled), {.max_entries = 4});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().code(), ErrorCode::kExhausted);
  std::string events;
  for (int i = 0; i < 5000; ++i) events += R"({"type":"O","frame":0,"at":0},)";
  events.pop_back();
  EXPECT_THAT(ErrorOf(Evented("[" + events + "]")), HasSubstr("frames deep"));
}

TEST(SpeedscopeDecode, RefusesEveryPrefix) {
  const std::string whole = File(std::string(kSampled) + "," + std::string(kEvented));
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(DecodeSpeedscope(std::string_view(whole).substr(0, length))) << length;
  }
}

// The members that the schema requires (www.speedscope.app/file-format-schema.json).
TEST(SpeedscopeEncode, WritesWhatTheSchemaAsksFor) {
  Profile profile =
      StackBuilder().Add({"main", "a\"b\n"}, 3, {{"thread", "x"}}).Add({"main"}, 2).Build();
  auto text = EncodeSpeedscope(profile);
  ASSERT_TRUE(text);
  auto json = nlohmann::json::parse(*text);
  EXPECT_EQ(json["$schema"], "https://www.speedscope.app/file-format-schema.json");
  EXPECT_EQ(json["activeProfileIndex"], 1);
  EXPECT_THAT(json["exporter"].get<std::string>(), HasSubstr("firetower@"));
  ASSERT_EQ(json["profiles"].size(), 2u);
  const auto& cpu = json["profiles"][1];
  EXPECT_EQ(cpu["type"], "sampled");
  EXPECT_EQ(cpu["name"], "cpu/nanoseconds");
  EXPECT_EQ(cpu["unit"], "nanoseconds");
  EXPECT_EQ(cpu["startValue"], 0);
  EXPECT_EQ(cpu["endValue"], 50'000'000);
  EXPECT_EQ(json["profiles"][0]["unit"], "none");
  EXPECT_EQ(cpu["weights"], nlohmann::json({30'000'000, 20'000'000}));
  const auto& frames = json["shared"]["frames"];
  const auto& stack = cpu["samples"][0];
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(frames[stack[0].get<size_t>()]["name"], "main");  // root first
  EXPECT_EQ(frames[stack[1].get<size_t>()]["name"], "a\"b\n");
}

TEST(SpeedscopeEncode, RefusesADifference) {
  Profile before = StackBuilder().Add({"main"}, 3).Build();
  Profile after = StackBuilder().Add({"main"}, 2).Build();
  auto diff = Diff(before, after);
  ASSERT_TRUE(diff);
  auto text = EncodeSpeedscope(*diff);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code(), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace firetower::profile
