// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "base/clock.h"
#include "daemon/config/config.h"
#include "daemon/export/debug_fetcher.h"
#include "daemon/export/symbol_loader.h"
#include "daemon/unwind/table_loader.h"
#include "symbolizer/debuginfod/client.h"
#include "symbolizer/dwarf/unit_cache.h"
#include "symbolizer/symbol_cache.h"

namespace firetower::daemon {

// The readers of the files that sampled processes map, with a thread for each kind, and their
// caches.
class ModuleReaders {
 public:
  // `config` and `clock` must outlive this.
  ModuleReaders(const Config& config, const Clock& clock);

  // `on_table`: see TableLoader.
  void Start(std::function<void()> on_table);
  void Stop();

  TableLoader& tables() { return tables_; }
  SymbolLoader& symbols() { return symbols_; }
  symbolizer::SymbolCache& cache() { return cache_; }

 private:
  symbolizer::ObjectOptions ObjectOptionsOf();
  SymbolOptions SymbolOptionsOf();

  const Config& config_;
  // Declared before the cache, because tables in the cache refer to its lines.
  symbolizer::dwarf::UnitCache lines_;
  symbolizer::SymbolCache cache_;
  symbolizer::DebuginfodClient debuginfod_;
  DebugFetcher fetcher_;
  TableLoader tables_;
  SymbolLoader symbols_;
};

}  // namespace firetower::daemon
