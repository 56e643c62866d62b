// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace firetower::symbolizer {

// Register numbers of DWARF on x86-64 (System V ABI, AMD64 supplement, figure 3.36).
inline constexpr uint8_t kDwarfRbp = 6;
inline constexpr uint8_t kDwarfRsp = 7;
inline constexpr uint8_t kDwarfReturnAddress = 16;

// The step from a frame to its caller, as far as a stack walk needs it: the canonical frame address
// (CFA, the caller's stack pointer), the caller's RBP and the return address.
struct UnwindRule {
  enum class Cfa : uint8_t {
    kNone,      // no rule covers this code: a gap between functions
    kRegister,  // register + offset
    kDeref,     // *(register + offset) + addend: a realigned stack (DRAP), a signal frame
    // RSP + 8, and 8 more from byte `addend` of each 16-byte PLT entry on: behind its push, at 11,
    // or at 9 in entries for branch tracking.
    kPlt,
    // *(register + 8 * index register + offset) + addend: OpenSSL's Montgomery multiplication
    kIndexedDeref,
    // register + offset, on another stack than the stack pointer's: the caller's frame may lie
    // below. Go's runtime goes to the thread's stack for what needs much of it.
    kOtherStack,
    kUnsupported,  // an expression of no known shape
  };
  // The place that holds the caller's value of a register.
  enum class Place : uint8_t {
    kSame,       // not changed
    kCfa,        // *(CFA + offset)
    kRegister,   // in another register: vfork keeps its return address in RDI
    kDeref,      // *(register + offset): signal frames, realigned frames
    kUndefined,  // lost; for the return address: this is the thread's first frame
    kUnsupported,
  };

  Cfa cfa = Cfa::kNone;
  uint8_t cfa_register = kDwarfRsp;
  uint8_t cfa_index_register = 0;  // kIndexedDeref
  Place return_address = Place::kCfa;
  uint8_t return_address_register = 0;  // kRegister, kDeref
  Place rbp = Place::kSame;
  uint8_t rbp_register = 0;  // kRegister, kDeref
  // The frame was made by the kernel for a signal: its caller's address is where it was
  // interrupted, not behind a call.
  bool signal_frame = false;
  int32_t cfa_offset = 0;
  int32_t cfa_addend = 0;  // kDeref, kIndexedDeref, kPlt
  int32_t return_address_offset = -8;
  int32_t rbp_offset = 0;

  bool operator==(const UnwindRule&) const = default;
};

// A rule with its first address. It holds up to the next row.
struct UnwindRow {
  uint64_t elf_vaddr = 0;
  UnwindRule rule;
};

// Receives the rows of a file in rising order of address, each address once, with equal neighbours
// merged. Code that no FDE covers arrives as a row of kNone.
class UnwindRowSink {
 public:
  virtual ~UnwindRowSink() = default;
  virtual void OnRow(const UnwindRow& row) = 0;
};

}  // namespace firetower::symbolizer
