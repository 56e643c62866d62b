// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "daemon/capture/families/alloc_programs.h"
#include "daemon/policy/policy_report.h"
#include "daemon/process/cgroup_tree.h"
#include "daemon/process/file_stamp.h"
#include "daemon/process/proc_fs.h"

namespace firetower::daemon {

// A container whose allocations are wanted.
struct HeapTarget {
  std::shared_ptr<const Container> container;
  AllocPrograms::Wish wish = {};
  std::vector<std::string> policies = {};
};

// A process of a target that is not probed.
struct LeftOutHeap {
  uint32_t pid = 0;
  std::string comm;
  uint64_t calls_per_second = 0;  // it allocates too often: while it was probed; else 0
  std::string refused;            // why it could not be probed, for people; else empty
  std::vector<std::string> policies;
};

// Describes them for people, by the policies that ask for them.
std::map<std::string, HeapFault> DescribeLeftOut(std::span<const LeftOutHeap> left_out);

// Keeps probes on the allocators of the processes of some containers, and takes them from processes
// that call theirs too often: each call costs a breakpoint. Owned by one thread.
class HeapWatch {
 public:
  // More calls a second than this are too many. A breakpoint takes 1.0 to 1.4 us on a virtual
  // machine: these some 6 % of one CPU.
  static constexpr uint64_t kMaxCallsPerSecond = 50'000;
  // A process that was too busy is probed again after this long.
  static constexpr int64_t kRestNs = 300 * kNsPerSecond;
  // A young process may not have loaded its allocator yet.
  static constexpr int64_t kYoungNs = 10 * kNsPerSecond;
  static constexpr int64_t kLookAgainNs = 10 * kNsPerSecond;

  // Told when the allocations of a process are not followed any more: what was in use until then is
  // not known.
  using OnEnd = std::function<void(uint32_t pid)>;
  // All must outlive this. `mount`: of the hierarchy that containers are paths in. `may_follow`: it
  // is safe to probe what functions return (ReturnProbesAllowed).
  HeapWatch(AllocPrograms& programs, const ProcFs& proc, std::string mount, OnEnd on_end = nullptr,
            bool may_follow = true)
      : programs_(programs),
        proc_(proc),
        mount_(std::move(mount)),
        on_end_(std::move(on_end)),
        may_follow_(may_follow) {}
  ~HeapWatch() { Look(0, {}, {}); }

  // Follows the processes of `targets`, which come and go; call it some times a second. `roots`:
  // the root paths of all containers. `now_ns` (monotonic) never goes back. No targets: no probes.
  void Look(int64_t now_ns, std::span<const HeapTarget> targets,
            const std::set<std::string>& roots);

  std::vector<LeftOutHeap> LeftOut() const;
  size_t probed() const;

 private:
  struct Heap {
    uint64_t start_ticks = 0;  // of the process
    FileStamp program;
    std::vector<UniqueFd> probes;  // empty: it has no allocator yet, or rests
    uint64_t busy_calls = 0;       // a second; 0: it was not too busy
    std::string refused;           // why it could not be probed
    uint64_t calls = 0;            // as of counted_ns
    int64_t counted_ns = 0;
    int64_t first_ns = 0;
    int64_t look_ns = 0;  // when it is looked at again for an allocator
    AllocPrograms::Wish wish;
    std::string comm;
    std::vector<std::string> policies;
    bool seen = false;
  };

  void Follow(int64_t now_ns, uint32_t pid, const HeapTarget& target);
  void Govern(int64_t now_ns, uint32_t pid, Heap& heap);
  // Finds the process's allocators, and probes them.
  void Probe(int64_t now_ns, uint32_t pid, Heap& heap);
  Status ProbeFile(uint32_t pid, const MapsLine& line, Heap& heap);
  // Fails with the reason why the returns of a process's functions must not be probed.
  Status MayFollow(uint32_t pid) const;
  Result<UniqueFd> OpenMapped(uint32_t pid, const MapsLine& line) const;
  void Release(uint32_t pid, Heap& heap);

  AllocPrograms& programs_;
  const ProcFs& proc_;
  const std::string mount_;
  const OnEnd on_end_;
  const bool may_follow_;
  std::map<uint32_t, Heap> heaps_;                               // by pid
  std::map<std::string, std::vector<AllocatorFunction>> files_;  // by stamp
  std::string told_;  // the refusal that the log has last
};

}  // namespace firetower::daemon
