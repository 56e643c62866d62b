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
#include "daemon/runtimes/function_table.h"
#include "daemon/unwind/unwinder.h"

namespace firetower::daemon {

// Converts the addresses of stacks into (module, offset). Requests the symbols and the unwind table
// of each module that it meets. Owned by the resolve thread.
class StackFrames {
 public:
  StackFrames(ModuleRegistry& modules, ProcessTable& processes, FunctionTable& functions,
              Unwinder& unwinder, ResolverPeers& peers)
      : modules_(modules),
        processes_(processes),
        functions_(functions),
        unwinder_(unwinder),
        peers_(peers) {}

  // Converts a stack, the first `kernel_frames` of `addresses` in the kernel, as the kernel side
  // walked it in `process`, whose image had that ft_identity(). Returns the reason why it ended.
  uint8_t Resolve(std::span<const uint64_t> addresses, size_t kernel_frames, uint8_t stop,
                  Process& process, uint32_t identity, StackParts parts);
  // Converts a stack whose walk was finished here.
  uint8_t Resolve(const FinishedStack& stack);

  // The frames of the last stack, leaf first.
  const std::vector<Frame>& frames() const { return frames_; }

 private:
  void AddKernelPart(std::span<const uint64_t> addresses);
  // A process of which a stack is, alive or not.
  struct Owner {
    const std::vector<ProcessMapping>* mappings = nullptr;
    uint32_t pid = 0;
    uint32_t identity = 0;
    Process* process = nullptr;  // null: it is gone
  };

  uint8_t AddUserPart(std::span<const uint64_t> words, uint8_t stop, Owner owner);
  // Adds what a word says. Returns false if it is a caller's address and nothing is mapped there.
  bool AddNative(uint64_t word, bool leaf, Owner& owner);
  // Adds the methods of a frame of HotSpot's.
  void AddJava(uint64_t word, uint64_t where, const Owner& owner);
  // Adds the function of a frame of V8's.
  void AddScript(const V8Frame& frame, const Owner& owner);
  // Adds functions of a runtime's module, or one without a name.
  void AddPlaces(uint32_t module, const std::vector<RuntimePlace>& places);
  // Puts the frames of the interpreter's that wait where the loop's frame is, which ran them.
  void Join();
  void ShiftLoops();
  // Returns false if nothing is mapped there.
  bool AddUserFrame(uint64_t address, const std::vector<ProcessMapping>& mappings, uint32_t pid,
                    const Process* process);

  ModuleRegistry& modules_;
  ProcessTable& processes_;
  FunctionTable& functions_;
  Unwinder& unwinder_;
  ResolverPeers& peers_;
  std::vector<Frame> frames_;
  std::vector<Frame> held_;  // of the interpreter's run whose loop is still to come
  // Tells which frames stand in place of a loop's, which had run them.
  struct Run {
    size_t begin = 0;
    size_t count = 0;
  };
  std::vector<Run> loops_;
};

}  // namespace firetower::daemon
