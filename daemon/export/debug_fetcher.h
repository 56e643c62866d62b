// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/container/spsc_queue.h"
#include "base/thread.h"
#include "daemon/process/module.h"
#include "symbolizer/debuginfod/client.h"
#include "symbolizer/load_object.h"
#include "symbolizer/symbol_cache.h"

namespace firetower::daemon {

// The `fetch` thread: asks a server for the debug files of stripped objects, and puts their symbols
// into the cache, where the next slice's frames find them. The network may take minutes, so nothing
// waits for it.
//
// At most kMaxWaiting objects wait, each with its file open, because its process may end. Further
// objects keep their own symbols.
class DebugFetcher {
 public:
  static constexpr size_t kMaxWaiting = 64;

  DebugFetcher(symbolizer::DebuginfodClient& server, symbolizer::SymbolCache& cache,
               const symbolizer::ObjectOptions& options);
  ~DebugFetcher();

  void Start();
  // Waits for the current download, at most as long as the server's time limit.
  void Stop();
  // Called on the symbols thread.
  void Want(const std::shared_ptr<const Module>& module, symbolizer::FileSource object);

  uint64_t fetched() const { return fetched_.load(std::memory_order_relaxed); }

 private:
  struct Request {
    std::shared_ptr<const Module> module;
    symbolizer::FileSource object;
  };
  void Run(std::stop_token stop, WakeFd& wake);
  void Fetch(Request& request);

  symbolizer::DebuginfodClient& server_;
  symbolizer::SymbolCache& cache_;
  symbolizer::ObjectOptions options_;
  SpscQueue<Request> requests_;
  std::atomic<uint64_t> fetched_{0};
  NamedThread thread_;
};

}  // namespace firetower::daemon
