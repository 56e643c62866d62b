// SPDX-License-Identifier: Apache-2.0
#include "k8s/status/event.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "k8s/status/api_call.h"
#include "k8s/status/json_text.h"
#include "k8s/status/timestamp.h"

namespace firetower::k8s {
namespace {

using Json = nlohmann::ordered_json;

// The API's bounds (events.k8s.io/v1 Event).
constexpr size_t kMaxNoteChars = 1024;
constexpr size_t kMaxInstanceChars = 128;
// A name has 253 characters; what tells one Event from another needs 17 of them.
constexpr size_t kMaxNamePrefix = 230;

Json RefJson(const ObjectRef& ref) {
  Json json = {{"apiVersion", ref.api_version}, {"kind", ref.kind}, {"name", ref.name}};
  if (!ref.namespace_name.empty()) json["namespace"] = ref.namespace_name;
  if (!ref.uid.empty()) json["uid"] = ref.uid;
  return json;
}

}  // namespace

std::optional<ApiRequest> EventSeries::Take(const ObjectEvent& what, int64_t monotonic_ns,
                                            int64_t wall_ns) {
  const std::string& id = what.regarding.uid.empty() ? what.regarding.name : what.regarding.uid;
  const Key key{id, what.reason};
  const bool is_new = !entries_.contains(key);
  if (is_new && entries_.size() >= kMaxObjects) MakeRoom();
  Entry& entry = entries_[key];
  ++entry.unshown;
  if (!is_new && monotonic_ns - entry.sent_ns < kEveryNs) {
    entry.held = what;
    entry.held_wall_ns = wall_ns;
    return std::nullopt;
  }
  entry.held.reset();
  const bool same = !is_new && entry.note == what.note && monotonic_ns - entry.sent_ns < kWindowNs;
  entry.sent_ns = monotonic_ns;
  if (!same) return Create(what, entry, wall_ns);
  entry.count += std::exchange(entry.unshown, 0);
  return Extend(entry, wall_ns);
}

std::optional<ApiRequest> EventSeries::TakeDue(int64_t monotonic_ns) {
  for (auto& [key, entry] : entries_) {
    if (!entry.held || monotonic_ns - entry.sent_ns < kEveryNs) continue;
    --entry.unshown;  // It is counted once more.
    const ObjectEvent what = *entry.held;
    return Take(what, monotonic_ns, entry.held_wall_ns);
  }
  return std::nullopt;
}

ApiRequest EventSeries::Create(const ObjectEvent& what, Entry& entry, int64_t wall_ns) const {
  // An Event of a cluster-wide object is in the namespace default, as upstream's are.
  const std::string& space =
      what.regarding.namespace_name.empty() ? "default" : what.regarding.namespace_name;
  entry.folder = fmt::format("/apis/events.k8s.io/v1/namespaces/{}/events", space);
  entry.name = fmt::format("{}.{:x}", what.regarding.name.substr(0, kMaxNamePrefix), wall_ns);
  entry.note = what.note;
  std::string note = what.note;
  // The one before it ended with its minute; how many there were is not lost.
  if (entry.unshown > 1)
    note += fmt::format(" ({} times since the last such event)", entry.unshown);
  entry.count = 1;
  entry.unshown = 0;
  Json json = {{"apiVersion", "events.k8s.io/v1"},
               {"kind", "Event"},
               {"metadata", {{"name", entry.name}, {"namespace", space}}},
               {"eventTime", MicroTimeText(wall_ns)},
               {"reportingController", controller_},
               {"reportingInstance", CutChars(instance_, kMaxInstanceChars)},
               {"action", what.action},
               {"reason", what.reason},
               {"regarding", RefJson(what.regarding)},
               {"note", CutChars(note, kMaxNoteChars)},
               {"type", what.warning ? "Warning" : "Normal"}};
  if (what.related) json["related"] = RefJson(*what.related);
  ApiRequest request;
  request.method = "POST";
  request.target = entry.folder;
  request.body = Text(json);
  request.content_type = kJson;
  return request;
}

ApiRequest EventSeries::Extend(const Entry& entry, int64_t wall_ns) {
  ApiRequest request;
  request.method = "PATCH";
  request.target = fmt::format("{}/{}", entry.folder, entry.name);
  request.body = fmt::format(R"({{"series":{{"count":{},"lastObservedTime":"{}"}}}})", entry.count,
                             MicroTimeText(wall_ns));
  request.content_type = kMergePatch;
  return request;
}

void EventSeries::MakeRoom() {
  entries_.erase(std::min_element(
      entries_.begin(), entries_.end(),
      [](const auto& a, const auto& b) { return a.second.sent_ns < b.second.sent_ns; }));
}

}  // namespace firetower::k8s
