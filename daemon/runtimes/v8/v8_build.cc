// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/v8/v8_build.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include "daemon/runtimes/elf_values.h"
#include "daemon/runtimes/v8/v8_code.h"
#include "symbolizer/elf/symbols/function_finder.h"

namespace firetower::daemon {
namespace {

using symbolizer::ElfFile;

// A value of the build and the symbol that says it. V8 makes these symbols out of its sources, so a
// type that is written otherwise changes their names: then there is a row for each.
struct Field {
  std::string_view symbol;
  uint16_t V8Build::*member;
};
constexpr Field kFields[] = {
    {"v8dbg_class_JSFunction__shared__SharedFunctionInfo", &V8Build::function_shared},
    {"v8dbg_class_SharedFunctionInfo__name_or_scope_info__Object", &V8Build::shared_name},
    {"v8dbg_class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_", &V8Build::shared_name},
    {"v8dbg_class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_",
     &V8Build::shared_name},
    {"v8dbg_class_SharedFunctionInfo__script_or_debug_info__HeapObject", &V8Build::shared_script},
    {"v8dbg_class_SharedFunctionInfo__script__Tagged_HeapObject_", &V8Build::shared_script},
    {"v8dbg_class_Map__instance_type__uint16_t", &V8Build::map_type},
    {"v8dbg_class_String__length__int32_t", &V8Build::string_length},
    {"v8dbg_class_SeqOneByteString__chars__char", &V8Build::one_byte_text},
    {"v8dbg_class_SeqTwoByteString__chars__char", &V8Build::two_byte_text},
    {"v8dbg_class_ConsString__first__String", &V8Build::cons_first},
    {"v8dbg_class_ConsString__second__String", &V8Build::cons_second},
    {"v8dbg_class_SlicedString__parent__String", &V8Build::sliced_parent},
    {"v8dbg_class_SlicedString__offset__SMI", &V8Build::sliced_offset},
    {"v8dbg_class_ThinString__actual__String", &V8Build::thin_actual},
    {"v8dbg_class_ExternalString__resource__Object", &V8Build::external_resource},
    {"v8dbg_class_Script__name__Object", &V8Build::script_name},
    {"v8dbg_class_Script__source__Object", &V8Build::script_source},
    {"v8dbg_class_BytecodeArray__data__uintptr_t", &V8Build::bytecodes},
    {"v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", &V8Build::shared_type},
    {"v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE", &V8Build::scope_type},
    {"v8dbg_type_Script__SCRIPT_TYPE", &V8Build::script_type},
    {"v8dbg_type_BytecodeArray__BYTECODE_ARRAY_TYPE", &V8Build::bytecode_type},
    {"v8dbg_type_Code__CODE_TYPE", &V8Build::code_type},
};

// Values that some versions do not say: then they are as in the last one that did, or in the next.
constexpr Field kOptional[] = {
    {"v8dbg_class_BytecodeArray__wrapper__Tagged_BytecodeWrapper_", &V8Build::bytecode_wrapper},
    {"v8dbg_class_JSFunction__code__CodeT", &V8Build::function_code},
    {"v8dbg_class_JSFunction__code__Tagged_Code_", &V8Build::function_code},
    {"v8dbg_class_JSFunction__raw_feedback_cell__FeedbackCell", &V8Build::function_feedback},
    {"v8dbg_class_JSFunction__raw_feedback_cell__Tagged_FeedbackCell_",
     &V8Build::function_feedback},
    {"v8dbg_class_Code__instruction_start__uintptr_t", &V8Build::code_start},
    {"v8dbg_class_Code__instruction_start__Address", &V8Build::code_start},
    {"v8dbg_class_Code__instruction_size__int", &V8Build::code_size},
};

void FillIn(V8Build& build) {
  if (build.function_code == 0) build.function_code = build.major < 12 ? 48 : 24;
  if (build.function_feedback == 0) build.function_feedback = build.major < 12 ? 40 : 48;
  if (build.code_start == 0) build.code_start = 40;
  if (build.code_size == 0) build.code_size = 56;
}

// Other values that are looked at once.
enum Extra : size_t { kMajor, kMinor, kTaggedSize, kFunctionSlot, kExtras };
constexpr std::array<std::string_view, kExtras> kExtraSymbols = {
    "_ZN2v88internal7Version6major_E", "_ZN2v88internal7Version6minor_E", "v8dbg_TaggedSize",
    "v8dbg_off_fp_function"};

constexpr int32_t kFunctionSlotAt = -16;  // from the frame pointer, in every version
constexpr int32_t kMaxOffset = 4096;

struct Values {
  V8Build build;
  std::array<std::optional<int32_t>, kExtras> extra;
};

// Reads what the file's symbols say. Nothing: it has none of them.
Result<std::optional<Values>> ReadValues(const ElfFile& file) {
  std::vector<std::string_view> names;
  std::vector<uint16_t V8Build::*> members;
  const auto add = [&](const Field& field) {
    names.push_back(field.symbol);
    members.push_back(field.member);
  };
  std::ranges::for_each(kFields, add);
  std::ranges::for_each(kOptional, add);
  names.insert(names.end(), kExtraSymbols.begin(), kExtraSymbols.end());
  const auto found = symbolizer::FindSymbols(file, SHT_DYNSYM, names);
  if (!found) {
    if (found.error().code() == ErrorCode::kNotFound) return std::optional<Values>();
    return found.error();
  }
  Values values;
  for (const symbolizer::FoundSymbol& symbol : *found) {
    if (symbol.size != sizeof(int32_t)) continue;
    ASSIGN_OR_RETURN(const auto value, ReadElfValue<int32_t>(file, symbol.value));
    if (symbol.name >= members.size()) {
      values.extra[symbol.name - members.size()] = value;
    } else if (value >= 0 && value < kMaxOffset) {
      values.build.*members[symbol.name] = static_cast<uint16_t>(value);
    }
  }
  if (!values.extra[kFunctionSlot]) return std::optional<Values>();
  return std::optional(values);
}

// Returns the symbol of a value that is missing, without its prefix; empty if none is.
std::string_view Missing(const V8Build& build) {
  for (const Field& field : kFields) {
    if (build.*field.member == 0) return field.symbol.substr(std::string_view("v8dbg_").size());
  }
  const auto in_shared = [](uint16_t offset) {
    return offset % 8 == 0 && offset < FT_V8_SHARED_BYTES;
  };
  if (!in_shared(build.shared_name)) return "class_SharedFunctionInfo__name_or_scope_info";
  if (!in_shared(build.shared_script)) return "class_SharedFunctionInfo__script";
  if (!build.code_start_inline() && build.code_start + sizeof(uint64_t) > kCodeHeadBytes)
    return "class_Code__instruction_start";
  if (build.code_size + sizeof(uint32_t) > kCodeHeadBytes) return "class_Code__instruction_size";
  if (build.function_shared % 8 != 0 || build.function_shared >= FT_V8_FUNCTION_BYTES)
    return "class_JSFunction__shared";
  return {};
}

constexpr const char* kOtherVersion = "its functions have no names; those of V8 10.2 to 14.6 have";

bool IsKnown(const V8Build& build) {
  return (build.major > 10 || (build.major == 10 && build.minor >= 2)) &&
         (build.major < 14 || (build.major == 14 && build.minor <= 6));
}

}  // namespace

Result<FoundV8> FindV8(const ElfFile& file) {
  ASSIGN_OR_RETURN(std::optional<Values> values, ReadValues(file));
  FoundV8 found;
  if (!values) return found;
  const auto& extra = values->extra;
  if (!extra[kMajor] || !extra[kMinor] || *extra[kMajor] < 0 || *extra[kMinor] < 0 ||
      *extra[kMajor] > UINT16_MAX || *extra[kMinor] > UINT16_MAX) {
    found.version = "of unknown version";
    found.why = kOtherVersion;
    return found;
  }
  V8Build& build = values->build;
  build.major = static_cast<uint16_t>(*extra[kMajor]);
  build.minor = static_cast<uint16_t>(*extra[kMinor]);
  found.version = fmt::format("{}.{}", build.major, build.minor);
  FillIn(build);
  if (!IsKnown(build)) {
    found.why = kOtherVersion;
  } else if (extra[kTaggedSize] != 8) {
    found.why = "a build with compressed pointers: its functions have no names";
  } else if (extra[kFunctionSlot] != kFunctionSlotAt) {
    found.why = "its frames are laid out otherwise: its functions have no names";
  } else if (const std::string_view missing = Missing(build); !missing.empty()) {
    found.why = fmt::format("it does not say {}: its functions have no names", missing);
  } else {
    found.build = build;
  }
  return found;
}

}  // namespace firetower::daemon
