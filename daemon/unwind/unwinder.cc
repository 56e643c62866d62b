// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/unwinder.h"

#include <algorithm>
#include <utility>

#include "daemon/unwind/v8_places.h"

namespace firetower::daemon {
namespace {

// The arena beyond the tables' budget: lists of mappings, and what waits for its grace to end.
constexpr uint64_t kArenaExtraBytes = uint64_t{16} << 20;
// A file that could not be opened this often counts as one without a table.
constexpr uint8_t kMaxFailures = 3;
// Walks wait so long for a process that maps a libjvm to start a machine: not each one does.
constexpr int64_t kMachineStartNs = 5 * kNsPerSecond;
// Rounds in which a process's dispatch table is looked for.
constexpr int kMaxDispatchTries = 100;

// Its loader is its C library, with several names. What glibc calls libc.so is no code.
bool IsMusl(const Module& module) {
  const std::string_view path = module.path;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "libc.so" || name.starts_with("ld-musl-") || name.starts_with("libc.musl-");
}

}  // namespace

Unwinder::Unwinder(UnwindMemory& memory, ProcessTable& processes, ModuleRegistry& modules,
                   TableRequests& requests, const Clock& clock, Options options)
    : memory_(memory),
      processes_(processes),
      modules_(modules),
      requests_(requests),
      clock_(clock),
      arena_(memory, options.table_bytes + kArenaExtraBytes),
      spaces_(memory, arena_, clock),
      tables_(memory, arena_, options.table_bytes, clock),
      traces_([&modules](uint32_t module) { return IsMusl(*modules.Get(module)); }),
      wants_traces_(options.traces) {}

std::shared_ptr<const AddressSpace> Unwinder::Meet(Process& process, uint32_t identity) {
  processes_.Meet(process, identity);
  AskForTables(process);
  auto space = Publish(process);
  LookForMachine(process);
  return space;
}

std::shared_ptr<const AddressSpace> Unwinder::Publish(const Process& process) {
  return spaces_.Publish(process, traces_.Find(process));
}

bool Unwinder::LookForV8(const Process& process) {
  if (!engines_.has_libraries()) return false;
  const auto library = std::ranges::find_if(*process.mappings, [&](const ProcessMapping& mapping) {
    return engines_.BuildOf(mapping.module) != nullptr;
  });
  if (library == process.mappings->end()) return false;
  const V8Build& build = *engines_.BuildOf(library->module);
  ft_v8 walk = PlaceV8(*process.mappings, library->module, build);
  if (build.has_dispatch_table()) {
    walk.dispatch = DispatchTableOf(process, build, walk);
    if (walk.dispatch != 0) walk.function_code = build.function_code;
  }
  if (engines_.Meet(process.pid, process.identity, library->module, walk))
    spaces_.SetMachine(process.pid, walk);
  return true;
}

bool Unwinder::LookForCompiled(const Process& process) {
  const std::optional<ft_machine> machine = compiled_.Find(*process.mappings);
  if (machine) spaces_.SetMachine(process.pid, *machine);
  return machine.has_value();
}

uint64_t Unwinder::DispatchTableOf(const Process& process, const V8Build& build,
                                   const ft_v8& walk) {
  if (const ft_v8* known = engines_.Find(process.pid, process.identity);
      known != nullptr && known->dispatch != 0)
    return known->dispatch;
  const auto maps = processes_.proc().AllMaps(process.pid);
  const std::unique_ptr<RemoteMemory> memory = engines_.OpenMemory(process.pid);
  const uint64_t found =
      maps ? FindDispatchTable(*maps, V8Heap(*memory, build), build, walk).value_or(0) : 0;
  // A process that has just begun may not have filled it yet, and tells of no change when it has.
  if (found == 0) {
    dispatch_tries_.try_emplace(process.pid, 0);
  } else {
    dispatch_tries_.erase(process.pid);
  }
  return found;
}

void Unwinder::LookForMachine(const Process& process) {
  if (LookForV8(process) || LookForCompiled(process)) return;
  if (!machines_.has_libraries() || spaces_.HasMachine(process.pid)) return;
  for (const ProcessMapping& mapping : *process.mappings) {
    if (!machines_.IsLibrary(mapping.module)) continue;
    const JavaMachines::State state = machines_.Look(process.pid, process.identity, mapping.module,
                                                     mapping.start - mapping.file_offset);
    if (state == JavaMachines::State::kReady || !machines_.WhyNot(process.pid).empty())
      requests_.NoteRuntime(*modules_.Get(mapping.module), machines_.VersionOf(process.pid),
                            machines_.WhyNot(process.pid));
    const ft_hotspot* found = machines_.Find(process.pid, process.identity);
    if (state == JavaMachines::State::kLater ||
        (found != nullptr && !spaces_.SetMachine(process.pid, *found))) {
      starting_.try_emplace(process.pid, clock_.MonotonicNs());
    } else {
      // Walks that wait for it go on.
      tables_taken_ += starting_.erase(process.pid);
    }
    return;
  }
}

void Unwinder::LookAgain() {
  for (const uint32_t pid : traces_.Unplaced()) {
    const Process* process = processes_.Find(pid);
    if (process != nullptr && process->dead_since_round == 0 && process->met) Publish(*process);
  }
  std::vector<uint32_t> pids;
  for (const auto& [pid, since_ns] : starting_) pids.push_back(pid);
  for (auto& [pid, tries] : dispatch_tries_) {
    if (tries++ < kMaxDispatchTries) pids.push_back(pid);
  }
  for (const uint32_t pid : pids) {
    const Process* process = processes_.Find(pid);
    if (process == nullptr || process->dead_since_round != 0 || !process->met) {
      starting_.erase(pid);
      dispatch_tries_.erase(pid);
    } else {
      LookForMachine(*process);
    }
  }
}

void Unwinder::AskForTables(const Process& process) {
  for (const ProcessMapping& mapping : *process.mappings) {
    if (tables_.Get(mapping.module) != ModuleTables::State::kWanted) continue;
    const std::shared_ptr<const Module>& module = modules_.Get(mapping.module);
    if (module->kind != ModuleKind::kFile) {
      tables_.SetNone(mapping.module);
    } else if (requests_.WantTable(mapping.module, module, process, mapping)) {
      tables_.SetAsked(mapping.module);
    }
  }
}

bool Unwinder::Awaited(const AddressSpace& space, Process* process, uint64_t pc) {
  const ProcessMapping* mapping = FindMapping(*space.mappings, pc);
  if (mapping == nullptr) return false;
  if (tables_.Get(mapping->module) == ModuleTables::State::kWanted && process != nullptr) {
    AskForTables(*process);
  }
  return tables_.Get(mapping->module) == ModuleTables::State::kAsked;
}

bool Unwinder::AwaitsMachine(const Process& process, uint64_t pc) const {
  const auto starting = starting_.find(process.pid);
  if (starting != starting_.end()) return clock_.MonotonicNs() - starting->second < kMachineStartNs;
  const ProcessMapping* mapping = FindMapping(*process.mappings, pc);
  if (mapping == nullptr || mapping->module != ModuleRegistry::kJit ||
      spaces_.HasMachine(process.pid))
    return false;
  // Its library's table is what tells that it is one.
  return std::ranges::any_of(*process.mappings, [&](const ProcessMapping& other) {
    return tables_.Get(other.module) == ModuleTables::State::kAsked;
  });
}

Unwinder::Walk Unwinder::Finish(const ColdStack& cold, std::span<const std::byte> stack,
                                const AddressSpace& space, Process* process, size_t max_frames,
                                std::vector<uint64_t>& addresses, uint8_t* stop) {
  if (process != nullptr && AwaitsMachine(*process, cold.ip - (cold.returned ? 1 : 0)))
    return Walk::kWaiting;
  WalkMemory memory;
  std::unique_ptr<RemoteMemory> far;
  if (process != nullptr) memory.hotspot = machines_.Find(process->pid, process->identity);
  if (process != nullptr) memory.v8 = engines_.Find(process->pid, process->identity);
  std::optional<ft_machine> php;
  if (process != nullptr) php = compiled_.Find(*process->mappings);
  // Ruby's takes reads of memory that are the kernel side's.
  if (php && php->kind == FT_MACHINE_PHP) memory.php = &*php;
  if (memory.hotspot != nullptr || memory.v8 != nullptr) {
    far = machines_.OpenMemory(process->pid);
    memory.far = far.get();
  }
  memory.arena = arena_.At(0);
  memory.arena_bytes = uint64_t{memory_.max_slabs()} * FT_SLAB_BYTES;
  memory.modules = memory_.modules();
  memory.stack_begin = ft_cold_begin(cold.sp);
  memory.stack = stack;
  memory.absent = cold.absent;
  memory.stack_start = cold.stack_start;
  memory.entry = cold.entry;
  // All zero: the frame is neither the leaf nor its caller, and they are not known.
  if (std::ranges::any_of(cold.registers, [](uint64_t value) { return value != 0; })) {
    memory.registers = cold.registers;
  }
  ft_walk walk{};
  walk.ip = cold.ip;
  walk.sp = cold.sp;
  walk.bp = cold.bp;
  walk.returned = cold.returned ? 1 : 0;
  walk.mappings = space.position;
  walk.mapping_count = space.count;
  const size_t before = addresses.size();
  const uint64_t last = before > 0 ? addresses.back() : 0;
  if (WalkOn(memory, walk, max_frames, addresses) != FT_STEP_COLD) {
    // A page that was not copied is not known to be absent.
    *stop = walk.stop == FT_STOP_PAGE ? uint8_t{FT_STOP_COLD} : static_cast<uint8_t>(walk.stop);
    return Walk::kEnded;
  }
  if (Awaited(space, process, walk.ip - walk.returned)) {
    addresses.resize(before);
    if (before > 0) addresses.back() = last;
    return Walk::kWaiting;
  }
  // If no mapping has the address, it is not code. Otherwise its table is not available now.
  *stop = FindMapping(*space.mappings, walk.ip - walk.returned) == nullptr ? FT_STOP_RETURN
                                                                           : FT_STOP_COLD;
  return Walk::kEnded;
}

void Unwinder::Take(const LoadedTable& loaded) {
  ++tables_taken_;
  switch (loaded.outcome) {
    case LoadedTable::Outcome::kTable:
      tables_.Insert(loaded.module, loaded.table);
      if (loaded.table.hotspot) machines_.AddLibrary(loaded.module, *loaded.table.hotspot);
      if (loaded.table.v8) engines_.AddLibrary(loaded.module, *loaded.table.v8);
      if (loaded.table.trace && wants_traces_) {
        traces_.AddLibrary(loaded.module, *loaded.table.trace);
        processes_.ForEach([&](const Process& process) {
          if (process.met && process.dead_since_round == 0) Publish(process);
        });
      }
      if (!loaded.table.hotspot && !loaded.table.v8 &&
          !(loaded.table.interpreter &&
            compiled_.AddLibrary(loaded.module, *loaded.table.interpreter)))
        break;
      processes_.ForEach([&](const Process& process) {
        if (process.met && process.dead_since_round == 0) LookForMachine(process);
      });
      break;
    case LoadedTable::Outcome::kNone:
      tables_.SetNone(loaded.module);
      break;
    case LoadedTable::Outcome::kGone:
      // Says nothing of the file: short processes end faster than a library is read.
      tables_.SetWanted(loaded.module);
      break;
    case LoadedTable::Outcome::kFailed:
      if (loaded.module >= failures_.size()) failures_.resize(loaded.module + 64, 0);
      if (++failures_[loaded.module] >= kMaxFailures) {
        tables_.SetNone(loaded.module);
      } else {
        tables_.SetWanted(loaded.module);
      }
      break;
  }
}

void Unwinder::EndRound() {
  for (uint32_t pid : processes_.changed()) {
    const Process* process = processes_.Find(pid);
    if (process == nullptr || process->dead_since_round != 0 || !process->met) {
      spaces_.Withdraw(pid);
      continue;
    }
    AskForTables(*process);
    Publish(*process);
    LookForMachine(*process);
  }
  LookAgain();
  processes_.ClearChanged();
  arena_.Reclaim(clock_.MonotonicNs());
}

void Unwinder::Sweep() {
  std::vector<bool> mapped(modules_.size(), false);
  processes_.ForEach([&](const Process& process) {
    for (const ProcessMapping& mapping : *process.mappings) {
      mapped[mapping.module] = mapped[mapping.names] = true;
    }
  });
  // Modules with an open request are kept, because the answer arrives under this id.
  for (uint32_t id = 0; id < mapped.size(); ++id) {
    if (tables_.Get(id) == ModuleTables::State::kAsked) mapped[id] = true;
  }
  tables_.DropUnmapped(mapped);
  // Machines of processes that have ended name the samples that come after the end.
  const auto is_gone = [&](uint32_t pid) { return processes_.FindAlive(pid) == nullptr; };
  machines_.ForgetIf(is_gone);
  engines_.ForgetIf(is_gone);
  traces_.ForgetIf(is_gone);
  std::erase_if(dispatch_tries_, [&](const auto& tried) { return is_gone(tried.first); });
  // Why a file could not be opened may have passed: out of descriptors, a mount that hung.
  for (uint32_t id = 0; id < failures_.size(); ++id) {
    if (std::exchange(failures_[id], 0) >= kMaxFailures) tables_.Forget(id);
  }
  for (uint32_t id : modules_.Forget(mapped, clock_.MonotonicNs())) {
    tables_.Forget(id);
    machines_.ForgetLibrary(id);
    engines_.ForgetLibrary(id);
    traces_.ForgetLibrary(id);
    compiled_.ForgetLibrary(id);
  }
}

}  // namespace firetower::daemon
