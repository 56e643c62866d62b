// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/unit_table.h"

#include <algorithm>
#include <limits>

#include "symbolizer/dwarf/entry_names.h"
#include "symbolizer/dwarf/line_program.h"
#include "symbolizer/dwarf/scopes.h"
#include "symbolizer/dwarf/unit.h"
#include "symbolizer/string_pool.h"

namespace firetower::symbolizer::dwarf {

namespace {

constexpr size_t kMaxTextBytes = 64u << 20;   // of one unit
constexpr std::string_view kNameless = "??";  // as addr2line has it
constexpr size_t kMaxInlined = 256;           // calls in each other; so that a ring ends

// The last of `items` that begins at or before `address`; null if there is none.
template <typename Item>
const Item* LastBefore(const std::vector<Item>& items, uint32_t address) {
  auto above = std::upper_bound(items.begin(), items.end(), address,
                                [](uint32_t at, const Item& item) { return at < item.begin; });
  return above == items.begin() ? nullptr : &*(above - 1);
}

}  // namespace

class UnitTableBuilder {
 public:
  UnitTableBuilder(Units& units, const DwarfLimits& limits)
      : units_(units), limits_(limits), pool_(kMaxTextBytes) {
    pool_.Add("");  // so that 0 is the empty text
  }

  Status Fill(size_t index, UnitTable& table) {
    ASSIGN_OR_RETURN(Unit unit, units_.Read(index));
    const UnitHeader& header = unit.header;
    if (header.end - header.offset > limits_.max_unit_bytes) {
      return Error(ErrorCode::kExhausted, "a DWARF unit is too large");
    }
    std::vector<std::byte> buffer;
    ASSIGN_OR_RETURN(
        std::span<const std::byte> bytes,
        units_.sections().info.Read(header.offset, header.end - header.offset, buffer));
    ScopeTree tree = ReadScopes(units_, unit, bytes, limits_);
    LineTable lines;
    if (auto run = RunLineProgram(units_, unit, bytes, limits_)) lines = *std::move(run);

    table.base_ = std::min(tree.starts.empty() ? UINT64_MAX : tree.starts.front().begin,
                           lines.rows.empty() ? UINT64_MAX : lines.rows.front().elf_vaddr);
    AddScopes(unit, bytes, tree, table);
    AddLines(lines, table);
    table.texts_ = pool_.Take();
    return OkStatus();
  }

 private:
  void AddScopes(const Unit& unit, std::span<const std::byte> bytes, const ScopeTree& tree,
                 UnitTable& table) {
    EntryNames names(units_, unit, bytes, pool_);
    table.scopes_.reserve(tree.scopes.size());
    for (const Scope& from : tree.scopes) {
      const EntryNames::Named named = names.Find(from.entry);
      table.scopes_.push_back({from.parent, named.name, named.start_line, from.call_line,
                               named.name_bytes, from.call_file, from.call_column});
    }
    table.starts_.reserve(tree.starts.size());
    for (const ScopeStart& from : tree.starts) {
      if (from.begin - table.base_ > std::numeric_limits<uint32_t>::max()) break;
      table.starts_.push_back({static_cast<uint32_t>(from.begin - table.base_), from.scope});
    }
  }

  void AddLines(const LineTable& lines, UnitTable& table) {
    for (const std::string& file : lines.files) {
      const uint32_t offset = pool_.Add(file).value_or(0);
      table.files_.push_back({offset, offset == 0 ? 0 : static_cast<uint32_t>(file.size())});
    }
    table.rows_.reserve(lines.rows.size());
    for (const LineRow& from : lines.rows) {
      if (from.elf_vaddr - table.base_ > std::numeric_limits<uint32_t>::max()) break;
      table.rows_.push_back(
          {static_cast<uint32_t>(from.elf_vaddr - table.base_), from.line, from.file, from.column});
    }
  }

  Units& units_;
  const DwarfLimits& limits_;
  StringPool pool_;
};

std::shared_ptr<const UnitTable> UnitTable::Load(Units& units, size_t index,
                                                 const DwarfLimits& limits) {
  auto table = std::make_shared<UnitTable>();
  if (!UnitTableBuilder(units, limits).Fill(index, *table)) {
    return std::make_shared<const UnitTable>();  // and is not read again
  }
  return table;
}

std::string_view UnitTable::File(uint16_t file) const {
  if (file >= files_.size()) return {};
  return {texts_.data() + files_[file].offset, files_[file].bytes};
}

void UnitTable::Find(uint64_t elf_vaddr, std::vector<SourceFrame>& out) const {
  if (elf_vaddr < base_ || elf_vaddr - base_ > std::numeric_limits<uint32_t>::max()) return;
  const auto address = static_cast<uint32_t>(elf_vaddr - base_);
  SourceFrame frame;
  if (const Row* row = LastBefore(rows_, address);
      row != nullptr && row->file != LineRow::kNoFile) {
    frame.file = File(row->file);
    frame.line = row->line;
    frame.column = row->column;
  }
  const Start* start = LastBefore(starts_, address);
  uint32_t index = start == nullptr ? dwarf::Scope::kNone : start->scope;
  if (index == dwarf::Scope::kNone) {
    // Assembly has lines and no functions.
    if (frame.line != 0) out.push_back(frame);
    return;
  }
  for (size_t i = 0; i < kMaxInlined && index < scopes_.size(); ++i) {
    const Scope& scope = scopes_[index];
    frame.name = scope.name == 0 ? kNameless
                                 : std::string_view(texts_.data() + scope.name, scope.name_bytes);
    frame.start_line = scope.start_line;
    out.push_back(frame);
    frame = {.file = File(scope.call_file), .line = scope.call_line, .column = scope.call_column};
    index = scope.parent;
  }
}

size_t UnitTable::bytes() const {
  return sizeof(*this) + starts_.capacity() * sizeof(Start) + scopes_.capacity() * sizeof(Scope) +
         rows_.capacity() * sizeof(Row) + files_.capacity() * sizeof(Text) + texts_.capacity();
}

}  // namespace firetower::symbolizer::dwarf
