// SPDX-License-Identifier: Apache-2.0
#include "k8s/watch/reflector.h"

#include <fmt/core.h>

#include <utility>

#include "k8s/watch/object_meta.h"
#include "k8s/watch/stream_sinks.h"

namespace firetower::k8s {
namespace {

// A watch that ends sooner did not work, whatever it says.
constexpr int64_t kShortNs = kNsPerSecond;
// The server ends a watch by itself at its time; bytes may be on their way a little longer.
constexpr int64_t kWatchGraceNs = 30 * kNsPerSecond;
// A server that is starting may answer 404 for a resource whose definition it has not read yet:
// only 404s for a minute empty the set.
constexpr int64_t kBelieveAbsentNs = 60 * kNsPerSecond;
// And 403 to everyone, for the seconds until it has read its roles: a right is missing for good
// only after that. Seen of kube-apiserver 1.36 when it was killed and started again.
constexpr int kRefusalsToBelieve = 3;
constexpr int64_t kRefusedAgainNs = 4 * kNsPerSecond;

// RFC 3986 §2.3: what needs no escape in a query.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

FieldSet WithIdentity(FieldSet fields) {
  for (const std::string_view name : {"name", "namespace", "uid", "resourceVersion"})
    fields.Keep({"metadata", name});
  return fields;
}

// An event around an object, a bookmark or a Status.
FieldSet EventFields(const FieldSet& object) {
  FieldSet event = {"type", "object.code", "object.reason", "object.message"};
  event.KeepBelow("object", object);
  event.Keep({"object", "metadata", "annotations", "k8s.io/initial-events-end"});
  return event;
}

}  // namespace

Reflector::Reflector(ApiServer& server, Resource resource, ObjectConsumer& consumer,
                     ReflectorMetrics& metrics, const Clock& clock, uint64_t seed,
                     ReflectorOptions options)
    : server_(server),
      resource_(std::move(resource)),
      consumer_(consumer),
      metrics_(metrics),
      clock_(clock),
      options_(options),
      list_fields_(WithIdentity(resource_.fields)),
      watch_fields_(EventFields(list_fields_)),
      backoff_(seed),
      streaming_(options.watch_list) {
  Publish(ReflectorHealth::kStarting, "");
}

int64_t Reflector::StepNs() {
  const int64_t began_ns = clock_.MonotonicNs();
  const bool needs_set = !has_set_;
  const bool lists = needs_set && !streaming_;
  const std::string version = version_;
  const Outcome outcome = lists ? List() : Watch(needs_set);
  const bool listed = lists && outcome.end == End::kWell;
  Learn(outcome);
  if (!listed) metrics_.OnRestart(resource_.name, outcome.reason, !has_set_);
  return WaitNs(outcome, began_ns, listed, version_ != version);
}

std::string Reflector::Target(std::string_view query) const {
  std::string target = fmt::format("{}?{}", resource_.path, query);
  if (!resource_.field_selector.empty())
    target += "&fieldSelector=" + Escaped(resource_.field_selector);
  if (!resource_.label_selector.empty())
    target += "&labelSelector=" + Escaped(resource_.label_selector);
  return target;
}

Reflector::Outcome Reflector::ListPage(const std::string& token, ListSink& sink) {
  // A version goes with the first page only; the token carries it to the others.
  std::string query = paginate_ ? fmt::format("limit={}", options_.page_size) : "limit=0";
  if (!token.empty()) {
    query += "&continue=" + Escaped(token);
  } else if (any_version_) {
    // From the server's cache, but never older than the last version seen: if five thousand nodes
    // reconnect at once, not all of them may read etcd.
    query += fmt::format("&resourceVersion={}&resourceVersionMatch=NotOlderThan",
                         version_.empty() ? "0" : Escaped(version_));
  }
  Result<ApiReply> reply = server_.Send({.target = Target(query)}, sink);
  metrics_.OnRequest(resource_.name, "list", reply ? reply->status : 0);
  Outcome outcome = Judge(reply);
  if (outcome.end != End::kWell) return outcome;
  if (Status whole = sink.Finish(); !whole)
    return {End::kFailed, "cut", std::move(whole).error().message()};
  return outcome;
}

Reflector::Outcome Reflector::List() {
  consumer_.BeginSet();
  std::string token;
  std::string version;
  do {
    ListSink sink(list_fields_, options_.max_object_bytes, consumer_);
    Outcome outcome = ListPage(token, sink);
    for (uint64_t i = 0; i < sink.skipped(); ++i) metrics_.OnSkipped(resource_.name, "list item");
    // Pages of two versions together are not a consistent set.
    const bool torn = !version.empty() && outcome.end == End::kWell && sink.version() != version;
    if (torn) outcome = {End::kExpired, "expired", "the pages are of different versions"};
    if (outcome.end != End::kWell) {
      consumer_.AbandonSet();
      // The server forgot the version between two pages: all at once next time.
      if (outcome.end == End::kExpired && !token.empty()) paginate_ = false;
      return outcome;
    }
    version = sink.version();
    token = sink.continue_token();
  } while (!token.empty());
  consumer_.CommitSet();
  paginate_ = true;
  Synced(version);
  return {};
}

Reflector::Outcome Reflector::Watch(bool streaming_list) {
  const int64_t watch_ns = backoff_.Between(options_.min_watch_ns, 2 * options_.min_watch_ns);
  std::string query =
      fmt::format("watch=1&allowWatchBookmarks=true&timeoutSeconds={}", watch_ns / kNsPerSecond);
  if (streaming_list) {
    query += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    if (any_version_ && !version_.empty()) query += "&resourceVersion=" + Escaped(version_);
    consumer_.BeginSet();
  } else {
    query += "&resourceVersion=" + Escaped(version_);
  }
  WatchSink sink(watch_fields_, streaming_list, version_,
                 {options_.max_object_bytes, options_.initial_idle_ns, watch_ns + kWatchGraceNs},
                 consumer_, [this](const std::string& version) { Synced(version); });
  Result<ApiReply> reply = server_.Send({.target = Target(query)}, sink);
  metrics_.OnRequest(resource_.name, "watch", reply ? reply->status : 0);
  for (uint64_t i = 0; i < sink.skipped(); ++i) metrics_.OnSkipped(resource_.name, "event");
  if (sink.initial()) consumer_.AbandonSet();
  return WatchEnded(reply, sink, streaming_list);
}

Reflector::Outcome Reflector::WatchEnded(const Result<ApiReply>& reply, const WatchSink& sink,
                                         bool streaming_list) {
  switch (sink.verdict()) {
    case WatchVerdict::kExpired:
      return {End::kExpired, "expired", sink.message()};
    case WatchVerdict::kServerError:
      return {End::kFailed, "server error", sink.message()};
    case WatchVerdict::kNotUnderstood:
      metrics_.OnSkipped(resource_.name, "not understood");
      has_set_ = false;
      return {End::kFailed, "not understood", sink.message()};
    case WatchVerdict::kNoStreaming:
      return {End::kNoStreaming, "no streaming lists", sink.message()};
    case WatchVerdict::kNone:
      break;
  }
  Outcome outcome = Judge(reply);
  // Statuses of servers that do not know, or do not allow, sendInitialEvents. 403 is among them: a
  // list tells better which right is missing, and it may be the one to watch.
  const int code = reply ? reply->status : 0;
  const bool refused = code == 400 || code == 403 || code == 405 || code == 422;
  const bool silent = !reply && reply.error().code() == ErrorCode::kUnavailable && sink.answered();
  if (streaming_list && sink.initial() && (refused || silent))
    return {End::kNoStreaming, "no streaming lists", std::move(outcome.message)};
  if (outcome.end != End::kWell) return outcome;
  if (Status whole = sink.Finish(); !whole)
    return {End::kFailed, "cut", std::move(whole).error().message()};
  if (sink.initial()) return {End::kFailed, "ended", "the streaming list ended before its end"};
  return outcome;
}

Reflector::Outcome Reflector::Judge(const Result<ApiReply>& reply) {
  if (!reply) return {End::kFailed, "no answer", reply.error().message()};
  if (!reply->ok()) return Refused(*reply);
  return {};
}

Reflector::Outcome Reflector::Refused(const ApiReply& reply) {
  Outcome outcome{End::kFailed, "refused", "", reply.retry_after_ns};
  const Result<Node> status = ParseObject(reply.refusal, {"message", "details.causes.reason"});
  outcome.message =
      fmt::format("{} {}", reply.status, status ? TextAt(*status, {"message"}) : reply.refusal);
  if (outcome.message.size() > 512) outcome.message.resize(512);
  if (reply.status == 410) return {End::kExpired, "expired", std::move(outcome.message)};
  if (reply.status == 403) return {End::kForbidden, "forbidden", std::move(outcome.message)};
  if (reply.status == 404) return {End::kAbsent, "absent", std::move(outcome.message)};
  // This server has not seen that version yet: another one had (client-go treats it as expired).
  if (reply.refusal.find("ResourceVersionTooLarge") != std::string::npos ||
      reply.refusal.find("Too large resource version") != std::string::npos)
    return {End::kExpired, "version too large", std::move(outcome.message)};
  return outcome;
}

void Reflector::Learn(const Outcome& outcome) {
  if (outcome.end != End::kAbsent) {
    absent_since_ns_.reset();
    believes_absent_ = false;
  }
  if (outcome.end != End::kForbidden) refusals_ = 0;
  switch (outcome.end) {
    case End::kWell:
      if (now_.health != ReflectorHealth::kSynced) Publish(ReflectorHealth::kSynced, "");
      return;
    case End::kExpired:
      // "Start over without a version" (API concepts, "410 Gone responses").
      has_set_ = false;
      any_version_ = false;
      return;
    case End::kNoStreaming:
      streaming_ = false;
      return;
    case End::kForbidden:
      has_set_ = false;
      ++refusals_;
      return Publish(ReflectorHealth::kForbidden, outcome.message);
    case End::kAbsent:
      has_set_ = false;
      version_.clear();
      TakeAbsence();
      return Publish(ReflectorHealth::kAbsent, outcome.message);
    case End::kFailed:
      return Publish(ReflectorHealth::kFailing, outcome.message);
  }
}

void Reflector::TakeAbsence() {
  const int64_t now_ns = clock_.MonotonicNs();
  if (!absent_since_ns_) absent_since_ns_ = now_ns;
  if (believes_absent_ || now_ns - *absent_since_ns_ < kBelieveAbsentNs) return;
  believes_absent_ = true;
  consumer_.BeginSet();
  consumer_.CommitSet();
}

int64_t Reflector::WaitNs(const Outcome& outcome, int64_t began_ns, bool listed, bool told) {
  const int64_t now_ns = clock_.MonotonicNs();
  switch (outcome.end) {
    case End::kForbidden:
      if (refusals_ < kRefusalsToBelieve)
        return backoff_.Between(kRefusedAgainNs, 2 * kRefusedAgainNs);
      return backoff_.Between(options_.slow_retry_ns, options_.slow_retry_ns * 5 / 4);
    case End::kAbsent:
      return backoff_.Between(options_.absent_retry_ns, options_.absent_retry_ns * 5 / 4);
    case End::kFailed: {
      const int64_t wait_ns = backoff_.NextNs(now_ns);
      if (outcome.retry_after_ns == 0) return wait_ns;
      // Not before the server's time, and not all at that time.
      return outcome.retry_after_ns + wait_ns;
    }
    case End::kNoStreaming:
      return 0;  // once in a reflector's life
    case End::kWell:
    case End::kExpired:
      if (listed || now_ns - began_ns >= kShortNs) return 0;
      // A server that is short of CPU ends watches to which it has just sent a lot. Continuing is
      // then not a retry; the back-off of an earlier outage would delay events by half a minute
      // each time.
      if (told && outcome.end == End::kWell)
        return backoff_.Between(Backoff::kFloorNs, Backoff::kFirstNs);
      return backoff_.NextNs(now_ns);
  }
  return backoff_.NextNs(now_ns);
}

void Reflector::Synced(const std::string& version) {
  version_ = version;
  has_set_ = true;
  any_version_ = true;
  now_.has_synced = true;
  now_.last_sync_wall_ns = clock_.WallNs();
  Publish(ReflectorHealth::kSynced, "");
}

void Reflector::Publish(ReflectorHealth health, std::string message) {
  now_.health = health;
  now_.message = std::move(message);
  state_.Publish(std::make_shared<const ReflectorState>(now_));
}

}  // namespace firetower::k8s
