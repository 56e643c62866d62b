// SPDX-License-Identifier: Apache-2.0
#include "cli/term/table.h"

#include <gtest/gtest.h>

#include "cli/commands/common.h"

namespace firetower::cli {
namespace {

Terminal Plain(size_t columns = 0, bool utf8 = true) {
  Terminal terminal;
  terminal.columns = columns;
  terminal.utf8 = utf8;
  return terminal;
}

Table Sample() {
  Table table({{"NAME", false, true}, {"CPU%", true}, {"FUNCTION", false, true}});
  table.AddRow({std::string("web"), std::string("80.0%"), std::string("a_long_function_name()")});
  table.AddRow({std::string("sidecar"), std::string("4.0%"), std::string("f")});
  return table;
}

TEST(Table, AlignsColumnsAndLeavesNoBlanksAtTheEnd) {
  EXPECT_EQ(Sample().Render(Plain(), true, false),
            "NAME      CPU%  FUNCTION\n"
            "web      80.0%  a_long_function_name()\n"
            "sidecar   4.0%  f\n");
  EXPECT_EQ(Sample().Render(Plain(), false, false).substr(0, 4), "web ");
}

TEST(Table, ShrinksFlexibleColumnsToTheTerminal) {
  EXPECT_EQ(Sample().Render(Plain(30), true, false),
            "NAME      CPU%  FUNCTION\n"
            "web      80.0%  a_long_functi\u2026\n"
            "sidecar   4.0%  f\n");
  EXPECT_EQ(Sample().Render(Plain(30, false), false, false).substr(0, 31),
            "web      80.0%  a_long_functi~\n");
  EXPECT_EQ(Sample().Render(Plain(30), true, true), Sample().Render(Plain(), true, true));
}

TEST(Table, NeverPassesTheTerminalsEdge) {
  for (size_t columns = 1; columns < 50; ++columns) {
    std::string text = Sample().Render(Plain(columns, false), true, false);
    for (size_t at = 0; at < text.size();) {
      size_t end = text.find('\n', at);
      EXPECT_LE(end - at, columns);
      at = end + 1;
    }
  }
}

TEST(Table, ColoursAfterAligning) {
  Terminal terminal = Plain();
  terminal.color = true;
  Table table({{"A", true}, {"B"}});
  table.AddRow({Cell("1", Style::kBad), std::string("x")});
  EXPECT_EQ(table.Render(terminal, false, false), "\033[31m1\033[0m  x\n");
}

TEST(Printable, DisarmsWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("a\033[2Jb\x07\x7f\nc", true), "a?[2Jb???c");
  EXPECT_EQ(Printable("\u009b31m", true), "?31m");
  EXPECT_EQ(Printable("\xff", true), "\uFFFD");
  EXPECT_EQ(Printable("gr\u00fc\u00df", true), "gr\u00fc\u00df");
  EXPECT_EQ(Printable("gr\u00fc\u00df\u4e16", false), "gr???");
}

TEST(FormatValue, UsesUnitsPeopleRead) {
  EXPECT_EQ(FormatValue(0, "nanoseconds"), "0ns");
  EXPECT_EQ(FormatValue(1'800'000'000, "nanoseconds"), "1.8s");
  EXPECT_EQ(FormatValue(90e9, "nanoseconds"), "1.5m");
  EXPECT_EQ(FormatValue(1536, "bytes"), "1.5 KiB");
  EXPECT_EQ(FormatValue(1234567, "count"), "1,234,567");
  EXPECT_EQ(FormatCount(-999), "-999");
  EXPECT_EQ(FormatCount(-1000), "-1,000");
  EXPECT_EQ(FormatCount(INT64_MIN), "-9,223,372,036,854,775,808");
  EXPECT_EQ(FormatValue(1e63, "count"), "1e+63");
  EXPECT_EQ(FormatValue(-1e63, "count"), "-1e+63");
}

}  // namespace
}  // namespace firetower::cli
