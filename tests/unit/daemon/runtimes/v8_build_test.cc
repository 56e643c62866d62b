// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/v8/v8_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "symbolizer/random_access.h"
#include "tests/unit/symbolizer/support/elf_builder.h"

namespace firetower::daemon {
namespace {

using symbolizer::ElfBuilder;
using ::testing::HasSubstr;

constexpr const char* kMajor = "_ZN2v88internal7Version6major_E";
constexpr const char* kMinor = "_ZN2v88internal7Version6minor_E";

// The values that Node.js 22.21 exports, as readelf shows them.
std::map<std::string, int32_t> Node22() {
  return {{kMajor, 12},
          {kMinor, 4},
          {"v8dbg_TaggedSize", 8},
          {"v8dbg_off_fp_function", -16},
          {"v8dbg_class_JSFunction__shared__SharedFunctionInfo", 32},
          {"v8dbg_class_JSFunction__code__Tagged_Code_", 24},
          {"v8dbg_class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_", 16},
          {"v8dbg_class_SharedFunctionInfo__script__Tagged_HeapObject_", 32},
          {"v8dbg_class_Map__instance_type__uint16_t", 12},
          {"v8dbg_class_String__length__int32_t", 12},
          {"v8dbg_class_SeqOneByteString__chars__char", 16},
          {"v8dbg_class_SeqTwoByteString__chars__char", 16},
          {"v8dbg_class_ConsString__first__String", 16},
          {"v8dbg_class_ConsString__second__String", 24},
          {"v8dbg_class_SlicedString__parent__String", 16},
          {"v8dbg_class_SlicedString__offset__SMI", 24},
          {"v8dbg_class_ThinString__actual__String", 16},
          {"v8dbg_class_ExternalString__resource__Object", 16},
          {"v8dbg_class_Script__name__Object", 16},
          {"v8dbg_class_Script__source__Object", 8},
          {"v8dbg_class_BytecodeArray__data__uintptr_t", 64},
          {"v8dbg_class_BytecodeArray__wrapper__Tagged_BytecodeWrapper_", 16},
          {"v8dbg_class_Code__instruction_start__Address", 40},
          {"v8dbg_class_Code__instruction_size__int", 52},
          {"v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", 274},
          {"v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE", 272},
          {"v8dbg_type_Script__SCRIPT_TYPE", 167},
          {"v8dbg_type_BytecodeArray__BYTECODE_ARRAY_TYPE", 205},
          {"v8dbg_type_Code__CODE_TYPE", 206}};
}

Result<FoundV8> Find(const std::map<std::string, int32_t>& values) {
  constexpr uint64_t kAt = 0x401000;
  ElfBuilder builder;
  builder.AddCode(kAt, 4096);
  std::vector<ElfBuilder::TestSymbol> symbols;
  for (const auto& [name, value] : values)
    symbols.push_back({name, kAt + 4 * symbols.size(), 4, STB_GLOBAL, STT_OBJECT, 1});
  builder.AddSymbols(SHT_DYNSYM, symbols);
  std::string bytes = builder.Build();
  size_t at = ElfBuilder::kCodeFileOffset;
  for (const auto& [name, value] : values) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    at += sizeof(value);
  }
  symbolizer::MemorySource source(std::as_bytes(std::span(bytes)));
  ASSIGN_OR_RETURN(const symbolizer::ElfFile file, symbolizer::ElfFile::Open(source));
  return FindV8(file);
}

TEST(FindV8, TakesItsOffsetsFromTheFile) {
  const auto found = Find(Node22());
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->version, "12.4");
  ASSERT_TRUE(found->build) << found->why;
  EXPECT_EQ(found->build->function_shared, 32);
  EXPECT_EQ(found->build->function_code, 24);
  EXPECT_EQ(found->build->shared_name, 16);
  EXPECT_EQ(found->build->code_size, 52);
  EXPECT_EQ(found->build->source_positions(), 24);
  EXPECT_FALSE(found->build->places_first());
  EXPECT_FALSE(found->build->has_dispatch_table());
}

TEST(FindV8, FillsInWhatAVersionDoesNotSay) {
  auto values = Node22();
  values[kMajor] = 11;
  values[kMinor] = 3;
  values.erase("v8dbg_class_JSFunction__code__Tagged_Code_");
  values.erase("v8dbg_class_Code__instruction_start__Address");
  values.erase("v8dbg_class_Code__instruction_size__int");
  const auto found = Find(values);
  ASSERT_TRUE(found && found->build);
  EXPECT_EQ(found->build->function_code, 48);
  EXPECT_EQ(found->build->code_start, 40);
  EXPECT_EQ(found->build->code_size, 56);
}

TEST(FindV8, IsNothingElse) {
  const auto found = Find({{"v8dbg_TaggedSize", 8}, {"main", 1}});
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->version, "");
  EXPECT_FALSE(found->build);
}

TEST(FindV8, SaysWhyABuildIsNotSupported) {
  const auto why = [](const char* name, int32_t value) {
    auto values = Node22();
    values[name] = value;
    const auto found = Find(values);
    EXPECT_TRUE(found && !found->build) << name;
    return found ? found->version + ": " + found->why : std::string();
  };
  EXPECT_THAT(why(kMajor, 9), HasSubstr("9.4: its functions have no names; those of V8 10.2"));
  EXPECT_THAT(why(kMajor, 15), HasSubstr("15.4: its functions have no names; those of V8 10.2"));
  EXPECT_THAT(why("v8dbg_TaggedSize", 4), HasSubstr("compressed pointers"));
  EXPECT_THAT(why("v8dbg_off_fp_function", -24), HasSubstr("laid out otherwise"));
  EXPECT_THAT(why("v8dbg_class_Map__instance_type__uint16_t", 5000),
              HasSubstr("does not say class_Map__instance_type"));
  EXPECT_THAT(why("v8dbg_class_JSFunction__shared__SharedFunctionInfo", 56),
              HasSubstr("class_JSFunction__shared"));
  EXPECT_THAT(why("v8dbg_class_Code__instruction_size__int", 64),
              HasSubstr("class_Code__instruction_size"));
  auto values = Node22();
  values.erase(kMinor);
  const auto found = Find(values);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, "of unknown version");
  EXPECT_FALSE(found->build);
}

}  // namespace
}  // namespace firetower::daemon
