// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/container/spsc_queue.h"
#include "base/thread.h"
#include "daemon/runtimes/runtime_notes.h"
#include "daemon/unwind/module_file.h"
#include "daemon/unwind/unwinder.h"

namespace firetower::daemon {

// The `tables` thread: reads unwind tables off the sampling path, as soon as a sampled process maps
// a file and while the process still exists. Stacks wait for tables, at most some seconds. So the
// tables of small programs go before a compiler's library of 100 MB; requests that have waited too
// long take turns with them.
//
// At most kMaxRequests wait. A file that found no room is requested again by its next stack.
class TableLoader : public TableSource {
 public:
  static constexpr size_t kMaxRequests = 1024;
  static constexpr int64_t kMaxOvertakenNs = 500 * kNsPerMs;

  explicit TableLoader(std::string proc_root, const Clock& clock = Clock::System());
  ~TableLoader() override;

  // `on_table` is called on the tables thread when TryPopTable has a result.
  void Start(std::function<void()> on_table = {});
  void Stop();

  // Called on the resolve thread.
  bool WantTable(uint32_t module_id, const std::shared_ptr<const Module>& module,
                 const Process& process, const ProcessMapping& mapping) override;
  std::optional<LoadedTable> TryPopTable() override;
  void NoteRuntime(const Module& module, std::string_view runtime, std::string_view why) override;
  // The interpreters among the files that were read.
  const RuntimeNotes& runtimes() const { return runtimes_; }

 private:
  struct Request {
    uint32_t module_id = 0;
    MappedModule mapped;
    int64_t since_ns = 0;
  };

  void Run(std::stop_token stop, WakeFd& wake);
  std::optional<Request> Next();
  void Load(const Request& request);
  void NoteTable(const Module& module, const PackedTable& table);
  void Deliver(LoadedTable loaded);

  std::string proc_root_;
  const Clock& clock_;
  SpscQueue<Request> requests_;
  SpscQueue<LoadedTable> tables_;
  size_t unanswered_ = 0;         // of the resolve thread: requests on their way, there or back
  std::vector<Request> waiting_;  // of the tables thread, in the order they came
  bool took_overdue_ = false;     // the last one went before smaller ones
  // Since when modules are waited for whose last request came too late: its process had ended. The
  // next one waits no longer for that; else a compiler's table never comes beside many others.
  std::unordered_map<uint32_t, int64_t> missed_;
  RuntimeNotes runtimes_;
  std::function<void()> on_table_;
  NamedThread thread_;
};

}  // namespace firetower::daemon
