// SPDX-License-Identifier: Apache-2.0
// Convert the bytes of a reply into objects for a consumer. Used by Reflector.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "k8s/client/api_client.h"
#include "k8s/watch/json_frames.h"
#include "k8s/watch/object_consumer.h"
#include "k8s/watch/object_fields.h"

namespace firetower::k8s {

// Adds a list's items to the set that the consumer has begun. There is one for each page.
class ListSink final : public BodySink, private FrameHandler {
 public:
  ListSink(const FieldSet& fields, size_t max_object_bytes, ObjectConsumer& consumer)
      : fields_(fields), consumer_(consumer), frames_(FrameMode::kList, max_object_bytes, *this) {}

  bool OnBody(std::string_view bytes) override { return frames_.Feed(bytes); }
  int64_t idle_timeout_ns() const override { return 30 * kNsPerSecond; }

  // Must be called after the reply. kCorrupt: the list was cut or has no version.
  Status Finish();
  const std::string& version() const { return version_; }
  const std::string& continue_token() const { return continue_; }
  uint64_t skipped() const { return skipped_; }

 private:
  bool OnFrame(std::string_view json) override;
  bool OnSkipped(size_t) override {
    ++skipped_;
    return true;
  }

  const FieldSet& fields_;
  ObjectConsumer& consumer_;
  JsonFrames frames_;
  std::string version_;
  std::string continue_;
  uint64_t skipped_ = 0;
};

// The reason why a watch ended because of its contents.
enum class WatchVerdict {
  kNone,
  kExpired,        // 410 as an event: the version is too old
  kServerError,    // another ERROR event
  kNotUnderstood,  // not a valid event: the set cannot be trusted any more
  kNoStreaming,    // the server does not know streaming lists
};

// Handles a watch's events. During a streaming list, events build a set; the bookmark at its end
// commits the set, and later events are changes.
class WatchSink final : public BodySink, private FrameHandler {
 public:
  struct Limits {
    size_t max_object_bytes;
    int64_t initial_idle_ns;  // the longest silence within a streaming list
    int64_t idle_ns;          // and after it: longer than the watch was asked for
  };

  // `on_progress` is called with the version up to which the consumer is complete, once for bytes
  // that arrived together.
  WatchSink(const FieldSet& fields, bool streaming_list, std::string version, Limits limits,
            ObjectConsumer& consumer, std::function<void(const std::string&)> on_progress)
      : fields_(fields),
        initial_(streaming_list),
        version_(std::move(version)),
        limits_(limits),
        consumer_(consumer),
        on_progress_(std::move(on_progress)),
        frames_(FrameMode::kWatch, limits.max_object_bytes, *this) {}

  void OnHead() override { answered_ = true; }
  bool OnBody(std::string_view bytes) override;
  int64_t idle_timeout_ns() const override {
    return initial_ ? limits_.initial_idle_ns : limits_.idle_ns;
  }
  // Must be called after the reply. kCorrupt: it was cut within an event.
  Status Finish() const { return frames_.Finish(); }

  bool initial() const { return initial_; }  // the streaming list has not ended
  bool answered() const { return answered_; }
  WatchVerdict verdict() const { return verdict_; }
  const std::string& message() const { return message_; }
  uint64_t skipped() const { return skipped_; }

 private:
  bool OnFrame(std::string_view json) override;
  bool OnSkipped(size_t) override {
    ++skipped_;
    return true;
  }
  bool OnBookmark(const Node& object);
  bool OnChange(std::string_view type, const Node& object);
  bool OnError(const Node& status);
  bool Stop(WatchVerdict verdict, std::string message);

  const FieldSet& fields_;
  bool initial_;
  std::string version_;
  const Limits limits_;
  ObjectConsumer& consumer_;
  const std::function<void(const std::string&)> on_progress_;
  JsonFrames frames_;
  bool answered_ = false;
  bool progressed_ = false;
  WatchVerdict verdict_ = WatchVerdict::kNone;
  std::string message_;
  uint64_t skipped_ = 0;
};

}  // namespace firetower::k8s
