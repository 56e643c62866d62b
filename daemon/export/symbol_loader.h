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

// Options for reading files. All pointers may be null and must outlive the loader.
struct SymbolOptions {
  // True: files with a build id are not named here, but by the reader of the profile.
  bool remote = false;
  // Options for lines and inlined calls. At most kMaxLineFiles files have them; each stays open.
  symbolizer::ObjectOptions object = {};
  // Source of debug files that are not on this machine.
  DebugFetcher* fetcher = nullptr;
};

// The `symbols` thread: reads symbols off the sampling path, as soon as a module appears in a stack
// and while a process that maps it still exists. The symbols go to the cache, where the export
// thread finds them.
//
// Files whose names come from the same bytes share a table (Module::SymbolsKey): one image's binary
// in 300 containers is read once. Copies on other file systems are digested but not loaded again.
//
// At most kMaxRequests requests wait. A module that found no room asks again with its next stack.
class SymbolLoader : public SymbolRequests {
 public:
  static constexpr size_t kMaxRequests = 1024;
  // A process may end before its file is opened. Another process may map the same file later.
  static constexpr uint8_t kMaxFailures = 5;

  static constexpr size_t kMaxLineFiles = 256;
  // The number of files whose symbol keys are kept. Beyond it all are forgotten.
  static constexpr size_t kMaxKnownFiles = 4096;

  SymbolLoader(std::string proc_root, symbolizer::SymbolCache& cache,
               const SymbolOptions& options = {});
  ~SymbolLoader() override;

  void Start();
  void Stop();

  // Resolve thread.
  void Want(const std::shared_ptr<const Module>& module, const Process& process,
            const ProcessMapping& mapping) override;

  // Waits until no request is left, at most `timeout_ms`. Export thread.
  void WaitIdle(int timeout_ms);
  // Waits in the same way for the kernel's symbols alone.
  void WaitKernel(int timeout_ms);
  // Reads a table that the cache evicted, or that could not be read before. Looks in the process
  // whose stack showed the file last, before all other requests. Waits at most `timeout_ms`;
  // returns nullptr if the table does not arrive or does not fit into the cache at all. Export
  // thread.
  std::shared_ptr<const symbolizer::SymbolTable> ReadAgain(
      const std::shared_ptr<const Module>& module, int timeout_ms);
  // Requests the kernel's symbols. Reading them costs 60 ms of CPU, mostly in the kernel, so it is
  // not done on machines whose samples show no kernel code. Returns true the first time. WaitIdle
  // waits for them, too. Export thread.
  bool WantKernel();
  // Returns the kernel's symbols; nullptr before WantKernel, or if they cannot be read. After
  // KernelMiss they are read again if the last reading is a minute old, because modules and BPF
  // programs come and go.
  std::shared_ptr<const symbolizer::Kallsyms> Kernel();
  void KernelMiss() { kernel_miss_.store(true, std::memory_order_relaxed); }
  std::shared_ptr<const symbolizer::SymbolTable> Vdso() const { return vdso_; }

  // Tells whether the reader of the profile names this module's frames, by build id and file
  // offset.
  bool IsRemote(const Module& module) const {
    return options_.remote && module.kind == ModuleKind::kFile && !module.BuildId().empty();
  }

  // The number of modules that got symbols without reading, because another file has the same ones.
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
  struct Own {  // Properties of the symbols, which Module publishes.
    std::string key;
    uint32_t names = 0;
    uint64_t hash = 0;
  };

  void Load(const MappedModule& request);
  void Read(const MappedModule& request, symbolizer::FileSource source);
  // Returns false if the cache neither has the symbols nor knows that there are none.
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
  // Connects the export thread and this one. Holds several entries only if an earlier wait timed
  // out.
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
  // By build id and stamp, and by key. Used by the symbols thread alone.
  std::unordered_map<std::string, Own> known_;
  std::unordered_map<std::string, Own> own_;
  NamedThread thread_;
};

}  // namespace firetower::daemon
