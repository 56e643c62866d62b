// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "daemon/runtimes/remote_memory.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::daemon {

// The places where a libjvm keeps its description of itself (vmStructs.hpp of HotSpot), relative to
// the bias of the mapping of its code.
struct HotSpotSymbols {
  int64_t structs = 0;
  int64_t types = 0;
  int64_t struct_bytes = 0;  // the sizes of their entries, which the library sets as it starts
  int64_t type_bytes = 0;

  bool operator==(const HotSpotSymbols&) const = default;
};

// Tells whether a file is a libjvm, by what it exports. Fails where the file is damaged.
Result<std::optional<HotSpotSymbols>> FindHotSpot(const symbolizer::ElfFile& file);

// The structs of a running JVM, as its libjvm describes them.
class VmStructs {
 public:
  // The most entries of a table; known ones have up to 900.
  static constexpr size_t kMaxEntries = 4096;

  // Reads the tables of a process that maps the library with that bias. kUnavailable: the memory
  // could not be read. kCorrupt: it is no such table.
  static Result<VmStructs> Read(const RemoteMemory& memory, const HotSpotSymbols& symbols,
                                uint64_t bias);

  // Return the offset of a field, the address of a static one, and the bytes of a type.
  std::optional<uint16_t> Offset(std::string_view type, std::string_view field) const;
  std::optional<uint64_t> Static(std::string_view type, std::string_view field) const;
  std::optional<uint16_t> SizeOf(std::string_view type) const;
  // Returns the type of a field as the library has it: "int", "u2"; empty if there is no such
  // field.
  std::string_view TypeOf(std::string_view type, std::string_view field) const;

 private:
  struct Field {
    std::string type;
    bool is_static = false;
    uint64_t at = 0;  // offset or address
  };
  const Field* Find(std::string_view type, std::string_view field) const;

  std::unordered_map<std::string, Field> fields_;  // by "Type.field"
  std::unordered_map<std::string, uint64_t> sizes_;
};

}  // namespace firetower::daemon
