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
#include "daemon/capture/rounds/round.h"
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
  // Changes whenever the mappings do: results that were resolved under another value are invalid.
  uint32_t generation = 0;
  int32_t threads = 1;
  uint64_t dead_since_round = 0;  // 0: alive
  bool met = false;               // a sample of it has come, so its identity is known
  uint32_t identity = 0;          // ft_identity() of its present image
  uint64_t losses = 0;            // the table's count of lost records when this process was last
                                  // complete
  bool from_proc = false;         // the names of its threads were not recorded, but can be
  bool suspect = false;           // it maps memory that may be a file's code: CodeProbe
  uint8_t probes = 0;             // looks in a row that found other bytes than the file's
  int64_t next_probe_ns = 0;
  int64_t next_read_ns = 0;  // /proc is not read again before
  Comm comm{};
  // Sorted by start, without overlap. Shared with the parent until one of them changes it.
  std::shared_ptr<std::vector<ProcessMapping>> mappings;
  std::unordered_map<uint32_t, Comm> thread_comms;  // threads called otherwise than the process
};

// Returns the mapping that holds `address`, or nullptr.
const ProcessMapping* FindMapping(const std::vector<ProcessMapping>& mappings, uint64_t address);

// The machine's processes and their executable mappings, updated by the kernel's stream. /proc is
// read for processes that existed before, and for facts that records lack. Owned by the resolve
// thread.
//
// Bounded by kMaxProcesses, more than a node runs. A process that does not fit has no mappings, and
// its frames count as unknown.
class ProcessTable {
 public:
  static constexpr size_t kMaxProcesses = 131072;
  // The most executable mappings of one process, the same as on the kernel side. Further mappings
  // count as unknown code.
  static constexpr size_t kMaxMappings = FT_MAX_MAPPINGS;
  // A process's samples may arrive after its exit record, but at most two rounds later.
  static constexpr uint64_t kKeepDeadRounds = 2;

  ProcessTable(ModuleRegistry& modules, ProcFs proc, const Clock& clock);

  // Reads every living process. The stream must be open already.
  void Scan();
  void Apply(const SidebandEvent& event, std::string_view text);
  // Must be called once per round: forgets processes that ended long enough ago.
  void EndRound();
  // Ends processes whose end was missed (a thread counted twice while /proc was read); they are
  // kept for two rounds like others. Costs one look at /proc for each process, so it is meant for
  // about once a minute.
  void Sweep();
  // Called after a time without records: reads all processes again like Scan(), and ends those that
  // are gone.
  void Rescan();
  // Called after lost records, once the received ones are applied: every living process is read
  // again when a sample next needs it, within the limits of Refresh. Costs nothing by itself.
  void InvalidateAll() { ++losses_; }

  // Called when a sample has named the running image of the process. From now on its changes are
  // listed.
  void Meet(Process& process, uint32_t identity);
  // Does the same for a process that may not be met. If the image differs from the records, its
  // fork or exec was lost: everything known about the process is outdated, and it is read again.
  void Identify(Process& process, uint32_t identity);
  // The met processes whose mappings have changed or that have ended since the last call, each at
  // least once.
  const std::vector<uint32_t>& changed() const { return changed_; }
  void ClearChanged() { changed_.clear(); }
  // Returns nullptr if there is none. Reads nothing.
  const Process* Find(uint32_t pid) const;
  // Returns nullptr also for a process that has ended.
  Process* FindAlive(uint32_t pid);
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [pid, process] : processes_) visit(process);
  }

  // Never returns null: an unknown process is read from /proc, and is empty if that fails. A
  // process with lost records is read again too; until there is time for it, and if it fails, it
  // stays as it was.
  Process& Get(uint32_t pid);
  static const ProcessMapping* FindMapping(const Process& process, uint64_t address) {
    return ::firetower::daemon::FindMapping(*process.mappings, address);
  }
  // Examines memory that may be a file's code, if the process is met: such memory becomes a module
  // only if it matches. At most twenty times a second per process, and kReadsPerSecond in total;
  // EndRound continues when there was no time.
  void Probe(Process& process);
  // Reads the process's mappings again, at most once a second per process and kReadsPerSecond in
  // total. Returns false if it was not done.
  bool Refresh(Process& process);
  Comm ThreadComm(Process& process, uint32_t tid);
  // Returns the module of the file that is mapped there. The first call for a mapping identifies
  // the file (a stat or two), if its process `process` is alive and not null.
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
  // A program copies its code some time after it has mapped the memory, so the checks come at
  // growing intervals, the last one after half a minute.
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
  // Tells whether newly mapped memory may be a file's code.
  bool MayBeCode(const Process& process, const SidebandEvent& event) const;
  void Suspect(Process& process);
  void ProbeSuspects();
  // Sets the modules of those `mappings`, the process's present ones, that are memory.
  void ProbeMemory(Process& process, std::vector<ProcessMapping>& mappings);
  CodeProbe::Match ProbeLine(const Process& process, const std::vector<MapsLine>& lines,
                             size_t index, ProcessMapping& mapping);
  // Returns the module of `module`'s file that `pid` has mapped there.
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

// Inserts `mapping` and cuts the mappings that it overlaps, because the newer one is valid.
void InsertMapping(std::vector<ProcessMapping>& mappings, const ProcessMapping& mapping);

}  // namespace firetower::daemon
