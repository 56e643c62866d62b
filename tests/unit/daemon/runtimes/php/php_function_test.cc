// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/php/php_function.h"

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
using std::string_view_literals::operator""sv;

constexpr uint32_t kInternal = 1, kUser = 2, kEval = 4;

ft_function Php(std::string_view name, std::string_view file, uint32_t type, uint32_t state = 0) {
  ft_function function{};
  function.kind = FT_KIND_FUNCTION;
  function.runtime = FT_RUNTIME_PHP;
  function.minor = 802;
  function.first_line = file.empty() ? 0 : 12;
  function.epoch = 1;
  SetText(function.name, name, name.size(), state);
  SetText(function.file, file, file.size(), type);
  return function;
}

std::string NameOf(const ft_function& function, std::string_view class_name = "") {
  const auto read = ReadPhpRecord(RecordOf(function, class_name));
  return read ? read->function.name : "refused";
}

TEST(ReadPhpRecord, NamesFunctionsAsPhpDoes) {
  EXPECT_EQ(NameOf(Php("total", "/srv/cart.php", kUser)), "total");
  EXPECT_EQ(NameOf(Php("total", "/srv/cart.php", kUser), "Shop\\Cart"), "Shop\\Cart::total");
  EXPECT_EQ(NameOf(Php("{closure}", "/srv/cart.php", kUser), "Shop\\Cart"),
            "Shop\\Cart::{closure}");
  EXPECT_EQ(NameOf(Php("array_map", "", kInternal)), "array_map");
  EXPECT_EQ(NameOf(Php("run", "/srv/a.php", kUser), "class@anonymous\0/srv/a.php:3$0"sv),
            "class@anonymous::run");
}

TEST(ReadPhpRecord, NamesCodeThatIsInNoFunction) {
  EXPECT_EQ(NameOf(Php("", "/srv/index.php", kUser, FT_PHP_MAIN)), "{main}");
  EXPECT_EQ(NameOf(Php("", "/srv/wp-load.php", kUser)), "include wp-load.php");
  EXPECT_EQ(NameOf(Php("", "/srv/a.php(3) : eval()'d code", kEval)), "eval");
}

TEST(ReadPhpRecord, KeepsFileAndLine) {
  const auto read = ReadPhpRecord(RecordOf(Php("total", "/srv/cart.php", kUser), ""));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->function, (RuntimeFunction{"total", "/srv/cart.php", 12}));
}

TEST(ReadPhpRecord, MakesTextOfAnyBytes) {
  EXPECT_EQ(NameOf(Php("caf\xe9", "/srv/cart.php", kUser)), "caf\xEF\xBF\xBD");
}

TEST(ReadPhpRecord, MarksWhatDidNotFit) {
  ft_function function = Php("total", "/srv/cart.php", kUser);
  function.name.length = 400;
  EXPECT_EQ(NameOf(function), "total…");
}

TEST(ReadPhpRecord, RefusesWhatIsNoFunction) {
  const auto record = RecordOf(Php("total", "/srv/cart.php", kUser), "Cart");
  for (size_t size = 0; size < record.size(); ++size)
    EXPECT_FALSE(ReadPhpRecord(std::span(record).first(size))) << size;
  EXPECT_TRUE(ReadPhpRecord(record));
  EXPECT_EQ(NameOf(Php("", "", kInternal)), "refused");
  ft_function unread = Php("total", "/srv/cart.php", kUser);
  unread.name.bytes = 0;
  EXPECT_EQ(NameOf(unread), "refused") << "it has a name, which was not resident";
}

TEST(ReadPhpRecord, GivesFramesTheLineThatTheySay) {
  FunctionTable table;
  ft_function function = Php("total", "/srv/cart.php", kUser);
  function.tgid = 7;
  function.code = 0x1000;
  function.cookie = 5;
  ASSERT_TRUE(table.Add(RecordOf(function, "")));
  const auto line = [&](uint64_t position) {
    return table
        .Find(7, ft_identity(0, 0), FT_WORD_PHP_FRAME | 0x1000, uint64_t{5} << 32 | position)
        .line;
  };
  EXPECT_EQ(line(30), 30u);
  EXPECT_EQ(line(0), 12u) << "none is known: the function's own";
}

}  // namespace
}  // namespace firetower::daemon
