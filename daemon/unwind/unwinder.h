// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "daemon/capture/rounds/round.h"
#include "daemon/process/process_table.h"
#include "daemon/runtimes/hotspot/java_machines.h"
#include "daemon/runtimes/v8/v8_machines.h"
#include "daemon/unwind/address_spaces.h"
#include "daemon/unwind/compiled_code.h"
#include "daemon/unwind/module_tables.h"
#include "daemon/unwind/native_walk.h"
#include "daemon/unwind/trace_variables.h"

namespace firetower::daemon {

// Receiver of requests for unwind tables. Called on the resolve thread; returns at once. Returns
// false if there is no room: ask again later.
class TableRequests {
 public:
  virtual ~TableRequests() = default;
  virtual bool WantTable(uint32_t module_id, const std::shared_ptr<const Module>& module,
                         const Process& process, const ProcessMapping& mapping) = 0;
  // Tells what runtime a file is ("HotSpot 21"), once a process has shown it, and why its functions
  // have no names, for people; empty: they have.
  virtual void NoteRuntime(const Module&, std::string_view, std::string_view) {}
};

// The answer to a request.
struct LoadedTable {
  enum class Outcome : uint8_t {
    kTable,
    kNone,    // the file was read and has none: frame pointers
    kFailed,  // the file could not be opened this time
    kGone,    // its process had ended, and no other process has the file
  };
  uint32_t module = 0;
  Outcome outcome = Outcome::kFailed;
  PackedTable table;
};

class TableSource : public TableRequests {
 public:
  // Returns the next answer; nullopt while none is ready. Resolve thread.
  virtual std::optional<LoadedTable> TryPopTable() = 0;
};

// Keeps the kernel side able to walk user stacks: sends it the mappings of sampled processes and
// the tables of the mapped files. Also finishes the walks that the kernel side had to leave. Owned
// by the resolve thread.
class Unwinder {
 public:
  struct Options {
    uint64_t table_bytes = uint64_t{64} << 20;
    bool traces = true;  // samples are told the trace that their thread works on
  };

  Unwinder(UnwindMemory& memory, ProcessTable& processes, ModuleRegistry& modules,
           TableRequests& requests, const Clock& clock, Options options);

  // Registers the image of `process` that a sample has named: publishes its mappings and requests
  // its tables. Returns null if there is no room for it.
  std::shared_ptr<const AddressSpace> Meet(Process& process, uint32_t identity);

  enum class Walk : uint8_t { kEnded, kWaiting };
  // Continues a walk that the kernel side left, and appends the callers' addresses. kWaiting: a
  // table is on its way; call again with the same arguments when tables_taken() has changed.
  Walk Finish(const ColdStack& cold, std::span<const std::byte> stack, const AddressSpace& space,
              Process* process, size_t max_frames, std::vector<uint64_t>& addresses, uint8_t* stop);

  void Take(const LoadedTable& loaded);
  // Marks a module as used, because a stack went through it.
  void Touch(uint32_t module) { tables_.Touch(module); }
  // Must be called once per round: sends changes to the kernel side.
  void EndRound();
  // Must be called about once a minute: drops tables of files that no process maps, and forgets the
  // files.
  void Sweep();

  uint64_t tables_taken() const { return tables_taken_; }
  JavaMachines& machines() { return machines_; }
  V8Machines& engines() { return engines_; }
  const ModuleTables& tables() const { return tables_; }
  const AddressSpaces& spaces() const { return spaces_; }
  uint64_t arena_bytes() const { return arena_.slab_bytes(); }

 private:
  void AskForTables(const Process& process);
  // Sends the kernel side the mappings of a process. Returns null if there is no room for it.
  std::shared_ptr<const AddressSpace> Publish(const Process& process);
  // Looks at a met process that maps a libjvm, now and, until its code cache is there, at the end
  // of each round.
  void LookForMachine(const Process& process);
  void LookAgain();
  // Sends the kernel side where a met process has V8's code. Returns whether it has any.
  bool LookForV8(const Process& process);
  // Likewise for code of PHP's compiler, or Ruby's.
  bool LookForCompiled(const Process& process);
  // Returns the address of the table, 0 while it is not found.
  uint64_t DispatchTableOf(const Process& process, const V8Build& build, const ft_v8& walk);
  // Tells whether a process runs a Java machine, or may, that cannot be walked yet: an unwalked
  // frame is in memory that it wrote code to.
  bool AwaitsMachine(const Process& process, uint64_t pc) const;
  // Tells whether a table of the code at `pc` is on its way, or can be requested.
  bool Awaited(const AddressSpace& space, Process* process, uint64_t pc);

  UnwindMemory& memory_;
  ProcessTable& processes_;
  ModuleRegistry& modules_;
  TableRequests& requests_;
  const Clock& clock_;
  Arena arena_;
  AddressSpaces spaces_;
  ModuleTables tables_;
  std::vector<uint8_t> failures_;  // by module
  JavaMachines machines_;
  V8Machines engines_;
  CompiledCode compiled_;
  TraceVariables traces_;
  const bool wants_traces_;
  std::unordered_map<uint32_t, int64_t>
      starting_;  // by pid: machines that are not ready, since when
  std::unordered_map<uint32_t, int> dispatch_tries_;  // by pid: processes without their table yet
  uint64_t tables_taken_ = 0;
};

}  // namespace firetower::daemon
