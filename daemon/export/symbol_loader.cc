// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/symbol_loader.h"

#include <fcntl.h>

#include <utility>

#include "base/clock.h"
#include "base/log.h"
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
      again_requests_(kMaxAgain),
      again_(kMaxAgain) {}

SymbolLoader::~SymbolLoader() { Stop(); }

void SymbolLoader::Start() {
  if (auto vdso = symbolizer::LoadOwnVdso()) vdso_ = vdso->symbols;
  thread_ = NamedThread("symbols", [this](std::stop_token stop, WakeFd& wake) { Run(stop, wake); });
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

void SymbolLoader::Run(std::stop_token stop, WakeFd& wake) {
  while (!stop.stop_requested()) {
    ServeAgain();
    ServeKernel();
    while (auto request = requests_.TryPop()) {
      // One of those that were read again meanwhile needs no more.
      if (cache_.Find(request->module->cache_key).table) {
        request->module->symbols.store(Module::kLoaded, std::memory_order_release);
      } else {
        Load(*request);
      }
      ServeAgain();
      Answered();
      if (stop.stop_requested()) return;
      ServeKernel();
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
  }
}

// Before the files that wait: each stack inside the kernel waits for this one.
void SymbolLoader::ServeKernel() {
  if (!kernel_wanted_.exchange(false)) return;
  LoadKernel();
  reads_kernel_.store(false, std::memory_order_release);
  Answered();
  idle_.Notify();  // who waits for the kernel alone
}

void SymbolLoader::Answered() {
  if (open_requests_.fetch_sub(1, std::memory_order_acq_rel) == 1) idle_.Notify();
}

bool SymbolLoader::WantKernel() {
  if (std::exchange(kernel_asked_, true)) return false;
  open_requests_.fetch_add(1, std::memory_order_relaxed);
  reads_kernel_.store(true, std::memory_order_relaxed);
  kernel_wanted_.store(true);
  thread_.Notify();
  return true;
}

template <typename Condition>
void SymbolLoader::WaitWhile(const Condition& condition, int timeout_ms) {
  const Clock& clock = Clock::System();
  int64_t deadline_ns = clock.MonotonicNs() + timeout_ms * kNsPerMs;
  while (condition()) {
    int64_t left_ms = (deadline_ns - clock.MonotonicNs()) / kNsPerMs;
    if (left_ms <= 0) return;
    idle_.Wait(static_cast<int>(left_ms));
  }
}

void SymbolLoader::WaitIdle(int timeout_ms) {
  WaitWhile([this] { return open_requests_.load(std::memory_order_acquire) > 0; }, timeout_ms);
}

void SymbolLoader::WaitKernel(int timeout_ms) {
  WaitWhile([this] { return reads_kernel_.load(std::memory_order_acquire); }, timeout_ms);
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

void SymbolLoader::Load(const MappedModule& request) {
  const Module& module = *request.module;
  if (IsRemote(module)) {
    module.symbols.store(Module::kLoaded, std::memory_order_release);
    return;
  }
  Result<symbolizer::FileSource> source = OpenModuleFile(proc_root_, request);
  if (!source && (request.maybe_gone || IsGone(source.error(), proc_root_, request.pid))) {
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

}  // namespace firetower::daemon
