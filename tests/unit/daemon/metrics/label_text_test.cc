// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/label_text.h"

#include <gtest/gtest.h>

#include "base/json_escape.h"

namespace firetower::daemon {
namespace {

TEST(FunctionLabel, DropsTemplateArguments) {
  EXPECT_EQ(FunctionLabel("std::vector<int, std::allocator<int> >::push_back(int const&)"),
            "std::vector::push_back(int const&)");
  EXPECT_EQ(FunctionLabel("void sort<It, Cmp<A<B>>>(It, It)"), "void sort(It, It)");
  EXPECT_EQ(FunctionLabel("core::slice::sort::quicksort::<u64, fn(u64)>"),
            "core::slice::sort::quicksort");
}

TEST(FunctionLabel, KeepsOperatorsArrowsAndPlainNames) {
  for (const char* name :
       {"main", "operator<<(std::ostream&, X)", "X::operator->() const", "X::operator<=>(X)",
        "X::operator>(X const&)", "runtime.(*mheap).allocSpan", "(anonymous namespace)::f()",
        "fn() -> u32", "entry_SYSCALL_64_after_hwframe", "[libc.so.6]+0x1234"}) {
    EXPECT_EQ(FunctionLabel(name), name);
  }
  EXPECT_EQ(FunctionLabel("bool operator< <int>(A<int> const&, B)"), "bool operator<(A const&, B)");
}

TEST(FunctionLabel, KeepsRustQualifiedPaths) {
  EXPECT_EQ(FunctionLabel("<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend"),
            "<alloc::vec::Vec as core::iter::Extend>::extend");
}

TEST(FunctionLabel, LeavesUnpairedBracketsAlone) {
  EXPECT_EQ(FunctionLabel("f<int"), "f<int");
  EXPECT_EQ(FunctionLabel("f>int"), "f>int");
  EXPECT_EQ(FunctionLabel(""), "");
}

TEST(FunctionLabel, CutsAt120BytesWithAHash) {
  std::string a = FunctionLabel(std::string(200, 'a') + "1");
  std::string b = FunctionLabel(std::string(200, 'a') + "2");
  EXPECT_EQ(a.size(), 120u);
  EXPECT_EQ(a.substr(0, 111), std::string(111, 'a'));
  EXPECT_EQ(a[111], '~');
  EXPECT_NE(a, b) << "names that differ beyond the cut must stay two series";
  EXPECT_EQ(FunctionLabel(std::string(120, 'a')), std::string(120, 'a'));
}

TEST(FunctionLabel, NeverCutsACharacterAndIsAlwaysUtf8) {
  std::string name = "x";
  while (name.size() < 200) name += "\u00e9";
  std::string label = FunctionLabel(name);
  EXPECT_LE(label.size(), 120u);
  EXPECT_EQ(ToValidUtf8(label), label);
  std::string broken = FunctionLabel("f\xff\xfe");
  EXPECT_EQ(ToValidUtf8(broken), broken);
}

TEST(AppendLabelValue, EscapesWhatTheFormatsEscape) {
  std::string out;
  AppendLabelValue(out, "a\\b\"c\nd\te");
  EXPECT_EQ(out, "a\\\\b\\\"c\\nd\te");
}

}  // namespace
}  // namespace firetower::daemon
