// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/bare_code.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace firetower::symbolizer {

namespace {

using Bytes = std::span<const uint8_t>;

// One function of a dozen instructions; linkers put the parts of several start files together.
constexpr size_t kMaxFunctionBytes = 256;
constexpr size_t kPltEntryBytes = 16;

constexpr std::array<uint8_t, 4> kEndbr64 = {0xf3, 0x0f, 0x1e, 0xfa};
constexpr std::array<uint8_t, 4> kSubRsp8 = {0x48, 0x83, 0xec, 0x08};
constexpr std::array<uint8_t, 5> kAddRsp8Ret = {0x48, 0x83, 0xc4, 0x08, 0xc3};
constexpr std::array<uint8_t, 2> kPushGot = {0xff, 0x35};  // push GOT+8(%rip)
constexpr std::array<uint8_t, 2> kJumpGot = {0xff, 0x25};  // jmp *GOT+n(%rip)
constexpr uint8_t kPushIndex = 0x68;                       // push $n

// struct ucontext of the kernel (arch/x86/include/uapi/asm/sigcontext.h): registers from byte 40
// on.
constexpr int32_t kContextRbp = 40 + 10 * 8;
constexpr int32_t kContextRsp = 40 + 15 * 8;
constexpr int32_t kContextRip = 40 + 16 * 8;

bool StartsWith(Bytes code, Bytes with) {
  return code.size() >= with.size() && std::equal(with.begin(), with.end(), code.begin());
}

UnwindRule AtRsp(int32_t offset) {
  UnwindRule rule;
  rule.cfa = UnwindRule::Cfa::kRegister;
  rule.cfa_offset = offset;
  return rule;
}

// Matches `sub $8, %rsp; …; add $8, %rsp; ret`. The code between makes calls and keeps the stack.
std::vector<UnwindRow> StartFunction(uint64_t elf_vaddr, Bytes code) {
  const size_t skipped = StartsWith(code, kEndbr64) ? kEndbr64.size() : 0;
  const size_t tail = kAddRsp8Ret.size();
  if (!StartsWith(code.subspan(skipped), kSubRsp8) ||
      code.size() < skipped + kSubRsp8.size() + tail || !StartsWith(code.last(tail), kAddRsp8Ret)) {
    return {};
  }
  return {{elf_vaddr, AtRsp(8)},
          {elf_vaddr + skipped + kSubRsp8.size(), AtRsp(16)},
          {elf_vaddr + code.size() - 1, AtRsp(8)}};
}

// Behind which byte of an entry its index has been pushed: System V ABI, AMD64 supplement, figure
// 5.2, and the form for branch tracking.
std::optional<int32_t> PushEnd(Bytes entry) {
  if (StartsWith(entry, kJumpGot) && entry[6] == kPushIndex) return 11;
  if (StartsWith(entry, kEndbr64) && entry[4] == kPushIndex) return 9;
  return std::nullopt;
}

// The first entry, which all others jump to, pushes a second word.
std::vector<UnwindRow> LazyTable(uint64_t elf_vaddr, Bytes code) {
  if (code.size() < 2 * kPltEntryBytes || !StartsWith(code, kPushGot)) return {};
  const std::optional<int32_t> pushed = PushEnd(code.subspan(kPltEntryBytes, kPltEntryBytes));
  if (!pushed) return {};
  UnwindRule entry;
  entry.cfa = UnwindRule::Cfa::kPlt;
  entry.cfa_offset = 8;
  entry.cfa_addend = *pushed;
  return {{elf_vaddr, AtRsp(16)}, {elf_vaddr + 6, AtRsp(24)}, {elf_vaddr + kPltEntryBytes, entry}};
}

// Entries that only jump.
std::vector<UnwindRow> BoundTable(uint64_t elf_vaddr, Bytes code) {
  if (StartsWith(code, kEndbr64)) code = code.subspan(kEndbr64.size());
  if (!StartsWith(code, kJumpGot)) return {};
  return {{elf_vaddr, AtRsp(8)}};
}

std::vector<UnwindRow> RowsOf(std::string_view name, uint64_t elf_vaddr, Bytes code, bool whole) {
  if (name == ".init" || name == ".fini") {
    return whole ? StartFunction(elf_vaddr, code) : std::vector<UnwindRow>();
  }
  return name == ".plt" ? LazyTable(elf_vaddr, code) : BoundTable(elf_vaddr, code);
}

}  // namespace

UnwindRule SignalReturnRule() {
  UnwindRule rule;
  rule.cfa = UnwindRule::Cfa::kDeref;
  rule.cfa_offset = kContextRsp;
  rule.return_address = UnwindRule::Place::kDeref;
  rule.return_address_register = kDwarfRsp;
  rule.return_address_offset = kContextRip;
  rule.rbp = UnwindRule::Place::kDeref;
  rule.rbp_register = kDwarfRsp;
  rule.rbp_offset = kContextRbp;
  rule.signal_frame = true;
  return rule;
}

std::vector<BareCode> FindBareCode(const ElfFile& file) {
  std::vector<BareCode> found;
  for (const char* name : {".init", ".fini", ".plt", ".plt.sec", ".plt.got"}) {
    const Elf64_Shdr* section = file.FindSection(name);
    if (section == nullptr || (section->sh_flags & SHF_EXECINSTR) == 0) continue;
    if (section->sh_addr > UINT64_MAX - section->sh_size) continue;
    std::array<std::byte, kMaxFunctionBytes> bytes{};
    const size_t size = std::min<uint64_t>(section->sh_size, bytes.size());
    if (!file.source().ReadAt(section->sh_offset, std::span(bytes).first(size))) continue;
    const Bytes code(reinterpret_cast<const uint8_t*>(bytes.data()), size);
    BareCode bare{section->sh_addr, section->sh_addr + section->sh_size,
                  RowsOf(name, section->sh_addr, code, size == section->sh_size)};
    if (!bare.rows.empty()) found.push_back(std::move(bare));
  }
  std::ranges::sort(found, {}, &BareCode::begin_elf_vaddr);
  return found;
}

void BareCodeRows::OnRow(const UnwindRow& row) {
  if (last_.rule.cfa == UnwindRule::Cfa::kNone) FillUntil(row.elf_vaddr);
  last_ = row;
  // That nothing covers the code is said later: bare code may begin right there.
  if (row.rule.cfa != UnwindRule::Cfa::kNone) Say(row);
}

void BareCodeRows::Finish() {
  if (last_.rule.cfa == UnwindRule::Cfa::kNone) FillUntil(UINT64_MAX);
}

void BareCodeRows::Say(const UnwindRow& row) {
  if (row.rule == said_) return;
  said_ = row.rule;
  sink_->OnRow(row);
}

// Adds the signal returns between the last row and that address.
void BareCodeRows::AddSignalReturns(uint64_t end_elf_vaddr) {
  uint64_t begin = last_.elf_vaddr;
  while (const auto found = signal_returns_.FindIn(begin, end_elf_vaddr)) {
    // A handler returns to the first byte, and a return address is looked up one byte before.
    const uint64_t first = *found - (*found > begin ? 1 : 0);
    const uint64_t end = *found + SignalReturnSearch::kBytes;
    const auto behind =
        std::ranges::upper_bound(code_.begin() + static_cast<ptrdiff_t>(next_), code_.end(), first,
                                 {}, &BareCode::begin_elf_vaddr);
    code_.insert(behind, {first, end, {{first, SignalReturnRule()}}});
    begin = end;
  }
}

// Fills the range between the last row and that address, which no FDE covers.
void BareCodeRows::FillUntil(uint64_t elf_vaddr) {
  AddSignalReturns(elf_vaddr);
  for (; next_ < code_.size() && code_[next_].begin_elf_vaddr < elf_vaddr; ++next_) {
    const BareCode& bare = code_[next_];
    // It is covered; or, in a hostile file, two sections overlap.
    if (bare.begin_elf_vaddr < last_.elf_vaddr || bare.end_elf_vaddr > elf_vaddr) continue;
    if (last_.elf_vaddr < bare.begin_elf_vaddr) Say(last_);
    for (const UnwindRow& row : bare.rows) Say(row);
    last_ = {bare.end_elf_vaddr, UnwindRule{}};
  }
  if (last_.elf_vaddr < elf_vaddr) Say(last_);
}

}  // namespace firetower::symbolizer
