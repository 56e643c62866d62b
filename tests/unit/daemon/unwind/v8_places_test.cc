// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/v8_places.h"

#include <gtest/gtest.h>

#include "tests/unit/daemon/runtimes/v8_isolate.h"

namespace firetower::daemon {
namespace {

using testing::V8Isolate;

constexpr uint32_t kNode = 9;

V8Build Build() {
  V8Build build;
  build.major = 12;
  build.builtins_offset = 0x1000000;
  build.builtins_bytes = 0x200000;
  return build;
}

ProcessMapping At(uint64_t start, uint64_t end, uint32_t module, uint64_t offset = 0) {
  return {.start = start, .end = end, .file_offset = offset, .module = module};
}

TEST(V8PlacesTest, AProcessThatCompilesNothingHasBuiltInFunctionsOnly) {
  const ft_v8 walk = PlaceV8({At(0x400000, 0x2400000, kNode)}, kNode, Build());
  EXPECT_EQ(walk.at.kind, uint32_t{FT_MACHINE_V8});
  EXPECT_EQ(walk.at.module, kNode);
  EXPECT_EQ(walk.at.builtins, 0x1400000u);
  EXPECT_EQ(walk.at.builtins_bytes, 0x200000u);
  EXPECT_EQ(walk.at.bytes, 0u);
  EXPECT_EQ(walk.copied_bytes, 0u);
}

TEST(V8PlacesTest, WhatIsCompiledLiesAroundTheCopyOfTheBuiltInFunctions) {
  const std::vector<ProcessMapping> mappings = {
      At(0x400000, 0x2400000, kNode),
      At(0x6f0000000000, 0x6f0000001000, ModuleRegistry::kJit),  // another program's
      At(0x7f9784003000, 0x7f978403f000, ModuleRegistry::kJit),
      At(0x7f97a3e00000, 0x7f97a4000000, kNode, 0x1000000),
      At(0x7f97b0000000, 0x7f97b0100000, 12),
  };
  const ft_v8 walk = PlaceV8(mappings, kNode, Build());
  EXPECT_EQ(walk.copied, 0x7f97a3e00000u);
  EXPECT_EQ(walk.copied_bytes, 0x200000u);
  EXPECT_EQ(walk.at.low, 0x7f9784003000u);
  EXPECT_EQ(walk.at.low + walk.at.bytes, 0x7f97a4000000u);
}

TEST(V8PlacesTest, ItGrowsUpToTheNextMapping) {
  const std::vector<ProcessMapping> mappings = {
      At(0x400000, 0x2400000, kNode),
      At(0x5243000, 0x5272000, ModuleRegistry::kJit),
      At(0x6000000, 0x6100000, 12),
  };
  const ft_v8 walk = PlaceV8(mappings, kNode, Build());
  EXPECT_EQ(walk.at.low, 0x5243000u);
  EXPECT_EQ(walk.at.low + walk.at.bytes, 0x6000000u);
}

TEST(V8PlacesTest, TheDispatchTableIsToldByCodeThatPointsBack) {
  V8Isolate v8(13);
  constexpr uint64_t kTable = 0x7f002000c000;  // pages are all that it keeps to
  v8.memory.Map(kTable, 0x20000);
  const auto maps = [&](uint64_t begin) {
    std::vector<MapsLine> lines(3);
    lines[0].start = begin;
    lines[0].end = lines[1].start = kTable + 0x10000;
    lines[1].end = lines[2].start = kTable + 0x20000;
    lines[2].end = kTable + (256u << 20);
    return lines;
  };
  const V8Heap heap(v8.memory, v8.build);
  ft_v8 walk{};
  walk.at.builtins = 0x401000;
  walk.at.builtins_bytes = 0x1000;
  EXPECT_FALSE(FindDispatchTable(maps(kTable), heap, v8.build, walk)) << "it is empty";
  for (uint64_t i = 1; i <= 8; ++i) {
    const uint64_t code = v8.Object(v8.build.code_type, 96);
    v8.memory.Put(code + v8.build.code_start, 0x401000 + i);
    v8.memory.Put(code + 8, V8Isolate::Tag(code));
    v8.memory.Put(kTable + i * 16, 0x401000 + i);
    v8.memory.Put(kTable + i * 16 + 8, V8Isolate::Tag(code) << 16 | 2);
  }
  EXPECT_EQ(FindDispatchTable(maps(kTable), heap, v8.build, walk), kTable);
  EXPECT_EQ(FindDispatchTable(maps(kTable - 0x5000), heap, v8.build, walk), kTable)
      << "a neighbour's mapping was joined to its first part";
  walk.at.builtins = 0x501000;
  EXPECT_FALSE(FindDispatchTable(maps(kTable), heap, v8.build, walk)) << "code of nobody's";
  walk.at.builtins = 0x401000;
  std::vector<MapsLine> shorter = maps(kTable);
  shorter[2].end -= 0x1000;
  EXPECT_FALSE(FindDispatchTable(shorter, heap, v8.build, walk));
  shorter = maps(kTable);
  shorter[1].path = "/a/file";
  EXPECT_FALSE(FindDispatchTable(shorter, heap, v8.build, walk));
}

}  // namespace
}  // namespace firetower::daemon
