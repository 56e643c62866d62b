// SPDX-License-Identifier: Apache-2.0
#include "k8s/watch/json_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace firetower::k8s {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Collector : FrameHandler {
  bool OnFrame(std::string_view json) override {
    frames.emplace_back(json);
    return frames.size() < enough;
  }
  bool OnSkipped(size_t bytes) override {
    skipped.push_back(bytes);
    return true;
  }
  std::vector<std::string> frames;
  std::vector<size_t> skipped;
  size_t enough = 1000;
};

// Brackets and quotes within strings, nested "items", blanks: all that misleads who only counts.
constexpr std::string_view kList =
    R"({"kind":"PodList","metadata":{"resourceVersion":"7","items":[{"no":1}]}, "items" : [ )"
    R"({"a":"}]\"{"}, {"items":[{"b":[1,{}]}]},{"c":"\\"} ],"apiVersion":"v1"})";
constexpr std::string_view kWatch =
    "{\"type\":\"ADDED\",\"object\":{\"x\":\"{\"}}\n{\"type\":\"BOOKMARK\",\"object\":{}}\n";

TEST(JsonFrames, CutsAListIntoItsItems) {
  Collector collector;
  JsonFrames frames(FrameMode::kList, 1000, collector);
  EXPECT_TRUE(frames.Feed(kList));
  EXPECT_TRUE(frames.Finish());
  EXPECT_THAT(collector.frames,
              ElementsAre(R"({"a":"}]\"{"})", R"({"items":[{"b":[1,{}]}]})", R"({"c":"\\"})"));
  EXPECT_EQ(
      frames.envelope(),
      R"({"kind":"PodList","metadata":{"resourceVersion":"7","items":[{"no":1}]}, "items" : [],)"
      R"("apiVersion":"v1"})");
}

TEST(JsonFrames, CutsAWatchIntoItsEvents) {
  Collector collector;
  JsonFrames frames(FrameMode::kWatch, 1000, collector);
  EXPECT_TRUE(frames.Feed(kWatch));
  EXPECT_TRUE(frames.Finish());
  EXPECT_THAT(collector.frames, ElementsAre(R"({"type":"ADDED","object":{"x":"{"}})",
                                            R"({"type":"BOOKMARK","object":{}})"));
}

TEST(JsonFrames, DoesNotCareHowTheBytesArrive) {
  for (const auto& [mode, text] :
       {std::pair(FrameMode::kList, kList), std::pair(FrameMode::kWatch, kWatch)}) {
    Collector whole;
    JsonFrames(mode, 1000, whole).Feed(text);
    for (size_t cut = 0; cut <= text.size(); ++cut) {
      Collector collector;
      JsonFrames frames(mode, 1000, collector);
      EXPECT_TRUE(frames.Feed(text.substr(0, cut)));
      EXPECT_TRUE(frames.Feed(text.substr(cut)));
      EXPECT_TRUE(frames.Finish());
      EXPECT_EQ(collector.frames, whole.frames) << cut;
    }
  }
}

TEST(JsonFrames, EveryPrefixOfAListIsCut) {
  for (size_t size = 0; size < kList.size(); ++size) {
    Collector collector;
    JsonFrames frames(FrameMode::kList, 1000, collector);
    EXPECT_TRUE(frames.Feed(kList.substr(0, size)));
    EXPECT_EQ(frames.Finish().error().code(), ErrorCode::kCorrupt) << size;
  }
}

TEST(JsonFrames, AWatchMayOnlyEndBetweenEvents) {
  const size_t first = kWatch.find('\n');
  for (size_t size = 0; size < kWatch.size(); ++size) {
    Collector collector;
    JsonFrames frames(FrameMode::kWatch, 1000, collector);
    EXPECT_TRUE(frames.Feed(kWatch.substr(0, size)));
    const bool between =
        size == 0 || size == first || size == first + 1 || size == kWatch.size() - 1;
    EXPECT_EQ(frames.Finish().has_value(), between) << size;
  }
}

TEST(JsonFrames, LeavesOutWhatIsTooLongAndGoesOn) {
  Collector collector;
  JsonFrames frames(FrameMode::kWatch, 20, collector);
  EXPECT_TRUE(frames.Feed(R"({"a":1}{"b":"0123456789012345678901234567890"}{"c":2})"));
  EXPECT_THAT(collector.frames, ElementsAre(R"({"a":1})", R"({"c":2})"));
  EXPECT_THAT(collector.skipped, ElementsAre(39u));
}

TEST(JsonFrames, StopsWhenTheHandlerHasEnough) {
  Collector collector;
  collector.enough = 1;
  JsonFrames frames(FrameMode::kWatch, 1000, collector);
  EXPECT_FALSE(frames.Feed("{}{}{}"));
  EXPECT_EQ(collector.frames.size(), 1u);
  EXPECT_EQ(frames.status().error().code(), ErrorCode::kExhausted);
}

TEST(JsonFrames, RefusesWhatIsNeitherListNorWatch) {
  for (const std::string_view text :
       {"[", "x", "\"a\"", "}", R"({"items":[1]})", R"({"items":[[]]})", R"({"items":["a"]})",
        "{}{}", "<html>"}) {
    Collector collector;
    JsonFrames frames(FrameMode::kList, 1000, collector);
    frames.Feed(text);
    ASSERT_FALSE(frames.Finish()) << text;
    EXPECT_EQ(frames.Finish().error().code(), ErrorCode::kCorrupt) << text;
  }
}

TEST(JsonFrames, TakesAnEmptyListAndNull) {
  for (const std::string_view text : {R"({"metadata":{},"items":[]})", R"({"items":null})"}) {
    Collector collector;
    JsonFrames frames(FrameMode::kList, 1000, collector);
    EXPECT_TRUE(frames.Feed(text));
    EXPECT_TRUE(frames.Finish());
    EXPECT_THAT(collector.frames, IsEmpty());
    EXPECT_EQ(frames.envelope(), text);
  }
}

TEST(JsonFrames, BoundsTheEnvelopeAndTheDepth) {
  Collector collector;
  JsonFrames frames(FrameMode::kList, 1000, collector);
  EXPECT_TRUE(frames.Feed(R"({"metadata":")"));
  EXPECT_FALSE(frames.Feed(std::string(JsonFrames::kMaxEnvelopeBytes, 'x')));
  JsonFrames deep(FrameMode::kWatch, 1000, collector);
  EXPECT_TRUE(deep.Feed("{\"a\":"));
  EXPECT_FALSE(deep.Feed(std::string(JsonFrames::kMaxDepth, '[')));
}

}  // namespace
}  // namespace firetower::k8s
