// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "symbolizer/dwarf/sections.h"
#include "symbolizer/dwarf/unit_cache.h"
#include "symbolizer/elf/debug_file.h"
#include "symbolizer/symbol_table.h"

namespace firetower::symbolizer {

// How much is read of an object.
struct ObjectOptions {
  // Where lines and inlined calls are kept; null: symbols only. Must outlive the tables.
  dwarf::UnitCache* lines = nullptr;
  dwarf::DwarfLimits limits = {};
};

class DebuginfodClient;

// Whether an object leaves something to its separate debug file.
bool WantsDebugFile(const ElfFile& object, const ObjectOptions& options);

// The symbols of an object and its debug file, one of which may be missing; with their lines, which
// come from whichever has DWARF. Damaged DWARF costs only itself.
Result<std::shared_ptr<SymbolTable>> LoadObject(std::optional<FileSource> object,
                                                std::optional<FileSource> debug_file,
                                                const ObjectOptions& options);

// Finds objects by build id, and keeps what it found: on a machine that may have the file or its
// debug file in their places, else on a server. Belongs to one thread.
class ObjectFinder {
 public:
  // `server` may be null. All must outlive this.
  ObjectFinder(const FileTree& files, DebuginfodClient* server, const ObjectOptions& options)
      : files_(files), server_(server), options_(options) {}

  // Null if there is none. `needs_file_offsets`: a table without FileOffsetToVaddr is of no use.
  const SymbolTable* Find(std::string_view build_id_hex, const std::string& path,
                          bool needs_file_offsets);

 private:
  struct Key {
    std::string build_id_hex;
    std::string path;  // of the file, if it is there: others with its build id may have other names
    bool needs_file_offsets = false;
    auto operator<=>(const Key&) const = default;
  };
  std::shared_ptr<const SymbolTable> Load(const Key& key, std::optional<FileSource> object);

  const FileTree& files_;
  DebuginfodClient* server_;
  ObjectOptions options_;
  std::map<Key, std::shared_ptr<const SymbolTable>> found_;
};

}  // namespace firetower::symbolizer
