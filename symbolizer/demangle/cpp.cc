// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/demangle/cpp.h"

#include <csetjmp>
#include <cstddef>

// libiberty's header declares basename() unless told that we have one.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include "symbolizer/demangle.h"
#include "symbolizer/demangle/cpp_common.h"

namespace firetower::symbolizer {

namespace {

// libiberty refuses names above about 1 KiB unless its recursion limit is lifted: it wants room on
// the stack in proportion to the name, for 4 KiB names some 300 KiB. Its printer keeps a limit of
// its own (1,024 levels) either way.
constexpr size_t kDefaultLimitBytes = 1000;

struct Sink {
  std::string text;
  std::jmp_buf overflow;
};

void Append(const char* bytes, size_t length, void* opaque) noexcept {
  auto* sink = static_cast<Sink*>(opaque);
  if (sink->text.size() + length > kMaxDemangledBytes) {
    // A name of nested substitutions doubles its length at each level; __cxa_demangle, which is
    // this same code, would go on until memory ends. The callback interface allocates nothing
    // ("allocation-less", demangle.h), so leaving it half-way leaks nothing.
    std::longjmp(sink->overflow, 1);
  }
  sink->text.append(bytes, length);
}

// Apart, so that no local object lives across setjmp.
bool Run(const char* mangled, int options, Sink& sink) {
  if (setjmp(sink.overflow) != 0) return false;
  return cplus_demangle_v3_callback(mangled, options, &Append, &sink) != 0;
}

}  // namespace

std::optional<std::string> DemangleCpp(std::string_view mangled) {
  if (!mangled.starts_with("_Z") || mangled.size() > kMaxMangledBytes) return std::nullopt;
  if (auto common = DemangleCommonCpp(mangled)) return common;
  const std::string terminated(mangled);
  int options = DMGL_PARAMS | DMGL_ANSI;
  if (terminated.size() > kDefaultLimitBytes) options |= DMGL_NO_RECURSE_LIMIT;
  Sink sink;
  sink.text.reserve(kMaxDemangledBytes);  // Append() must not throw through C frames
  if (!Run(terminated.c_str(), options, sink)) return std::nullopt;
  sink.text.shrink_to_fit();
  return std::move(sink.text);
}

}  // namespace firetower::symbolizer
