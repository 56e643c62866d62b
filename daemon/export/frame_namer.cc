// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/frame_namer.h"

#include <sys/types.h>

#include <algorithm>
#include <utility>

#include "symbolizer/demangle.h"

namespace firetower::daemon {

using symbolizer::SymbolCache;

std::string_view Basename(std::string_view path) {
  size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view NameWithoutFrames(uint8_t stop) {
  return stop == kStopStackLost ? "[stack lost]" : "[no frames]";
}

FrameNamer::FrameNamer(SymbolLoader& loader, symbolizer::SymbolCache& cache, std::string proc_root,
                       const Clock& clock)
    : loader_(loader), cache_(cache), perf_maps_(std::move(proc_root)), clock_(clock) {}

void FrameNamer::LearnModules(const Slice& slice) {
  bests_.clear();
  has_bests_ = false;
  for (const NumberedModule& numbered : slice.modules) {
    if (numbered.id >= modules_.size()) modules_.resize(numbered.id + 1);
    modules_[numbered.id] = numbered.module;
  }
  for (const uint32_t id : gone_) functions_.erase(id);
  gone_ = slice.functions_gone;
  for (const NumberedFunction& numbered : slice.functions)
    functions_[numbered.id] = numbered.function;
}

void FrameNamer::DropTables() {
  for (const auto& [module, table] : tables_) {
    const symbolizer::SymbolTable* symbols = table.found.table.get();
    if (symbols != nullptr && symbols->source() != nullptr) symbols->source()->Forget();
  }
  tables_.clear();
  demangled_.Trim(kMaxMemo);
}

void FrameNamer::BeginSlice() {
  DropTables();
  bests_.clear();
  has_bests_ = false;
  kernel_ = loader_.Kernel();
  perf_maps_.BeginSlice();
  read_ns_ = 0;
}

bool FrameNamer::ReadAgain(uint32_t module_id, int timeout_ms) {
  const std::shared_ptr<const Module>& module = modules_[module_id];
  if (module->kind != ModuleKind::kFile || loader_.IsRemote(*module)) return false;
  DropTables();
  Table table = FindTable(module, Clock::System().MonotonicNs() + timeout_ms * kNsPerMs);
  if (table.found.state == SymbolCache::State::kMiss) return false;
  tables_[module_id] = std::move(table);
  return true;
}

std::shared_ptr<const Module> FrameNamer::BetterThan(const Module& module) {
  if (module.BuildId().empty() || module.own_names.load(std::memory_order_acquire) > 0)
    return nullptr;
  if (!std::exchange(has_bests_, true)) {
    for (const std::shared_ptr<const Module>& other : modules_) {
      if (other == nullptr || other->BuildId().empty()) continue;
      const uint32_t names = other->own_names.load(std::memory_order_acquire);
      const uint64_t hash = other->names_hash.load(std::memory_order_relaxed);
      if (names == 0) continue;
      Best& best = bests_[other->BuildId()];
      if (names > best.names) {
        best = {other, names, hash};
      } else if (names == best.names && hash != best.hash) {
        best.module = nullptr;
      }
    }
  }
  const auto best = bests_.find(module.BuildId());
  return best != bests_.end() ? best->second.module : nullptr;
}

FrameNamer::Table FrameNamer::FindTable(const std::shared_ptr<const Module>& module,
                                        int64_t deadline_ns) {
  auto find = [&](const std::shared_ptr<const Module>& of) {
    SymbolCache::Found found = cache_.Find(of->SymbolsKey());
    const int64_t left_ms = (deadline_ns - Clock::System().MonotonicNs()) / kNsPerMs;
    if (found.state == SymbolCache::State::kMiss && deadline_ns != 0 && left_ms > 0) {
      found.table = loader_.ReadAgain(of, static_cast<int>(left_ms));
      if (found.table) found.state = SymbolCache::State::kHit;
    }
    return found;
  };
  Table table;
  table.found = find(module);
  // A file that was not read may have names of its own.
  if (table.found.state == SymbolCache::State::kMiss) return table;
  if (const std::shared_ptr<const Module> better = BetterThan(*module)) {
    SymbolCache::Found found = find(better);
    table.better_missing = found.state == SymbolCache::State::kMiss;
    if (found.table) {
      table.own = std::exchange(table.found.table, std::move(found.table));
      table.found.state = SymbolCache::State::kHit;
    }
  }
  if (table.found.table) table.number = demangled_.NumberOf(table.found.table);
  return table;
}

FrameName FrameNamer::Named(std::string_view mangled, uint64_t address) {
  frames_.assign(1, {.name = mangled});
  return NamedFrames(0, address);
}

FrameName FrameNamer::NamedFrames(uint32_t table, uint64_t address) {
  ++hits_;
  FrameName name;
  name.named = true;
  name.address = address;
  for (const symbolizer::SourceFrame& frame : frames_) {
    FrameLine line{demangled_.Demangled(table, frame),
                   std::string(frame.name),
                   std::string(frame.file),
                   frame.line,
                   frame.column,
                   frame.start_line};
    name.lines.push_back(std::move(line));
  }
  return name;
}

namespace {

std::optional<NameLoss> LossOf(Unread unread) {
  switch (unread) {
    case Unread::kNot:
      return std::nullopt;
    case Unread::kGone:
      return NameLoss::kGone;
    case Unread::kDenied:
      return NameLoss::kDenied;
    case Unread::kNotFound:
      return NameLoss::kNotFound;
    case Unread::kNotElf:
      return NameLoss::kNotElf;
  }
  return std::nullopt;
}

}  // namespace

void FrameNamer::CountLoss(const Frame& frame, const Module& module) {
  const auto count = [&](NameLoss loss) { ++losses_[static_cast<size_t>(loss)]; };
  if (module.kind == ModuleKind::kJit) return count(NameLoss::kMemory);
  if (module.kind == ModuleKind::kUnknown) return count(NameLoss::kUnmapped);
  if (module.kind != ModuleKind::kFile) return;
  const auto table = tables_.find(frame.module);
  const bool is_known = table != tables_.end();
  const bool is_read = is_known && table->second.found.table != nullptr;
  std::optional<NameLoss> loss;
  if (!is_read) loss = LossOf(module.unread.load(std::memory_order_relaxed));
  if (!loss) {
    const bool has_none =
        is_read || (is_known && table->second.found.state == SymbolCache::State::kNegative);
    loss = has_none ? NameLoss::kNoSymbol : NameLoss::kNotYet;
  }
  if (*loss == NameLoss::kNoSymbol) ++no_symbol_[modules_[frame.module]];
  count(*loss);
}

NameFacts FrameNamer::TakeFacts() {
  NameFacts facts;
  facts.frames = hits_ + misses_ - std::exchange(facts_begin_, hits_ + misses_);
  for (size_t i = 0; i < kNameLosses; ++i) facts.losses[i].frames = std::exchange(losses_[i], 0);
  for (const std::shared_ptr<const Module>& module : modules_) {
    if (module == nullptr || module->kind != ModuleKind::kFile) continue;
    const auto loss = LossOf(module->unread.load(std::memory_order_relaxed));
    if (!loss) continue;
    NameFacts::Loss& to = facts.losses[static_cast<size_t>(*loss)];
    if (to.files++ == 0) to.example = module->path;
  }
  NameFacts::Loss& no_symbol = facts.losses[static_cast<size_t>(NameLoss::kNoSymbol)];
  no_symbol.files = no_symbol_.size();
  uint64_t most = 0;
  for (const auto& [module, frames] : no_symbol_) {
    if (frames > most) no_symbol.example = module->path;
    most = std::max(most, frames);
  }
  no_symbol_.clear();
  return facts;
}

FrameName FrameNamer::Unnamed(const Frame& frame, const Module& module, uint64_t address,
                              bool settled) {
  ++misses_;
  if (!is_again_) CountLoss(frame, module);
  std::string text = symbolizer::FormatUnknown(Basename(module.path), frame.offset);
  FrameName name;
  name.lines.push_back({.name = text, .system_name = text});
  name.address = address;
  name.settled = settled;
  return name;
}

FrameName FrameNamer::NameAt(const Table& named_by, uint64_t elf_vaddr, const Frame& frame,
                             const Module& module) {
  const symbolizer::SymbolTable& table = *named_by.found.table;
  frames_.clear();
  const bool ready = table.source() == nullptr || table.source()->IsReady(elf_vaddr);
  if (!ready && read_ns_ >= kMaxReadNs) {
    std::optional<symbolizer::Symbol> symbol = table.FindVaddr(elf_vaddr);
    FrameName name = symbol ? Named(symbol->name, elf_vaddr) : Unnamed(frame, module, elf_vaddr);
    name.settled = false;
    return name;
  }
  const int64_t begin_ns = ready ? 0 : clock_.MonotonicNs();
  const bool found = table.FindFrames(elf_vaddr, frames_);
  if (!ready) read_ns_ += clock_.MonotonicNs() - begin_ns;
  return found ? NamedFrames(named_by.number, elf_vaddr) : Unnamed(frame, module, elf_vaddr);
}

FrameName FrameNamer::NameFile(const Frame& frame, const Module& module) {
  if (loader_.IsRemote(module)) {
    FrameName name;
    name.remote = true;
    name.address = frame.offset;
    return name;
  }
  auto [entry, inserted] = tables_.try_emplace(frame.module);
  if (inserted) entry->second = FindTable(modules_[frame.module], 0);
  const SymbolCache::Found& found = entry->second.found;
  bool missing = found.state == SymbolCache::State::kMiss;
  if (inserted && missing) {
    // Evicted: the next stack that shows the module asks for its symbols again.
    uint8_t loaded = Module::kLoaded;
    module.symbols.compare_exchange_strong(loaded, Module::kWanted);
  }
  const symbolizer::SymbolTable* table = found.table.get();
  if (table == nullptr) {
    bool settled = !missing || module.symbols.load(std::memory_order_relaxed) == Module::kFailed;
    return Unnamed(frame, module, frame.offset, settled);
  }
  // Segments may lie elsewhere in the other file.
  const symbolizer::SymbolTable& own = entry->second.own ? *entry->second.own : *table;
  std::optional<uint64_t> address = own.FileOffsetToVaddr(frame.offset);
  if (!address) return Unnamed(frame, module, frame.offset);
  FrameName name = NameAt(entry->second, *address, frame, module);
  if (!name.named && entry->second.better_missing) name.settled = false;
  return name;
}

FrameName FrameNamer::NameKernel(const Frame& frame) {
  if (kernel_) {
    if (auto symbol = kernel_->Find(frame.offset)) return Named(symbol->name, frame.offset);
    loader_.KernelMiss();
  }
  return Unnamed(frame, *modules_[ModuleRegistry::kKernel], frame.offset, false);
}

FrameName FrameNamer::NameJit(const Frame& frame, const Module& module) {
  const symbolizer::PerfMapCache::Found found = perf_maps_.Load(static_cast<pid_t>(frame.pid));
  if (found.map != nullptr) {
    if (auto symbol = found.map->Find(frame.offset)) return Named(symbol->name, frame.offset);
  }
  // Runtimes write their maps behind a buffer.
  return Unnamed(frame, module, frame.offset, !found.later);
}

FrameName FrameNamer::NameFunction(const Frame& frame, const Module& module) {
  const auto found = functions_.find(static_cast<uint32_t>(frame.offset >> 32));
  if (found == functions_.end()) return Unnamed(frame, module, 0);
  ++hits_;
  const RuntimeFunction& function = *found->second;
  FrameName name;
  name.named = true;
  name.lines.push_back({.name = function.name,
                        .system_name = function.name,
                        .file = function.file,
                        .line = static_cast<uint32_t>(frame.offset),
                        .start_line = function.first_line});
  return name;
}

FrameName FrameNamer::NameAgain(const Frame& frame) {
  uint64_t misses = misses_;
  is_again_ = true;
  FrameName name = Name(frame);
  is_again_ = false;
  misses_ = misses;
  return name;
}

FrameName FrameNamer::Name(const Frame& frame) {
  const Module& module = ModuleOf(frame);
  switch (module.kind) {
    case ModuleKind::kFile:
      return NameFile(frame, module);
    case ModuleKind::kKernel:
      return NameKernel(frame);
    case ModuleKind::kJit:
      return NameJit(frame, module);
    case ModuleKind::kPython:
    case ModuleKind::kJava:
    case ModuleKind::kScript:
    case ModuleKind::kPhp:
    case ModuleKind::kRuby:
    case ModuleKind::kPerl:
      return NameFunction(frame, module);
    case ModuleKind::kVdso:
      if (loader_.Vdso()) {
        if (auto symbol = loader_.Vdso()->Find(frame.offset)) {
          return Named(symbol->name, frame.offset);
        }
      }
      return Unnamed(frame, module, frame.offset);
    case ModuleKind::kUnknown:
      return Unnamed(frame, module, frame.offset);
  }
  return Unnamed(frame, module, frame.offset);
}

}  // namespace firetower::daemon
