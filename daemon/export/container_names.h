// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "daemon/policy/selection.h"
#include "daemon/process/cgroup_tree.h"
#include "k8s/pods/pod_index.h"

namespace firetower::daemon {

// Returns the current pods; nullptr before they were first read. Any thread. If unset, there is no
// API server, and names come from cgroup paths alone.
using PodSource = std::function<std::shared_ptr<const k8s::PodIndex>()>;

// Returns the policies' decision about a container that had an open decision; it may still be open.
// Any thread.
using PolicyAnswer = std::function<Decision(const Container&)>;

// The name of a container. Immutable.
struct ContainerName {
  k8s::PathLabels labels;
  std::string pod_uid;
  k8s::Workload workload;  // empty where no pod object tells
  bool opted_out = false;
  // The final decision about samples that were taken while the decision was open. `untaken`: no
  // policy takes the container, or none takes the kind of sample that was taken. `to_metrics`,
  // `to_store`: some policy asks for it.
  bool untaken = false;
  bool to_metrics = true;
  bool to_store = true;

  bool LeftOut() const { return opted_out || untaken; }
  bool Shown() const { return !LeftOut() && to_metrics; }
  bool Stored() const { return !LeftOut() && to_store; }
};

enum class NameState {
  kKnown,
  kAwaited,  // its pod object may still come
  kMissing,  // it did not come in time; should it still come, the name changes
};

struct NamedContainer {
  NameState state = NameState::kAwaited;
  bool late = false;                          // it was awaited
  std::shared_ptr<const ContainerName> name;  // nullptr while awaited
};

// Finds the names of containers. A name comes from the pod object, which the API server may deliver
// after the container began to run, or even after it ended. A name that arrives within kWaitNs is
// used from the first sample on; until then there is none, so that no container appears under two
// names. After that time the container is named by its cgroup path, or by its pod if only the
// container is unknown. A pod may opt out, and in again, at any time.
//
// Owned by the export thread. Holds only containers that other parts of the daemon still hold.
class ContainerNames {
 public:
  static constexpr int64_t kWaitNs = 45 * kNsPerSecond;

  // `clock` must outlive this. `ignore_opt_out`: no pod counts as opted out. `answer` is asked
  // about open decisions.
  ContainerNames(PodSource pods, const Clock& clock, bool ignore_opt_out = false,
                 PolicyAnswer answer = nullptr)
      : pods_(std::move(pods)),
        clock_(clock),
        ignore_opt_out_(ignore_opt_out),
        answer_(std::move(answer)) {}

  // Reads the current pods. Must be called once per slice.
  void Refresh();
  // Registers a container of a slice. Must be called before its name is asked for. An open decision
  // is settled together with the name.
  void Note(const std::shared_ptr<const Container>& container, const Decision& decision);
  // Returns a container's name. Valid until the next Refresh.
  const NamedContainer& NameOf(const std::shared_ptr<const Container>& container);
  // Returns the name without starting to wait for it; nullptr if it was never asked for.
  const NamedContainer* Find(const Container& container) const;
  // Stops waiting for this container's name.
  void GiveUp(const std::shared_ptr<const Container>& container);
  // Returns the labels that containers have lost since the last call, because of a new name or an
  // opt-out.
  std::vector<k8s::PathLabels> TakeRetired() { return std::exchange(retired_, {}); }

 private:
  struct Entry {
    std::shared_ptr<const Container> container;
    NamedContainer named;
    int64_t since_ns = 0;
    std::optional<Decision> open;  // the first, while no other than open ones came
    uint64_t looked_in = 0;        // generation
    uint64_t asked_in = 0;         // refresh in which the policies had no answer yet; 0: never
  };

  Entry& EntryOf(const std::shared_ptr<const Container>& container,
                 const Decision* decision = nullptr);
  void Call(Entry& entry, NameState state, ContainerName name) const;
  void Look(Entry& entry);
  void LookForOptOut(Entry& entry);
  void Miss(Entry& entry);
  // Returns the pod's name, with the container's name if it is one of the pod's containers.
  ContainerName NameByPod(const Container& container, const k8s::Pod& pod,
                          const k8s::PodContainer* found) const;
  bool OptedOut(const k8s::Pod& pod) const { return pod.opted_out && !ignore_opt_out_; }
  void ForgetUnused(int64_t now_ns);

  const PodSource pods_;
  const Clock& clock_;
  const bool ignore_opt_out_;
  const PolicyAnswer answer_;
  std::shared_ptr<const k8s::PodIndex> index_;
  uint64_t generation_ = 0;  // of index_; 0: none
  uint64_t refresh_ = 0;
  int64_t now_ns_ = 0;
  std::unordered_map<const Container*, Entry> entries_;
  std::vector<k8s::PathLabels> retired_;
  int64_t next_forget_ns_ = 0;
};

}  // namespace firetower::daemon
