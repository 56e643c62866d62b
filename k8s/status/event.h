// SPDX-License-Identifier: Apache-2.0
// Kubernetes Events (events.k8s.io/v1), which `kubectl describe` shows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/clock.h"
#include "k8s/client/api_client.h"

namespace firetower::k8s {

struct ObjectRef {
  std::string api_version = {};  // "firetower.dev/v1alpha1"
  std::string kind = {};
  std::string namespace_name = {};  // empty: cluster-wide
  std::string name = {};
  std::string uid = {};
};

struct ObjectEvent {
  ObjectRef regarding = {};
  std::optional<ObjectRef> related = {};
  std::string reason = {};  // CamelCase: "CaptureTaken"
  std::string action = {};  // what was done: "Capture"
  std::string note = {};
  bool warning = false;
};

// Makes at most one request per minute for one object and reason. A repetition within six minutes
// (client-go's window) extends the existing Event to a series. Repetitions within the minute are
// sent after it, as the last of them with their number. Holds kMaxObjects entries; the one that was
// quiet longest is evicted.
//
// Time is passed in. Belongs to one thread.
class EventSeries {
 public:
  static constexpr int64_t kEveryNs = 60 * kNsPerSecond;
  static constexpr int64_t kWindowNs = 360 * kNsPerSecond;
  static constexpr size_t kMaxObjects = 500;

  // `controller`: "firetower.dev/hub"; `instance`: the pod or node.
  EventSeries(std::string controller, std::string instance)
      : controller_(std::move(controller)), instance_(std::move(instance)) {}

  // Returns the request to send for it, if any. A request that fails is not sent again.
  std::optional<ApiRequest> Take(const ObjectEvent& what, int64_t monotonic_ns, int64_t wall_ns);
  // Returns one delayed request that is due; call it until there is none, about once a minute.
  std::optional<ApiRequest> TakeDue(int64_t monotonic_ns);
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string folder;
    std::string name;
    std::string note;
    int64_t sent_ns = 0;                   // monotonic
    int64_t count = 0;                     // of the series, with the first
    int64_t unshown = 0;                   // since the last request
    std::optional<ObjectEvent> held = {};  // the last of them
    int64_t held_wall_ns = 0;
  };
  using Key = std::tuple<std::string, std::string>;  // the object's uid, the reason
  ApiRequest Create(const ObjectEvent& what, Entry& entry, int64_t wall_ns) const;
  static ApiRequest Extend(const Entry& entry, int64_t wall_ns);
  void MakeRoom();

  const std::string controller_;
  const std::string instance_;
  std::map<Key, Entry> entries_;
};

}  // namespace firetower::k8s
