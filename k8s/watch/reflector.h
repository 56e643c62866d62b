// SPDX-License-Identifier: Apache-2.0
// Keeps an ObjectConsumer equal to one resource of the API server: lists it, then watches it from
// the list's version on. Follows "Kubernetes API concepts" (resource versions, watches, bookmarks,
// streaming lists) and client-go's reflector, with which servers are tested.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/snapshot.h"
#include "k8s/client/api_client.h"
#include "k8s/watch/backoff.h"
#include "k8s/watch/object_consumer.h"
#include "k8s/watch/object_fields.h"

namespace firetower::k8s {

class ListSink;
class WatchSink;

struct Resource {
  std::string name;            // "pods": in metrics and messages
  std::string path;            // "/api/v1/pods"
  std::string field_selector;  // "spec.nodeName=node-1"
  std::string label_selector;
  FieldSet fields;  // what of each object to keep, besides its identity
};

enum class ReflectorHealth {
  kStarting,   // no whole set yet
  kSynced,     // a whole set, and the last exchange went well
  kFailing,    // the server is away or refuses for a while: what there is stays as it was
  kForbidden,  // a right is missing: tried again soon, then every minute
  kAbsent,     // the server has no such resource: tried again every 12 s
};

struct ReflectorState {
  ReflectorHealth health = ReflectorHealth::kStarting;
  bool has_synced = false;        // a whole set was there once
  int64_t last_sync_wall_ns = 0;  // of the last whole set, event or bookmark
  std::string message;            // why it is not well
};

// Receiver of counts, called on the reflector's thread. The names of reasons are constants of
// reflector.cc.
class ReflectorMetrics {
 public:
  virtual ~ReflectorMetrics() = default;
  // `status` is 0 when there was no reply. `verb` is list or watch.
  virtual void OnRequest(std::string_view resource, std::string_view verb, int status) = 0;
  // A watch was restarted, or (`relist`) the whole set was requested again.
  virtual void OnRestart(std::string_view resource, std::string_view reason, bool relist) = 0;
  virtual void OnSkipped(std::string_view resource, std::string_view reason) = 0;
};

struct ReflectorOptions {
  bool watch_list = true;                     // ask for a streaming list first
  size_t page_size = 500;                     // client-go's
  size_t max_object_bytes = size_t{8} << 20;  // five times what etcd takes
  int64_t min_watch_ns = 300 * kNsPerSecond;  // a watch is asked for this long to twice as long,
                                              // so that nodes do not come back together
  int64_t slow_retry_ns = 60 * kNsPerSecond;  // after 403
  // After 404. A definition that is installed later, or again, should be found within half a
  // minute, including the time until the server serves it. A 404 costs the server almost nothing.
  int64_t absent_retry_ns = 12 * kNsPerSecond;
  int64_t initial_idle_ns = 10 * kNsPerSecond;  // a streaming list silent for longer is not spoken
};

// Belongs to one thread, except state(). Memory: one object's text, and the data that the consumer
// keeps.
class Reflector {
 public:
  // All references must outlive this; `seed` must differ from node to node.
  Reflector(ApiServer& server, Resource resource, ObjectConsumer& consumer,
            ReflectorMetrics& metrics, const Clock& clock, uint64_t seed,
            ReflectorOptions options = {});

  // Does one list, or one watch until it ends. Returns the time to wait before the next step: above
  // zero if this one failed or ended within a second.
  int64_t StepNs();

  // Any thread.
  std::shared_ptr<const ReflectorState> state() const { return state_.Get(); }

 private:
  // The result of a step.
  enum class End { kWell, kExpired, kNoStreaming, kForbidden, kAbsent, kFailed };
  struct Outcome {
    End end = End::kWell;
    std::string_view reason = "ended";
    std::string message;
    int64_t retry_after_ns = 0;
  };
  Outcome List();
  Outcome ListPage(const std::string& token, ListSink& sink);
  Outcome Watch(bool streaming_list);
  Outcome WatchEnded(const Result<ApiReply>& reply, const WatchSink& sink, bool streaming_list);
  // Classifies a refusal or a failed exchange.
  static Outcome Judge(const Result<ApiReply>& reply);
  static Outcome Refused(const ApiReply& reply);
  // Updates the state of the resource with an outcome.
  void Learn(const Outcome& outcome);
  void TakeAbsence();
  // `listed`: a complete set was read. `told`: the known version has changed.
  int64_t WaitNs(const Outcome& outcome, int64_t began_ns, bool listed, bool told);
  void Publish(ReflectorHealth health, std::string message);
  void Synced(const std::string& version);
  std::string Target(std::string_view query) const;

  ApiServer& server_;
  const Resource resource_;
  ObjectConsumer& consumer_;
  ReflectorMetrics& metrics_;
  const Clock& clock_;
  const ReflectorOptions options_;
  FieldSet list_fields_;
  FieldSet watch_fields_;
  Backoff backoff_;
  bool streaming_;                          // until the server turns out not to know it
  bool has_set_ = false;                    // a set was whole and its version has not expired
  bool paginate_ = true;                    // until a continue token expired
  bool any_version_ = true;                 // a list may be answered from the server's cache
  std::optional<int64_t> absent_since_ns_;  // the first of the 404s in a row; monotonic
  bool believes_absent_ = false;            // they have emptied the set
  int refusals_ = 0;                        // 403s in a row
  std::string version_;                     // opaque; "" before the first set
  ReflectorState now_;
  SnapshotCell<ReflectorState> state_;
};

}  // namespace firetower::k8s
