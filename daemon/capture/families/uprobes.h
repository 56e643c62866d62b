// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

struct bpf_program;

namespace firetower::daemon {

// The way in which this kernel lets us set uprobes in one process's memory. A perf event for each
// function is the old one; kernels since June 2025 (perf_uprobe_event_init) let only CAP_SYS_ADMIN
// set it. A link of many (BPF_TRACE_UPROBE_MULTI, Linux 6.6) needs BPF and PERFMON alone.
//
// Links of the first kernels met only a process's first thread (mended in 6.10 and in 6.6's own
// series a year before those perf events were refused), so they are taken where no perf event is
// to be had, and nowhere else.
class Uprobes {
 public:
  // kNotFound: this kernel has no uprobes.
  static Result<Uprobes> Find(const std::string& sys_root);

  // Says how the program will be attached; to be called before it is loaded.
  void Prepare(bpf_program* program) const;
  // Returns whether the kernel can attach a loaded program so. kPermission: not without
  // CAP_SYS_ADMIN.
  Status Check(int program_fd) const;
  // When a probe's program runs: at the instruction, or when the function that begins there
  // returns.
  enum class At : uint8_t { kEntry, kReturn };
  // Runs a program at these offsets of the file at `path`, in process `pid` and all of its threads,
  // for as long as the results are open.
  Status Attach(uint32_t pid, const std::string& path, int program_fd, At at,
                std::span<const uint64_t> file_offsets, std::vector<UniqueFd>& probes) const;

 private:
  Result<UniqueFd> OpenEvent(uint32_t pid, const std::string& path, int program_fd, At at,
                             uint64_t file_offset) const;

  uint32_t event_type_ = 0;
  bool by_links_ = false;
};

}  // namespace firetower::daemon
