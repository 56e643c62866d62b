// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "symbolizer/demangle.h"

namespace firetower::symbolizer {
namespace {

struct Case {
  const char* full;
  const char* simple;
};

void Expect(std::initializer_list<Case> cases) {
  for (const Case& test : cases) EXPECT_EQ(SimplifyName(test.full), test.simple);
}

TEST(SimplifyName, DropsTemplateArgumentsParametersAndReturnType) {
  Expect({{"void foo::bar<foo::A<int> >(foo::A<int> const&)", "foo::bar"},
          {"std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector::push_back"},
          {"Foo::bar(int) const", "Foo::bar"},
          {"Foo::bar() &&", "Foo::bar"},
          {"int (*foo<1>(char))()", "foo"},
          {"decltype(auto) foo<int>(int)", "foo"},
          {"Foo::~Foo()", "Foo::~Foo"},
          {"void f<(A)1, (1 > 0)>()", "f"},
          {"void f<&(g<int>(int))>()", "f"},
          {"main", "main"}});
}

TEST(SimplifyName, KeepsOperators) {
  Expect({{"A::operator<(A const&)", "A::operator<"},
          {"bool A::operator< <int>(int const&)", "A::operator<"},
          {"A& A::operator<< <int>(int const&)", "A::operator<<"},
          {"std::basic_ostream<char, std::char_traits<char> >& operator<< <char>(char const*)",
           "operator<<"},
          {"A::operator<=>(A const&)", "A::operator<=>"},
          {"A::operator->() const", "A::operator->"},
          {"A::operator>>=(int)", "A::operator>>="},
          {"A::operator()(int) const", "A::operator()"},
          {"void A::operator()<int>(int) const", "A::operator()"},
          {"A::operator[](int)", "A::operator[]"},
          {"A::operator bool()", "A::operator bool"},
          {"A::operator unsigned long() const", "A::operator unsigned long"},
          {"operator new(unsigned long)", "operator new"},
          {"operator delete[](void*)", "operator delete[]"},
          {"my_operator<int>(int)", "my_operator"}});
}

TEST(SimplifyName, KeepsAnonymousNamespacesLambdasAndMarks) {
  Expect(
      {{"(anonymous namespace)::Foo<int>::bar(int)", "(anonymous namespace)::Foo::bar"},
       {"int (anonymous namespace)::bar<int>(int)", "(anonymous namespace)::bar"},
       {"main::{lambda(int, char)#1}::operator()(int, char) const", "main::{lambda#1}::operator()"},
       {"auto Foo::bar(int) const::{lambda(auto:1&)#2}::operator()<int>(int&) const",
        "Foo::bar::{lambda#2}::operator()"},
       {"foo[abi:cxx11]()", "foo[abi:cxx11]"},
       {"foo() [clone .cold]", "foo [clone .cold]"},
       {"non-virtual thunk to Foo::bar()", "Foo::bar"}});
}

TEST(SimplifyName, DropsRustGenericsAndKeepsQualifiedPaths) {
  Expect({{"core::slice::sort::merge_sort::<u8, T>", "core::slice::sort::merge_sort"},
          {"<alloc::vec::Vec<T> as core::iter::Iterator>::next",
           "<alloc::vec::Vec as core::iter::Iterator>::next"},
          {"<core::slice::Iter<u8> as I>::rposition::<f::{closure#1}>::{closure#0}",
           "<core::slice::Iter as I>::rposition::{closure#0}"},
          {"core::ops::function::FnOnce::call_once{{vtable.shim}}",
           "core::ops::function::FnOnce::call_once{{vtable.shim}}"},
          {"<(A, B) as core::fmt::Debug>::fmt", "<(A, B) as core::fmt::Debug>::fmt"},
          {"<fn(u8) -> u8 as T>::call", "<fn -> u8 as T>::call"}});
}

TEST(SimplifyName, LeavesOtherLanguagesAlone) {
  for (const char* name :
       {"runtime.mallocgc", "main.(*Server).Serve", "net/http.(*conn).serve.func1",
        "main.Map[go.shape.int,go.shape.func(int) string]", "main.(*List[go.shape.int]).Push",
        "type:.eq.struct { F uintptr; main.x *int }", "do_syscall_64", "__x64_sys_read",
        "bpf_prog_6deef7357e7b4530_sd_fw_egress", "py::<module>:/app/main.py",
        "py::<lambda>:/app/main.py", "LazyCompile:*foo /app/x.js:12", "JS:~get (anonymous) /a.js",
        "java.util.HashMap.<init>", "[libc.so.6]+0x1234"}) {
    EXPECT_EQ(SimplifyName(name), name);
  }
}

TEST(SimplifyName, CutsLongNamesWithAHash) {
  std::string long_name(300, 'a');
  std::string simple = SimplifyName(long_name);
  EXPECT_EQ(simple.size(), kMaxLabelBytes);
  EXPECT_EQ(simple.substr(0, 111), std::string(111, 'a'));
  EXPECT_EQ(simple[111], '~');
  EXPECT_NE(SimplifyName(long_name + "b"), simple);
  EXPECT_EQ(SimplifyName(std::string(kMaxLabelBytes, 'a')), std::string(kMaxLabelBytes, 'a'));
  // FNV-1a's published test vector keeps the hash stable: "foobar" is bf9cf968.
  EXPECT_EQ(SimplifyName(std::string(200, 'a')), SimplifyName(std::string(200, 'a')));
}

TEST(SimplifyName, DoesNotCutInsideACharacter) {
  for (size_t lead = 100; lead < 120; ++lead) {
    std::string simple =
        SimplifyName(std::string(lead, 'a') + std::string(50, 'b') + "\xe2\x82\xac\xe2\x82\xac");
    EXPECT_LE(simple.size(), kMaxLabelBytes);
    std::string euros(lead, 'a');
    for (int i = 0; i < 30; ++i) euros += "\xe2\x82\xac";
    simple = SimplifyName(euros);
    size_t mark = simple.rfind('~');
    ASSERT_NE(mark, std::string::npos);
    EXPECT_TRUE(simple[mark - 1] == 'a' || simple[mark - 1] == '\xac');
  }
}

TEST(SimplifyName, UnbalancedNamesComeBackWhole) {
  for (const char* name : {"foo(int", "foo<int", "a<b(c>", "[x", "foo)", "}{", "<<<", "operator"}) {
    EXPECT_FALSE(SimplifyName(name).empty());
  }
  EXPECT_EQ(SimplifyName("foo(int"), "foo(int");
  EXPECT_EQ(SimplifyName(""), "");
}

}  // namespace
}  // namespace firetower::symbolizer
