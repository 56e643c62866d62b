// SPDX-License-Identifier: Apache-2.0
// Methods of ProcessTable that look at the files and the memory that processes map.
#include <algorithm>
#include <utility>

#include "daemon/process/process_table.h"

namespace firetower::daemon {

uint32_t ProcessTable::LookUpNames(const ProcessMapping& mapping, const Process* process) {
  const Module& module = *modules_.Get(mapping.module);
  if (module.kind != ModuleKind::kFile || module.build_id.empty()) {
    mapping.names = mapping.module;
    return mapping.names;
  }
  // Not kept: a parent that still lives may have the same list.
  if (process == nullptr) return modules_.OfUnseenFile(mapping.module, mapping.path_hash);
  Result<uint32_t> names = FindNames(mapping.module, process->pid, mapping.start, mapping.end);
  if (!names) names = FindNamesByPart(mapping, process->pid);
  mapping.names = names ? *names : modules_.OfUnseenFile(mapping.module, mapping.path_hash);
  return mapping.names;
}

Result<uint32_t> ProcessTable::FindNames(uint32_t module, uint32_t pid, uint64_t start,
                                         uint64_t end) {
  ASSIGN_OR_RETURN(MappedFile file, proc_.FindMapped(pid, start, end));
  const bool counts = file.stamp.device >> 32 != 0 ||
                      file_systems_.Of(pid, file.stamp.device) == FileSystems::Kind::kMemory;
  if (!counts) file.stamp.device = 0;
  if (file.path.empty()) file.path = modules_.Get(module)->path;
  return modules_.OfFile(module, file.stamp, file.path);
}

// Handles a mapping that the kernel has split since its record (mprotect of a part) or moved as a
// whole (mremap): the file's data is still mapped somewhere.
Result<uint32_t> ProcessTable::FindNamesByPart(const ProcessMapping& mapping, uint32_t pid) {
  ASSIGN_OR_RETURN(const std::vector<MapsLine> lines, proc_.AllMaps(pid));
  for (const MapsLine& line : lines) {
    if (line.inode == 0 || PathHash(line.path) != mapping.path_hash) continue;
    return FindNames(mapping.module, pid, line.start, line.end);
  }
  return Error(ErrorCode::kNotFound, "not mapped any more");
}

// Compilers at run time map memory all day, elsewhere: that costs nothing here. A program that
// moves its code puts the memory in the place of its own file, and one that runs from a memory file
// maps one that was not seen before.
bool ProcessTable::MayBeCode(const Process& process, const SidebandEvent& event) const {
  if (event.inode != 0 && !probe_.Known(event.device, event.inode)) return true;
  const uint64_t end = event.start + event.size_bytes;
  return std::ranges::any_of(*process.mappings, [&](const ProcessMapping& mapping) {
    return mapping.start < end && mapping.end > event.start &&
           modules_.Get(mapping.module)->kind == ModuleKind::kFile;
  });
}

void ProcessTable::Suspect(Process& process) {
  process.suspect = true;
  if (process.met && std::ranges::find(suspects_, process.pid) == suspects_.end())
    suspects_.push_back(process.pid);
}

void ProcessTable::ProbeSuspects() {
  for (const uint32_t pid : std::exchange(suspects_, {})) {
    Process* const process = FindAlive(pid);
    if (process == nullptr || !process->suspect) continue;
    Probe(*process);
    if (process->suspect) Suspect(*process);
  }
}

void ProcessTable::Probe(Process& process) {
  const int64_t now_ns = clock_.MonotonicNs();
  if (process.dead_since_round != 0 || now_ns < process.next_probe_ns || !TakeReadToken()) return;
  process.suspect = false;
  process.next_probe_ns = now_ns + kProbeEveryNs;
  ReadMappings(process);
}

void ProcessTable::ProbeMemory(Process& process, std::vector<ProcessMapping>& mappings) {
  const Result<std::vector<MapsLine>> lines = proc_.AllMaps(process.pid);
  if (!lines) return;
  bool differs = false;
  for (ProcessMapping& mapping : mappings) {
    if (mapping.module != ModuleRegistry::kJit) continue;
    const auto line = std::ranges::lower_bound(*lines, mapping.start, {}, &MapsLine::start);
    if (line == lines->end() || line->start != mapping.start || line->end != mapping.end) continue;
    const auto index = static_cast<size_t>(line - lines->begin());
    differs |= ProbeLine(process, *lines, index, mapping) == CodeProbe::Match::kDiffers;
  }
  probe_.Close();
  if (!differs || process.probes >= kMaxProbes) return;
  // Perhaps it is not copied yet: after 50 ms, 0.25, 1.25, 6 and 31 s.
  int64_t wait_ns = kProbeEveryNs;
  for (uint8_t i = 0; i < process.probes; ++i) wait_ns *= 5;
  ++process.probes;
  process.next_probe_ns = clock_.MonotonicNs() + wait_ns;
  Suspect(process);
}

CodeProbe::Match ProcessTable::ProbeLine(const Process& process, const std::vector<MapsLine>& lines,
                                         size_t index, ProcessMapping& mapping) {
  const MapsLine& line = lines[index];
  if (line.inode != 0 && probe_.IsImage(process.pid, line)) {
    mapping.module = modules_.Intern({line.path, {}, line.device, line.inode, true});
    return CodeProbe::Match::kSame;
  }
  CodeProbe::Origin origin;
  const CodeProbe::Match match = probe_.FindOrigin(process.pid, lines, index, origin);
  if (match == CodeProbe::Match::kNone && line.inode != 0 &&
      probe_.MayBecomeImage(line.device, line.inode)) {
    return CodeProbe::Match::kDiffers;  // Looked at again, as memory that is not copied yet.
  }
  if (match != CodeProbe::Match::kSame) return match;
  const MapsLine& file = lines[origin.line];
  // Uses the module of the records if some of its code is still the file's.
  const auto known = std::ranges::find_if(*process.mappings, [&](const ProcessMapping& other) {
    return other.path_hash == PathHash(file.path) && !other.moved &&
           modules_.Get(other.module)->kind == ModuleKind::kFile;
  });
  mapping.module = known != process.mappings->end()
                       ? known->module
                       : modules_.Intern({file.path, {}, file.device, file.inode, true});
  mapping.file_offset = origin.file_offset;
  mapping.moved = true;
  if (const auto names = FindNames(mapping.module, process.pid, file.start, file.end))
    mapping.names = *names;
  return match;
}

}  // namespace firetower::daemon
