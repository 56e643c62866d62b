// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

// libiberty's header declares basename() unless told that we have one.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include "symbolizer/demangle.h"
#include "symbolizer/demangle/cpp_common.h"

namespace {

// The common forms are read by code of ours, which says what libiberty says, or nothing.
void CompareWithLibiberty(std::string_view name) {
  const auto ours = firetower::symbolizer::DemangleCommonCpp(name);
  if (!ours || name.find('\0') != std::string_view::npos) return;
  const std::unique_ptr<char, void (*)(void*)> theirs(
      cplus_demangle_v3(std::string(name).c_str(), DMGL_PARAMS | DMGL_ANSI), ::free);
  if (theirs == nullptr || *ours != theirs.get()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace symbolizer = firetower::symbolizer;
  std::string_view name(reinterpret_cast<const char*>(data), size);
  CompareWithLibiberty(name);
  std::string demangled = symbolizer::Demangle(name);
  if (demangled != name && demangled.size() > 2 * symbolizer::kMaxDemangledBytes) std::abort();
  for (std::string_view text : {std::string_view(demangled), name}) {
    std::string simple = symbolizer::SimplifyName(text);
    if (simple.size() > symbolizer::kMaxLabelBytes || simple.empty() != text.empty()) std::abort();
  }
  return 0;
}
