// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/export/container_profile.h"
#include "daemon/recorder/flight_recorder.h"
#include "k8s/policy/enums.h"
#include "store/key.h"

namespace firetower::daemon {

// What a trigger's firing is to leave in the store: one object for each container within its scope.
struct CaptureOrder {
  std::string id;        // names the firing: the label `capture` of its objects
  std::string policy;    // as in Decision::policies
  std::string reason;    // for people: which rule, and what was measured
  int64_t begin_ns = 0;  // monotonic: [begin, end)
  int64_t end_ns = 0;
  int64_t begin_wall_ns = 0;  // the same moment as begin_ns
  k8s::RetentionClass retention = k8s::RetentionClass::kStandard;
  CaptureSubject whom;
};

// Captures under way. Each begins with what the flight recorder holds, goes on with each slice, and
// is finished with the first slice that ends late enough after it for nothing to be missing.
//
// Owned by the export thread. Bounded: kMaxOpen captures at a time; one more is refused.
class Captures {
 public:
  static constexpr size_t kMaxOpen = 64;
  // What waited for an unwind table may come this much later than it was sampled.
  static constexpr int64_t kLateNs = 3 * kNsPerSecond;

  struct Finished {
    store::CatalogRow row;
    profile::Profile profile;
    store::RetentionClass retention = store::RetentionClass::kStandard;
  };

  // These outlive it.
  Captures(const std::string& node, const LabelChoice& labels, FrameNamer& namer,
           ContainerNames& names)
      : node_(node), labels_(labels), namer_(namer), names_(names) {}

  // False: there are too many.
  bool Begin(CaptureOrder order, const FlightRecorder& recorder);
  void Take(const Slice& slice);
  // Those that are over at `now_ns` and whose containers are called by name; `last`: all.
  std::vector<Finished> TakeFinished(int64_t now_ns, bool last);

  size_t open() const { return open_.size(); }

 private:
  struct Part {
    ContainerProfile profile;
    int64_t also_samples = 0;
    int64_t also_value = 0;
  };
  struct Open {
    CaptureOrder order;
    int64_t from_ns = 0;  // as far back as the recorder went; monotonic
    std::map<const Container*, Part> parts;
  };
  struct Sum {
    uint64_t count = 0;
    uint64_t value = 0;
  };

  void Add(Open& open, const Slice& slice);
  Part& PartOf(Open& open, const Slice::ContainerEntry& entry);
  bool Named(const Open& open, bool last);
  void Finish(Open& open, std::vector<Finished>& out);

  const std::string& node_;
  const LabelChoice& labels_;
  FrameNamer& namer_;
  ContainerNames& names_;
  std::deque<Open> open_;
  std::vector<Sum> sums_;  // scratch, by row
};

}  // namespace firetower::daemon
