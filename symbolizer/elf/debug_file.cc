// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/debug_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "symbolizer/elf/build_id.h"
#include "symbolizer/elf/debug_link.h"
#include "symbolizer/elf/symbols/symbol_reader.h"

namespace firetower::symbolizer {

namespace {

constexpr std::string_view kDebugFolder = "/usr/lib/debug";
// Its CRC would take a second of CPU and more; such files are found by build id.
constexpr uint64_t kMaxLinkedBytes = 2ull << 30;
constexpr uint64_t kMaxLinkSectionBytes = 4096;

std::optional<DebugLink> ReadDebugLink(const ElfFile& object) {
  const Elf64_Shdr* section = object.FindSection(".gnu_debuglink");
  if (section == nullptr || section->sh_size > kMaxLinkSectionBytes) return std::nullopt;
  std::vector<std::byte> bytes(section->sh_size);
  if (!object.source().ReadAt(section->sh_offset, bytes)) return std::nullopt;
  return ParseDebugLink(bytes);
}

bool HasCrc(const FileSource& file, uint32_t wanted) {
  Result<uint32_t> crc = Crc32(file, kMaxLinkedBytes);
  return crc && *crc == wanted;
}

Error NoDebugFile() { return {ErrorCode::kNotFound, "no separate debug file"}; }

}  // namespace

std::string BuildIdPath(std::string_view build_id_hex) {
  auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (build_id_hex.size() < 4 || build_id_hex.size() > 2 * kMaxBuildIdBytes ||
      !std::ranges::all_of(build_id_hex, is_hex)) {
    return "";
  }
  return fmt::format(".build-id/{}/{}.debug", build_id_hex.substr(0, 2), build_id_hex.substr(2));
}

bool HasFullSymbols(const ElfFile& file) { return FindSymbolSection(file, SHT_SYMTAB).has_value(); }

Result<FileSource> FindDebugFile(std::string_view build_id_hex, const FileTree& files) {
  std::string below = BuildIdPath(build_id_hex);
  if (below.empty()) return NoDebugFile();
  ASSIGN_OR_RETURN(FileSource file, files.Open(fmt::format("{}/{}", kDebugFolder, below)));
  Result<std::string> found = ReadBuildId(file);
  if (!found || *found != build_id_hex) return NoDebugFile();
  return file;
}

Result<FileSource> FindDebugFile(const ElfFile& object, std::string_view path,
                                 const FileTree& files) {
  if (Result<std::string> build_id = ReadBuildId(object.source())) {
    if (auto file = FindDebugFile(*build_id, files)) return *std::move(file);
  }
  std::optional<DebugLink> link = ReadDebugLink(object);
  const size_t slash = path.rfind('/');
  if (!link || slash == std::string_view::npos) return NoDebugFile();
  const std::string_view folder = path.substr(0, slash);
  for (const std::string& candidate :
       {fmt::format("{}/{}", folder, link->file_name),
        fmt::format("{}/.debug/{}", folder, link->file_name),
        fmt::format("{}{}/{}", kDebugFolder, folder, link->file_name)}) {
    Result<FileSource> file = files.Open(candidate);
    if (file && HasCrc(*file, link->crc32)) return *std::move(file);
  }
  return NoDebugFile();
}

}  // namespace firetower::symbolizer
