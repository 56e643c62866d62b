// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/symbol_loader.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "daemon/unwind/load_table.h"
#include "symbolizer/kernel/vdso.h"

namespace firetower::daemon {
namespace {

constexpr int64_t kKernelReadEveryNs = 60 * kNsPerSecond;
constexpr size_t kMaxAgain = 16;

}  // namespace

SymbolLoader::SymbolLoader(std::string proc_root, symbolizer::SymbolCache& cache,
                           const SymbolOptions& options)
    : proc_root_(std::move(proc_root)),
      cache_(cache),
      options_(options),
      requests_(kMaxRequests),
      table_requests_(kMaxRequests),
      again_requests_(kMaxAgain),
      again_(kMaxAgain),
      tables_(kMaxRequests) {}

SymbolLoader::~SymbolLoader() { Stop(); }

void SymbolLoader::Start(std::function<void()> on_table) {
  on_table_ = std::move(on_table);
  if (auto vdso = symbolizer::LoadOwnVdso()) vdso_ = vdso->symbols;
  if (auto table = LoadVdsoTable()) {
    ++unanswered_;
    Deliver({ModuleRegistry::kVdso, LoadedTable::Outcome::kTable, *std::move(table)});
  }
  thread_ = NamedThread("tables", [this](std::stop_token stop, WakeFd& wake) { Run(stop, wake); });
}

void SymbolLoader::Stop() {
  thread_.RequestStop();
  thread_.Join();
}

void SymbolLoader::Want(const std::shared_ptr<const Module>& module, const Process& process,
                        const ProcessMapping& mapping) {
  module->symbols.store(Module::kAsked, std::memory_order_relaxed);
  open_requests_.fetch_add(1, std::memory_order_relaxed);
  if (!requests_.TryPush(MappedModule(module, process, mapping))) {
    open_requests_.fetch_sub(1, std::memory_order_relaxed);
    module->symbols.store(Module::kWanted, std::memory_order_relaxed);
    return;
  }
  thread_.Notify();
}

bool SymbolLoader::WantTable(uint32_t module_id, const std::shared_ptr<const Module>& module,
                             const Process& process, const ProcessMapping& mapping) {
  if (unanswered_ >= kMaxRequests) return false;
  ++unanswered_;
  CHECK(table_requests_.TryPush({module_id, MappedModule(module, process, mapping)}));
  thread_.Notify();
  return true;
}

std::optional<LoadedTable> SymbolLoader::TryPopTable() {
  std::optional<LoadedTable> table = tables_.TryPop();
  if (table) --unanswered_;
  return table;
}

void SymbolLoader::Run(std::stop_token stop, WakeFd& wake) {
  while (!stop.stop_requested()) {
    LoadTables();
    ServeAgain();
    while (auto request = requests_.TryPop()) {
      // One of those that were read again meanwhile needs no more.
      if (cache_.Find(request->module->cache_key).table) {
        request->module->symbols.store(Module::kLoaded, std::memory_order_release);
      } else {
        Load(*request);
      }
      LoadTables();
      ServeAgain();
      Answered();
      if (stop.stop_requested()) return;
    }
    if (kernel_wanted_.exchange(false)) {
      LoadKernel();
      Answered();
    }
    if (kernel_miss_.exchange(false)) LoadKernel();
    wake.Wait(-1);
  }
}

std::shared_ptr<const symbolizer::SymbolTable> SymbolLoader::ReadAgain(
    const std::shared_ptr<const Module>& module, int timeout_ms) {
  const bool seen = module->seen_in.load(std::memory_order_relaxed) != 0;
  while (again_.TryPop()) {
  }
  if (!seen || !again_requests_.TryPush(MappedModule::LastSeen(module))) return nullptr;
  thread_.Notify();
  const Clock& clock = Clock::System();
  const int64_t deadline_ns = clock.MonotonicNs() + timeout_ms * kNsPerMs;
  for (;;) {
    // Others are answers that nobody waits for any more.
    while (std::optional<Again> again = again_.TryPop()) {
      if (again->module == module) return std::move(again->table);
    }
    const int64_t left_ms = (deadline_ns - clock.MonotonicNs()) / kNsPerMs;
    if (left_ms <= 0) return nullptr;
    again_done_.Wait(static_cast<int>(left_ms));
  }
}

void SymbolLoader::ServeAgain() {
  while (auto request = again_requests_.TryPop()) {
    Load(*request);
    // Held by the answer: what is read next may push it out of the cache.
    again_.TryPush({request->module, cache_.Find(request->module->cache_key).table});
    again_done_.Notify();
    LoadTables();
  }
}

void SymbolLoader::Answered() {
  if (open_requests_.fetch_sub(1, std::memory_order_acq_rel) == 1) idle_.Notify();
}

bool SymbolLoader::WantKernel() {
  if (std::exchange(kernel_asked_, true)) return false;
  open_requests_.fetch_add(1, std::memory_order_relaxed);
  kernel_wanted_.store(true);
  thread_.Notify();
  return true;
}

void SymbolLoader::LoadTables() {
  while (auto request = table_requests_.TryPop()) LoadTable(*request);
}

void SymbolLoader::WaitIdle(int timeout_ms) {
  const Clock& clock = Clock::System();
  int64_t deadline_ns = clock.MonotonicNs() + timeout_ms * kNsPerMs;
  while (open_requests_.load(std::memory_order_acquire) > 0) {
    int64_t left_ms = (deadline_ns - clock.MonotonicNs()) / kNsPerMs;
    if (left_ms <= 0) return;
    idle_.Wait(static_cast<int>(left_ms));
  }
}

void SymbolLoader::LoadKernel() {
  int64_t now = Clock::System().MonotonicNs();
  if (kernel_read_ns_ != 0 && now - kernel_read_ns_ < kKernelReadEveryNs) return;
  kernel_read_ns_ = now;
  Result<symbolizer::Kallsyms> loaded = symbolizer::Kallsyms::Load(proc_root_);
  if (!loaded) {
    LOG(kWarn, "kernel functions are not named", {{"error", loaded.error().message()}});
    return;
  }
  auto kernel = std::make_shared<const symbolizer::Kallsyms>(*std::move(loaded));
  std::lock_guard lock(kernel_mutex_);
  kernel_ = std::move(kernel);
}

std::shared_ptr<const symbolizer::Kallsyms> SymbolLoader::Kernel() {
  if (kernel_miss_.load(std::memory_order_relaxed)) thread_.Notify();
  std::lock_guard lock(kernel_mutex_);
  return kernel_;
}

// A file that its process took along, or mapped no more, may be had from the next that maps it.
bool SymbolLoader::IsGone(const Error& error, uint32_t pid) const {
  return error.code() == ErrorCode::kUnavailable ||
         ::access(fmt::format("{}/{}", proc_root_, pid).c_str(), F_OK) != 0;
}

void SymbolLoader::Load(const MappedModule& request) {
  const Module& module = *request.module;
  if (IsRemote(module)) {
    module.symbols.store(Module::kLoaded, std::memory_order_release);
    return;
  }
  Result<symbolizer::FileSource> source = OpenModuleFile(proc_root_, request);
  if (!source && (request.maybe_gone || IsGone(source.error(), request.pid))) {
    module.symbols.store(Module::kWanted, std::memory_order_release);
    return;
  }
  if (!source) {
    bool give_up = module.failures.fetch_add(1, std::memory_order_relaxed) + 1 >= kMaxFailures;
    if (give_up) failed_.fetch_add(1, std::memory_order_relaxed);
    module.symbols.store(give_up ? Module::kFailed : Module::kWanted, std::memory_order_release);
    return;
  }
  auto table = LoadSymbols(*std::move(source), request);
  if (table) {
    cache_.Insert(module.cache_key, *std::move(table));
    loaded_.fetch_add(1, std::memory_order_relaxed);
  } else {
    LOG(kDebug, "no symbols", {{"file", module.path}, {"error", table.error().message()}});
    cache_.InsertNegative(module.cache_key);
    failed_.fetch_add(1, std::memory_order_relaxed);
  }
  module.symbols.store(Module::kLoaded, std::memory_order_release);
}

Result<std::shared_ptr<symbolizer::SymbolTable>> SymbolLoader::LoadSymbols(
    symbolizer::FileSource source, const MappedModule& request) const {
  ASSIGN_OR_RETURN(symbolizer::ElfFile file, symbolizer::ElfFile::Open(source));
  symbolizer::ObjectOptions object = options_.object;
  if (object.lines != nullptr && object.lines->files() >= kMaxLineFiles) object.lines = nullptr;
  if (!symbolizer::WantsDebugFile(file, object)) {
    return symbolizer::LoadObject(std::move(source), std::nullopt, object);
  }
  auto debug_file =
      symbolizer::FindDebugFile(file, request.module->path, ProcessFiles(proc_root_, request));
  if (debug_file) {
    return symbolizer::LoadObject(std::move(source), *std::move(debug_file), object);
  }
  if (options_.fetcher != nullptr) {
    UniqueFd copy(::fcntl(source.fd(), F_DUPFD_CLOEXEC, 0));
    auto kept = symbolizer::FileSource::FromFd(std::move(copy));
    if (kept) options_.fetcher->Want(request.module, *std::move(kept));
  }
  return symbolizer::LoadObject(std::move(source), std::nullopt, object);
}

void SymbolLoader::LoadTable(const TableRequest& request) {
  LoadedTable loaded;
  loaded.module = request.module_id;
  Result<symbolizer::FileSource> source = OpenModuleFile(proc_root_, request.mapped);
  if (!source && IsGone(source.error(), request.mapped.pid))
    loaded.outcome = LoadedTable::Outcome::kGone;
  if (source) {
    Result<PackedTable> table = LoadUnwindTable(*source);
    loaded.outcome = LoadedTable::Outcome::kNone;
    if (!table) {
      LOG(kDebug, "no unwind table",
          {{"file", request.mapped.module->path}, {"error", table.error().message()}});
    } else if (!table->empty()) {
      loaded.outcome = LoadedTable::Outcome::kTable;
      loaded.table = *std::move(table);
    }
  }
  Deliver(std::move(loaded));
}

void SymbolLoader::Deliver(LoadedTable loaded) {
  // As long as the queue of requests, so that there is room for every answer.
  CHECK(tables_.TryPush(std::move(loaded)));
  if (on_table_) on_table_();
}

}  // namespace firetower::daemon
