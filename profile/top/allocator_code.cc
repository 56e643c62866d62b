// SPDX-License-Identifier: Apache-2.0
#include "profile/top/allocator_code.h"

#include <algorithm>
#include <iterator>

namespace firetower::profile {
namespace {

constexpr std::string_view kWhole[] = {
    "malloc",         "calloc", "realloc", "reallocarray", "memalign",      "aligned_alloc",
    "posix_memalign", "valloc", "pvalloc", "operator new", "operator new[]"};
constexpr std::string_view kBegins[] = {"__libc_malloc",
                                        "__libc_calloc",
                                        "__libc_realloc",
                                        "__libc_memalign",
                                        "_mid_memalign",
                                        "operator new(",
                                        "operator new[](",
                                        "je_",
                                        "_rjem_",
                                        "mi_",
                                        "tc_",
                                        "tcmalloc::",
                                        "std::allocator<",
                                        "std::allocator_traits<",
                                        "std::__new_allocator<",
                                        "__gnu_cxx::new_allocator<",
                                        "__rust_alloc",
                                        "__rust_realloc",
                                        "__rdl_",
                                        "alloc::alloc::"};

}  // namespace

bool IsAllocatorCode(std::string_view function) {
  return std::ranges::find(kWhole, function) != std::end(kWhole) ||
         std::ranges::any_of(kBegins,
                             [&](std::string_view begin) { return function.starts_with(begin); });
}

}  // namespace firetower::profile
