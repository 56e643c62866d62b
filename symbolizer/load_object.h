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

// Options for reading an object.
struct ObjectOptions {
  // Cache of lines and inlined calls; null: read symbols only. Must outlive the tables.
  dwarf::UnitCache* lines = nullptr;
  dwarf::DwarfLimits limits = {};
};

class DebuginfodClient;

// Tells whether a separate debug file would add anything to an object.
bool WantsDebugFile(const ElfFile& object, const ObjectOptions& options);

// Loads the symbols and lines of an object and its debug file; one of the two may be missing. Lines
// come from the file that has DWARF. Damaged DWARF costs only the lines.
Result<std::shared_ptr<SymbolTable>> LoadObject(std::optional<FileSource> object,
                                                std::optional<FileSource> debug_file,
                                                const ObjectOptions& options);

// Finds objects by build id and keeps the result. Looks on a machine for the file and its debug
// file at their usual places, then asks a server. Belongs to one thread.
class ObjectFinder {
 public:
  // `server` may be null. All arguments must outlive this object.
  ObjectFinder(const FileTree& files, DebuginfodClient* server, const ObjectOptions& options)
      : files_(files), server_(server), options_(options) {}

  // Returns null if the object is not found. `needs_file_offsets`: ignores a table without
  // FileOffsetToVaddr.
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
