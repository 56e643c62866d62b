// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/table_packer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/hash.h"

namespace firetower::daemon {
namespace {

using symbolizer::kDwarfRbp;
using symbolizer::kDwarfRsp;
using symbolizer::UnwindRule;

constexpr uint8_t kSavedFlags = FT_RULE_BP_CFA | FT_RULE_BP_SP | FT_RULE_BP_BP;
// ft_rule::steps has a bit for each byte behind the row.
constexpr uint64_t kMaxSteps = 16;

bool FitsExtra(int32_t value) {
  return value >= std::numeric_limits<int16_t>::min() &&
         value <= std::numeric_limits<int16_t>::max();
}

bool PackCfa(const UnwindRule& rule, ft_rule& out) {
  out.cfa_offset = rule.cfa_offset;
  switch (rule.cfa) {
    case UnwindRule::Cfa::kRegister:
      out.cfa = FT_CFA_REG;
      if (rule.cfa_register == kDwarfRsp) out.cfa = FT_CFA_SP;
      if (rule.cfa_register == kDwarfRbp) out.cfa = FT_CFA_BP;
      if (out.cfa == FT_CFA_REG) out.reg = rule.cfa_register;
      return true;
    case UnwindRule::Cfa::kDeref:
      if (rule.cfa_register != kDwarfRsp && rule.cfa_register != kDwarfRbp) return false;
      out.cfa = rule.cfa_register == kDwarfRsp ? FT_CFA_SP_AT : FT_CFA_BP_AT;
      out.extra = static_cast<int16_t>(rule.cfa_addend);
      return FitsExtra(rule.cfa_addend);
    case UnwindRule::Cfa::kPlt:
      out.cfa = FT_CFA_PLT;
      out.cfa_offset = 0;
      out.extra = static_cast<int16_t>(rule.cfa_addend);
      return FitsExtra(rule.cfa_addend);
    case UnwindRule::Cfa::kIndexedDeref:
      if (rule.cfa_register != kDwarfRsp) return false;
      out.cfa = FT_CFA_SP_INDEX_AT;
      out.reg = rule.cfa_index_register;
      out.extra = static_cast<int16_t>(rule.cfa_addend);
      return FitsExtra(rule.cfa_addend);
    case UnwindRule::Cfa::kOtherStack:
      out.cfa = FT_CFA_BP_OTHER;
      return rule.cfa_register == kDwarfRbp;
    case UnwindRule::Cfa::kNone:
    case UnwindRule::Cfa::kUnsupported:
      return false;
  }
  return false;
}

bool PackReturnAddress(const UnwindRule& rule, ft_rule& out) {
  switch (rule.return_address) {
    case UnwindRule::Place::kCfa:
      return rule.return_address_offset == -8;
    case UnwindRule::Place::kUndefined:
      out = ft_rule{};
      out.cfa = FT_CFA_ROOT;
      return true;
    case UnwindRule::Place::kRegister:
      if (out.cfa == FT_CFA_REG || out.cfa == FT_CFA_SP_INDEX_AT) return false;
      out.flags |= FT_RULE_RA_REG;
      out.reg = rule.return_address_register;
      return true;
    case UnwindRule::Place::kDeref:
      // `extra` holds one of the two.
      if (rule.return_address_register != kDwarfRsp || out.extra != 0) return false;
      out.flags |= FT_RULE_RA_SP;
      out.extra = static_cast<int16_t>(rule.return_address_offset);
      return FitsExtra(rule.return_address_offset);
    case UnwindRule::Place::kSame:
    case UnwindRule::Place::kUnsupported:
      return false;
  }
  return false;
}

void PackRbp(const UnwindRule& rule, ft_rule& out) {
  out.bp_offset = rule.rbp_offset;
  switch (rule.rbp) {
    case UnwindRule::Place::kCfa:
      out.flags |= FT_RULE_BP_CFA;
      return;
    case UnwindRule::Place::kDeref:
      if (rule.rbp_register == kDwarfRsp) out.flags |= FT_RULE_BP_SP;
      if (rule.rbp_register == kDwarfRbp) out.flags |= FT_RULE_BP_BP;
      break;
    default:
      break;
  }
  // Kept or lost: a frame further up that needs it saved it itself.
  if ((out.flags & kSavedFlags) == 0) out.bp_offset = 0;
}

bool SameRule(const ft_rule& a, const ft_rule& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

}  // namespace

ft_rule PackRule(const UnwindRule& rule) {
  ft_rule out{};
  if (!PackCfa(rule, out) || !PackReturnAddress(rule, out)) return ft_rule{};
  if (out.cfa == FT_CFA_ROOT) return out;
  PackRbp(rule, out);
  if (rule.signal_frame) out.flags |= FT_RULE_SIGNAL;
  return out;
}

TablePacker::TablePacker(std::span<const Elf64_Phdr> program_headers) {
  for (const Elf64_Phdr& header : program_headers) {
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    segments_.push_back(
        {header.p_vaddr, header.p_vaddr + header.p_filesz, header.p_vaddr - header.p_offset});
    end_offset_ = std::max(end_offset_, header.p_offset + header.p_filesz);
  }
}

std::optional<uint64_t> TablePacker::OffsetOf(uint64_t elf_vaddr) {
  for (size_t i = 0; i < segments_.size(); ++i) {
    const Segment& segment = segments_[(segment_ + i) % segments_.size()];
    // The end itself: the row that says nothing follows.
    if (elf_vaddr < segment.begin || elf_vaddr > segment.end) continue;
    segment_ = (segment_ + i) % segments_.size();
    uint64_t offset = elf_vaddr - segment.bias;
    if (offset >= kMaxFileOffset) return std::nullopt;
    return offset;
  }
  return std::nullopt;
}

void TablePacker::OnRow(const symbolizer::UnwindRow& row) {
  ++rows_in_;
  std::optional<uint64_t> offset = OffsetOf(row.elf_vaddr);
  if (!offset) return;
  ft_rule rule = PackRule(row.rule);
  if (rule.cfa == FT_CFA_NONE && row.rule.cfa != UnwindRule::Cfa::kNone) ++unsupported_;
  if (group_ && *offset <= group_->offset) return;
  if (group_ && SameRule(group_->now, rule)) return;
  if (group_ && Extend(*offset, rule)) return;
  Open(*offset, rule);
}

bool TablePacker::Extend(uint64_t offset, const ft_rule& rule) {
  Group& group = *group_;
  uint64_t behind = offset - group.offset;
  if (behind > kMaxSteps || offset >> FT_BLOCK_SHIFT != group.offset >> FT_BLOCK_SHIFT) {
    return false;
  }
  if (rule.cfa != FT_CFA_SP || group.now.cfa != FT_CFA_SP) return false;
  int64_t moved = int64_t{rule.cfa_offset} - group.now.cfa_offset;
  bool pops = moved == -8;
  if (moved != 0 && moved != 8 && !pops) return false;
  if (moved != 0 && group.rule.steps != 0 && pops != ((group.rule.flags & FT_RULE_POPS) != 0)) {
    return false;
  }
  uint8_t saved = rule.flags & kSavedFlags;
  uint8_t saved_before = group.now.flags & kSavedFlags;
  bool bp_changes = saved != saved_before || rule.bp_offset != group.now.bp_offset;
  if (bp_changes) {
    if (group.changed_bp || (saved != 0) == (saved_before != 0)) return false;
  }
  ft_rule rest = rule;  // All but the CFA and RBP must be the same.
  rest.cfa_offset = group.now.cfa_offset;
  rest.flags = static_cast<uint8_t>((rest.flags & ~kSavedFlags) | saved_before);
  rest.bp_offset = group.now.bp_offset;
  if (!SameRule(rest, group.now)) return false;

  if (bp_changes) {
    group.changed_bp = true;
    group.rule.bp_from = static_cast<uint8_t>(behind);
    group.rule.flags |= saved != 0 ? saved : uint8_t{FT_RULE_BP_UNTIL};
    if (saved != 0) group.rule.bp_offset = rule.bp_offset;
  }
  if (moved != 0) {
    group.rule.steps |= static_cast<uint16_t>(1u << (behind - 1));
    if (pops) group.rule.flags |= FT_RULE_POPS;
  }
  group.now = rule;
  return true;
}

void TablePacker::Open(uint64_t offset, const ft_rule& rule) {
  Close();
  group_ = Group{offset, rule, rule, false};
}

void TablePacker::Close() {
  if (!group_) return;
  uint64_t block = group_->offset >> FT_BLOCK_SHIFT;
  if (table_.rows.empty()) table_.first_block = static_cast<uint32_t>(block);
  while (table_.first_block + table_.blocks.size() <= block) {
    table_.blocks.push_back(static_cast<uint32_t>(table_.rows.size()));
  }
  uint32_t rule = RuleId(group_->rule);
  table_.rows.push_back(static_cast<uint32_t>(group_->offset & (FT_BLOCK_BYTES - 1)) |
                        rule << FT_BLOCK_SHIFT);
  group_.reset();
}

uint32_t TablePacker::RuleId(const ft_rule& rule) {
  uint64_t words[2];
  std::memcpy(words, &rule, sizeof(words));
  for (uint64_t hash = HashWord(HashWord(kHashSeed, words[0]), words[1]);; ++hash) {
    bool inserted = false;
    uint32_t& id = rule_ids_.Insert(hash, &inserted);
    if (!inserted && !SameRule(table_.rules[id], rule)) continue;
    if (inserted) {
      id = static_cast<uint32_t>(table_.rules.size());
      table_.rules.push_back(rule);
    }
    return id;
  }
}

PackedTable TablePacker::Finish() {
  Close();
  if (!table_.rows.empty()) {
    // Code behind the last row has its rule, which is "no rule".
    table_.blocks.push_back(static_cast<uint32_t>(table_.rows.size()));
  }
  table_.blocks.shrink_to_fit();
  table_.rows.shrink_to_fit();
  table_.rules.shrink_to_fit();
  return std::move(table_);
}

}  // namespace firetower::daemon
