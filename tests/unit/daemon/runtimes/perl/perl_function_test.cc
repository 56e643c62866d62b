// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/perl/perl_function.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "bpf/abi/unwind.h"
#include "daemon/runtimes/function_table.h"
#include "tests/unit/daemon/runtimes/function_records.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::RecordOf;
using ::firetower::testing::SetText;

ft_function Perl(std::string_view name, std::string_view file, uint32_t kind = FT_PERL_SUB) {
  ft_function function{};
  function.kind = FT_KIND_FUNCTION;
  function.runtime = FT_RUNTIME_PERL;
  function.minor = 536;
  function.first_line = kind == FT_PERL_SUB ? 12 : 0;
  function.epoch = 1;
  SetText(function.name, name, name.size(), kind);
  SetText(function.file, file, file.size(), 0);
  return function;
}

std::string NameOf(const ft_function& function, std::string_view package = "") {
  const auto read = ReadPerlRecord(RecordOf(function, package));
  return read ? read->function.name : "refused";
}

TEST(ReadPerlRecord, NamesSubroutinesByPackage) {
  EXPECT_EQ(NameOf(Perl("total", "/srv/Cart.pm"), "Shop::Cart"), "Shop::Cart::total");
  EXPECT_EQ(NameOf(Perl("inner", "/srv/Cart.pm")), "inner") << "a lexical one has no package";
  EXPECT_EQ(NameOf(Perl("STDOUT", "/srv/a.pl", FT_PERL_FORMAT), "main"), "main::STDOUT");
}

TEST(ReadPerlRecord, SaysWhereOneWithoutANameBegins) {
  ft_function function = Perl("__ANON__", "/srv/lib/Cart.pm");
  EXPECT_EQ(NameOf(function, "Shop"), "Shop::__ANON__[Cart.pm:12]");
  function.first_line = 0;
  EXPECT_EQ(NameOf(function, "Shop"), "Shop::__ANON__");
}

TEST(ReadPerlRecord, NamesCodeThatIsInNoSubroutine) {
  EXPECT_EQ(NameOf(Perl("", "/srv/shop.pl", FT_PERL_MAIN)), "{main}");
  EXPECT_EQ(NameOf(Perl("", "/srv/lib/Cart.pm", FT_PERL_REQUIRE)), "require Cart.pm");
  EXPECT_EQ(NameOf(Perl("", "", FT_PERL_REQUIRE)), "require");
  EXPECT_EQ(NameOf(Perl("", "(eval 3)", FT_PERL_EVAL)), "eval");
}

TEST(ReadPerlRecord, MakesTextOfAnyBytes) {
  EXPECT_EQ(NameOf(Perl("caf\xe9", "/srv/a.pl"), "main"), "main::caf\xEF\xBF\xBD");
}

TEST(ReadPerlRecord, MarksWhatDidNotFit) {
  ft_function function = Perl("total", "/srv/a.pl");
  function.name.length = 400;
  EXPECT_EQ(NameOf(function, "main"), "main::total…");
}

TEST(ReadPerlRecord, RefusesWhatIsNoSubroutine) {
  const auto record = RecordOf(Perl("total", "/srv/Cart.pm"), "Cart");
  for (size_t size = 0; size < record.size(); ++size)
    EXPECT_FALSE(ReadPerlRecord(std::span(record).first(size))) << size;
  EXPECT_TRUE(ReadPerlRecord(record));
  EXPECT_EQ(NameOf(Perl("", "/srv/a.pl"), "main"), "refused");
}

TEST(ReadPerlRecord, GivesFramesTheLineThatTheySay) {
  FunctionTable table;
  ft_function function = Perl("total", "/srv/a.pl");
  function.tgid = 7;
  function.code = 0x1000;
  function.cookie = 5;
  ASSERT_TRUE(table.Add(RecordOf(function, "main")));
  const auto place =
      table.Find(7, ft_identity(0, 0), FT_WORD_PERL_FRAME | 0x1000, uint64_t{5} << 32 | 30);
  EXPECT_EQ(place.line, 30u);
  EXPECT_NE(place.function, 0u);
  EXPECT_EQ(table.Find(7, ft_identity(0, 0), FT_WORD_PERL_FRAME | 0x1000, uint64_t{6} << 32 | 30)
                .function,
            0u)
      << "another cookie, another function";
}

}  // namespace
}  // namespace firetower::daemon
