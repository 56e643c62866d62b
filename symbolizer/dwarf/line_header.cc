// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/line_header.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "symbolizer/dwarf/constants.h"

namespace firetower::symbolizer::dwarf {

namespace {

std::string Join(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty() && !name.empty() && path.back() != '/') path += '/';
  return path += name;
}

std::string_view ReadText(ByteReader& reader) {
  const std::span<const std::byte> rest = reader.Rest();
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  const size_t length = text.find('\0');
  if (length == std::string_view::npos) {
    reader.Bytes(rest.size() + 1);  // fails it
    return {};
  }
  reader.Bytes(length + 1);
  return text.substr(0, length);
}

// Versions 2 to 4: lists of texts, the first folder and the first file are number 1.
void ReadOldTables(ByteReader& reader, LineHeader& header) {
  while (!reader.failed() && header.folders.size() < LineHeader::kMaxFiles) {
    const std::string_view folder = ReadText(reader);
    if (folder.empty()) break;
    header.AddFolder(folder, std::string(header.folders.front()));
  }
  header.files.emplace_back();
  while (!reader.failed() && header.files.size() < LineHeader::kMaxFiles) {
    const std::string_view file = ReadText(reader);
    if (file.empty()) break;
    const uint64_t folder = reader.Uleb();
    reader.Uleb();  // time
    reader.Uleb();  // size
    header.AddFile(file, folder);
  }
}

struct NewEntry {
  std::string path;
  uint64_t folder = 0;
};

// Reads one of version 5's two tables: the format of an entry, then the entries.
std::optional<std::vector<NewEntry>> ReadNewTable(ByteReader& reader, UnitFormat format,
                                                  Units& units, const Unit& unit,
                                                  std::span<const std::byte> bytes) {
  std::vector<std::pair<uint64_t, uint16_t>> shape(reader.U8());
  for (auto& [content, form] : shape) {
    content = reader.Uleb();
    form = static_cast<uint16_t>(reader.Uleb());
  }
  const uint64_t count = reader.Uleb();
  if (reader.failed() || count > LineHeader::kMaxFiles) return std::nullopt;
  std::vector<NewEntry> entries;
  size_t text_bytes = 0;
  for (uint64_t i = 0; i < count && !reader.failed(); ++i) {
    NewEntry entry;
    for (const auto& [content, form] : shape) {
      const Value value = ReadValue(reader, {0, form, 0}, format);
      if (reader.failed()) return std::nullopt;
      if (content == kLinePath) entry.path = units.Text(unit, value, bytes);
      text_bytes += entry.path.size();
      if (text_bytes > LineHeader::kMaxPathBytes) return std::nullopt;
      if (content == kLineDirectoryIndex) entry.folder = value.number;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

bool ReadNewTables(ByteReader& reader, LineHeader& header, Units& units, const Unit& unit,
                   std::span<const std::byte> bytes) {
  auto folders = ReadNewTable(reader, header.format, units, unit, bytes);
  if (!folders) return false;
  const std::string comp_dir = std::move(header.folders.front());
  header.folders.clear();
  for (const NewEntry& folder : *folders) header.AddFolder(folder.path, comp_dir);
  auto files = ReadNewTable(reader, header.format, units, unit, bytes);
  if (!files) return false;
  for (const NewEntry& file : *files) header.AddFile(file.path, file.folder);
  return true;
}

Status ReadFormat(ByteReader& reader, LineHeader& header) {
  if (reader.Fixed<uint32_t>() == UINT32_MAX) {
    header.format.offset_size = 8;
    reader.Bytes(8);
  }
  const auto version = reader.Fixed<uint16_t>();
  if (reader.failed() || version < 2 || version > 5) {
    return Error(ErrorCode::kUnsupported, "a line table of an unknown version");
  }
  header.format.version = static_cast<uint8_t>(version);
  if (version >= 5) {
    header.format.address_size = reader.U8();
    reader.U8();  // segment selectors
  }
  const uint64_t length = ReadSized(reader, header.format.offset_size);
  if (reader.failed() || length > reader.remaining()) {
    return Error(ErrorCode::kCorrupt, "a line table shorter than its header");
  }
  header.program_at = reader.position() + length;
  header.instruction_bytes = reader.U8();
  if (version >= 4) reader.U8();  // operations an instruction: 1 but for VLIW
  reader.U8();                    // default_is_stmt
  header.line_base = static_cast<int8_t>(reader.U8());
  header.line_range = reader.U8();
  header.opcode_base = reader.U8();
  for (unsigned i = 1; i < header.opcode_base; ++i) header.operands[i] = reader.U8();
  if (reader.failed() || header.line_range == 0 || header.opcode_base == 0) {
    return Error(ErrorCode::kCorrupt, "a line table with a damaged header");
  }
  return OkStatus();
}

}  // namespace

void LineHeader::AddFolder(std::string_view folder, const std::string& comp_dir) {
  const bool whole = folder.starts_with('/') || path_bytes > kMaxPathBytes;
  folders.push_back(whole ? std::string(folder) : Join(comp_dir, folder));
  path_bytes += folders.back().size();
}

void LineHeader::AddFile(std::string_view file, uint64_t folder) {
  std::string path;
  if (path_bytes <= kMaxPathBytes) {
    const bool whole = file.starts_with('/') || folder >= folders.size();
    path = whole ? std::string(file) : Join(folders[folder], file);
  }
  path_bytes += path.size();
  files.push_back(std::move(path));
}

Result<LineHeader> ReadLineHeader(std::span<const std::byte> bytes, std::string_view comp_dir,
                                  Units& units, const Unit& unit) {
  LineHeader header;
  header.format.address_size = unit.header.format.address_size;
  ByteReader reader(bytes);
  RETURN_IF_ERROR(ReadFormat(reader, header));
  header.folders.emplace_back(comp_dir);
  if (header.format.version < 5) {
    ReadOldTables(reader, header);
  } else if (!ReadNewTables(reader, header, units, unit, bytes)) {
    return Error(ErrorCode::kCorrupt, "a line table with damaged file names");
  }
  if (reader.failed()) return Error(ErrorCode::kCorrupt, "a line table with damaged file names");
  return header;
}

}  // namespace firetower::symbolizer::dwarf
