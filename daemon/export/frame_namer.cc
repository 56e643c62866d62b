// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/frame_namer.h"

#include <sys/types.h>

#include "symbolizer/demangle.h"

namespace firetower::daemon {

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
  for (const NumberedModule& numbered : slice.modules) {
    if (numbered.id >= modules_.size()) modules_.resize(numbered.id + 1);
    modules_[numbered.id] = numbered.module;
  }
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
  kernel_ = loader_.Kernel();
  perf_maps_.BeginSlice();
  read_ns_ = 0;
}

bool FrameNamer::ReadAgain(uint32_t module_id, int timeout_ms) {
  const std::shared_ptr<const Module>& module = modules_[module_id];
  if (module->kind != ModuleKind::kFile || loader_.IsRemote(*module)) return false;
  DropTables();
  symbolizer::SymbolCache::Found found = cache_.Find(module->cache_key);
  if (found.state == symbolizer::SymbolCache::State::kMiss) {
    found.table = loader_.ReadAgain(module, timeout_ms);
    if (!found.table) return false;
    found.state = symbolizer::SymbolCache::State::kHit;
  }
  Table& table = tables_[module_id];
  if (found.table) table.number = demangled_.NumberOf(found.table);
  table.found = std::move(found);
  return true;
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

FrameName FrameNamer::Unnamed(const Frame& frame, const Module& module, uint64_t address,
                              bool settled) {
  ++misses_;
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
  symbolizer::SymbolCache::Found& found = entry->second.found;
  if (inserted) {
    found = cache_.Find(module.cache_key);
    if (found.table) entry->second.number = demangled_.NumberOf(found.table);
  }
  bool missing = found.state == symbolizer::SymbolCache::State::kMiss;
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
  std::optional<uint64_t> address = table->FileOffsetToVaddr(frame.offset);
  if (!address) return Unnamed(frame, module, frame.offset);
  return NameAt(entry->second, *address, frame, module);
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

FrameName FrameNamer::NameAgain(const Frame& frame) {
  uint64_t misses = misses_;
  FrameName name = Name(frame);
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
