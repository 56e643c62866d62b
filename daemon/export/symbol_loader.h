// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/container/spsc_queue.h"
#include "base/thread.h"
#include "daemon/export/debug_fetcher.h"
#include "daemon/pipeline/pipeline.h"
#include "daemon/unwind/module_file.h"
#include "symbolizer/kernel/kallsyms.h"
#include "symbolizer/load_object.h"
#include "symbolizer/symbol_cache.h"
#include "symbolizer/symbol_table.h"

namespace firetower::daemon {

// What is made of files. All pointers may be null and must outlive the loader.
struct SymbolOptions {
  // Files with a build id are not named here: who reads the profile does it.
  bool remote = false;
  // Lines and inlined calls of at most kMaxLineFiles files, each of which stays open.
  symbolizer::ObjectOptions object = {};
  // Where debug files come from that are not on this machine.
  DebugFetcher* fetcher = nullptr;
};

// The `symbols` thread: reads symbols off the sampling path, as soon as a module shows up in a
// stack and while a process that maps it is still there. They go to the cache, where the export
// thread finds them.
//
// Tables are shared by files whose names come from the same bytes (Module::SymbolsKey): one image's
// binary in 300 containers is read once and looked at 300 times, copies of it on other file systems
// are digested and not loaded.
//
// At most kMaxRequests wait; a module refused for lack of room asks again with its next stack.
class SymbolLoader : public SymbolRequests {
 public:
  static constexpr size_t kMaxRequests = 1024;
  // A process may be gone before its file is opened; another one may map the same file later.
  static constexpr uint8_t kMaxFailures = 5;

  static constexpr size_t kMaxLineFiles = 256;
  // Files whose symbols' keys are kept; all are forgotten when there are more.
  static constexpr size_t kMaxKnownFiles = 4096;

  SymbolLoader(std::string proc_root, symbolizer::SymbolCache& cache,
               const SymbolOptions& options = {});
  ~SymbolLoader() override;

  void Start();
  void Stop();

  // Resolve thread.
  void Want(const std::shared_ptr<const Module>& module, const Process& process,
            const ProcessMapping& mapping) override;

  // Waits until nothing is asked for any more, at most `timeout_ms`. Export thread.
  void WaitIdle(int timeout_ms);
  // The same for the kernel's symbols alone.
  void WaitKernel(int timeout_ms);
  // Reads a table that the cache gave up, or that could not be read, where a stack showed its file
  // last, before all other symbols, and waits for it, at most `timeout_ms`. Nullptr if it does not
  // come, or does not fit into the cache at all. Export thread.
  std::shared_ptr<const symbolizer::SymbolTable> ReadAgain(
      const std::shared_ptr<const Module>& module, int timeout_ms);
  // The kernel's symbols are wanted: reading them costs 60 ms of CPU, most of it the kernel's,
  // which a machine whose samples show no kernel code is spared. True the first time; WaitIdle
  // waits for them, too. Export thread.
  bool WantKernel();
  // Nullptr before that, or if the kernel's symbols cannot be read. Read again when `miss_address`
  // was asked for and the last reading is a minute old: modules and BPF programs come and go.
  std::shared_ptr<const symbolizer::Kallsyms> Kernel();
  void KernelMiss() { kernel_miss_.store(true, std::memory_order_relaxed); }
  std::shared_ptr<const symbolizer::SymbolTable> Vdso() const { return vdso_; }

  // Whether somebody else names this module's frames, by build id and file offset.
  bool IsRemote(const Module& module) const {
    return options_.remote && module.kind == ModuleKind::kFile && !module.BuildId().empty();
  }

  // Modules that got symbols without reading: another file's are the same.
  uint64_t shared() const { return shared_.load(std::memory_order_relaxed); }
  uint64_t loaded() const { return loaded_.load(std::memory_order_relaxed); }
  uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  struct Again {
    std::shared_ptr<const Module> module;
    std::shared_ptr<const symbolizer::SymbolTable> table;
  };

  void Run(std::stop_token stop, WakeFd& wake);
  template <typename Condition>
  void WaitWhile(const Condition& condition, int timeout_ms);
  void ServeAgain();
  void ServeKernel();
  // The files that a module's names come from.
  struct SymbolFiles {
    std::optional<symbolizer::FileSource> object;  // always there
    std::optional<symbolizer::FileSource> debug_file;
    symbolizer::ObjectOptions options;
    bool wants_debug_file = false;
    bool names_itself = false;  // has more names than its build id covers
  };
  struct Own {  // What Module says of them.
    std::string key;
    uint32_t names = 0;
    uint64_t hash = 0;
  };

  void Load(const MappedModule& request);
  void Read(const MappedModule& request, symbolizer::FileSource source);
  // False: the cache does not have them, and does not know that there are none.
  bool Share(const Module& module, const Own& own);
  static void Tell(const Module& module, const Own& own);
  void Fail(const Module& module, const Error& error);
  void Keep(const std::string& file, const Own& own);
  Result<SymbolFiles> FilesOf(symbolizer::FileSource object, const MappedModule& request) const;
  Result<std::shared_ptr<symbolizer::SymbolTable>> LoadSymbols(SymbolFiles files,
                                                               const MappedModule& request) const;
  void LoadKernel();
  void Answered();

  std::string proc_root_;
  symbolizer::SymbolCache& cache_;
  SymbolOptions options_;
  SpscQueue<MappedModule> requests_;
  // Between the export thread and this one; more than one only where waiting took too long.
  SpscQueue<MappedModule> again_requests_;
  SpscQueue<Again> again_;
  WakeFd again_done_;
  std::atomic<uint32_t> open_requests_{0};
  WakeFd idle_;
  std::shared_ptr<const symbolizer::SymbolTable> vdso_;  // set before the thread starts
  // Swapped at most once a minute, read once a slice.
  std::mutex kernel_mutex_;
  std::shared_ptr<const symbolizer::Kallsyms> kernel_;
  std::atomic<bool> kernel_miss_{false};
  std::atomic<bool> kernel_wanted_{false};
  std::atomic<bool> reads_kernel_{false};
  bool kernel_asked_ = false;  // of the export thread
  int64_t kernel_read_ns_ = 0;
  std::atomic<uint64_t> loaded_{0};
  std::atomic<uint64_t> failed_{0};
  std::atomic<uint64_t> shared_{0};
  // Of the symbols thread, by build id and stamp, and by key.
  std::unordered_map<std::string, Own> known_;
  std::unordered_map<std::string, Own> own_;
  NamedThread thread_;
};

}  // namespace firetower::daemon
