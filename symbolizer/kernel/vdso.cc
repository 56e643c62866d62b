// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/kernel/vdso.h"

#include <sys/auxv.h>

#include <charconv>

#include "base/file.h"
#include "symbolizer/elf/build_id.h"

namespace firetower::symbolizer {

namespace {

// Returns the end of our [vdso] mapping, from the lines of /proc/self/maps: "start-end perms …".
Result<uint64_t> VdsoEnd(uint64_t start) {
  ASSIGN_OR_RETURN(std::string maps, ReadFile("/proc/self/maps"));
  size_t line = 0;
  while (line < maps.size()) {
    size_t line_end = std::min(maps.find('\n', line), maps.size());
    uint64_t from = 0;
    uint64_t to = 0;
    const char* limit = maps.data() + line_end;
    auto first = std::from_chars(maps.data() + line, limit, from, 16);
    if (first.ec == std::errc() && first.ptr < limit && *first.ptr == '-') {
      auto second = std::from_chars(first.ptr + 1, limit, to, 16);
      if (second.ec == std::errc() && from == start && to > from) return to;
    }
    line = line_end + 1;
  }
  return Error(ErrorCode::kNotFound, "no vdso mapping in /proc/self/maps");
}

}  // namespace

Result<Vdso> LoadVdso(std::span<const std::byte> image) {
  MemorySource source(image);
  Vdso vdso;
  ASSIGN_OR_RETURN(vdso.symbols, LoadElfSymbols(source));
  vdso.build_id = ReadBuildId(source).value_or("");
  return vdso;
}

Result<std::span<const std::byte>> OwnVdsoImage() {
  const uint64_t start = ::getauxval(AT_SYSINFO_EHDR);
  if (start == 0) return Error(ErrorCode::kNotFound, "this kernel maps no vdso");
  ASSIGN_OR_RETURN(uint64_t end, VdsoEnd(start));
  // The kernel maps it for the life of the process and nobody can write to it.
  const auto* bytes =
      reinterpret_cast<const std::byte*>(start);  // NOLINT(performance-no-int-to-ptr)
  return std::span(bytes, static_cast<size_t>(end - start));
}

Result<Vdso> LoadOwnVdso() {
  ASSIGN_OR_RETURN(std::span<const std::byte> image, OwnVdsoImage());
  return LoadVdso(image);
}

}  // namespace firetower::symbolizer
