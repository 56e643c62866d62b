// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/module_readers.h"

#include <utility>

#include "daemon/control/agent_options.h"

namespace firetower::daemon {

ModuleReaders::ModuleReaders(const Config& config, const Clock& clock)
    : config_(config),
      lines_(static_cast<size_t>(config.symbol_cache_bytes)),
      cache_(static_cast<size_t>(config.symbol_cache_bytes)),
      debuginfod_(DebuginfodOptionsOf(config), clock),
      fetcher_(debuginfod_, cache_, ObjectOptionsOf()),
      tables_(config.proc_root, clock),
      symbols_(config.proc_root, cache_, SymbolOptionsOf()) {}

symbolizer::ObjectOptions ModuleReaders::ObjectOptionsOf() {
  symbolizer::ObjectOptions options;
  if (config_.symbols == SymbolMode::kFull) options.lines = &lines_;
  return options;
}

SymbolOptions ModuleReaders::SymbolOptionsOf() {
  SymbolOptions options;
  options.remote = config_.symbols == SymbolMode::kRemote;
  options.object = ObjectOptionsOf();
  if (!config_.debuginfod_urls.empty()) options.fetcher = &fetcher_;
  return options;
}

void ModuleReaders::Start(std::function<void()> on_table) {
  if (!config_.debuginfod_urls.empty()) fetcher_.Start();
  tables_.Start(std::move(on_table));
  symbols_.Start();
}

void ModuleReaders::Stop() {
  tables_.Stop();
  symbols_.Stop();
  fetcher_.Stop();
}

}  // namespace firetower::daemon
