// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/spsc_queue.h"
#include "base/thread.h"
#include "daemon/pipeline/pipeline.h"
#include "symbolizer/kernel/kallsyms.h"
#include "symbolizer/symbol_cache.h"
#include "symbolizer/symbol_table.h"

namespace firetower::daemon {

// The `tables` thread: reads symbols off the sampling path, as soon as a module shows up in a stack
// and while a process that maps it is still there. Tables go to the cache, where the export thread
// finds them.
//
// A file is opened where its process sees it: /proc/<pid>/map_files (deleted and replaced files
// too), else its path inside the root of the process or of one of its parents, whose build id or
// inode must then be the one mapped. At most kMaxRequests wait; a module refused for lack of room
// asks again with its next stack.
class SymbolLoader : public SymbolRequests {
 public:
  static constexpr size_t kMaxRequests = 1024;
  // A process may be gone before its file is opened; another one may map the same file later.
  static constexpr uint8_t kMaxFailures = 5;

  SymbolLoader(std::string proc_root, symbolizer::SymbolCache& cache);
  ~SymbolLoader() override;

  void Start();
  void Stop();

  // Resolve thread.
  void Want(const std::shared_ptr<const Module>& module, const Process& process,
            const ProcessMapping& mapping) override;

  // Waits until nothing is asked for any more, at most `timeout_ms`. Export thread.
  void WaitIdle(int timeout_ms);
  // Nullptr if the kernel's symbols cannot be read. Read again when `miss_address` was asked for
  // and the last reading is a minute old: modules and BPF programs come and go.
  std::shared_ptr<const symbolizer::Kallsyms> Kernel();
  void KernelMiss() { kernel_miss_.store(true, std::memory_order_relaxed); }
  std::shared_ptr<const symbolizer::SymbolTable> Vdso() const { return vdso_; }

  uint64_t loaded() const { return loaded_.load(std::memory_order_relaxed); }
  uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  struct Request {
    std::shared_ptr<const Module> module;
    uint32_t pid = 0;
    uint32_t parent = 0;
    uint64_t start = 0;
    uint64_t end = 0;
  };

  void Run(std::stop_token stop, WakeFd& wake);
  void Load(const Request& request);
  void LoadKernel();
  bool LoadFrom(const Request& request, UniqueFd fd, bool must_verify);

  std::string proc_root_;
  symbolizer::SymbolCache& cache_;
  SpscQueue<Request> requests_;
  std::atomic<uint32_t> open_requests_{0};
  WakeFd idle_;
  std::shared_ptr<const symbolizer::SymbolTable> vdso_;  // set before the thread starts
  // Swapped about once an hour, read once a slice.
  std::mutex kernel_mutex_;
  std::shared_ptr<const symbolizer::Kallsyms> kernel_;
  std::atomic<bool> kernel_miss_{false};
  int64_t kernel_read_ns_ = 0;
  std::atomic<uint64_t> loaded_{0};
  std::atomic<uint64_t> failed_{0};
  NamedThread thread_;
};

}  // namespace firetower::daemon
