// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/export/container_profile.h"
#include "daemon/recorder/flight_recorder.h"
#include "k8s/policy/enums.h"
#include "store/key.h"

namespace firetower::daemon {

// A firing of a trigger: the order to leave one object in the store for each container in its
// scope.
struct CaptureOrder {
  std::string id;        // names the firing: the label `capture` of its objects
  std::string policy;    // as in Decision::policies
  std::string reason;    // for people: the rule and the measured value
  int64_t begin_ns = 0;  // monotonic: [begin, end)
  int64_t end_ns = 0;
  int64_t begin_wall_ns = 0;  // the same moment as begin_ns
  k8s::RetentionClass retention = k8s::RetentionClass::kStandard;
  CaptureSubject subject;
};

// Captures that are under way. A capture begins with the contents of the flight recorder, grows
// with each slice, and is finished by the first slice that ends late enough for nothing to be
// missing. Samples in two captures are counted in the first one; the other refers to it
// (store::kAlsoInCapture).
//
// Owned by the export thread. Bounds: at most kMaxOpen captures at a time, and further ones are
// refused. When captures under way hold kMaxBytes, further samples are dropped and counted, and the
// captures' comments say so.
class Captures {
 public:
  static constexpr size_t kMaxOpen = 64;
  static constexpr size_t kMaxBytes = 64 << 20;
  // The longest delay of a sample that waited for an unwind table.
  static constexpr int64_t kLateNs = 3 * kNsPerSecond;

  // Longer than the recorder reaches back: preTriggerSeconds is at most 300.
  static constexpr int64_t kPastNs = 400 * kNsPerSecond;

  struct Finished {
    store::CatalogRow row;
    profile::Profile profile;
    store::RetentionClass retention = store::RetentionClass::kStandard;
  };

  // All references must outlive this.
  Captures(const std::string& node, const LabelChoice& labels, FrameNamer& namer,
           ContainerNames& names, size_t max_bytes = kMaxBytes)
      : node_(node), labels_(labels), namer_(namer), names_(names), max_bytes_(max_bytes) {}

  // Starts a capture. Returns false if there are too many.
  bool Begin(CaptureOrder order, const FlightRecorder& recorder);
  void Take(const Slice& slice);
  // Returns captures that have ended by `now_ns` and whose containers have names; with `last`, all
  // captures.
  std::vector<Finished> TakeFinished(int64_t now_ns, bool last);

  size_t open() const { return open_.size(); }
  // The number of refused captures, and of samples dropped for lack of room.
  uint64_t refused() const { return refused_; }
  uint64_t dropped_samples() const { return dropped_samples_; }

 private:
  struct Part {
    ContainerProfile profile;
    int64_t also_samples = 0;
    int64_t also_value = 0;
  };
  struct Open {
    CaptureOrder order;
    int64_t from_ns = 0;   // as far back as the recorder went; monotonic
    uint64_t dropped = 0;  // samples
    std::map<std::pair<const Container*, Type>, Part> parts;
  };
  // Adds each row that belongs to the capture to own_, or to also_ if another capture has it too.
  void AddUp(const Open& open, const Slice& slice);
  // Tells whether an earlier capture has the sample.
  bool IsTaken(const Slice& slice, const Slice::Timed& timed) const;
  void FindEarlier(const Open& open, const Slice& slice);
  void Add(Open& open, const Slice& slice);
  void AddRow(Open& open, const Slice& slice, uint32_t row);
  Part& PartOf(Open& open, const Slice::ContainerEntry& entry);
  size_t Bytes() const;
  bool Named(const Open& open, bool last);
  void NameLateFrames(Open& open, int64_t deadline_ns);
  void Finish(Open& open, std::vector<Finished>& out);

  const std::string& node_;
  const LabelChoice& labels_;
  FrameNamer& namer_;
  ContainerNames& names_;
  const size_t max_bytes_;
  std::deque<Open> open_;          // the one begun first in front
  std::deque<CaptureOrder> past_;  // those that a new one may reach back into
  uint64_t refused_ = 0;
  uint64_t dropped_samples_ = 0;
  std::vector<Amount> own_, also_;            // scratch, by row
  std::vector<const CaptureOrder*> earlier_;  // scratch
};

// Returns the key of a capture with that row. `cluster` is a component of keys.
store::CaptureKey CaptureKeyOf(const store::CatalogRow& row, store::RetentionClass retention,
                               std::string cluster);

}  // namespace firetower::daemon
