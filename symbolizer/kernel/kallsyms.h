// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firetower::symbolizer {

struct KernelSymbol {
  std::string_view name;    // lives as long as the table
  std::string_view module;  // "" for the kernel itself, else as in kallsyms without brackets: "bpf"
  uint64_t offset;          // bytes from the function's start
};

// The kernel's functions, from /proc/kallsyms. Immutable; any thread may read it.
//
// kallsyms has only starts. A function ends where the next symbol of its owner (the kernel, one
// module, the BPF programs) begins. The last one before a hole ends with its page, and addresses
// above have no name. Programs and modules come and go: read it again when look-ups start to miss.
class Kallsyms {
 public:
  static constexpr uint64_t kPageBytes = 4096;
  // The largest function of a module or BPF program. Beyond it there is a hole, not a long
  // function.
  static constexpr uint64_t kMaxModuleFunctionBytes = 64 * 1024;
  static constexpr size_t kMaxSymbols = 1'000'000;

  // Parses the contents of /proc/kallsyms. kPermission: the kernel hides all addresses.
  static Result<Kallsyms> Parse(std::string_view text);
  // Reads `proc_root`/kallsyms piece by piece (the file has 5 to 15 MB).
  static Result<Kallsyms> Load(const std::string& proc_root = "/proc");

  std::optional<KernelSymbol> Find(uint64_t abs_addr) const;

  size_t symbol_count() const { return starts_.size(); }
  size_t bytes() const;

 private:
  friend class KallsymsBuilder;
  // 12 bytes per function instead of 24: addresses are offsets from a base (all of x86-64's kernel,
  // modules and BPF programs lie within 2 GiB), and owners are stored once for long ranges.
  struct Span {
    uint64_t base;
    uint32_t first;  // index of its first function
  };
  struct Owner {
    uint32_t first;
    uint32_t module_offset;
  };
  struct Body {
    uint32_t size_bytes;
    uint32_t name_offset;
  };
  std::vector<Span> spans_;       // sorted; at most 4 GiB each
  std::vector<Owner> owners_;     // sorted
  std::vector<uint32_t> starts_;  // sorted within a span, relative to its base
  std::vector<Body> bodies_;
  std::string names_;
};

}  // namespace firetower::symbolizer
