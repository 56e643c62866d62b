// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/go/go_frame.h"

#include <algorithm>
#include <array>

#include "symbolizer/cfi/bare_code.h"
#include "symbolizer/cfi/byte_reader.h"
#include "symbolizer/go/pclntab.h"

namespace firetower::symbolizer {

namespace {

template <size_t kCount>
bool IsOneOf(std::string_view name, const std::array<std::string_view, kCount>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Since Go 1.17 the flags mark these functions, and also sigtramp, which has the kernel's frame of
// the interrupted code below it: there the walk continues.
constexpr std::array<std::string_view, 4> kRoots = {"runtime.goexit", "runtime.mstart",
                                                    "runtime.rt0_go", "_rt0_amd64_linux"};
constexpr std::array<std::string_view, 3> kHandlers = {"runtime.sigtramp", "runtime.cgoSigtramp",
                                                       "runtime.sigprofNonGoWrapper"};
constexpr std::array<std::string_view, 3> kLeaving = {"runtime.mcall", "runtime.morestack",
                                                      "runtime.switchToCrashStack0"};
constexpr std::array<std::string_view, 13> kBorrowing = {"runtime.systemstack",
                                                         "runtime.asmcgocall",
                                                         "runtime.asmcgocall_no_g",
                                                         "runtime.cgocallback",
                                                         "runtime.nanotime1",
                                                         "runtime.walltime",
                                                         "runtime.walltime1",
                                                         "runtime.vgetrandom1",
                                                         "runtime.sigfwd",
                                                         "runtime.callCgoSigaction",
                                                         "runtime.callCgoMmap",
                                                         "runtime.callCgoMunmap",
                                                         "time.now"};
constexpr std::array<std::string_view, 2> kSignalReturns = {"runtime.sigreturn__sigaction",
                                                            "runtime.sigreturn"};
// The runtime's signal handler makes the interrupted code call these.
constexpr std::array<std::string_view, 4> kInjected = {
    "runtime.asyncPreempt", "runtime.sigpanic", "runtime.debugCallV1", "runtime.debugCallV2"};

// Goroutines' stacks end at 1 GB (runtime/proc.go, maxstacksize).
constexpr int32_t kMaxDepth = 1 << 30;

UnwindRule RootRule() {
  UnwindRule rule;
  rule.cfa = UnwindRule::Cfa::kRegister;
  rule.cfa_offset = 8;
  rule.return_address = UnwindRule::Place::kUndefined;
  return rule;
}

uint8_t ByteAt(std::span<const std::byte> code, size_t index) {
  return index < code.size() ? static_cast<uint8_t>(code[index]) : 0;
}

// One of the three forms of `op [rsp + offset], rbp`; its length, or 0.
uint64_t RbpWithStack(std::span<const std::byte> code, uint8_t op, int64_t offset) {
  ByteReader reader(code);
  if (reader.U8() != 0x48 || reader.U8() != op) return 0;
  const uint8_t modrm = reader.U8();
  if (reader.U8() != 0x24) return 0;
  int64_t found = 0;
  if (modrm == 0x6c) {
    found = static_cast<int8_t>(reader.U8());  // NOLINT(bugprone-signed-char-misuse): it has a sign
  } else if (modrm == 0xac) {
    found = reader.Fixed<int32_t>();
  } else if (modrm != 0x2c) {
    return 0;
  }
  return !reader.failed() && found == offset ? reader.position() : 0;
}

}  // namespace

GoFrame ClassifyGoFunction(std::string_view name, uint8_t flags) {
  GoFrame frame;
  frame.interrupts = IsOneOf(name, kInjected);
  if (IsOneOf(name, kSignalReturns)) {
    frame.use = GoStackUse::kSignalReturn;
  } else if (IsOneOf(name, kLeaving)) {
    frame.use = GoStackUse::kLeaves;
  } else if (IsOneOf(name, kBorrowing)) {
    frame.use = GoStackUse::kBorrows;
  } else if (IsOneOf(name, kRoots) || ((flags & kGoTopFrame) != 0 && !IsOneOf(name, kHandlers))) {
    frame.use = GoStackUse::kRoot;
  } else if ((flags & kGoSetsStackPointer) != 0 || name == "runtime.gogo") {
    frame.use = GoStackUse::kUnknown;
  }
  return frame;
}

// Since Go 1.21 a frame begins with
//   push rbp                    ; then the depth is 8
//   mov rbp, rsp
//   sub rsp, depth - 8
// and before with
//   sub rsp, depth              ; then the depth is what it stays
//   mov [rsp + depth - 8], rbp
//   lea rbp, [rsp + depth - 8]
// Assembly functions without a frame move the stack pointer in other ways, and keep RBP, or save it
// somewhere else and do not change it before they call.
void FindGoFramePointer(std::span<const std::byte> code, uint64_t elf_vaddr, int32_t depth,
                        GoFrame& frame) {
  if (depth == 8 && ByteAt(code, 0) == 0x55) {
    frame.rbp_saved_elf_vaddr = elf_vaddr;
    if (ByteAt(code, 1) == 0x48 && ByteAt(code, 2) == 0x89 && ByteAt(code, 3) == 0xe5) {
      frame.rbp_set_elf_vaddr = elf_vaddr + 3;
    }
    return;
  }
  if (code.empty()) return;
  const std::span<const std::byte> rest = code.subspan(1);
  const uint64_t save = RbpWithStack(rest, 0x89, int64_t{depth} - 8);
  if (save == 0) return;
  frame.rbp_saved_elf_vaddr = elf_vaddr + save;
  const uint64_t set =
      RbpWithStack(rest.subspan(static_cast<size_t>(save)), 0x8d, int64_t{depth} - 8);
  if (set != 0) frame.rbp_set_elf_vaddr = frame.rbp_saved_elf_vaddr + set;
}

// mov rsp, [reg + disp8] and mov rsp, reg, in the forms that Go's assembler writes; in functions
// that we know nothing of also and rsp, imm. We do not know where instructions begin, but these are
// few functions, and short ones.
void FindStackSwitches(std::span<const std::byte> code, uint64_t elf_vaddr, GoFrame& frame) {
  for (size_t i = 0; i + 3 <= code.size(); ++i) {
    const uint8_t prefix = ByteAt(code, i);
    const uint8_t op = ByteAt(code, i + 1);
    const uint8_t modrm = ByteAt(code, i + 2);
    uint64_t length = 0;
    if ((prefix & 0xfe) == 0x48 && op == 0x8b && (modrm & 0xf8) == 0x60 && modrm != 0x64) {
      length = 4;
    } else if ((prefix & 0xfb) == 0x48 && op == 0x89 && (modrm & 0xc7) == 0xc4) {
      length = 3;
    } else if (frame.use == GoStackUse::kUnknown && prefix == 0x48 && (op & 0xfd) == 0x81 &&
               modrm == 0xe4) {
      length = op == 0x83 ? 4 : 7;
    }
    if (length != 0) frame.switches_elf_vaddr.push_back(elf_vaddr + i + length);
  }
}

UnwindRule GoRuleAt(const GoFrame& frame, uint64_t elf_vaddr, int32_t depth) {
  if (frame.use == GoStackUse::kRoot) return RootRule();
  if (frame.use == GoStackUse::kSignalReturn) return SignalReturnRule();
  UnwindRule rule;
  if (depth < 0 || depth > kMaxDepth) return rule;
  rule.signal_frame = frame.interrupts;
  if (depth > 0 && elf_vaddr >= frame.rbp_saved_elf_vaddr) {
    rule.rbp = UnwindRule::Place::kCfa;
    rule.rbp_offset = -16;
  }
  const auto& switches = frame.switches_elf_vaddr;
  const auto passed = std::upper_bound(switches.begin(), switches.end(), elf_vaddr);
  switch (frame.use) {
    case GoStackUse::kBorrows:
      if (depth > 0 && elf_vaddr >= frame.rbp_set_elf_vaddr) {
        rule.cfa = UnwindRule::Cfa::kOtherStack;
        rule.cfa_register = kDwarfRbp;
        rule.cfa_offset = 16;
        return rule;
      }
      // Some have no frame in Go 1.20 and before: there and back again, and no way across.
      if (frame.rbp_set_elf_vaddr == UINT64_MAX && (passed - switches.begin()) % 2 == 1) {
        return RootRule();
      }
      break;
    case GoStackUse::kLeaves:
      if (passed != switches.begin()) return RootRule();
      break;
    case GoStackUse::kUnknown:
      if (passed != switches.begin()) return UnwindRule{};
      break;
    default:
      break;
  }
  rule.cfa = UnwindRule::Cfa::kRegister;
  rule.cfa_register = kDwarfRsp;
  rule.cfa_offset = depth + 8;
  return rule;
}

}  // namespace firetower::symbolizer
