// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/process_table.h"

#include <algorithm>
#include <cstring>

namespace firetower::daemon {
Comm ToComm(std::string_view text) {
  Comm comm{};
  std::memcpy(comm.data(), text.data(), std::min(text.size(), comm.size() - 1));
  return comm;
}

void InsertMapping(std::vector<ProcessMapping>& mappings, const ProcessMapping& mapping) {
  auto first =
      std::lower_bound(mappings.begin(), mappings.end(), mapping.start,
                       [](const ProcessMapping& m, uint64_t start) { return m.end <= start; });
  auto last = first;
  ProcessMapping pieces[3];  // the rest of the first, the new one, the rest of the last
  size_t count = 0;
  while (last != mappings.end() && last->start < mapping.end) ++last;
  if (first != last && first->start < mapping.start) {
    pieces[count] = *first;
    pieces[count++].end = mapping.start;
  }
  pieces[count++] = mapping;
  if (first != last) {
    const ProcessMapping& cut = *(last - 1);
    if (cut.end > mapping.end) {
      pieces[count] = cut;
      pieces[count].file_offset += mapping.end - cut.start;
      pieces[count++].start = mapping.end;
    }
  }
  auto at = mappings.erase(first, last);
  mappings.insert(at, pieces, pieces + count);
}

const ProcessMapping* FindMapping(const std::vector<ProcessMapping>& mappings, uint64_t address) {
  auto after = std::upper_bound(
      mappings.begin(), mappings.end(), address,
      [](uint64_t value, const ProcessMapping& mapping) { return value < mapping.start; });
  if (after == mappings.begin()) return nullptr;
  const ProcessMapping& mapping = *(after - 1);
  return address < mapping.end ? &mapping : nullptr;
}

ProcessTable::ProcessTable(ModuleRegistry& modules, ProcFs proc, const Clock& clock)
    : modules_(modules),
      proc_(std::move(proc)),
      clock_(clock),
      file_systems_(proc_.root(), clock),
      probe_(proc_, file_systems_) {
  overflow_.mappings = std::make_shared<std::vector<ProcessMapping>>();
}

Process& ProcessTable::Insert(uint32_t pid) {
  auto found = processes_.find(pid);
  if (found != processes_.end()) return found->second;
  if (processes_.size() >= kMaxProcesses) return overflow_;
  Process& process = processes_[pid];
  process.pid = pid;
  process.mappings = std::make_shared<std::vector<ProcessMapping>>();
  return process;
}

std::vector<ProcessMapping>& ProcessTable::Writable(Process& process) {
  if (process.mappings.use_count() > 1) {
    process.mappings = std::make_shared<std::vector<ProcessMapping>>(*process.mappings);
  }
  Change(process);
  return *process.mappings;
}

void ProcessTable::Change(Process& process) {
  ++process.generation;
  if (process.met && (changed_.empty() || changed_.back() != process.pid)) {
    changed_.push_back(process.pid);
  }
}

void ProcessTable::Erase(std::unordered_map<uint32_t, Process>::iterator process) {
  if (process->second.met) changed_.push_back(process->first);
  processes_.erase(process);
}

void ProcessTable::Meet(Process& process, uint32_t identity) {
  if (&process == &overflow_) return;
  Identify(process, identity);
  process.met = true;
  process.identity = identity;
  if (!process.suspect) return;
  Probe(process);
  if (process.suspect) Suspect(process);
}

void ProcessTable::Identify(Process& process, uint32_t identity) {
  if (!process.met || process.identity == identity) return;
  process.identity = identity;
  process.dead_since_round = 0;
  process.threads = 1;
  process.comm = {};
  process.thread_comms.clear();
  process.mappings = std::make_shared<std::vector<ProcessMapping>>();
  process.losses = 0;
  process.suspect = false;
  Change(process);
  ReadIfLossy(process);
}

const Process* ProcessTable::Find(uint32_t pid) const {
  auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : &found->second;
}

Process* ProcessTable::FindAlive(uint32_t pid) {
  auto found = processes_.find(pid);
  bool alive = found != processes_.end() && found->second.dead_since_round == 0;
  return alive ? &found->second : nullptr;
}

void ProcessTable::ReadMappings(Process& process) {
  Result<std::vector<MapsLine>> lines = proc_.Maps(process.pid);
  if (!lines || lines->empty()) return;  // Gone, or a kernel thread: the known mappings stay.
  std::vector<ProcessMapping> fresh;
  fresh.reserve(lines->size());
  bool has_memory = false;
  for (const MapsLine& line : *lines) {
    // It stands in the place of probed return addresses, and calls nothing.
    if (line.path == "[uprobes]") continue;
    if (fresh.size() >= kMaxMappings) {
      refused_mappings_ += lines->size() - fresh.size();
      break;
    }
    ProcessMapping mapping{line.start, line.end, line.file_offset, ModuleRegistry::kUnknown,
                           PathHash(line.path)};
    // A mapping known with its build id keeps it: the maps file cannot tell it.
    const ProcessMapping* known = FindMapping(process, line.start);
    if (known != nullptr && known->start == line.start && known->end == line.end &&
        known->path_hash == mapping.path_hash && known->module != ModuleRegistry::kJit &&
        (known->file_offset == line.file_offset || known->moved)) {
      mapping = *known;
    } else {
      mapping.module = modules_.Intern({line.path, {}, line.device, line.inode});
    }
    has_memory |= mapping.module == ModuleRegistry::kJit;
    fresh.push_back(mapping);
  }
  process.suspect = false;
  if (has_memory && !process.met) process.suspect = true;  // Probed with its first sample.
  if (has_memory && process.met) ProbeMemory(process, fresh);
  Writable(process) = std::move(fresh);
}

void ProcessTable::Scan() {
  for (uint32_t pid : proc_.Pids()) {
    Process& process = Insert(pid);
    if (&process == &overflow_) return;
    ReadProcess(process);
  }
}

void ProcessTable::Rescan() {
  Sweep();
  InvalidateAll();
  Scan();
}

void ProcessTable::ReadProcess(Process& process) {
  process.losses = losses_;
  const Result<ProcessStat> stat = proc_.Stat(process.pid);
  if (!stat) return;  // Gone: the known facts stay.
  process.comm = ToComm(stat->comm);
  process.threads = static_cast<int32_t>(std::max(stat->threads, 1u));
  process.parent = stat->parent;
  process.from_proc = true;
  process.thread_comms.clear();  // They are as old as the rest, and are read again when needed.
  ReadMappings(process);
}

void ProcessTable::Fork(const SidebandEvent& event) {
  if (event.pid == event.parent_pid) {  // A thread; it starts with its creator's name.
    Process& process = Insert(event.pid);
    ++process.threads;
    auto creator = process.thread_comms.find(event.parent_tid);
    if (creator != process.thread_comms.end()) {
      Comm comm = creator->second;
      process.thread_comms[event.tid] = comm;
    }
    return;
  }
  Comm comm{};
  std::shared_ptr<std::vector<ProcessMapping>> mappings;
  uint32_t parent_generation = 0;
  uint64_t parent_losses = 0;
  bool parent_suspect = false;
  auto parent = processes_.find(event.parent_pid);
  if (parent != processes_.end()) {
    auto forker = parent->second.thread_comms.find(event.parent_tid);
    comm = forker == parent->second.thread_comms.end() ? parent->second.comm : forker->second;
    mappings = parent->second.mappings;
    parent_generation = parent->second.generation;
    parent_losses = parent->second.losses;
    parent_suspect = parent->second.suspect;
  }
  // The pid's last owner, if we missed its exit.
  if (auto last = processes_.find(event.pid); last != processes_.end()) Erase(last);
  Process& child = Insert(event.pid);
  if (&child == &overflow_) return;
  child.parent = event.parent_pid;
  child.comm = comm;
  child.generation = parent_generation + 1;
  child.suspect = parent_suspect;
  child.losses = parent_losses;  // It has its parent's mappings, and lacks the same ones.
  if (mappings) child.mappings = std::move(mappings);
}

void ProcessTable::Exit(const SidebandEvent& event) {
  auto found = processes_.find(event.pid);
  if (found == processes_.end()) return;
  Process& process = found->second;
  process.thread_comms.erase(event.tid);
  // A leader that exits early leaves its threads running: the process dies with its last thread.
  if (--process.threads > 0) return;
  End(process);
}

void ProcessTable::End(Process& process) {
  process.dead_since_round = round_;
  if (process.met) changed_.push_back(process.pid);
  dying_.emplace_back(round_, process.pid);
}

void ProcessTable::Map(const SidebandEvent& event, std::string_view path) {
  Process& process = Insert(event.pid);
  if (&process == &overflow_) return;  // It represents many processes, and has no mappings.
  path = WithoutDeleted(path);
  std::span<const uint8_t> build_id(event.build_id.data(), event.build_id_size);
  if (process.mappings->size() >= kMaxMappings) {
    ++refused_mappings_;
    return;
  }
  FileIdentity file{path, build_id, event.device, event.inode};
  file.is_image = event.inode != 0 && probe_.Known(event.device, event.inode).value_or(false);
  const uint32_t module = modules_.Intern(file);
  if (module == ModuleRegistry::kJit && MayBeCode(process, event)) {
    process.probes = 0;
    Suspect(process);
  }
  InsertMapping(Writable(process), {event.start, event.start + event.size_bytes, event.file_offset,
                                    module, PathHash(path)});
}

void ProcessTable::Apply(const SidebandEvent& event, std::string_view text) {
  switch (event.kind) {
    case SidebandKind::kFork:
      Fork(event);
      break;
    case SidebandKind::kExit:
      Exit(event);
      break;
    case SidebandKind::kMmap:
      Map(event, text);
      break;
    case SidebandKind::kExec: {
      // exec ends the other threads and starts from an empty address space.
      Process& process = Insert(event.pid);
      if (&process == &overflow_) break;
      process.thread_comms.clear();
      process.threads = 1;
      process.losses = losses_;
      process.suspect = false;
      process.probes = 0;
      process.comm = ToComm(text);
      process.mappings = std::make_shared<std::vector<ProcessMapping>>();
      // The kernel counts execs, and the count is the identity's last term.
      ++process.identity;
      Change(process);
      break;
    }
    case SidebandKind::kComm: {
      Process& process = Insert(event.pid);
      if (&process == &overflow_) break;
      if (event.tid == event.pid) {
        process.comm = ToComm(text);
      } else if (process.thread_comms.size() < 65536) {
        process.thread_comms[event.tid] = ToComm(text);
      }
      break;
    }
  }
}

void ProcessTable::EndRound() {
  auto keep = dying_.begin();
  for (auto& [round, pid] : dying_) {
    if (round + kKeepDeadRounds >= round_) {
      *keep++ = {round, pid};
      continue;
    }
    auto found = processes_.find(pid);
    // The pid may belong to a new process by now.
    if (found != processes_.end() && found->second.dead_since_round == round) {
      Erase(found);
    }
  }
  dying_.erase(keep, dying_.end());
  ProbeSuspects();
  ++round_;
}

void ProcessTable::Sweep() {
  for (auto& [pid, process] : processes_) {
    if (process.dead_since_round == 0 && !proc_.Stat(pid)) End(process);
  }
}

Process& ProcessTable::Get(uint32_t pid) {
  auto found = processes_.find(pid);
  Process& process = found != processes_.end() ? found->second : Insert(pid);
  ReadIfLossy(process);
  return process;
}

void ProcessTable::ReadIfLossy(Process& process) {
  // One that has ended is as we knew it: its pid may be another's by now.
  if (process.losses == losses_ || process.dead_since_round != 0) return;
  int64_t now = clock_.MonotonicNs();
  if (&process == &overflow_ || now < process.next_read_ns || !TakeReadToken()) return;
  if (process.losses != 0) process.next_read_ns = now + kNsPerSecond;
  ReadProcess(process);
}

bool ProcessTable::TakeReadToken() {
  int64_t second = clock_.MonotonicNs() / kNsPerSecond;
  if (second != read_second_) {
    read_second_ = second;
    reads_this_second_ = 0;
  }
  return reads_this_second_++ < kReadsPerSecond;
}

bool ProcessTable::Refresh(Process& process) {
  int64_t now = clock_.MonotonicNs();
  if (&process == &overflow_ || process.dead_since_round != 0 || now < process.next_read_ns) {
    return false;
  }
  if (!TakeReadToken()) return false;
  process.next_read_ns = now + kNsPerSecond;
  ++refreshes_;
  ReadMappings(process);
  return true;
}

Comm ProcessTable::ThreadComm(Process& process, uint32_t tid) {
  if (tid == process.pid) return process.comm;
  auto found = process.thread_comms.find(tid);
  if (found != process.thread_comms.end()) return found->second;
  if (!process.from_proc || !TakeReadToken()) return process.comm;
  Result<std::string> comm = proc_.ThreadComm(process.pid, tid);
  return process.thread_comms[tid] = comm ? ToComm(*comm) : process.comm;
}

}  // namespace firetower::daemon
