// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/symbol_loader.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "daemon/process/proc_fs.h"
#include "symbolizer/elf/build_id.h"
#include "symbolizer/kernel/vdso.h"
#include "symbolizer/random_access.h"

namespace firetower::daemon {
namespace {

constexpr int64_t kKernelReadEveryNs = 60 * kNsPerSecond;
constexpr int kMaxAncestors = 4;

// Opens `path` inside `root`, whose owner may have planted links: none leads out (openat2(2)).
UniqueFd OpenInRoot(const std::string& root, const std::string& path) {
  UniqueFd dir(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!dir) return UniqueFd();
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  long fd = ::syscall(SYS_openat2, dir.get(), path.c_str(), &how, sizeof(how));
  return UniqueFd(static_cast<int>(fd));
}

bool SameInode(int fd, uint64_t inode) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && info.st_ino == inode;
}

}  // namespace

SymbolLoader::SymbolLoader(std::string proc_root, symbolizer::SymbolCache& cache)
    : proc_root_(std::move(proc_root)), cache_(cache), requests_(kMaxRequests) {}

SymbolLoader::~SymbolLoader() { Stop(); }

void SymbolLoader::Start() {
  if (auto vdso = symbolizer::LoadOwnVdso()) vdso_ = vdso->symbols;
  LoadKernel();
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
  Request request{module, process.pid, process.parent, mapping.start, mapping.end};
  if (!requests_.TryPush(std::move(request))) {
    open_requests_.fetch_sub(1, std::memory_order_relaxed);
    module->symbols.store(Module::kWanted, std::memory_order_relaxed);
    return;
  }
  thread_.Notify();
}

void SymbolLoader::Run(std::stop_token stop, WakeFd& wake) {
  while (!stop.stop_requested()) {
    while (auto request = requests_.TryPop()) {
      Load(*request);
      if (open_requests_.fetch_sub(1, std::memory_order_acq_rel) == 1) idle_.Notify();
      if (stop.stop_requested()) return;
    }
    if (kernel_miss_.exchange(false)) LoadKernel();
    wake.Wait(-1);
  }
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

bool SymbolLoader::LoadFrom(const Request& request, UniqueFd fd, bool must_verify) {
  if (!fd) return false;
  const Module& module = *request.module;
  if (must_verify && module.build_id.empty() && !SameInode(fd.get(), module.inode)) return false;
  Result<symbolizer::FileSource> source = symbolizer::FileSource::FromFd(std::move(fd));
  if (!source) return false;
  Result<std::string> build_id = symbolizer::ReadBuildId(*source);
  if (must_verify && !module.build_id.empty() && (!build_id || *build_id != module.build_id)) {
    return false;
  }
  if (build_id && module.build_id.empty()) module.SetFoundBuildId(*build_id);
  auto table = symbolizer::LoadElfSymbols(*source);
  if (table) {
    cache_.Insert(module.cache_key, *std::move(table));
    loaded_.fetch_add(1, std::memory_order_relaxed);
  } else {
    LOG(kDebug, "no symbols", {{"file", module.path}, {"error", table.error().message()}});
    cache_.InsertNegative(module.cache_key);
    failed_.fetch_add(1, std::memory_order_relaxed);
  }
  module.symbols.store(Module::kLoaded, std::memory_order_release);
  return true;
}

void SymbolLoader::Load(const Request& request) {
  const Module& module = *request.module;
  std::string mapped =
      fmt::format("{}/{}/map_files/{:x}-{:x}", proc_root_, request.pid, request.start, request.end);
  Result<UniqueFd> fd = OpenReadOnly(mapped, O_NONBLOCK | O_NOCTTY);
  if (fd && LoadFrom(request, *std::move(fd), false)) return;
  ProcFs proc(proc_root_);
  uint32_t pid = request.pid;
  for (int i = 0; i < kMaxAncestors && pid != 0; ++i) {
    std::string root = fmt::format("{}/{}/root", proc_root_, pid);
    if (LoadFrom(request, OpenInRoot(root, module.path), true)) return;
    pid = i == 0 ? request.parent : proc.Parent(pid);
  }
  bool give_up = module.failures.fetch_add(1, std::memory_order_relaxed) + 1 >= kMaxFailures;
  if (give_up) failed_.fetch_add(1, std::memory_order_relaxed);
  module.symbols.store(give_up ? Module::kFailed : Module::kWanted, std::memory_order_release);
}

}  // namespace firetower::daemon
