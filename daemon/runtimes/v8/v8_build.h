// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "bpf/abi/v8.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::daemon {

// The objects of one build of V8. Offsets are from an object's own address, types are instance
// types; each is what the file's symbols say (v8dbg_…, which V8 has for debuggers of its cores),
// but for those that are told by the version.
struct V8Build {
  uint16_t major = 0;
  uint16_t minor = 0;
  uint16_t function_shared = 0;
  uint16_t shared_name = 0;
  uint16_t shared_script = 0;
  uint16_t map_type = 0;
  uint16_t string_length = 0;
  uint16_t one_byte_text = 0;
  uint16_t two_byte_text = 0;
  uint16_t cons_first = 0;
  uint16_t cons_second = 0;
  uint16_t sliced_parent = 0;
  uint16_t sliced_offset = 0;
  uint16_t thin_actual = 0;
  uint16_t external_resource = 0;
  uint16_t script_name = 0;
  uint16_t script_source = 0;
  uint16_t bytecodes = 0;  // in a BytecodeArray
  uint16_t bytecode_wrapper = 0;
  uint16_t shared_type = 0;
  uint16_t scope_type = 0;
  uint16_t script_type = 0;
  uint16_t bytecode_type = 0;
  uint16_t code_type = 0;
  uint16_t function_code = 0;      // in a JSFunction: its Code; from V8 13 on its handle in a table
  uint16_t function_feedback = 0;  // in a JSFunction: its FeedbackCell
  uint16_t code_start = 0;         // in a Code: the address of its first instruction, or those …
  uint16_t code_size = 0;          // … and their bytes
  // The built-in functions' part of the file, which no row describes.
  uint64_t builtins_offset = 0;
  uint64_t builtins_bytes = 0;

  // A BytecodeArray that lies in trusted memory has its parts in another order (V8 12).
  uint16_t source_positions() const { return bytecode_wrapper != 0 ? 24 : 32; }
  // A ScopeInfo has the function's place in front of its variables since V8 12.8.
  bool places_first() const { return major > 12 || (major == 12 && minor >= 8); }
  bool code_start_inline() const { return code_start > 64; }
  // In a Code: what it says of itself, and its table of positions (V8 12).
  uint16_t code_description() const { return major >= 12 ? 8 : 16; }
  uint16_t code_positions() const { return major >= 12 ? 16 : 24; }
  bool has_dispatch_table() const { return major >= 13; }
  // A table of positions tells in another bit whether one is a statement's since V8 14.
  bool breakable_bit() const { return major >= 14; }

  bool operator==(const V8Build&) const = default;
};

struct FoundV8 {
  std::string version;           // "12.4"; empty: the file has no V8
  std::optional<V8Build> build;  // how to find its functions
  std::string why;               // where there is no build, for people
};

// Tells which V8 a file has, by what it exports. Fails where the file is damaged. The place of the
// built-in functions is left out.
Result<FoundV8> FindV8(const symbolizer::ElfFile& file);

}  // namespace firetower::daemon
