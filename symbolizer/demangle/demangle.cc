// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/demangle.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

// libiberty's header declares basename() unless told that we have one.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

namespace firetower::symbolizer {

namespace {

// DMGL_VERBOSE, which c++filt sets, would show Rust's hashes and write std::ostream in full.
// DMGL_NO_RECURSE_LIMIT stays off: libiberty's own limits hold (2,048 levels of a type, 1,024 of
// the printer and of Rust).
constexpr int kOptions = DMGL_PARAMS | DMGL_ANSI;

// libiberty's interface of one call refuses names above this length, because it makes their tree
// on the stack. Longer names get their tree on the heap, by an interface that lacks the second
// attempt at an "sr" of unresolved names (257 of the 124,000 names that kMaxScopePairs speaks of).
constexpr size_t kMaxStackBytes = DEMANGLE_RECURSION_LIMIT / 2;

// libiberty's printer puts 16 bytes on the stack for each pair of a template and a reference to a
// template parameter, and counts each up to twice: 64 bytes a pair, 256 KiB for this many. The
// 124,000 names of node 20, libLLVM-14 and libstdc++ have at most 60 pairs; a hostile name of
// 4 KiB has 300,000, which is more stack than a thread has.
constexpr size_t kMaxScopePairs = 4096;

// Text that libiberty writes piece by piece.
struct Output {
  std::array<char, kMaxDemangledBytes> bytes;
  size_t size = 0;
  bool is_full = false;
  std::jmp_buf overflow;
};

// Appends a piece. Returns false when it or a piece before it had no room.
bool TryAppend(const char* piece, size_t length, Output& output) {
  output.is_full = output.is_full || length > output.bytes.size() - output.size;
  if (output.is_full) return false;
  std::copy_n(piece, length, output.bytes.begin() + output.size);  // an empty piece may be null
  output.size += length;
  return true;
}

// Appends a piece of a C++ name. Leaves libiberty when there is no more room: in a name of nested
// substitutions each level doubles the length, so printing it to its end would take years. The
// printer allocates nothing ("allocation-less", demangle.h), so leaving it leaks nothing.
void AppendCpp(const char* piece, size_t length, void* opaque) noexcept {
  auto* output = static_cast<Output*>(opaque);
  if (!TryAppend(piece, length, *output)) std::longjmp(output->overflow, 1);
}

// Appends a piece of a Rust name. libiberty holds memory while it writes a punycode identifier, so
// this leaves it at punctuation alone: an identifier has none, and every branch that makes a name
// exponential writes some.
void AppendRust(const char* piece, size_t length, void* opaque) noexcept {
  auto* output = static_cast<Output*>(opaque);
  if (TryAppend(piece, length, *output)) return;
  const bool is_punctuation = length > 0 && std::strchr("<>()[]{},:;&*+-='\" ", *piece) != nullptr;
  if (is_punctuation) std::longjmp(output->overflow, 1);
}

// These three have no object with a destructor, because longjmp() leaves them.
bool PrintCpp(const char* mangled, Output& output) {
  if (setjmp(output.overflow) != 0) return false;
  return cplus_demangle_v3_callback(mangled, kOptions, &AppendCpp, &output) != 0;
}

bool PrintCppTree(demangle_component* tree, Output& output) {
  if (setjmp(output.overflow) != 0) return false;
  return cplus_demangle_print_callback(kOptions, tree, &AppendCpp, &output) != 0;
}

bool PrintRust(const char* mangled, Output& output) {
  output.size = 0;
  if (setjmp(output.overflow) != 0) return false;
  return rust_demangle_callback(mangled, kOptions, &AppendRust, &output) != 0 && !output.is_full;
}

// Bounds the stack of libiberty's printer by the product of template argument lists and references
// to what may be a template parameter.
bool FitsTheStack(std::string_view mangled) {
  // The most pairs that so many letters can make: half for lists, a quarter for references.
  if (mangled.size() * mangled.size() / 8 <= kMaxScopePairs) return true;
  size_t templates = 0;
  size_t references = 0;
  char before = '\0';
  for (const char c : mangled) {
    if (c == 'I' || c == 'J') ++templates;
    if ((c == 'T' || c == 'S') && (before == 'R' || before == 'O')) ++references;
    before = c;
  }
  return templates * references <= kMaxScopePairs;
}

bool DemangleCpp(const std::string& mangled, Output& output) {
  if (!FitsTheStack(mangled)) return false;
  if (mangled.size() <= kMaxStackBytes) return PrintCpp(mangled.c_str(), output);
  void* memory = nullptr;
  demangle_component* tree = cplus_demangle_v3_components(mangled.c_str(), kOptions, &memory);
  const std::unique_ptr<void, void (*)(void*)> owner(memory, &std::free);
  return tree != nullptr && PrintCppTree(tree, output);
}

// Looks for "for<…>" of more than 62 lifetimes: 'G' and two or more digits, behind a function
// type's 'F' or a trait object's 'D'. libiberty counts them one by one, and in a part of the name
// that is not shown nothing stops it from counting to 2^64.
bool MakeLongBindersInvalid(std::string& mangled) {
  bool found = false;
  for (size_t at = 1; at + 2 < mangled.size(); ++at) {
    const char before = mangled[at - 1];
    if (mangled[at] != 'G' || (before != 'F' && before != 'D')) continue;
    if (mangled[at + 1] == '_' || mangled[at + 2] == '_') continue;
    mangled[at] = 'g';  // no type or path starts with it
    found = true;
  }
  return found;
}

// Appends ".cold" and the like, which libiberty leaves out. LLVM's own marks, which tell equal
// names apart, say nothing to a reader.
void AppendSuffix(std::string_view suffix, Output& output) {
  if (!suffix.starts_with(".llvm.")) TryAppend(suffix.data(), suffix.size(), output);
}

bool DemangleRustV0(const std::string& mangled, Output& output) {
  // The same letters may be part of an identifier or of a hash, where 'g' is as valid as 'G'.
  std::string harmless = mangled;
  if (MakeLongBindersInvalid(harmless) && !PrintRust(harmless.c_str(), output)) return false;
  if (!PrintRust(mangled.c_str(), output)) return false;
  AppendSuffix(std::string_view(mangled).substr(std::min(mangled.find('.'), mangled.size())),
               output);
  return !output.is_full;
}

// Reads a legacy Rust name, whose last element is a hash. It is valid C++ mangling as well.
bool DemangleRustLegacy(const std::string& mangled, Output& output) {
  static constexpr std::string_view kHashAndEnd = "17h0123456789abcdefE";
  if (mangled.find("17h") == std::string::npos) return false;  // most names are C++
  if (!PrintRust(mangled.c_str(), output)) return false;
  const size_t end = mangled.rfind("17h") + kHashAndEnd.size();
  AppendSuffix(std::string_view(mangled).substr(std::min(end, mangled.size())), output);
  return !output.is_full;
}

bool DemangleInto(const std::string& mangled, Output& output) {
  if (mangled[1] == 'R') return DemangleRustV0(mangled, output);
  if (DemangleRustLegacy(mangled, output)) return true;
  output.size = 0;
  output.is_full = false;
  return DemangleCpp(mangled, output);
}

}  // namespace

std::string Demangle(std::string_view mangled) {
  std::string name(mangled);
  const bool is_mangled = mangled.starts_with("_Z") || mangled.starts_with("_R");
  if (!is_mangled || name.size() > kMaxMangledBytes || name.find('\0') != std::string::npos) {
    return name;
  }
  Output output;
  return DemangleInto(name, output) ? std::string(output.bytes.data(), output.size) : name;
}

}  // namespace firetower::symbolizer
