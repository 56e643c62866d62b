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

// The pods as they are known now, nullptr before they ever were; any thread. Unset: there is no API
// server, and what a path says is all there is.
using PodSource = std::function<std::shared_ptr<const k8s::PodIndex>()>;

// What the policies say of a container for which a decision was open; it may still be. Any thread.
using PolicyAnswer = std::function<Decision(const Container&)>;

// How a container is called. Immutable.
struct ContainerName {
  k8s::PathLabels labels;
  std::string pod_uid;
  k8s::Workload workload;  // empty where no pod object tells
  bool opted_out = false;
  // Of what was sampled while a decision was open: no policy takes it, or none that takes what was
  // sampled; or none of those asks for metrics, or for the store.
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

// From containers to names: those of their pod objects, which the API server may tell some time
// after the container began to run, or after it ended. What it says in kWaitNs is the name from the
// first sample on; until then there is none, so that nothing appears under two names. Then a
// container is called after its path, or after its pod where only the container is not told of.
// A pod may opt out, and in again, at any time.
//
// Owned by the export thread. Holds the containers that anyone else still knows.
class ContainerNames {
 public:
  static constexpr int64_t kWaitNs = 45 * kNsPerSecond;

  // `clock` outlives this. `ignore_opt_out`: nothing counts as opted out. `answer` is asked where a
  // decision was open.
  ContainerNames(PodSource pods, const Clock& clock, bool ignore_opt_out = false,
                 PolicyAnswer answer = nullptr)
      : pods_(std::move(pods)),
        clock_(clock),
        ignore_opt_out_(ignore_opt_out),
        answer_(std::move(answer)) {}

  // Takes the pods of now; call it once a slice.
  void Refresh();
  // A container of a slice, before its name is asked for. What was open is answered with its name.
  void Note(const std::shared_ptr<const Container>& container, const Decision& decision);
  // Valid until the next Refresh.
  const NamedContainer& NameOf(const std::shared_ptr<const Container>& container);
  // The same, without beginning to wait for it: nullptr if it was never asked for.
  const NamedContainer* Find(const Container& container) const;
  // Waits no longer for this one's name.
  void GiveUp(const std::shared_ptr<const Container>& container);
  // Labels that containers had and have no more, since the last call: another name came, or they
  // opted out.
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
  // The pod's name, and that of the container where it is one of the pod's.
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
