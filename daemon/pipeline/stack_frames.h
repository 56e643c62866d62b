// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/pipeline/cold_stacks.h"
#include "daemon/pipeline/resolver_peers.h"
#include "daemon/pipeline/slice.h"
#include "daemon/process/module.h"
#include "daemon/process/process_table.h"
#include "daemon/unwind/unwinder.h"

namespace firetower::daemon {

// Converts the addresses of stacks into (module, offset). Requests the symbols and the unwind table
// of each module that it meets. Owned by the resolve thread.
class StackFrames {
 public:
  StackFrames(ModuleRegistry& modules, ProcessTable& processes, Unwinder& unwinder,
              ResolverPeers& peers)
      : modules_(modules), processes_(processes), unwinder_(unwinder), peers_(peers) {}

  // Converts a stack, the first `kernel_frames` of `addresses` in the kernel, as the kernel side
  // walked it in `process`. Returns the reason why it ended.
  uint8_t Resolve(std::span<const uint64_t> addresses, size_t kernel_frames, uint8_t stop,
                  Process& process, StackParts parts);
  // Converts a stack whose walk was finished here.
  uint8_t Resolve(const FinishedStack& stack);

  // The frames of the last stack, leaf first.
  const std::vector<Frame>& frames() const { return frames_; }

 private:
  void AddKernelPart(std::span<const uint64_t> addresses);
  uint8_t AddUserPart(std::span<const uint64_t> addresses, uint8_t stop,
                      const std::vector<ProcessMapping>& mappings, uint32_t pid, Process* process);
  // Returns false if nothing is mapped there.
  bool AddUserFrame(uint64_t address, const std::vector<ProcessMapping>& mappings, uint32_t pid,
                    const Process* process);

  ModuleRegistry& modules_;
  ProcessTable& processes_;
  Unwinder& unwinder_;
  ResolverPeers& peers_;
  std::vector<Frame> frames_;
};

}  // namespace firetower::daemon
