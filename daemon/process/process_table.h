// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "bpf/abi/unwind.h"
#include "daemon/capture/round.h"
#include "daemon/process/code_probe.h"
#include "daemon/process/file_systems.h"
#include "daemon/process/module.h"
#include "daemon/process/proc_fs.h"

namespace firetower::daemon {

using Comm = std::array<char, 16>;  // zero-padded, as the kernel keeps it
Comm ToComm(std::string_view text);
inline std::string_view ToText(const Comm& comm) { return comm.data(); }

struct ProcessMapping {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
  uint32_t module = ModuleRegistry::kUnknown;
  uint32_t path_hash = 0;  // of the path its process sees; its module may have been named elsewhere
  // The module whose names its frames have: ModuleRegistry::OfFile. kUnknown until a stack shows
  // it. Of the resolve thread, also where the list is shared.
  mutable uint32_t names = ModuleRegistry::kUnknown;
  bool moved = false;  // memory that its module's code was moved to, found by its bytes
};

struct Process {
  uint32_t pid = 0;
  uint32_t parent = 0;
  // Changes whenever the mappings do: what was resolved under another one is stale.
  uint32_t generation = 0;
  int32_t threads = 1;
  uint64_t dead_since_round = 0;  // 0: alive
  bool met = false;               // a sample of it has come, which told its identity
  uint32_t identity = 0;          // ft_identity() of its present image
  uint64_t losses = 0;            // of records (the table's count) before it was last known whole
  bool from_proc = false;         // its threads' names were not told, but can be read
  bool suspect = false;           // it maps memory that may be a file's code: CodeProbe
  uint8_t probes = 0;             // looks in a row that found other bytes than the file's
  int64_t next_probe_ns = 0;
  int64_t next_read_ns = 0;  // /proc is not read again before
  Comm comm{};
  // Sorted by start, without overlap. Shared with the parent until one of them changes it.
  std::shared_ptr<std::vector<ProcessMapping>> mappings;
  std::unordered_map<uint32_t, Comm> thread_comms;  // threads called otherwise than the process
};

// The mapping that holds `address`, or nullptr.
const ProcessMapping* FindMapping(const std::vector<ProcessMapping>& mappings, uint64_t address);

// The processes of the machine and their executable mappings, told by the kernel's stream; /proc is
// read for what was alive before, and to mend what records do not say. Owned by the resolve thread.
//
// Bounded by kMaxProcesses: more than a node runs. A process that does not fit has no mappings, and
// its frames count as unknown.
class ProcessTable {
 public:
  static constexpr size_t kMaxProcesses = 131072;
  // Executable mappings of one process; the kernel side takes as many. What is mapped beyond them
  // counts as unknown code.
  static constexpr size_t kMaxMappings = FT_MAX_MAPPINGS;
  // Samples of a process reach us after its exit record; two rounds later none can.
  static constexpr uint64_t kKeepDeadRounds = 2;

  ProcessTable(ModuleRegistry& modules, ProcFs proc, const Clock& clock);

  // Reads every process that is alive; the stream must be open already.
  void Scan();
  void Apply(const SidebandEvent& event, std::string_view text);
  // Call once a round: forgets processes that have been dead for long enough.
  void EndRound();
  // Ends processes whose end we missed (a thread counted twice while /proc was read); like others
  // they are kept for two rounds. Costs one look at /proc for each process: call it about once a
  // minute.
  void Sweep();
  // After a time without records: like Scan(), and what is known is read again or ends.
  void Rescan();
  // After lost records, once those that did come are applied: every process alive is read again
  // when a sample next needs it, under the limits of Refresh. Costs nothing by itself.
  void DistrustAll() { ++losses_; }

  // A sample told which image of the process runs; from now on its changes are listed.
  void Meet(Process& process, uint32_t identity);
  // A sample told the same of a process that may not be met. Where the image is another one than
  // the records said, its fork or exec was lost: nothing known of the last one is true any more,
  // and it is read again.
  void Identify(Process& process, uint32_t identity);
  // Processes met whose mappings have changed or that have gone since the last call, each at least
  // once.
  const std::vector<uint32_t>& changed() const { return changed_; }
  void ClearChanged() { changed_.clear(); }
  // Nullptr if there is none; reads nothing.
  const Process* Find(uint32_t pid) const;
  // The same, but nullptr too for a process that has ended.
  Process* FindAlive(uint32_t pid);
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [pid, process] : processes_) visit(process);
  }

  // Never null: a process nobody told of is read from /proc, and is empty if that fails. So is one
  // whose records were not all told; until there is time for it, and if it fails, it stays as
  // known.
  Process& Get(uint32_t pid);
  static const ProcessMapping* FindMapping(const Process& process, uint64_t address) {
    return ::firetower::daemon::FindMapping(*process.mappings, address);
  }
  // Looks at memory that may be a file's code, if its process is met: such memory is a module only
  // once it was found to be. At most twenty times a second for each process, and kReadsPerSecond in
  // all; EndRound goes on where there was no time.
  void Probe(Process& process);
  // Reads the process's mappings again, at most once a second for each and kReadsPerSecond in all.
  // False if it was not done.
  bool Refresh(Process& process);
  Comm ThreadComm(Process& process, uint32_t tid);
  // The module of the file that is mapped there. Reads what file it is (a stat or two) when it is
  // asked for the first time, if `process`, whose mapping it is, is alive and not null.
  uint32_t NamesOf(const ProcessMapping& mapping, const Process* process) {
    return mapping.names != ModuleRegistry::kUnknown ? mapping.names
                                                     : LookUpNames(mapping, process);
  }

  const ProcFs& proc() const { return proc_; }
  size_t size() const { return processes_.size(); }
  uint64_t refreshes() const { return refreshes_; }
  uint64_t refused_mappings() const { return refused_mappings_; }

 private:
  static constexpr uint32_t kReadsPerSecond = 50;
  static constexpr int64_t kProbeEveryNs = 50 * kNsPerMs;
  // A program copies its code after it has put the memory in its place: looks come later and later,
  // the last one after half a minute.
  static constexpr uint8_t kMaxProbes = 5;

  Process& Insert(uint32_t pid);
  uint32_t LookUpNames(const ProcessMapping& mapping, const Process* process);
  void End(Process& process);
  void Change(Process& process);
  void Erase(std::unordered_map<uint32_t, Process>::iterator process);
  void ReadProcess(Process& process);
  void ReadIfLossy(Process& process);
  void ReadMappings(Process& process);
  bool TakeReadToken();
  Result<uint32_t> FindNamesByPart(const ProcessMapping& mapping, uint32_t pid);
  void Fork(const SidebandEvent& event);
  void Exit(const SidebandEvent& event);
  void Map(const SidebandEvent& event, std::string_view path);
  std::vector<ProcessMapping>& Writable(Process& process);
  // Whether memory that was mapped may be a file's code.
  bool MayBeCode(const Process& process, const SidebandEvent& event) const;
  void Suspect(Process& process);
  void ProbeSuspects();
  // Gives those of `mappings`, the process's present ones, that are memory their modules.
  void ProbeMemory(Process& process, std::vector<ProcessMapping>& mappings);
  CodeProbe::Match ProbeLine(const Process& process, const std::vector<MapsLine>& lines,
                             size_t index, ProcessMapping& mapping);
  // The module of `module`'s file that `pid` has mapped there.
  Result<uint32_t> FindNames(uint32_t module, uint32_t pid, uint64_t start, uint64_t end);

  ModuleRegistry& modules_;
  ProcFs proc_;
  const Clock& clock_;
  FileSystems file_systems_;
  CodeProbe probe_;
  std::unordered_map<uint32_t, Process> processes_;
  std::vector<std::pair<uint64_t, uint32_t>> dying_;  // (round, pid)
  std::vector<uint32_t> changed_;
  std::vector<uint32_t> suspects_;  // met ones, each at most once
  Process overflow_;
  uint64_t round_ = 1;
  uint64_t losses_ = 1;  // of records, and one: a process that no record began has 0
  uint64_t refreshes_ = 0;
  uint64_t refused_mappings_ = 0;
  int64_t read_second_ = 0;
  uint32_t reads_this_second_ = 0;
};

// Puts `mapping` in, cutting what it overlaps: the newer mapping is the true one.
void InsertMapping(std::vector<ProcessMapping>& mappings, const ProcessMapping& mapping);

}  // namespace firetower::daemon
