// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/go/go_rows.h"

#include <algorithm>
#include <utility>

namespace firetower::symbolizer {

namespace {

constexpr size_t kCodeChunks = 4;  // functions are looked at in order of address
constexpr size_t kPrologueBytes = 32;
constexpr uint8_t kPadding = 0xcc;  // int3, between functions

}  // namespace

GoRows::GoRows(Pclntab table, FrameBytes code, uint64_t code_elf_vaddr, CfiStats& stats)
    : table_(std::move(table)),
      code_(std::move(code)),
      code_elf_vaddr_(code_elf_vaddr),
      stats_(&stats) {}

Result<std::unique_ptr<GoRows>> GoRows::Create(const ElfFile& file, CfiStats& stats) {
  ASSIGN_OR_RETURN(Pclntab table, Pclntab::Open(file));
  for (const Elf64_Phdr& segment : file.program_headers()) {
    if (segment.p_type != PT_LOAD || table.begin_elf_vaddr() < segment.p_vaddr ||
        table.begin_elf_vaddr() - segment.p_vaddr >= segment.p_filesz) {
      continue;
    }
    const uint64_t begin = table.begin_elf_vaddr();
    FrameBytes code(file.source(), segment.p_offset + (begin - segment.p_vaddr),
                    table.end_elf_vaddr() - begin, kCodeChunks);
    auto rows = std::make_unique<GoRows>(std::move(table), std::move(code), begin, stats);
    rows->Advance();
    rows->Advance();
    return rows;
  }
  return Error(ErrorCode::kUnsupported, "Go's function table is of no code in this file");
}

std::span<const std::byte> GoRows::Code(uint64_t elf_vaddr, uint64_t length) {
  return code_.Get(elf_vaddr - code_elf_vaddr_,
                   static_cast<size_t>(std::min<uint64_t>(length, FrameBytes::kMaxLength)));
}

std::optional<GoRows::Loaded> GoRows::Load(uint32_t index) {
  if (index >= table_.function_count()) return std::nullopt;
  Loaded loaded;
  ++stats_->go_functions;
  auto function = table_.Function(index);
  // They rise, so that code is looked at once, whatever the table says.
  if (function && function->begin_elf_vaddr >= loaded_until_elf_vaddr_) {
    loaded.good = true;
    loaded.function = *function;
    loaded_until_elf_vaddr_ = function->end_elf_vaddr;
    LoadFrame(loaded);
  } else {
    ++stats_->bad_go_functions;
  }
  return loaded;
}

void GoRows::LoadFrame(Loaded& loaded) {
  const GoFunction& function = loaded.function;
  loaded.frame = ClassifyGoFunction(table_.Name(function.name), function.flags);
  loaded.depths.emplace(table_, function.stack_depth_values, function.begin_elf_vaddr);
  loaded.has_depth = loaded.depths->Next();
  if (loaded.frame.use != GoStackUse::kPlain) {
    FindStackSwitches(
        Code(function.begin_elf_vaddr, function.end_elf_vaddr - function.begin_elf_vaddr),
        function.begin_elf_vaddr, loaded.frame);
  }
  // The frame is made where the depth first differs from 0.
  GoValues depths = *loaded.depths;
  bool found = loaded.has_depth;
  while (found && depths.value() == 0) found = depths.Next();
  if (!found || depths.value() < 0 || depths.begin_elf_vaddr() <= function.begin_elf_vaddr ||
      depths.begin_elf_vaddr() >= function.end_elf_vaddr) {
    return;
  }
  FindGoFramePointer(Code(depths.begin_elf_vaddr() - 1, kPrologueBytes), depths.begin_elf_vaddr(),
                     depths.value(), loaded.frame);
}

bool GoRows::Advance() {
  current_ = std::move(following_);
  following_ = Load(next_index_++);
  // A signal's handler returns to the first byte, and a return address is looked up one byte
  // before: where nothing but padding is, or the walk would find it in another function.
  if (current_ && current_->good && following_ && following_->good &&
      following_->frame.use == GoStackUse::kSignalReturn) {
    const auto before = Code(following_->function.begin_elf_vaddr - 1, 1);
    if (!before.empty() && before[0] == std::byte{kPadding} &&
        current_->function.end_elf_vaddr - current_->function.begin_elf_vaddr > 1) {
      --current_->function.end_elf_vaddr;
      --following_->function.begin_elf_vaddr;
    }
  }
  return current_.has_value();
}

bool GoRows::Next(uint64_t begin_elf_vaddr, uint64_t end_elf_vaddr, GoPiece& piece) {
  while (current_ && (!current_->good || current_->function.end_elf_vaddr <= begin_elf_vaddr)) {
    Advance();
  }
  if (!current_ || current_->function.begin_elf_vaddr >= end_elf_vaddr) return false;
  piece.begin_elf_vaddr = std::max(begin_elf_vaddr, current_->function.begin_elf_vaddr);
  piece.end_elf_vaddr = std::min(end_elf_vaddr, current_->function.end_elf_vaddr);
  return piece.begin_elf_vaddr < piece.end_elf_vaddr;
}

void GoRows::AddSegment(uint64_t begin_elf_vaddr, uint64_t end_elf_vaddr, int32_t depth,
                        RowWriter& rows) const {
  const GoFrame& frame = current_->frame;
  rows.Add(begin_elf_vaddr, GoRuleAt(frame, begin_elf_vaddr, depth));
  auto add_inside = [&](uint64_t elf_vaddr) {
    if (elf_vaddr > begin_elf_vaddr && elf_vaddr < end_elf_vaddr) {
      rows.Add(elf_vaddr, GoRuleAt(frame, elf_vaddr, depth));
    }
  };
  if (frame.use == GoStackUse::kPlain || frame.switches_elf_vaddr.empty()) {
    add_inside(frame.rbp_saved_elf_vaddr);
    if (frame.use == GoStackUse::kBorrows) add_inside(frame.rbp_set_elf_vaddr);
    return;
  }
  std::vector<uint64_t> changes = frame.switches_elf_vaddr;
  changes.push_back(frame.rbp_saved_elf_vaddr);
  changes.push_back(frame.rbp_set_elf_vaddr);
  std::sort(changes.begin(), changes.end());
  for (uint64_t elf_vaddr : changes) add_inside(elf_vaddr);
}

void GoRows::Run(const GoPiece& piece, RowWriter& rows) {
  Loaded& loaded = *current_;
  uint64_t at = piece.begin_elf_vaddr;
  if (loaded.frame.use == GoStackUse::kRoot || loaded.frame.use == GoStackUse::kSignalReturn) {
    rows.Add(at, GoRuleAt(loaded.frame, at, 0));
    return;
  }
  while (loaded.has_depth && at < piece.end_elf_vaddr) {
    const uint64_t end = std::min(loaded.depths->end_elf_vaddr(), piece.end_elf_vaddr);
    if (at < end) {
      AddSegment(at, end, loaded.depths->value(), rows);
      at = end;
    }
    if (at < piece.end_elf_vaddr) loaded.has_depth = loaded.depths->Next();
  }
  // The rest is padding, which the table does not describe.
  if (at == piece.begin_elf_vaddr) rows.Add(at, UnwindRule{});
}

Status GoRows::status() const {
  RETURN_IF_ERROR(code_.status());
  return table_.status();
}

}  // namespace firetower::symbolizer
