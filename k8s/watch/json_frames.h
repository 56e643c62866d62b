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

// Takes what a stream of JSON is cut into.
class FrameHandler {
 public:
  virtual ~FrameHandler() = default;
  // The text of one item of the list, or of one event. False ends the reading.
  virtual bool OnFrame(std::string_view json) = 0;
  // An item or event was longer than the limit and is left out.
  virtual bool OnSkipped(size_t bytes) = 0;
};

// Cuts a stream that arrives in pieces of any size into the JSON objects it is made of, by counting
// brackets outside strings. Only the object that is not whole yet is kept, at most
// `max_frame_bytes` of it; the rest of a list (its "metadata") is kept as the envelope. What a
// frame holds is checked by whoever parses it.
class JsonFrames {
 public:
  static constexpr size_t kMaxEnvelopeBytes = 64 << 10;
  static constexpr uint32_t kMaxDepth = 512;

  JsonFrames(FrameMode mode, size_t max_frame_bytes, FrameHandler& handler)
      : mode_(mode), max_frame_bytes_(max_frame_bytes), handler_(handler) {}

  // False once something is wrong or the handler has enough; see status().
  bool Feed(std::string_view bytes);
  // At the end of the stream: kCorrupt when it was cut within an object.
  Status Finish() const;
  // Returns the first error; kExhausted when the handler had enough.
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
  // The depth of a frame's own braces: 1 of an event, 3 of an item ("{", "[", "{").
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
