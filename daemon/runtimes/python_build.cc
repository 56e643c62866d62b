// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/python_build.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "daemon/runtimes/elf_values.h"
#include "symbolizer/elf/symbols/function_finder.h"

namespace firetower::daemon {
namespace {

using symbolizer::ElfFile;

// The symbols that name a build. The executable or libpython exports each.
enum Name : size_t { kRuntime, kCodeType, kVersion, kLoop, kSince8, kSince9, kSince10, kNames };
constexpr std::array<std::string_view, kNames> kSymbols = {
    "_PyRuntime", "PyCode_Type", "Py_Version", "_PyEval_EvalFrameDefault",
    // Functions that came with 3.8, 3.9 and 3.10, which have no Py_Version.
    "PyCode_NewWithPosOnlyArgs", "PyFrame_GetBack", "Py_Is"};
using Symbols = std::array<symbolizer::FoundSymbol, kNames>;

// The structs of each minor version, as offsetof says with that version's own headers
// (Include/internal/pycore_frame.h or cpython/frameobject.h, pycore_runtime.h, cpython/pystate.h,
// cpython/code.h, cpython/unicodeobject.h). They do not change after a version's first release. The
// thread's key is the second field of `autoTSSkey`, behind whether it was made.
struct Layout {
  uint16_t minor;
  ft_python_entry entry;
  uint16_t owner_entry;  // FRAME_OWNED_BY_CSTACK; from 3.14 on FRAME_OWNED_BY_INTERPRETER
  uint32_t thread_key;   // 3.15 has none
  uint16_t interpreters, interpreter_next, interpreter_threads, state_thread;
  uint16_t thread_frame, record_frame;
  uint16_t frame_code, frame_previous, frame_owner;  // in 3.11 is_entry is in the owner's place
  uint16_t frame_instruction;                        // before 3.11 f_lasti
  uint16_t code_first_line, code_start, text;
};

constexpr uint16_t kDirect = FT_PYTHON_DIRECT;
constexpr Layout kLayouts[] = {
    {8, FT_PYTHON_LOOP, 0, 1396, 32, 0, 8, 176, 24, kDirect, 32, 24, 0, 104, 40, 0, 48},
    {9, FT_PYTHON_LOOP, 0, 588, 32, 0, 8, 176, 24, kDirect, 32, 24, 0, 104, 40, 0, 48},
    {10, FT_PYTHON_LOOP, 0, 588, 32, 0, 8, 176, 24, kDirect, 32, 24, 0, 96, 40, 0, 48},
    {11, FT_PYTHON_CFRAME, 0, 596, 40, 0, 16, 152, 56, 8, 32, 48, 68, 56, 72, 184, 48},
    {12, FT_PYTHON_SHIM, 3, 1548, 40, 0, 72, 136, 56, 0, 0, 8, 70, 56, 68, 192, 40},
    {13, FT_PYTHON_SHIM, 3, 2164, 632, 7264, 7344, 152, 72, kDirect, 0, 8, 70, 56, 68, 200, 40},
    {14, FT_PYTHON_SHIM, 3, 2340, 808, 7272, 7344, 152, 72, kDirect, 0, 8, 74, 56, 68, 208, 40},
    {15, FT_PYTHON_SHIM, 3, 0, 936, 7264, 7336, 176, 72, kDirect, 0, 8, 74, 56, 68, 208, 40},
};

// Returns the build of a version; without a kind if the version is not known.
ft_python BuildOf(uint16_t minor) {
  ft_python build{};
  const auto* layout = std::ranges::find(kLayouts, minor, &Layout::minor);
  if (layout == std::end(kLayouts)) return build;
  const bool loop = layout->entry == FT_PYTHON_LOOP;
  build.runtime_kind = FT_RUNTIME_PYTHON;
  build.minor = minor;
  build.entry = layout->entry;
  build.owner_entry = layout->owner_entry;
  build.thread_key = layout->thread_key;
  build.thread_frame = layout->thread_frame;
  build.record_frame = layout->record_frame;
  build.frame_code = layout->frame_code;
  build.frame_previous = layout->frame_previous;
  build.frame_instruction = layout->frame_instruction;
  build.frame_owner = layout->frame_owner;
  build.frame_bytes = loop ? FT_CHAIN_FRAME_BYTES : 96;
  build.code_first_line = layout->code_first_line;
  build.code_file = loop ? 104 : 112;
  build.code_name = loop ? 112 : 128;  // co_name, then co_qualname
  build.code_lines = loop ? 120 : 136;
  build.code_start = layout->code_start;
  build.text = layout->text;
  // 3.15 keeps the thread state in a variable of the thread's own, which is empty while the thread
  // has given up the interpreter's lock; the lists have it all the time.
  build.interpreters = layout->interpreters;
  build.interpreter_next = layout->interpreter_next;
  build.interpreter_threads = layout->interpreter_threads;
  build.state_next = 8;
  build.state_thread = layout->state_thread;
  return build;
}

// Says why the objects of a build have another head; empty: they have not. From 3.13 on _PyRuntime
// begins with a description of the build (_Py_DebugOffsets,
// Include/internal/pycore_debug_offsets.h).
Result<std::string> OtherHead(const ElfFile& file, uint64_t runtime, uint16_t minor) {
  struct Head {
    std::array<char, 8> cookie;
    uint64_t version = 0;
    uint64_t free_threaded = 0;
  };
  if (minor < 13) return std::string();
  ASSIGN_OR_RETURN(const Head head, ReadElfValue<Head>(file, runtime));
  if (std::string_view(head.cookie.data(), head.cookie.size()) != "xdebugpy")
    return std::string("a build without its own description: its functions have no names");
  return std::string(head.free_threaded != 0 ? "free-threaded: its functions have no names" : "");
}

struct Version {
  uint16_t major = 3;
  uint16_t minor = 0;  // before 3.11 by the functions that came with 3.8, 3.9 and 3.10; else 0
};

Result<Version> VersionOf(const ElfFile& file, const Symbols& symbols) {
  if (symbols[kVersion].value == 0) {
    const bool known[] = {symbols[kSince8].value != 0, symbols[kSince9].value != 0,
                          symbols[kSince10].value != 0};
    return Version{3, static_cast<uint16_t>(known[2] ? 10 : known[1] ? 9 : known[0] ? 8 : 0)};
  }
  // PY_VERSION_HEX: major, minor, micro, level and serial.
  ASSIGN_OR_RETURN(const auto version, ReadElfValue<uint64_t>(file, symbols[kVersion].value));
  return Version{static_cast<uint16_t>(version >> 24), uint16_t(version >> 16 & 0xff)};
}

constexpr const char* kOtherVersion = "its functions have no names; those of 3.8 to 3.15 have";

// Fills in where the build's parts lie. Returns why that is not known, or nothing.
Result<std::string> Place(const ElfFile& file, const Symbols& symbols, ft_python& build) {
  ASSIGN_OR_RETURN(std::string other, OtherHead(file, symbols[kRuntime].value, build.minor));
  if (!other.empty()) return other;
  ASSIGN_OR_RETURN(const std::optional<uint64_t> bias, CodeBias(file));
  if (!bias) return std::string("its code is in segments with different offsets");
  build.runtime = static_cast<int64_t>(symbols[kRuntime].value - *bias);
  build.code_type = static_cast<int64_t>(symbols[kCodeType].value - *bias);
  if (build.entry != FT_PYTHON_LOOP) return std::string();
  if (symbols[kLoop].value == 0 || symbols[kLoop].size == 0)
    return std::string("it does not export its loop");
  build.loop = static_cast<int64_t>(symbols[kLoop].value - *bias);
  build.loop_bytes = static_cast<uint32_t>(symbols[kLoop].size);
  return std::string();
}

}  // namespace

Result<FoundPython> FindPython(const ElfFile& file) {
  const auto symbols_found = symbolizer::FindSymbols(file, SHT_DYNSYM, kSymbols);
  if (!symbols_found) {
    if (symbols_found.error().code() == ErrorCode::kNotFound) return FoundPython{};
    return symbols_found.error();
  }
  Symbols symbols{};
  for (const symbolizer::FoundSymbol& symbol : *symbols_found) symbols[symbol.name] = symbol;
  if (symbols[kRuntime].value == 0 || symbols[kCodeType].value == 0) return FoundPython{};
  ASSIGN_OR_RETURN(const Version version, VersionOf(file, symbols));
  FoundPython found;
  found.version = version.minor == 0 && symbols[kVersion].value == 0
                      ? "before 3.8"
                      : fmt::format("{}.{}", version.major, version.minor);
  ft_python build = version.major == 3 ? BuildOf(version.minor) : ft_python{};
  if (build.runtime_kind == FT_RUNTIME_NONE ||
      (build.entry == FT_PYTHON_LOOP) != (symbols[kVersion].value == 0)) {
    found.why = kOtherVersion;
    return found;
  }
  ASSIGN_OR_RETURN(found.why, Place(file, symbols, build));
  if (found.why.empty()) found.build = build;
  return found;
}

}  // namespace firetower::daemon
