// SPDX-License-Identifier: Apache-2.0
#include "profile/flame/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/support/command.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::HaveCommand;
using ::firetower::testing::RunCommand;
using ::firetower::testing::ScratchFolder;
using ::firetower::testing::StackBuilder;
using ::testing::HasSubstr;

struct Rect {
  std::string title;
  double x = 0;
  double y = 0;
  double width = 0;
};

std::vector<Rect> Rects(const std::string& svg) {
  const std::regex bar(
      R"re(<title>([^<]*)</title><rect x="([^"]*)" y="([^"]*)" width="([^"]*)")re");
  std::vector<Rect> rects;
  for (std::sregex_iterator at(svg.begin(), svg.end(), bar), end; at != end; ++at) {
    rects.push_back({(*at)[1], std::stod((*at)[2]), std::stod((*at)[3]), std::stod((*at)[4])});
  }
  return rects;
}

Profile Shop() {
  return StackBuilder().Add({"main", "serve"}, 75).Add({"main", "idle"}, 25).Build();
}

std::string Draw(const Profile& profile, const FlameOptions& options = {}) {
  auto svg = EncodeSvg(profile, options);
  EXPECT_TRUE(svg) << svg.error().message();
  return svg ? *svg : "";
}

TEST(EncodeSvg, BarsAreWhereTheirSharesPutThem) {
  // 1,020 pixels with a margin of 10 on both sides: a percent is ten.
  std::vector<Rect> rects = Rects(Draw(Shop(), {.svg_width_px = 1020}));
  ASSERT_EQ(rects.size(), 4u);
  EXPECT_EQ(rects[0].x, 10);
  EXPECT_EQ(rects[0].width, 1000);
  EXPECT_THAT(rects[2].title, HasSubstr("idle (app): 250.0ms, 0.00417 cores, 25.00%"));
  EXPECT_EQ(rects[2].x, 10);
  EXPECT_EQ(rects[2].width, 250);
  EXPECT_THAT(rects[3].title, HasSubstr("serve"));
  EXPECT_EQ(rects[3].x, 260);
  EXPECT_EQ(rects[3].width, 750);
  EXPECT_EQ(rects[3].y, rects[2].y);
  EXPECT_GT(rects[3].y, rects[1].y);
  EXPECT_GT(rects[1].y, rects[0].y);
}

TEST(EncodeSvg, PutsTheRootBelowWhenAsked) {
  std::vector<Rect> rects = Rects(Draw(Shop(), {.root_at_bottom = true}));
  EXPECT_LT(rects[3].y, rects[1].y);
  EXPECT_LT(rects[1].y, rects[0].y);
}

TEST(EncodeSvg, TextIsCutToItsBar) {
  const std::string name(300, 'm');
  std::string svg = Draw(StackBuilder().Add({"main", name}, 1).Build(), {.svg_width_px = 400});
  const std::regex text(R"re(<text x="[^"]*" y="[^"]*">([^<]*)</text>)re");
  size_t seen = 0;
  for (std::sregex_iterator at(svg.begin(), svg.end(), text), end; at != end; ++at, ++seen) {
    const std::string label = (*at)[1];
    EXPECT_LE(label.size() - (label.find("\xE2\x80\xA6") == std::string::npos ? 0 : 2), 374 / 7.2);
  }
  EXPECT_GE(seen, 3u);
  // The whole name is in the tooltip.
  EXPECT_THAT(svg, HasSubstr("<title>" + name));
}

TEST(EncodeSvg, PutsTogetherWhatNobodyCouldSee) {
  StackBuilder stacks;
  stacks.Add({"main"}, 1'000'000);
  for (int i = 0; i < 500; ++i) stacks.Add({"main", "tiny" + std::to_string(i)}, 1);
  std::string svg = Draw(stacks.Build());
  std::vector<Rect> rects = Rects(svg);
  ASSERT_EQ(rects.size(), 3u);
  EXPECT_THAT(rects[2].title, HasSubstr("other: 5.0s"));
  EXPECT_THAT(svg, HasSubstr("500 smaller bars are shown as 'other'"));
}

TEST(EncodeSvg, RefusesWidthsThatAreNone) {
  for (uint32_t width : {0u, 199u, 20'001u}) {
    auto svg = EncodeSvg(Shop(), {.svg_width_px = width});
    ASSERT_FALSE(svg);
    EXPECT_EQ(svg.error().code(), ErrorCode::kInvalid);
  }
}

// Makes a profile with hostile names: markup, control characters, broken UTF-8.
Profile Hostile() {
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  StackBuilder stacks;
  stacks.Add({"</title></svg><script>alert(1)</script>", "]]>", "&amp;&#0;", every}, 10);
  for (int c = 0; c < 256; ++c) stacks.Add({"main", std::string(40, static_cast<char>(c))}, 10);
  stacks.Add({"main", "\xEF\xBF\xBF\xEF\xBF\xBE\xED\xA0\x80\xF4\x90\x80\x80"}, 10);
  return stacks.Build();
}

TEST(EncodeSvg, IsXmlWhateverNamesHold) {
  if (!HaveCommand("python3")) GTEST_SKIP() << "no python3 on PATH";
  ScratchFolder folder;
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  const std::string path = folder.path() + "/hostile.svg";
  ASSERT_TRUE(WriteFileAtomic(path, Draw(Hostile(), {.title = every})));
  // Only these elements, one title a bar, and one bar for each name and total and main.
  auto ran = RunCommand(
      "python3 -c \"import collections,sys,xml.etree.ElementTree as e\n"
      "tags=collections.Counter(n.tag.split('}')[1] for n in e.parse(sys.argv[1]).iter())\n"
      "print(sorted(tags)); print(tags['title'], tags['rect'])\" " +
      path);
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("['g', 'rect', 'style', 'svg', 'text', 'title']"));
  // total, four of the first stack, main; below main 128 ASCII characters, one name for all bytes
  // that are no UTF-8 (each becomes U+FFFD), and the last one.
  EXPECT_THAT(ran.output, HasSubstr("136 136"));
}

}  // namespace
}  // namespace firetower::profile
