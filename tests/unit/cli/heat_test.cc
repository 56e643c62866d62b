// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "cli/heat/picture.h"

namespace firetower::cli {
namespace {

using query::HeatReply;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// Two seconds of four rows; the second one has twice the samples, and is not known in the third.
HeatReply Heat() {
  HeatReply heat;
  heat.type = "cpu";
  heat.by = "offset";
  heat.begin_ms = 1'782'900'000'000;  // 2026-07-01 10:00:00 UTC
  heat.column_ms = 1000;
  heat.row_ms = 250;
  heat.rows = {"0", "250", "500", "750"};
  heat.columns = 3;
  heat.known = "ttc";
  heat.cells = {2, 0, 0, 1, 4, 0, 0, 2, 0, 0, 0, 0};
  heat.samples = 9;
  heat.untimed_samples = 7;
  return heat;
}

HeatReply Painted() {
  HeatReply heat = Heat();
  heat.paint = "GC";
  heat.painted = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0};
  heat.painted_samples = 3;
  return heat;
}

TEST(HeatPicture, SaysWhatItShows) {
  EXPECT_EQ(HeatNote(Heat()),
            "9 samples, at most 4 in a cell; 7 samples are in no cell: their windows do not say "
            "when they were taken");
  EXPECT_THAT(HeatNote(Painted()), HasSubstr("; 3 (33.3 %) of stacks with GC;"));
}

TEST(HeatPicture, ShadesByCountOrByOrder) {
  const HeatShades linear({0, 1, 1, 100}, HeatScale::kLinear);
  EXPECT_EQ(linear.Of(0), 0);
  EXPECT_EQ(linear.Of(100), 1);
  EXPECT_EQ(linear.Of(1), 0.01);
  const HeatShades rank({0, 1, 1, 100}, HeatScale::kRank);
  EXPECT_EQ(rank.Of(0), 0);
  EXPECT_EQ(rank.Of(1), 0.5);
  EXPECT_EQ(rank.Of(100), 1);
}

TEST(HeatPicture, IsBlocksOnATerminal) {
  const std::string text =
      HeatText(Heat(), HeatScale::kLinear, "cpu", {.utf8 = true, .columns = 40});
  EXPECT_THAT(text, HasSubstr("\n  0 ms ▒█?\n250 ms   ?\n"));
  EXPECT_THAT(text, HasSubstr("\n750 ms ░▒?\n"));
  const std::string ascii = HeatText(Heat(), HeatScale::kLinear, "cpu", {.columns = 40});
  EXPECT_THAT(ascii, HasSubstr("\n  0 ms +@?\n"));
}

TEST(HeatPicture, AddsColumnsUpForANarrowTerminal) {
  HeatReply heat = Heat();
  heat.columns = 300;
  heat.known.assign(300, 't');
  heat.cells.assign(1200, 1);
  const std::string text = HeatText(heat, HeatScale::kLinear, "cpu", {.utf8 = true, .columns = 47});
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (line.find(" ms ") != std::string::npos) {
      const auto blocks =
          static_cast<size_t>(std::count(line.begin(), line.end(), static_cast<char>(0xE2)));
      EXPECT_EQ(blocks, 38u) << line;  // eight seconds each
    }
    at = end + 1;
  }
}

TEST(HeatPicture, HasColoursForWhatIsPainted) {
  const Terminal color{.is_tty = true, .color = true, .utf8 = true, .columns = 40};
  const std::string text = HeatText(Painted(), HeatScale::kLinear, "cpu", color);
  EXPECT_THAT(text, HasSubstr("\033[0;38;5;229m█"));  // the hottest
  EXPECT_THAT(text, HasSubstr("\033[0;38;5;38m█"));   // painted, half as hot
  const std::string plain =
      HeatText(Painted(), HeatScale::kLinear, "cpu", {.utf8 = true, .columns = 40});
  EXPECT_THAT(plain, HasSubstr("\n  0 ms   ?\n"));
  EXPECT_THAT(plain, HasSubstr("\n750 ms ▒█?\n"));
}

TEST(HeatPicture, IsAPictureByItself) {
  const std::string title = "cpu{pod=\"<web>\"} " + std::string(200, 'x');
  const std::string svg = HeatSvg(Painted(), HeatScale::kLinear, title);
  EXPECT_THAT(svg, HasSubstr("cpu{pod=&quot;&lt;web&gt;&quot;}"));
  EXPECT_THAT(svg, HasSubstr("<path class=\"paint\" d=\"M"));
  EXPECT_THAT(svg, HasSubstr("<path class=\"coarse\" d=\"M"));
  EXPECT_THAT(svg, EndsWith("</svg>\n"));
  const size_t at = svg.find("width=\"") + 7;
  EXPECT_GT(std::stoi(svg.substr(at)), 200 * 8) << "the title is not cut";
  const std::string html = HeatHtml(Painted(), HeatScale::kLinear, "</title><script>");
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, Not(HasSubstr("<script>")));
}

TEST(HeatPicture, IsATableOfCells) {
  EXPECT_EQ(HeatCsv(Painted()),
            "time,offset_ms,samples,painted\n"
            "2026-07-01T10:00:00Z,0,2,0\n"
            "2026-07-01T10:00:00Z,750,1,1\n"
            "2026-07-01T10:00:01Z,0,4,0\n"
            "2026-07-01T10:00:01Z,750,2,2\n");
  HeatReply heat = Heat();
  heat.row_ms = 0;
  heat.by = "thread";
  heat.rows = {"a,b", "say \"x\"", "c", "d"};
  EXPECT_THAT(HeatCsv(heat), HasSubstr("time,row,samples\n2026-07-01T10:00:00Z,\"a,b\",2\n"));
  heat.cells = {0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_THAT(HeatCsv(heat), HasSubstr(",\"say \"\"x\"\"\",3\n"));
}

}  // namespace
}  // namespace firetower::cli
