// SPDX-License-Identifier: Apache-2.0
#include "tests/support/stacks/recorded_stack.h"

#include <fmt/core.h>

#include <charconv>
#include <cstring>
#include <span>
#include <sstream>

namespace firetower::testing {
namespace {

using daemon::PackedTable;

std::string HexBytes(std::span<const std::byte> bytes) {
  std::string text;
  for (std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

std::optional<uint64_t> Number(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::vector<std::byte>> Bytes(std::string_view text) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    std::optional<uint64_t> value = Number(text.substr(i, 2));
    if (!value) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(*value));
  }
  return bytes;
}

std::string WriteTable(size_t module, const PackedTable& table) {
  std::string text = fmt::format("table {:x} {:x}\nblocks", module, table.first_block);
  for (size_t i = 0; i < table.blocks.size();) {
    size_t count = 1;
    while (i + count < table.blocks.size() && table.blocks[i + count] == table.blocks[i]) ++count;
    text += fmt::format(" {:x}*{:x}", table.blocks[i], count);
    i += count;
  }
  text += "\nrows";
  for (uint32_t row : table.rows) text += fmt::format(" {:x}", row);
  text += "\nrules";
  for (const ft_rule& rule : table.rules)
    text += " " + HexBytes(std::as_bytes(std::span(&rule, 1)));
  return text + "\n";
}

// One line's words, the kind before them taken off.
using Words = std::vector<std::string>;

bool ReadRegisters(const Words& words, RecordedStack& stack) {
  if (words.size() != 3 + stack.registers.size()) return false;
  for (size_t i = 0; i < words.size(); ++i) {
    std::optional<uint64_t> value = Number(words[i]);
    if (!value) return false;
    (i == 0 ? stack.ip : i == 1 ? stack.sp : i == 2 ? stack.bp : stack.registers[i - 3]) = *value;
  }
  return true;
}

bool ReadMapping(const Words& words, RecordedStack& stack) {
  if (words.size() != 4) return false;
  auto start = Number(words[0]), end = Number(words[1]), offset = Number(words[2]);
  auto module = Number(words[3]);
  if (!start || !end || !offset || (!module && words[3] != "-")) return false;
  stack.mappings.push_back({*start, *end, *offset, module});
  return true;
}

bool ReadTablePart(std::string_view kind, const Words& words, PackedTable& table) {
  for (const std::string& word : words) {
    if (kind == "rules") {
      std::optional<std::vector<std::byte>> bytes = Bytes(word);
      if (!bytes || bytes->size() != sizeof(ft_rule)) return false;
      std::memcpy(&table.rules.emplace_back(), bytes->data(), sizeof(ft_rule));
      continue;
    }
    size_t star = word.find('*');
    std::optional<uint64_t> value = Number(word.substr(0, star));
    std::optional<uint64_t> count = 1;
    if (star != std::string::npos) count = Number(word.substr(star + 1));
    if (!value || !count) return false;
    std::vector<uint32_t>& to = kind == "rows" ? table.rows : table.blocks;
    to.insert(to.end(), *count, static_cast<uint32_t>(*value));
  }
  return true;
}

bool ReadLine(std::string_view kind, const Words& words, RecordedStack& stack) {
  if (kind == "registers") return ReadRegisters(words, stack);
  if (kind == "mapping") return ReadMapping(words, stack);
  if (kind == "blocks" || kind == "rows" || kind == "rules") {
    return !stack.tables.empty() && ReadTablePart(kind, words, stack.tables.back());
  }
  std::optional<uint64_t> first = words.empty() ? std::nullopt : Number(words[0]);
  if (!first) return false;
  if (kind == "start") stack.stack_start = *first;
  if (kind == "frame") stack.frames.push_back(*first);
  if (kind == "memory" && words.size() == 2) {
    stack.memory_begin = *first;
    std::optional<std::vector<std::byte>> bytes = Bytes(words[1]);
    if (!bytes) return false;
    stack.memory = *std::move(bytes);
  }
  if (kind == "table" && words.size() == 2) {
    std::optional<uint64_t> block = Number(words[1]);
    if (!block) return false;
    stack.tables.resize(*first + 1);
    stack.tables.back().first_block = static_cast<uint32_t>(*block);
  }
  return kind == "start" || kind == "frame" || kind == "memory" || kind == "table";
}

}  // namespace

std::string WriteRecordedStack(const RecordedStack& stack) {
  std::string text =
      fmt::format("about {}\nregisters {:x} {:x} {:x}", stack.about, stack.ip, stack.sp, stack.bp);
  for (uint64_t value : stack.registers) text += fmt::format(" {:x}", value);
  text += fmt::format("\nstart {:x}\nmemory {:x} {}\n", stack.stack_start, stack.memory_begin,
                      HexBytes(stack.memory));
  for (const RecordedStack::Mapping& mapping : stack.mappings) {
    text +=
        fmt::format("mapping {:x} {:x} {:x} {}\n", mapping.start, mapping.end, mapping.file_offset,
                    mapping.module ? fmt::format("{:x}", *mapping.module) : "-");
  }
  for (size_t i = 0; i < stack.tables.size(); ++i) {
    if (!stack.tables[i].empty()) text += WriteTable(i, stack.tables[i]);
  }
  for (uint64_t frame : stack.frames) text += fmt::format("frame {:x}\n", frame);
  return text;
}

std::optional<RecordedStack> ReadRecordedStack(std::string_view text) {
  RecordedStack stack;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string kind;
    in >> kind;
    if (kind == "about") {
      stack.about = line.size() > 6 ? line.substr(6) : "";
      continue;
    }
    Words words;
    for (std::string word; in >> word;) words.push_back(word);
    if (!ReadLine(kind, words, stack)) return std::nullopt;
  }
  return stack;
}

PackedTable CutTable(const PackedTable& table, const std::vector<uint64_t>& file_offsets) {
  std::vector<bool> kept(table.rows.size());
  for (uint64_t offset : file_offsets) {
    uint64_t block = (offset >> FT_BLOCK_SHIFT) - table.first_block;
    if (table.blocks.empty() || block >= table.blocks.size() - 1) continue;
    // The row before a block holds on into it.
    uint32_t begin = table.blocks[block] > 0 ? table.blocks[block] - 1 : 0;
    for (uint32_t row = begin; row < table.blocks[block + 1]; ++row) kept[row] = true;
  }
  PackedTable cut;
  cut.first_block = table.first_block;
  std::vector<std::optional<uint32_t>> rule_ids(table.rules.size());
  std::vector<uint32_t> kept_before(table.rows.size() + 1);
  for (size_t row = 0; row < table.rows.size(); ++row) {
    kept_before[row] = static_cast<uint32_t>(cut.rows.size());
    if (!kept[row]) continue;
    std::optional<uint32_t>& id = rule_ids[FT_ROW_RULE(table.rows[row])];
    if (!id) {
      id = static_cast<uint32_t>(cut.rules.size());
      cut.rules.push_back(table.rules[FT_ROW_RULE(table.rows[row])]);
    }
    cut.rows.push_back(FT_ROW_OFFSET(table.rows[row]) | *id << FT_BLOCK_SHIFT);
  }
  kept_before[table.rows.size()] = static_cast<uint32_t>(cut.rows.size());
  for (uint32_t block : table.blocks) cut.blocks.push_back(kept_before[block]);
  return cut;
}

}  // namespace firetower::testing
