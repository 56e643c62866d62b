// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bpf/abi/alloc.h"
#include "bpf/abi/record.h"
#include "bpf/abi/trace.h"

namespace firetower::daemon {

enum class SidebandKind : uint8_t { kFork, kExec, kComm, kExit, kMmap };

// One record of the kernel's task and mapping stream (perf sideband), as plain fields.
struct SidebandEvent {
  int64_t time_ns = 0;  // CLOCK_MONOTONIC
  SidebandKind kind = SidebandKind::kComm;
  uint8_t build_id_size = 0;  // 0: the kernel did not know it
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint32_t parent_pid = 0;   // fork
  uint32_t parent_tid = 0;   // fork
  uint64_t start = 0;        // mmap, address
  uint64_t size_bytes = 0;   // mmap
  uint64_t file_offset = 0;  // mmap
  uint64_t inode = 0;        // mmap without build id
  uint64_t device = 0;       // mmap without build id: major << 32 | minor
  std::array<uint8_t, 20> build_id{};
  uint32_t text_begin = 0;  // comm or file name in Round::text
  uint32_t text_size = 0;
};

// The state of a cold sample's walk, and the stack memory to continue it with (bpf/abi/record.h,
// ft_cold).
struct ColdStack {
  uint64_t ip = 0;
  uint64_t sp = 0;
  uint64_t bp = 0;
  bool returned = false;
  uint64_t stack_start = 0;
  uint64_t entry = 0;
  std::array<uint64_t, 15> registers{};
  std::array<uint8_t, FT_COLD_PAGES> absent{};
  uint32_t begin = 0;  // of its stack bytes in Round::cold_bytes: from ft_cold_begin(sp) on
  uint32_t size = 0;
};

struct CgroupEvent {
  int64_t time_ns = 0;
  uint64_t cgroup_id = 0;
  uint8_t change = 0;  // enum ft_cgroup_change
  bool path_cut = false;
  uint32_t text_begin = 0;  // path in Round::text
  uint32_t text_size = 0;
};

// The result of one drain of the rings: everything up to `horizon_ns` that was not in an earlier
// round. Each list is in time order. Owned by one thread at a time and recycled, so that a steady
// stream allocates nothing.
struct Round {
  int64_t horizon_ns = 0;
  std::vector<ft_sample> samples;
  std::vector<ft_wait> waits;
  std::vector<uint64_t> bodies;       // ft_stack heads (6 words) followed by their addresses
  std::vector<uint32_t> body_begins;  // word index of each head in `bodies`
  std::vector<ColdStack> cold;        // of samples of FT_KIND_COLD, by ft_sample::cold
  std::vector<std::byte> cold_bytes;
  std::vector<ft_trace> traces;         // of samples and waits of this round or the next one
  std::vector<ft_freed> freed;          // of samples of this round or earlier ones
  std::vector<std::byte> functions;     // records of FT_KIND_FUNCTION, one behind the other
  std::vector<uint32_t> function_ends;  // in `functions`
  std::vector<CgroupEvent> cgroup_events;
  std::vector<SidebandEvent> sideband;
  std::string text;
  uint64_t lost_sideband = 0;  // records the kernel dropped: tables must be re-read
  uint64_t bad_records = 0;    // records that made no sense
  bool reopened = false;       // no records were taken before it: tables must be read anew

  std::string_view Text(uint32_t begin, uint32_t size) const {
    return std::string_view(text).substr(begin, size);
  }
  std::span<const std::byte> Stack(const ColdStack& stack) const {
    return std::span(cold_bytes).subspan(stack.begin, stack.size);
  }
  void Clear() {
    samples.clear();
    waits.clear();
    cold.clear();
    cold_bytes.clear();
    bodies.clear();
    body_begins.clear();
    traces.clear();
    freed.clear();
    functions.clear();
    function_ends.clear();
    cgroup_events.clear();
    sideband.clear();
    text.clear();
    horizon_ns = 0;
    lost_sideband = 0;
    bad_records = 0;
    reopened = false;
  }
};

}  // namespace firetower::daemon
