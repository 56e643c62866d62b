// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace firetower::daemon {

// One function's share of a container's slice. `function` is a short name without template
// arguments, as symbolizer::SimplifyName() makes it.
struct FunctionSelf {
  std::string_view function;
  std::string_view binary;
  int64_t value = 0;  // nanoseconds of CPU time with this function on top of the stack, …
  int64_t samples = 0;
};

// The names of the families that the series belong to. Constants.
struct HotspotNames {
  std::string_view totals = "firetower_cpu_seconds_total";
  std::string_view hotspots = "firetower_hotspot_cpu_seconds_total";
};

struct ContainerLabels {
  std::string ns;
  std::string pod;
  std::string container;
  auto operator<=>(const ContainerLabels&) const = default;
};

// The functions of one container that have a series, and the candidates for a series. Residents are
// sticky, because a time-series database suffers from churn of series more than from their number.
//
//   slice ──► resident? ──yes──► its counter
//                │no
//                ├──► free slot and a real share? ──► a new resident
//                └──► `other`, and the space-saving sketch (kMaxCandidates functions a container)
//
// A function of the sketch replaces a resident if it had more self time in each of the last two
// windows and the resident is at least kResidenceNs old. `other` takes over the counter of an
// evicted function and its further time. So residents and `other` always add up to the container's
// total, and `other` only rises. A function that comes back starts at 0. Owned by one thread.
class ContainerHotspots {
 public:
  static constexpr int64_t kResidenceNs = 600'000'000'000;  // 10 min
  static constexpr size_t kMaxCandidates = 32;
  // A free slot is given only to a function with at least 1 % of the slice and this many samples.
  // Otherwise one slice of a quiet container would fill all slots with chance results for ten
  // minutes.
  static constexpr int64_t kLeastShareDivisor = 100;
  static constexpr int64_t kLeastSamples = 3;

  struct Resident {
    std::string function;
    std::string binary;
    // The line of the exposition up to the value. It is shared with snapshots and never changes.
    std::shared_ptr<const std::string> line;
    uint64_t hash = 0;
    int64_t value = 0;  // since it became resident
    int64_t window_ns = 0;
    int64_t last_window_ns = 0;
    int64_t since_ns = 0;
  };

  explicit ContainerHotspots(const ContainerLabels& labels, const HotspotNames& names = {});

  // Adds one slice. At most `free_slots` functions become residents; returns the number of further
  // functions that qualified. `total` beyond the sum of `functions` goes to `other`.
  size_t AddSlice(int64_t now_ns, std::span<const FunctionSelf> functions, int64_t total,
                  size_t free_slots);
  // Ends a window: functions that beat a resident in this window and the last one replace it.
  void EndWindow(int64_t now_ns);
  // Evicts all but the largest `keep` residents of the current and the last window. Returns the
  // number of evicted ones.
  size_t Shrink(size_t keep);

  const std::vector<Resident>& residents() const { return residents_; }
  int64_t total() const { return total_; }
  // Returns the time of all functions that are not residents. It never falls.
  int64_t other() const { return other_; }
  const std::shared_ptr<const std::string>& total_line() const { return total_line_; }
  const std::shared_ptr<const std::string>& other_line() const { return other_line_; }

 private:
  // A function of the sketch. cur_ns is too high by at most error_ns (Metwally's space-saving), so
  // cur_ns - error_ns is its guaranteed time.
  struct Candidate {
    std::string function;
    std::string binary;
    uint64_t hash = 0;
    int64_t window_ns = 0;
    int64_t error_ns = 0;
    int64_t last_window_ns = 0;
    int64_t certain_ns() const { return window_ns - error_ns; }
  };

  Resident* FindResident(uint64_t hash, const FunctionSelf& function);
  bool HasLine(const std::string& line) const;
  void Admit(uint64_t hash, std::string_view function, std::string_view binary, int64_t now_ns);
  void Observe(uint64_t hash, const FunctionSelf& function);
  void Replace(Resident& resident, Candidate& candidate, int64_t now_ns);

  HotspotNames names_;
  std::string label_prefix_;  // namespace="…",pod="…",container="…"
  std::shared_ptr<const std::string> total_line_;
  std::shared_ptr<const std::string> other_line_;
  std::vector<Resident> residents_;
  std::vector<Candidate> candidates_;
  int64_t total_ = 0;
  int64_t other_ = 0;
};

}  // namespace firetower::daemon
