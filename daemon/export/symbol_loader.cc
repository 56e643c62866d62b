// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/symbol_loader.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "symbolizer/elf/symbols/symbol_digest.h"
#include "symbolizer/kernel/vdso.h"

namespace firetower::daemon {
namespace {

constexpr int64_t kKernelReadEveryNs = 60 * kNsPerSecond;
constexpr size_t kMaxAgain = 16;

// Returns a key for the sources of the names of `files`. Files with equal keys are interchangeable.
template <typename SymbolFiles>
Result<std::string> KeyOf(std::string_view build_id, const SymbolFiles& files) {
  std::string key = fmt::format("s:{}", build_id);
  for (const std::optional<symbolizer::FileSource>* source : {&files.object, &files.debug_file}) {
    if (!*source) continue;
    ASSIGN_OR_RETURN(const symbolizer::ElfFile file, symbolizer::ElfFile::Open(**source));
    ASSIGN_OR_RETURN(const std::string digest, symbolizer::SymbolDigest(file));
    key += ":" + digest;
  }
  return key;
}

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
      if (cache_.Find(request->module->SymbolsKey()).table) {
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
    // Other answers belong to waits that have ended.
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
    // The answer holds the table, because the next read may evict it from the cache.
    again_.TryPush({request->module, cache_.Find(request->module->SymbolsKey()).table});
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
  Result<symbolizer::FileSource> source = OpenModuleFile(proc_root_, request, FileUse::kNames);
  if (!source && (request.maybe_gone || IsGone(source.error(), proc_root_, request.pid))) {
    module.unread.store(Unread::kGone, std::memory_order_relaxed);
    module.symbols.store(Module::kWanted, std::memory_order_release);
    return;
  }
  if (!source) {
    const bool denied = source.error().code() == ErrorCode::kPermission;
    module.unread.store(denied ? Unread::kDenied : Unread::kNotFound, std::memory_order_relaxed);
    bool give_up = module.failures.fetch_add(1, std::memory_order_relaxed) + 1 >= kMaxFailures;
    if (give_up) failed_.fetch_add(1, std::memory_order_relaxed);
    module.symbols.store(give_up ? Module::kFailed : Module::kWanted, std::memory_order_release);
    return;
  }
  Read(request, *std::move(source));
}

void SymbolLoader::Tell(const Module& module, const Own& own) {
  module.unread.store(Unread::kNot, std::memory_order_relaxed);
  module.names_hash.store(own.hash, std::memory_order_relaxed);
  module.own_names.store(own.names, std::memory_order_release);
  module.symbols.store(Module::kLoaded, std::memory_order_release);
}

bool SymbolLoader::Share(const Module& module, const Own& own) {
  if (!module.SetSymbolsKey(own.key)) return false;
  if (cache_.Find(own.key).state == symbolizer::SymbolCache::State::kMiss) return false;
  Tell(module, own);
  shared_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void SymbolLoader::Read(const MappedModule& request, symbolizer::FileSource source) {
  const Module& module = *request.module;
  const std::string_view build_id = module.BuildId();
  const Result<FileStamp> stamp = ReadStamp(source.fd());
  std::string file;  // stays empty for one that is not kept
  if (stamp && !build_id.empty()) file = fmt::format("{}:{}", build_id, ToText(*stamp));
  const auto known = known_.find(file);
  if (known != known_.end() && Share(module, known->second)) return;
  Result<SymbolFiles> files = FilesOf(std::move(source), request);
  module.unread.store(files ? Unread::kNot : Unread::kNotElf, std::memory_order_relaxed);
  if (!files) return Fail(module, files.error());
  Own own;
  own.key = module.cache_key;
  // Without a build id nothing says that the code is the same.
  if (!build_id.empty()) {
    Result<std::string> key = KeyOf(build_id, *files);
    if (!key) return Fail(module, key.error());
    own.key = *std::move(key);
    if (!module.SetSymbolsKey(own.key)) {
      return Fail(module, Error(ErrorCode::kUnavailable, "written over since it was read"));
    }
    const auto same = own_.find(own.key);
    if (same != own_.end() && Share(module, same->second)) return Keep(file, same->second);
  }
  const bool names_itself = files->names_itself;
  auto table = LoadSymbols(*std::move(files), request);
  if (!table) {
    LOG(kDebug, "no symbols", {{"file", module.path}, {"error", table.error().message()}});
    cache_.InsertNegative(own.key);
    failed_.fetch_add(1, std::memory_order_relaxed);
  } else {
    if (names_itself) {
      own.names = static_cast<uint32_t>((*table)->range_count());
      own.hash = (*table)->NamesHash();
    }
    cache_.Insert(own.key, *std::move(table));
    loaded_.fetch_add(1, std::memory_order_relaxed);
  }
  Tell(module, own);
  Keep(file, own);
}

void SymbolLoader::Fail(const Module& module, const Error& error) {
  LOG(kDebug, "no symbols", {{"file", module.path}, {"error", error.message()}});
  failed_.fetch_add(1, std::memory_order_relaxed);
  // Its symbols of before may be those of other files.
  const bool shared = module.SymbolsKey() != module.cache_key;
  if (!shared) cache_.InsertNegative(module.cache_key);
  module.symbols.store(shared ? Module::kFailed : Module::kLoaded, std::memory_order_release);
}

void SymbolLoader::Keep(const std::string& file, const Own& own) {
  if (own_.size() >= kMaxKnownFiles) own_.clear();
  if (known_.size() >= kMaxKnownFiles) known_.clear();
  const Own copy = own;  // It may be one of those that were just cleared.
  own_[copy.key] = copy;
  if (!file.empty()) known_[file] = copy;
}

Result<SymbolLoader::SymbolFiles> SymbolLoader::FilesOf(symbolizer::FileSource object,
                                                        const MappedModule& request) const {
  ASSIGN_OR_RETURN(symbolizer::ElfFile file, symbolizer::ElfFile::Open(object));
  SymbolFiles files;
  files.options = options_.object;
  if (files.options.lines != nullptr && files.options.lines->files() >= kMaxLineFiles)
    files.options.lines = nullptr;
  files.names_itself =
      symbolizer::HasFullSymbols(file) || file.FindSection(".gnu_debugdata") != nullptr;
  files.wants_debug_file = symbolizer::WantsDebugFile(file, files.options);
  if (files.wants_debug_file) {
    auto debug_file =
        symbolizer::FindDebugFile(file, request.module->path, ProcessFiles(proc_root_, request));
    if (debug_file) files.debug_file = *std::move(debug_file);
  }
  files.names_itself |= files.debug_file.has_value();
  files.object = std::move(object);
  return files;
}

Result<std::shared_ptr<symbolizer::SymbolTable>> SymbolLoader::LoadSymbols(
    SymbolFiles files, const MappedModule& request) const {
  if (files.wants_debug_file && !files.debug_file && options_.fetcher != nullptr) {
    UniqueFd copy(::fcntl(files.object->fd(), F_DUPFD_CLOEXEC, 0));
    auto kept = symbolizer::FileSource::FromFd(std::move(copy));
    if (kept) options_.fetcher->Want(request.module, *std::move(kept));
  }
  return symbolizer::LoadObject(std::move(files.object), std::move(files.debug_file),
                                files.options);
}

}  // namespace firetower::daemon
