// SPDX-License-Identifier: Apache-2.0
#include "profile/flame/names.h"

#include <gtest/gtest.h>

#include <string>

namespace firetower::profile {
namespace {

struct Row {
  const char* full;
  const char* short_name;
  const char* bare;
};

// Inputs as c++filt, rustfilt, Go and the runtimes' perf maps write them; the expected names are
// written by hand.
const Row kRows[] = {
    {"main", "main", "main"},
    {"do_syscall_64", "do_syscall_64", "do_syscall_64"},
    {"Foo::bar(int, char const*) const", "Foo::bar", "Foo::bar"},
    {"Foo::bar(int) &&", "Foo::bar", "Foo::bar"},
    {"Foo::bar(int) [clone .isra.0]", "Foo::bar", "Foo::bar"},
    {"std::vector<int, std::allocator<int> >::push_back(int const&)",
     "std::vector<int, std::allocator<int> >::push_back", "std::vector::push_back"},
    {"void f<int>(int)", "f<int>", "f"},
    {"unsigned int f<char>(std::map<int, char>)", "f<char>", "f"},
    {"std::pair<int, int> f<char>(char) [clone .constprop.0]", "f<char>", "f"},
    {"(anonymous namespace)::Run(int)", "(anonymous namespace)::Run", "(anonymous namespace)::Run"},
    {"Foo<int>::operator()(int) const", "Foo<int>::operator()", "Foo::operator()"},
    {"std::ostream& std::operator<< <char>(std::ostream&, char)", "std::operator<< <char>",
     "std::operator<<"},
    {"Foo<int>::operator bool() const", "Foo<int>::operator bool", "Foo::operator bool"},
    {"operator new(unsigned long)", "operator new", "operator new"},
    {"a::b::operator->() const", "a::b::operator->", "a::b::operator->"},
    {"Run(int)::{lambda(int)#1}::operator()(int) const", "Run::{lambda#1}::operator()",
     "Run::{lambda#1}::operator()"},
    {"non-virtual thunk to Foo<int>::bar()", "non-virtual thunk to Foo<int>::bar",
     "non-virtual thunk to Foo::bar"},
    {"void call<void (*)(int)>(void (*)(int))", "call<void (*)(int)>", "call"},
    {"name[abi:cxx11](int)", "name[abi:cxx11]", "name"},
    // Go
    {"main.(*Server).handle", "main.(*Server).handle", "main.(*Server).handle"},
    {"net/http.(*conn).serve.func1", "net/http.(*conn).serve.func1",
     "net/http.(*conn).serve.func1"},
    {"sync.(*Pool[go.shape.int]).Get", "sync.(*Pool[go.shape.int]).Get",
     "sync.(*Pool[go.shape.int]).Get"},
    {"main.Map[go.shape.int]", "main.Map[go.shape.int]", "main.Map"},
    {"slices.Sort[...]", "slices.Sort[...]", "slices.Sort"},
    // Rust
    {"<alloc::vec::Vec<T> as core::ops::Drop>::drop",
     "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
     "<alloc::vec::Vec<T> as core::ops::Drop>::drop"},
    {"core::ptr::drop_in_place<alloc::string::String>",
     "core::ptr::drop_in_place<alloc::string::String>", "core::ptr::drop_in_place"},
    {"app::parse::<u32>", "app::parse::<u32>", "app::parse"},
    {"app::main::{{closure}}", "app::main::{{closure}}", "app::main::{{closure}}"},
    // Runtimes
    {"Ljava/lang/String;::indexOf(I)I", "Ljava/lang/String;::indexOf(I)I",
     "Ljava/lang/String;::indexOf(I)I"},
    {"py::<module>:/app/run(1).py", "py::<module>:/app/run(1).py", "py::<module>:/app/run(1).py"},
    {"LazyCompile:*next /app/x.js:1:2", "LazyCompile:*next /app/x.js:1:2",
     "LazyCompile:*next /app/x.js:1:2"},
    // Not named
    {"[libc.so.6]+0x1234", "[libc.so.6]+0x1234", "[libc.so.6]+0x1234"},
    {"[no stack]", "[no stack]", "[no stack]"},
    // Brackets that do not match: nobody's name.
    {"broken<int(", "broken<int(", "broken<int("},
    {"a)b(", "a)b(", "a)b("},
    {"", "", ""},
    {"()", "()", "()"},
    {"<>", "<>", "<>"},
};

TEST(SimplifyName, LeavesOutParametersAndTemplates) {
  for (const Row& row : kRows) {
    EXPECT_EQ(SimplifyName(row.full, NameDetail::kFull), row.full);
    EXPECT_EQ(SimplifyName(row.full, NameDetail::kShort), row.short_name) << row.full;
    EXPECT_EQ(SimplifyName(row.full, NameDetail::kBare), row.bare) << row.full;
  }
}

TEST(SimplifyName, TakesEveryPrefixOfEveryName) {
  for (const Row& row : kRows) {
    const std::string full = row.full;
    for (size_t length = 1; length <= full.size(); ++length) {
      const std::string prefix = full.substr(0, length);
      for (NameDetail detail : {NameDetail::kShort, NameDetail::kBare}) {
        std::string name = SimplifyName(prefix, detail);
        EXPECT_FALSE(name.empty()) << prefix;
        EXPECT_LE(name.size(), prefix.size()) << prefix;
      }
    }
  }
}

TEST(SimplifyName, DeepBracketsDoNotRecurse) {
  const std::string deep = "f" + std::string(1'000'000, '<') + std::string(1'000'000, '>');
  EXPECT_EQ(SimplifyName(deep, NameDetail::kBare), "f");
}

TEST(ParseNameDetail, SaysWhatThereIs) {
  EXPECT_EQ(*ParseNameDetail("bare"), NameDetail::kBare);
  auto wrong = ParseNameDetail("shrt");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("did you mean 'short'"), std::string::npos);
}

}  // namespace
}  // namespace firetower::profile
