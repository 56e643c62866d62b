// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/load_object.h"

#include <utility>

#include "symbolizer/debuginfod/client.h"
#include "symbolizer/dwarf/dwarf_frames.h"
#include "symbolizer/elf/build_id.h"

namespace firetower::symbolizer {

namespace {

bool HasLines(const FileSource& source) {
  auto file = ElfFile::Open(source);
  return file && file->FindSection(".debug_info") != nullptr;
}

std::optional<FileSource> ToOptional(Result<FileSource> file) {
  if (!file) return std::nullopt;
  return *std::move(file);
}

}  // namespace

bool WantsDebugFile(const ElfFile& object, const ObjectOptions& options) {
  if (!HasFullSymbols(object)) return true;
  return options.lines != nullptr && object.FindSection(".debug_info") == nullptr;
}

Result<std::shared_ptr<SymbolTable>> LoadObject(std::optional<FileSource> object,
                                                std::optional<FileSource> debug_file,
                                                const ObjectOptions& options) {
  if (!object && !debug_file) return Error(ErrorCode::kNotFound, "neither object nor debug file");
  std::shared_ptr<SymbolTable> table;
  if (object) {
    ASSIGN_OR_RETURN(table, LoadElfSymbols(*object, {}, debug_file ? &*debug_file : nullptr));
  } else {
    ASSIGN_OR_RETURN(table, LoadDebugFileSymbols(*debug_file));
  }
  if (options.lines == nullptr) return table;
  std::optional<FileSource>& with_lines = object && HasLines(*object) ? object : debug_file;
  if (!with_lines) return table;
  auto lines = DwarfFrames::Open(std::make_unique<FileSource>(*std::move(with_lines)),
                                 *options.lines, options.limits);
  if (lines) table->Attach(*std::move(lines));
  return table;
}

const SymbolTable* ObjectFinder::Find(std::string_view build_id_hex, const std::string& path,
                                      bool needs_file_offsets) {
  std::optional<FileSource> object;
  if (path.starts_with('/')) object = ToOptional(files_.Open(path));
  if (object && ReadBuildId(*object).value_or("") != build_id_hex) object.reset();
  auto [entry, inserted] = found_.try_emplace(
      {std::string(build_id_hex), object ? path : "", needs_file_offsets}, nullptr);
  if (inserted) entry->second = Load(entry->first, std::move(object));
  return entry->second.get();
}

std::shared_ptr<const SymbolTable> ObjectFinder::Load(const Key& key,
                                                      std::optional<FileSource> object) {
  const std::string& build_id_hex = key.build_id_hex;
  if (BuildIdPath(build_id_hex).empty()) return nullptr;
  std::optional<FileSource> debug_file;
  bool wants_debug_file = true;
  if (object) {
    auto file = ElfFile::Open(*object);
    if (!file) return nullptr;
    wants_debug_file = WantsDebugFile(*file, options_);
    if (wants_debug_file) debug_file = ToOptional(FindDebugFile(*file, key.path, files_));
  } else {
    debug_file = ToOptional(FindDebugFile(build_id_hex, files_));
  }
  if (wants_debug_file && !debug_file && server_ != nullptr) {
    debug_file = ToOptional(server_->DebugFile(build_id_hex));
  }
  if (!object && key.needs_file_offsets && server_ != nullptr) {
    object = ToOptional(server_->Executable(build_id_hex));
  }
  auto table = LoadObject(std::move(object), std::move(debug_file), options_);
  if (!table) return nullptr;
  return *std::move(table);
}

}  // namespace firetower::symbolizer
