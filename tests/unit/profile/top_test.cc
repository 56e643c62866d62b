// SPDX-License-Identifier: Apache-2.0
#include "profile/top/top.h"

#include <gtest/gtest.h>

#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;

TEST(Top, CountsSelfAndTotal) {
  Profile profile =
      StackBuilder().Add({"main", "a"}, 6).Add({"main", "a", "b"}, 3).Add({"main"}, 1).Build();
  TopResult top = Top(profile, 0);
  EXPECT_EQ(top.total, 10);
  ASSERT_EQ(top.rows.size(), 3u);
  EXPECT_EQ(top.rows[0].function, "a");
  EXPECT_EQ(top.rows[0].self, 6);
  EXPECT_EQ(top.rows[0].total, 9);
  EXPECT_DOUBLE_EQ(top.rows[0].self_percent, 60);
  EXPECT_DOUBLE_EQ(top.rows[0].total_percent, 90);
  EXPECT_EQ(top.rows[0].mapping, "/usr/bin/app");
  EXPECT_EQ(top.rows[2].function, "main");
  EXPECT_EQ(top.rows[2].total, 10);
}

TEST(Top, CountsRecursionOnce) {
  Profile profile = StackBuilder().Add({"f", "g", "f", "g", "f"}, 5).Build();
  TopResult top = Top(profile, 0);
  ASSERT_EQ(top.rows.size(), 2u);
  EXPECT_EQ(top.rows[0].function, "f");
  EXPECT_EQ(top.rows[0].self, 5);
  EXPECT_EQ(top.rows[0].total, 5);
  EXPECT_EQ(top.rows[1].total, 5);
}

TEST(Top, GivesTheInnermostInlinedFunctionTheSelfTime) {
  StackBuilder stacks;
  ProfileBuilder& builder = stacks.builder();
  Line lines[] = {{.function = builder.AddFunction("inlined", "", "")},
                  {.function = builder.AddFunction("host", "", "")}};
  uint32_t leaf = builder.AddLocation(stacks.mapping(), 0x400500, lines);
  int64_t values[] = {2, 2};
  builder.AddSample({&leaf, 1}, values);
  TopResult top = Top(stacks.Build(), 0);
  ASSERT_EQ(top.rows.size(), 2u);
  EXPECT_EQ(top.rows[0].function, "inlined");
  EXPECT_EQ(top.rows[0].self, 2);
  EXPECT_EQ(top.rows[1].self, 0);
  EXPECT_EQ(top.rows[1].total, 2);
}

TEST(Top, TellsLinesOfAFunctionApart) {
  StackBuilder stacks;
  ProfileBuilder& builder = stacks.builder();
  const uint32_t serve = builder.AddFunction("serve", "", "/app.py");
  const auto at = [&](int64_t line) {
    const Line one{.function = serve, .line = line};
    return builder.AddLocation(stacks.mapping(), static_cast<uint64_t>(0x400500 + line), {&one, 1});
  };
  const uint32_t main = at(3), loop = at(17), unknown = at(0);
  const auto add = [&](std::vector<uint32_t> stack, int64_t value) {
    const int64_t values[] = {value, value};
    builder.AddSample(stack, values);
  };
  add({loop, main}, 5);
  add({main}, 2);
  add({unknown, main}, 1);
  const Profile profile = stacks.Build();
  const TopResult top = Top(profile, 0, 0, TopBy::kLine);
  ASSERT_EQ(top.rows.size(), 3u);
  EXPECT_EQ(top.rows[0].function, "serve");
  EXPECT_EQ(top.rows[0].file, "/app.py");
  EXPECT_EQ(top.rows[0].line, 17);
  EXPECT_EQ(top.rows[0].self, 5);
  EXPECT_EQ(top.rows[1].line, 3);
  EXPECT_EQ(top.rows[1].self, 2);
  EXPECT_EQ(top.rows[1].total, 8);
  EXPECT_EQ(top.rows[2].file, "");
  EXPECT_EQ(top.rows[2].line, 0);
  EXPECT_EQ(Top(profile, 0).rows.size(), 1u) << "by functions they are one";
}

// Builds one sample of 7 with these functions, innermost first, each in its file.
Profile WaitOf(std::vector<ValueType> types,
               const std::vector<std::pair<std::string, std::string>>& functions) {
  const std::vector<int64_t> values(types.size(), 7);
  ProfileBuilder builder(Meta{.sample_types = std::move(types)});
  std::vector<uint32_t> stack;
  uint64_t address = 0x400000;
  for (const auto& [function, file] : functions) {
    const uint64_t begin = address += 0x10000;
    const uint32_t mapping = builder.AddMapping({.memory_start = begin,
                                                 .memory_limit = begin + 0x10000,
                                                 .filename = builder.AddString(file)});
    const Line line{.function = builder.AddFunction(function, "", "")};
    stack.push_back(builder.AddLocation(mapping, begin + 1, {&line, 1}));
  }
  builder.AddSample(stack, values);
  return std::move(builder).Build();
}

std::string OwnFunction(const Profile& profile) {
  const TopResult top = Top(profile, 0);
  for (const TopRow& row : top.rows) EXPECT_EQ(row.total, 7) << row.function;
  return top.rows.at(0).self == 7 ? top.rows[0].function : "";
}

constexpr std::string_view kKernelFile = "[kernel.kallsyms]";

TEST(Top, AWaitIsTheInnermostUserFunctionsOwn) {
  const std::vector<ValueType> types = {{"samples", "count"}, {"off_cpu", "nanoseconds"}};
  const std::string kernel(kKernelFile);
  EXPECT_EQ(OwnFunction(WaitOf(types, {{"__schedule", kernel},
                                       {"futex_wait", kernel},
                                       {"pthread_mutex_lock", "/lib/libc.so.6"},
                                       {"main", "/app"}})),
            "pthread_mutex_lock");
  EXPECT_EQ(OwnFunction(WaitOf(
                types, {{"__schedule", kernel}, {"schedule", kernel}, {"worker_thread", kernel}})),
            "worker_thread")
      << "a thread of the kernel";
  EXPECT_EQ(OwnFunction(WaitOf(types, {{"__schedule", kernel}})), "__schedule");
}

TEST(Top, AWaitForALockIsTheOwnOfWhoTakesIt) {
  const std::vector<ValueType> types = {{"contentions", "count"}, {"delay", "nanoseconds"}};
  const std::string kernel(kKernelFile);
  EXPECT_EQ(OwnFunction(WaitOf(types, {{"__schedule", kernel},
                                       {"__lll_lock_wait", "/lib/libc.so.6"},
                                       {"std::mutex::lock()", "/app"},
                                       {"takes", "/app"},
                                       {"main", "/app"}})),
            "takes");
  EXPECT_EQ(OwnFunction(WaitOf(types, {{"__schedule", kernel}, {"start", "/lib/libc.so.6"}})),
            "start");
}

TEST(Top, AnAllocationIsTheOwnOfWhoCallsTheAllocator) {
  const std::vector<ValueType> types = {{"alloc_objects", "count"}, {"alloc_space", "bytes"}};
  EXPECT_EQ(
      OwnFunction(WaitOf(types, {{"malloc", "/lib/libc.so.6"},
                                 {"operator new(unsigned long)", "/lib/libstdc++.so.6"},
                                 {"std::__new_allocator<int>::allocate(unsigned long)", "/app"},
                                 {"shop::Serve", "/app"},
                                 {"main", "/app"}})),
      "shop::Serve");
  EXPECT_EQ(OwnFunction(WaitOf(types, {{"malloc", "/app"}})), "malloc");
}

TEST(Top, SaysHowManyTheLimitCut) {
  Profile profile = StackBuilder().Add({"a"}, 3).Add({"b"}, 2).Add({"c"}, 1).Build();
  TopResult top = Top(profile, 0, 2);
  EXPECT_EQ(top.rows.size(), 2u);
  EXPECT_EQ(top.functions, 3u);
}

}  // namespace
}  // namespace firetower::profile
