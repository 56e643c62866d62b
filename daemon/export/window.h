// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/export/container_names.h"
#include "daemon/export/container_profile.h"
#include "daemon/export/frame_namer.h"
#include "daemon/export/live_heaps.h"
#include "daemon/pipeline/slice.h"
#include "store/query.h"

namespace firetower::daemon {

struct WindowOptions {
  std::string node;
  int64_t window_ns = 60 * kNsPerSecond;
  LabelChoice labels;
};

// The profiles of one window, one for each container and type, filled slice by slice. A profile is
// hidden from readers while its container's name is awaited. Opted-out containers are left out.
// Owned by the export thread.
class Window {
 public:
  Window(const WindowOptions& options, FrameNamer& namer, ContainerNames& names)
      : options_(options), namer_(namer), names_(names), heaps_(namer, heap_labels_) {
    heap_labels_ = options.labels;
    heap_labels_.trace = false;
  }

  // Tells whether there is nothing to take.
  bool empty() const { return !open_ || (profiles_.empty() && heaps_.size() == 0); }
  int64_t start_ns() const { return start_ns_; }
  void Add(const Slice& slice);
  // Forgets what a process had in use at a time (monotonic).
  void EndHeap(uint32_t pid, int64_t time_ns) { heaps_.EndProcess(pid, time_ns); }
  // Tells whether some frame has no name yet and may still get one.
  bool waits_for_names() const;
  // Returns the profiles with such frames. Valid until the next call that changes the window.
  std::vector<ContainerProfile*> LateProfiles();

  // Returns the current rows and profiles of containers with a name, and keeps filling them.
  std::vector<store::OpenProfile> Snapshot() const;
  struct Finished {
    store::OpenProfile open;
    k8s::RetentionClass retention = k8s::RetentionClass::kStandard;
    std::shared_ptr<const Container> container;
    // The same profile while its name is awaited, so that the name can be added. Readers do not see
    // it before that.
    std::shared_ptr<profile::Profile> unnamed;
  };
  // Looks up names a last time and moves all profiles out; the window is empty afterwards.
  std::vector<Finished> Take();
  // Adds a late name to `finished`, with the same result as if it had been known in time.
  void PutName(const ContainerName& name, Finished& finished) const;

  // The samples of opted-out containers since the start.
  uint64_t opted_out_samples() const { return opted_out_samples_; }

 private:
  struct Open {
    ContainerProfile profile;
    std::shared_ptr<const ContainerName> name;  // as of the last slice; nullptr while awaited
    k8s::RetentionClass retention = k8s::RetentionClass::kShort;
  };

  // The sample that a row of the slice became.
  struct Placed {
    ContainerProfile* profile = nullptr;  // null: nowhere
    uint32_t sample = 0;
  };

  Open& OpenFor(const Slice::ContainerEntry& entry);
  // Adds what is in use to the profiles of memory.
  void TakeInUse();
  profile::Profile CopyOf(const Open& open, const ContainerName* name) const;
  store::OpenProfile OpenProfileOf(const Open& open,
                                   std::shared_ptr<const profile::Profile> profile,
                                   const ContainerName* name) const;
  void LookForName(Open& open);

  const WindowOptions& options_;
  FrameNamer& namer_;
  ContainerNames& names_;
  uint64_t opted_out_samples_ = 0;
  int64_t start_ns_ = 0;
  bool open_ = false;     // it has slices
  int64_t begin_ns_ = 0;  // of the last slice, Unix time
  int64_t end_ns_ = 0;
  std::map<std::pair<const Container*, Type>, std::unique_ptr<Open>> profiles_;
  LabelChoice heap_labels_;
  LiveHeaps heaps_;
  std::vector<Placed> placed_;  // scratch
};

}  // namespace firetower::daemon
