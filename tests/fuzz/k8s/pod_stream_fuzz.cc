// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "k8s/pods/pod.h"
#include "k8s/pods/pod_tracker.h"
#include "k8s/watch/object_meta.h"
#include "k8s/watch/stream_sinks.h"

namespace {

namespace k8s = firetower::k8s;

constexpr size_t kMaxObjectBytes = 8192;

// Hands everything to a tracker of pods, and keeps in what order it came. Flush is left out: when
// it comes depends on how the bytes arrive.
class Recorder final : public k8s::ObjectConsumer {
 public:
  void BeginSet() override {
    Add("begin", nullptr);
    tracker_.BeginSet();
  }
  void AddToSet(const k8s::Node& object) override {
    Add("set+", &object);
    tracker_.AddToSet(object);
  }
  void RemoveFromSet(const k8s::Node& object) override {
    Add("set-", &object);
    tracker_.RemoveFromSet(object);
  }
  void AbandonSet() override {
    Add("abandon", nullptr);
    tracker_.AbandonSet();
  }
  void CommitSet() override {
    Add("commit", nullptr);
    ++commits;
    tracker_.CommitSet();
  }
  void Upsert(const k8s::Node& object) override {
    ++changes;
    Add("upsert", &object);
    tracker_.Upsert(object);
  }
  void Delete(const k8s::Node& object) override {
    ++changes;
    Add("delete", &object);
    tracker_.Delete(object);
  }
  void Flush() override { tracker_.Flush(); }

  std::vector<std::pair<std::string, std::string>> calls;
  int commits = 0;
  int changes = 0;

 private:
  void Add(const char* what, const k8s::Node* object) {
    calls.emplace_back(what, object == nullptr ? "" : k8s::MetaOf(*object).key);
  }

  firetower::FakeClock clock_{1, 1};
  k8s::PodTracker tracker_{clock_};
};

// Returns the fields that Reflector asks for.
k8s::FieldSet ObjectFields() {
  k8s::FieldSet fields = k8s::PodFields();
  for (const std::string_view name : {"name", "namespace", "uid", "resourceVersion"})
    fields.Keep({"metadata", name});
  return fields;
}

k8s::FieldSet EventFields() {
  k8s::FieldSet fields = {"type", "object.code", "object.reason", "object.message"};
  fields.KeepBelow("object", ObjectFields());
  fields.Keep({"object", "metadata", "annotations", "k8s.io/initial-events-end"});
  return fields;
}

bool Feed(k8s::BodySink& sink, std::string_view text, size_t piece) {
  for (size_t at = 0; at < text.size(); at += piece)
    if (!sink.OnBody(text.substr(at, piece))) return false;
  return true;
}

struct Seen {
  std::vector<std::pair<std::string, std::string>> calls;
  bool whole = false;
  std::string end;  // the verdict, or where the next page begins

  bool operator==(const Seen&) const = default;
};

Seen List(std::string_view text, size_t piece) {
  static const k8s::FieldSet fields = ObjectFields();
  Recorder recorder;
  recorder.BeginSet();
  k8s::ListSink sink(fields, kMaxObjectBytes, recorder);
  Feed(sink, text, piece);
  const bool whole = sink.Finish().has_value();
  CHECK(whole == !sink.version().empty());
  // The pages' end is the reflector's to see.
  CHECK(recorder.commits == 0 && recorder.changes == 0);
  return {recorder.calls, whole, sink.continue_token() + std::to_string(sink.skipped())};
}

Seen Watch(std::string_view text, size_t piece, bool streaming_list) {
  static const k8s::FieldSet fields = EventFields();
  Recorder recorder;
  if (streaming_list) recorder.BeginSet();
  k8s::WatchSink sink(fields, streaming_list, "1", {kMaxObjectBytes, 1, 1}, recorder,
                      [](const std::string& version) { CHECK(!version.empty()); });
  // It stops for a reason, and only then.
  const bool fed = Feed(sink, text, piece);
  CHECK(fed == (sink.verdict() == k8s::WatchVerdict::kNone));
  CHECK(fed == sink.message().empty());
  // Changes come behind the set that they change, which is committed once.
  CHECK(recorder.commits == (streaming_list && !sink.initial() ? 1 : 0));
  CHECK(recorder.changes == 0 || !sink.initial());
  for (const auto& [what, key] : recorder.calls)
    CHECK(!key.empty() || what == "begin" || what == "commit");
  return {recorder.calls, sink.Finish().has_value(),
          std::to_string(static_cast<int>(sink.verdict())) + std::to_string(sink.skipped())};
}

}  // namespace

// The first byte says what is answered (a list, a watch, a streaming list), the second how long its
// pieces are, which must not matter.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 2), size - 2);
  const size_t piece = 1 + data[1];
  if (data[0] % 3 == 0) {
    CHECK(List(text, text.size() + 1) == List(text, piece));
  } else {
    const bool streaming_list = data[0] % 3 == 2;
    CHECK(Watch(text, text.size() + 1, streaming_list) == Watch(text, piece, streaming_list));
  }
  return 0;
}
