// SPDX-License-Identifier: Apache-2.0
#include "profile/flame/flame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "profile/flame/label.h"
#include "profile/flame/levels_json.h"
#include "profile/flame/xml_text.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// A minute at 100 Hz: a sample is 10 ms.
Profile Shop() {
  return StackBuilder().Add({"main", "serve", "parse"}, 60).Add({"main", "idle"}, 15).Build();
}

Flame Make(const Profile& profile, const FlameOptions& options = {}) {
  auto flame = MakeFlame(profile, options);
  EXPECT_TRUE(flame) << flame.error().message();
  return *std::move(flame);
}

TEST(MakeFlame, TakesTheValueThatIsAskedFor) {
  Flame cpu = Make(Shop());
  EXPECT_EQ(cpu.levels.total(), 750'000'000);
  EXPECT_EQ(cpu.info.value, (ValueType{"cpu", "nanoseconds"}));
  // 0.75 s in 60 s.
  EXPECT_DOUBLE_EQ(CoresOf(cpu.info, 750'000'000), 0.0125);
  EXPECT_EQ(cpu.info.to_ms - cpu.info.from_ms, 60'000);
  Flame samples = Make(Shop(), {.sample_type = "samples"});
  EXPECT_EQ(samples.levels.total(), 75);
  EXPECT_EQ(CoresOf(samples.info, 75), 0);
  auto wrong = MakeFlame(Shop(), {.sample_type = "inuse_space"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(wrong.error().message(), HasSubstr("it has samples, cpu"));
}

TEST(ColorOf, IsOneForABinaryWhereverItLies) {
  FlameName here{.text = "malloc", .module = "/lib/x86_64-linux-gnu/libc.so.6"};
  FlameName there{.text = "free", .module = "/usr/lib/libc.so.6"};
  FlameName kernel{.text = "free", .module = "/usr/lib/libc.so.6", .kind = FrameKind::kKernel};
  EXPECT_EQ(ColorOf(here), ColorOf(there));
  EXPECT_NE(ColorOf(here), ColorOf(kernel));
}

// WCAG 2's contrast of two colours.
double Contrast(uint32_t a, uint32_t b) {
  auto luminance = [](uint32_t color) {
    double sum = 0;
    const double weights[] = {0.2126, 0.7152, 0.0722};
    for (int i = 0; i < 3; ++i) {
      double c = static_cast<double>((color >> (16 - 8 * i)) & 0xff) / 255;
      sum += weights[i] * (c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
  };
  auto [low, high] = std::minmax({luminance(a), luminance(b)});
  return (high + 0.05) / (low + 0.05);
}

TEST(ColorOf, LetsItsTextBeRead) {
  for (int i = 0; i < 500; ++i) {
    FlameName name{.text = "f", .module = "/lib/" + std::to_string(i)};
    EXPECT_GE(Contrast(ColorOf(name), 0x1a1a1a), 4.5);
  }
}

TEST(FlameLevelsJson, HasPyroscopesBars) {
  Json json = Json::parse(FlameLevelsJson(Make(Shop(), {.sample_type = "samples"}), "cpu"));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["type"], "cpu");
  EXPECT_EQ(json["value"], "samples");
  EXPECT_EQ(json["unit"], "count");
  EXPECT_EQ(json["total"], 75);
  EXPECT_EQ(json["from_ms"], 1'700'000'000'000);
  EXPECT_EQ(json["names"][0], "total");
  ASSERT_EQ(json["levels"].size(), 4u);
  auto level = [&](size_t i) { return json["levels"][i].get<std::vector<int64_t>>(); };
  auto name = [&](int64_t id) { return json["names"][static_cast<size_t>(id)]; };
  EXPECT_THAT(level(0), ElementsAre(0, 75, 0, 0));
  EXPECT_THAT(level(1), ElementsAre(0, 75, 0, 1));
  // idle from 0 on for 15, then serve for 60, next to it.
  auto two = level(2);
  ASSERT_EQ(two.size(), 8u);
  EXPECT_THAT(std::vector(two.begin(), two.begin() + 3), ElementsAre(0, 15, 15));
  EXPECT_EQ(name(two[3]), "idle");
  EXPECT_THAT(std::vector(two.begin() + 4, two.begin() + 7), ElementsAre(0, 60, 0));
  EXPECT_EQ(name(two[7]), "serve");
  // parse begins 15 to the right of its level's left edge.
  auto three = level(3);
  EXPECT_THAT(std::vector(three.begin(), three.begin() + 3), ElementsAre(15, 60, 60));
  EXPECT_EQ(json["kinds"], "40000");
  EXPECT_EQ(json["modules"], (Json{"", "/usr/bin/app"}));
  EXPECT_EQ(json["name_modules"], (Json{0, 1, 1, 1, 1}));
}

TEST(FlameLevelsJson, OfADiffHasSevenNumbersABar) {
  FlameTreeBuilder builder(NameDetail::kFull);
  ASSERT_TRUE(builder.Add(StackBuilder().Add({"a"}, 5).Build(), 0, FlameTreeBuilder::Side::kLeft));
  ASSERT_TRUE(builder.Add(StackBuilder().Add({"b"}, 2).Build(), 0));
  Flame flame;
  flame.levels = LayOutFlame(std::move(builder).Build(), {}, SiblingOrder::kName);
  Json json = Json::parse(FlameLevelsJson(flame, ""));
  EXPECT_EQ(json["levels"],
            (Json{{0, 5, 0, 0, 2, 0, 0}, {0, 5, 5, 0, 0, 0, 1, 0, 0, 0, 0, 2, 2, 2}}));
  Json rows = Json::parse(FlameRowsJson(flame, ""))["rows"];
  EXPECT_EQ(rows[2], (Json{{"level", 1},
                           {"value", 0},
                           {"self", 0},
                           {"valueRight", 2},
                           {"selfRight", 2},
                           {"label", "b"}}));
}

TEST(FlameRowsJson, GoesDepthFirst) {
  Json json = Json::parse(FlameRowsJson(Make(Shop(), {.sample_type = "samples"}), "cpu"));
  std::vector<std::string> rows;
  for (const Json& row : json["rows"]) {
    rows.push_back(row["level"].dump() + " " + row["label"].get<std::string>() + " " +
                   row["value"].dump() + " " + row["self"].dump());
  }
  EXPECT_THAT(rows, ElementsAre("0 total 75 0", "1 main 75 0", "2 idle 15 15", "2 serve 60 0",
                                "3 parse 60 60"));
}

TEST(FlameJson, IsValidWhateverNamesHold) {
  std::string every;
  for (int c = 1; c < 256; ++c) every += static_cast<char>(c);
  Flame flame =
      Make(StackBuilder().Add({"</script>", every, "\"};alert(1)//"}, 1).Build(), {.title = every});
  EXPECT_TRUE(Json::accept(FlameLevelsJson(flame, every)));
  Json rows = Json::parse(FlameRowsJson(flame, every));
  EXPECT_EQ(rows["rows"][1]["label"], "</script>");
}

TEST(XmlText, EscapesAndReplaces) {
  EXPECT_EQ(XmlText("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(XmlText("tab\tand\nline"), "tab and line");
  EXPECT_EQ(XmlText("\x01\x1f\xff"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(XmlText("x\xEF\xBF\xBEy\xEF\xBF\xBFz"), "x\xEF\xBF\xBDy\xEF\xBF\xBDz");
  EXPECT_EQ(XmlText("\xC3\xA9\xE2\x82\xAC"), "\xC3\xA9\xE2\x82\xAC");
}

TEST(LabelFor, StepsDownBeforeItCuts) {
  const std::string name = "search::PostingList::Intersect<search::BlockMax>";
  EXPECT_EQ(LabelFor(name, 48), name);
  EXPECT_EQ(LabelFor(name, 47), "PostingList::Intersect<search::BlockMax>");
  EXPECT_EQ(LabelFor(name, 39), "Intersect<search::BlockMax>");
  EXPECT_EQ(LabelFor(name, 20), "Intersect");
  EXPECT_EQ(LabelFor(name, 8), "Interse\xE2\x80\xA6");
  EXPECT_EQ(LabelFor(name, 5), "Inte\xE2\x80\xA6");
  EXPECT_EQ(LabelFor(name, 4), "");
  EXPECT_EQ(LabelFor("clone3", 0), "");
  // Parameters and template arguments have no scopes of the function.
  EXPECT_EQ(LabelFor("Run(std::string)", 15), "Run(std::strin\xE2\x80\xA6");
  EXPECT_EQ(LabelFor("a::f<b::c>", 8), "f<b::c>");
}

TEST(CutEnd, KeepsWholeCharactersAndNothingThatSaysNothing) {
  EXPECT_EQ(CutEnd("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(CutEnd("abcdefgh", 7), "abcdef\xE2\x80\xA6");
  EXPECT_EQ(CutEnd("abcdefgh", 4), "");
  EXPECT_EQ(CutEnd("[-.+]abcd", 7), "");
  // "éüöäßé" of two bytes each.
  EXPECT_EQ(CutEnd("\xC3\xA9\xC3\xBC\xC3\xB6\xC3\xA4\xC3\x9F\xC3\xA9", 5),
            "\xC3\xA9\xC3\xBC\xC3\xB6\xC3\xA4\xE2\x80\xA6");
}

TEST(ColorOf, IsTheTokenOfThePages) {
  auto css = ReadFile(FIRETOWER_SOURCE_DIR "/web/tokens.css", 1 << 20);
  ASSERT_TRUE(css) << css.error().message();
  const std::string light = css->substr(0, css->find("@media (prefers-color-scheme: dark)"));
  const auto token = [&](const std::string& name) {
    const size_t at = light.find("--" + name + ": #");
    EXPECT_NE(at, std::string::npos) << name;
    return static_cast<uint32_t>(std::stoul(light.substr(at + name.size() + 5, 6), nullptr, 16));
  };
  EXPECT_EQ(ColorOf({.text = "f", .module = "[kernel]", .kind = FrameKind::kKernel}),
            token("frame-kernel"));
  EXPECT_EQ(ColorOf({.text = "total", .kind = FrameKind::kTotal}), token("frame-root"));
  EXPECT_EQ(ColorOf({.text = "f"}), token("frame-unknown"));
  // FNV-1a of "a" is 0xe40c292c, by its authors' test vectors, which is 4 modulo 24.
  EXPECT_EQ(ColorOf({.text = "f", .module = "/bin/a"}), token("module-4"));
}

}  // namespace
}  // namespace firetower::profile
