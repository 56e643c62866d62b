// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "bpf/abi/unwind.h"
#include "daemon/process/process_table.h"
#include "daemon/unwind/arena.h"
#include "daemon/unwind/trace_variables.h"

namespace firetower::daemon {

// One state of a process's executable mappings, kept in the arena as long as it is referenced.
struct AddressSpace {
  uint32_t position = 0;  // of the list that the walk searches
  uint32_t count = 0;
  std::shared_ptr<const std::vector<ProcessMapping>> mappings;  // the same, with modules
};

// Sends the kernel side the mappings of processes with samples: with the first sample of a process,
// and again whenever its mappings change. Processes that do not fit (kMaxProcesses, the arena's
// budget) are unwound in user space, within its limits.
//
// Owned by the resolve thread; must not outlive the arena.
class AddressSpaces {
 public:
  static constexpr size_t kMaxProcesses = size_t{FT_PROCESS_BUCKETS} * FT_PROCESS_WAYS;

  AddressSpaces(UnwindMemory& memory, Arena& arena, const Clock& clock)
      : memory_(memory), arena_(arena), clock_(clock) {}

  // Publishes the present mappings of `process`, and where its threads tell their trace. Returns
  // null if there is no room.
  std::shared_ptr<const AddressSpace> Publish(const Process& process,
                                              const TraceVariable& trace = {});
  // Sets what the walk needs of a published process that runs a machine: a struct that begins with
  // ft_machine. Returns false if there is no room.
  template <typename Machine>
  bool SetMachine(uint32_t pid, const Machine& machine) {
    return SetMachine(pid, std::as_bytes(std::span(&machine, 1)));
  }
  bool HasMachine(uint32_t pid) const;
  // Removes a process that has ended or runs another image.
  void Withdraw(uint32_t pid);

  size_t size() const { return published_.size(); }
  uint64_t refused() const { return refused_; }

 private:
  struct Entry {
    ft_process* way = nullptr;
    uint32_t generation = 0;
    TraceVariable trace;
    std::shared_ptr<const AddressSpace> space;
    std::shared_ptr<const uint32_t> machine;  // what was allocated for it
    uint32_t identity = 0;                    // of the image that has it
  };

  bool SetMachine(uint32_t pid, std::span<const std::byte> machine);
  std::shared_ptr<const AddressSpace> Write(const Process& process, const TraceVariable& trace);
  ft_process* FreeWay(uint32_t pid);

  UnwindMemory& memory_;
  Arena& arena_;
  const Clock& clock_;
  std::unordered_map<uint32_t, Entry> published_;  // by pid
  uint64_t refused_ = 0;
};

}  // namespace firetower::daemon
