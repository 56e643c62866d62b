// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::k8s {

// A list is one JSON object with "items"; a watch is one JSON object after another (Kubernetes,
// "API concepts: Efficient detection of changes").
enum class FrameMode { kList, kWatch };

// Receiver of the pieces of a JSON stream.
class FrameHandler {
 public:
  virtual ~FrameHandler() = default;
  // Receives the text of one item of the list, or of one event. Returns false to end the reading.
  virtual bool OnFrame(std::string_view json) = 0;
  // Reports that an item or event was longer than the limit and was skipped.
  virtual bool OnSkipped(size_t bytes) = 0;
};

// Splits a stream that arrives in pieces of any size into its JSON objects, by counting brackets
// outside strings. Keeps only the incomplete object, at most `max_frame_bytes` of it, and the rest
// of a list (its "metadata") as the envelope. The receiver must check the contents of a frame.
class JsonFrames {
 public:
  static constexpr size_t kMaxEnvelopeBytes = 64 << 10;
  static constexpr uint32_t kMaxDepth = 512;

  JsonFrames(FrameMode mode, size_t max_frame_bytes, FrameHandler& handler)
      : mode_(mode), max_frame_bytes_(max_frame_bytes), handler_(handler) {}

  // Returns false after an error or when the handler has ended the reading; see status().
  bool Feed(std::string_view bytes);
  // Must be called at the end of the stream. kCorrupt: it was cut within an object.
  Status Finish() const;
  // Returns the first error; kExhausted when the handler has ended the reading.
  const Status& status() const { return status_; }

  // Returns the text of a list with "items":[].
  const std::string& envelope() const { return envelope_; }

 private:
  bool Step(char c);
  bool InString(char c);
  bool Open(char c);
  bool Close(char c);
  bool Keep(char c);
  bool EndFrame();
  bool Fail(std::string_view why);
  // The depth of a frame's own braces: 1 for an event, 3 for an item ("{", "[", "{").
  uint32_t frame_depth() const { return mode_ == FrameMode::kWatch ? 1 : 3; }

  const FrameMode mode_;
  const size_t max_frame_bytes_;
  FrameHandler& handler_;
  Status status_;
  uint32_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool in_items_ = false;  // within the array under the key "items" of a list
  bool in_frame_ = false;
  bool began_ = false;
  size_t frame_bytes_ = 0;
  std::string frame_;
  std::string envelope_;
  std::string last_string_;  // of depth 1 of a list: maybe the key "items"
};

}  // namespace firetower::k8s
