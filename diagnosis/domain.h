// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace firetower::diagnosis {

// Tells whose code a frame is.
enum class Domain : uint8_t {
  kApplication,  // the program itself, and what it runs: scripts, code compiled at run time
  kRuntime,      // an interpreter, its garbage collector and compiler
  kLibrary,      // shared libraries, the C library and allocators among them
  kKernel,
  kUnknown,  // no file is known
};
inline constexpr size_t kDomains = 5;

// Returns "application", "runtime", "library", "kernel" or "unknown".
std::string_view DomainName(Domain domain);

// Decides by privilege and by the file that has the code, and by the source file where that is
// known; never by the look of a function's name, which anybody may give.
//
// `module` is the path of the binary, `source` that of the source file, or "".
Domain DomainOfFile(std::string_view module, std::string_view source);

// Returns the letter of DomainOfFile in flame graphs: a, r, l, k or u, the first one of its name.
char DomainLetterOf(std::string_view module, std::string_view source);

// The domains of a profile's frames.
class Domains {
 public:
  explicit Domains(const profile::Profile& profile);

  // `line` is an index into the location's lines; 0 if it has none.
  Domain Of(uint32_t location, size_t line) const;

 private:
  std::vector<size_t> begin_;  // of each location, in of_
  std::vector<Domain> of_;
};

}  // namespace firetower::diagnosis
