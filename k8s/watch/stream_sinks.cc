// SPDX-License-Identifier: Apache-2.0
#include "k8s/watch/stream_sinks.h"

#include <fmt/core.h>

#include <utility>

#include "k8s/watch/object_meta.h"

namespace firetower::k8s {
namespace {

// On the bookmark that ends a streaming list (Kubernetes API concepts, "Streaming lists").
constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

}  // namespace

bool ListSink::OnFrame(std::string_view json) {
  Result<Node> object = ParseObject(json, fields_);
  if (object) {
    consumer_.AddToSet(*object);
  } else {
    ++skipped_;
  }
  return true;
}

Status ListSink::Finish() {
  RETURN_IF_ERROR(frames_.Finish());
  const FieldSet fields = {"metadata.resourceVersion", "metadata.continue"};
  ASSIGN_OR_RETURN(const Node envelope, ParseObject(frames_.envelope(), fields));
  version_ = TextAt(envelope, {"metadata", "resourceVersion"});
  continue_ = TextAt(envelope, {"metadata", "continue"});
  if (version_.empty()) return Error(ErrorCode::kCorrupt, "the list has no resourceVersion");
  return OkStatus();
}

bool WatchSink::OnBody(std::string_view bytes) {
  const bool more = frames_.Feed(bytes);
  if (std::exchange(progressed_, false)) {
    consumer_.Flush();
    on_progress_(version_);
  }
  if (!more && verdict_ == WatchVerdict::kNone)
    Stop(WatchVerdict::kNotUnderstood, frames_.status().error().message());
  return more;
}

bool WatchSink::OnFrame(std::string_view json) {
  Result<Node> event = ParseObject(json, fields_);
  if (!event) {
    // An object with far too many fields is skipped, as one that is too long; other bytes are not
    // an event.
    if (event.error().code() == ErrorCode::kExhausted) return OnSkipped(json.size());
    return Stop(WatchVerdict::kNotUnderstood, event.error().message());
  }
  const std::string_view type = TextAt(*event, {"type"});
  const Node* object = event->Find("object");
  if (object == nullptr || object->kind != NodeKind::kMap)
    return Stop(WatchVerdict::kNotUnderstood, "an event has no object");
  if (type == "ERROR") return OnError(*object);
  return type == "BOOKMARK" ? OnBookmark(*object) : OnChange(type, *object);
}

bool WatchSink::OnBookmark(const Node& object) {
  const ObjectMeta meta = MetaOf(object);
  if (meta.resource_version.empty())
    return Stop(WatchVerdict::kNotUnderstood, "a bookmark has no resourceVersion");
  if (initial_) {
    // Servers before 1.27 ignore sendInitialEvents and send ordinary bookmarks.
    if (TextAt(object, {"metadata", "annotations", kInitialEventsEnd}) != "true")
      return Stop(WatchVerdict::kNoStreaming, "a bookmark came before the list's end");
    initial_ = false;
    consumer_.CommitSet();
  }
  version_ = meta.resource_version;
  progressed_ = true;
  return true;
}

bool WatchSink::OnChange(std::string_view type, const Node& object) {
  const bool deleted = type == "DELETED";
  if (!deleted && type != "ADDED" && type != "MODIFIED")
    return Stop(WatchVerdict::kNotUnderstood, fmt::format("an event has the type '{}'", type));
  const ObjectMeta meta = MetaOf(object);
  if (meta.key.empty() || meta.resource_version.empty())
    return Stop(WatchVerdict::kNotUnderstood, "an event's object has no name or version");
  if (initial_) {
    // In no order of versions: nothing to resume from before the end (same chapter).
    deleted ? consumer_.RemoveFromSet(object) : consumer_.AddToSet(object);
    return true;
  }
  deleted ? consumer_.Delete(object) : consumer_.Upsert(object);
  version_ = meta.resource_version;
  progressed_ = true;
  return true;
}

bool WatchSink::OnError(const Node& status) {
  const std::string_view reason = TextAt(status, {"reason"});
  const bool expired = TextAt(status, {"code"}) == "410" || reason == "Expired" || reason == "Gone";
  return Stop(expired ? WatchVerdict::kExpired : WatchVerdict::kServerError,
              fmt::format("{} {}", reason, TextAt(status, {"message"})));
}

bool WatchSink::Stop(WatchVerdict verdict, std::string message) {
  verdict_ = verdict;
  message_ = std::move(message);
  return false;
}

}  // namespace firetower::k8s
