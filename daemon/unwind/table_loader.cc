// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/table_loader.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "daemon/unwind/load_table.h"

namespace firetower::daemon {

TableLoader::TableLoader(std::string proc_root, const Clock& clock)
    : proc_root_(std::move(proc_root)),
      clock_(clock),
      requests_(kMaxRequests),
      tables_(kMaxRequests) {}

TableLoader::~TableLoader() { Stop(); }

void TableLoader::Start(std::function<void()> on_table) {
  on_table_ = std::move(on_table);
  if (auto table = LoadVdsoTable()) {
    ++unanswered_;
    Deliver({ModuleRegistry::kVdso, LoadedTable::Outcome::kTable, *std::move(table)});
  }
  thread_ = NamedThread("tables", [this](std::stop_token stop, WakeFd& wake) { Run(stop, wake); });
}

void TableLoader::Stop() {
  thread_.RequestStop();
  thread_.Join();
}

bool TableLoader::WantTable(uint32_t module_id, const std::shared_ptr<const Module>& module,
                            const Process& process, const ProcessMapping& mapping) {
  if (unanswered_ >= kMaxRequests) return false;
  ++unanswered_;
  CHECK(
      requests_.TryPush({module_id, MappedModule(module, process, mapping), clock_.MonotonicNs()}));
  thread_.Notify();
  return true;
}

std::optional<LoadedTable> TableLoader::TryPopTable() {
  std::optional<LoadedTable> table = tables_.TryPop();
  if (table) --unanswered_;
  return table;
}

void TableLoader::Run(std::stop_token stop, WakeFd& wake) {
  while (!stop.stop_requested()) {
    if (std::optional<Request> request = Next()) {
      Load(*request);
    } else {
      wake.Wait(-1);
    }
  }
}

// The size of a file's mapped code predicts the time that its table takes, so small ones go first.
std::optional<TableLoader::Request> TableLoader::Next() {
  while (auto request = requests_.TryPop()) {
    const auto missed = missed_.find(request->module_id);
    if (missed != missed_.end()) request->since_ns = missed->second;
    waiting_.push_back(*std::move(request));
  }
  if (waiting_.empty()) return std::nullopt;
  auto next = std::ranges::min_element(waiting_, {}, &Request::since_ns);
  took_overdue_ = !took_overdue_ && clock_.MonotonicNs() - next->since_ns >= kMaxOvertakenNs;
  if (!took_overdue_) {
    next = std::ranges::min_element(waiting_, {}, [](const Request& request) {
      return request.mapped.end - request.mapped.start;
    });
  }
  Request request = std::move(*next);
  waiting_.erase(next);
  return request;
}

void TableLoader::Load(const Request& request) {
  LoadedTable loaded;
  loaded.module = request.module_id;
  // Any file with the build id will do: a linker hashes everything that is loaded, the code and its
  // .eh_frame included, so all of them have the same table.
  Result<symbolizer::FileSource> source =
      OpenModuleFile(proc_root_, request.mapped, FileUse::kCode);
  if (!source && IsGone(source.error(), proc_root_, request.mapped.pid))
    loaded.outcome = LoadedTable::Outcome::kGone;
  // At most one for each module that is known.
  if (loaded.outcome == LoadedTable::Outcome::kGone) {
    missed_.try_emplace(request.module_id, request.since_ns);
  } else {
    missed_.erase(request.module_id);
  }
  if (source) {
    Result<PackedTable> table = LoadUnwindTable(*source);
    loaded.outcome = LoadedTable::Outcome::kNone;
    if (!table) {
      LOG(kDebug, "no unwind table",
          {{"file", request.mapped.module->path}, {"error", table.error().message()}});
    } else if (!table->empty()) {
      if (!table->runtime.empty()) NoteTable(*request.mapped.module, *table);
      loaded.outcome = LoadedTable::Outcome::kTable;
      loaded.table = *std::move(table);
    }
  }
  Deliver(std::move(loaded));
}

void TableLoader::NoteRuntime(const Module& module, std::string_view runtime,
                              std::string_view why) {
  const auto known = runtimes_.Find(module.cache_key);
  if (known != nullptr && known->runtime == runtime && known->why == why) return;
  const auto note = std::make_shared<const RuntimeNote>(
      RuntimeNote{std::string(runtime), module.path, std::string(why)});
  runtimes_.Add(module.BuildId(), note);
  runtimes_.Add(module.cache_key, note);
}

void TableLoader::NoteTable(const Module& module, const PackedTable& table) {
  if (!table.nameless.empty())
    LOG(kInfo, "an interpreter's functions have no names",
        {{"file", module.path}, {"runtime", table.runtime}, {"why", table.nameless}});
  NoteRuntime(module, table.runtime, table.nameless);
}

void TableLoader::Deliver(LoadedTable loaded) {
  // The queue is as long as the queue of requests, so there is room for every answer.
  CHECK(tables_.TryPush(std::move(loaded)));
  if (on_table_) on_table_();
}

}  // namespace firetower::daemon
