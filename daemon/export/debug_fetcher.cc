// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/debug_fetcher.h"

#include <utility>

#include "base/log.h"

namespace firetower::daemon {

DebugFetcher::DebugFetcher(symbolizer::DebuginfodClient& server, symbolizer::SymbolCache& cache,
                           const symbolizer::ObjectOptions& options)
    : server_(server), cache_(cache), options_(options), requests_(kMaxWaiting) {}

DebugFetcher::~DebugFetcher() { Stop(); }

void DebugFetcher::Start() {
  thread_ = NamedThread("fetch", [this](std::stop_token stop, WakeFd& wake) { Run(stop, wake); });
}

void DebugFetcher::Stop() {
  thread_.RequestStop();
  thread_.Join();
}

void DebugFetcher::Want(const std::shared_ptr<const Module>& module,
                        symbolizer::FileSource object) {
  if (module->BuildId().empty()) return;
  if (requests_.TryPush({module, std::move(object)})) thread_.Notify();
}

void DebugFetcher::Run(std::stop_token stop, WakeFd& wake) {
  while (!stop.stop_requested()) {
    while (auto request = requests_.TryPop()) {
      Fetch(*request);
      if (stop.stop_requested()) return;
    }
    wake.Wait(-1);
  }
}

void DebugFetcher::Fetch(Request& request) {
  const Module& module = *request.module;
  Result<symbolizer::FileSource> file = server_.DebugFile(module.BuildId());
  if (!file) {
    LOG(kDebug, "no debug file", {{"file", module.path}, {"error", file.error().message()}});
    return;
  }
  auto table = symbolizer::LoadObject(std::move(request.object), *std::move(file), options_);
  if (!table) {
    LOG(kDebug, "no symbols", {{"file", module.path}, {"error", table.error().message()}});
    return;
  }
  // Other files with the build id, stripped in another way, may have these names, too.
  module.names_hash.store((*table)->NamesHash(), std::memory_order_relaxed);
  module.own_names.store(static_cast<uint32_t>((*table)->range_count()), std::memory_order_release);
  cache_.Insert(module.SymbolsKey(), *std::move(table));
  fetched_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace firetower::daemon
