// SPDX-License-Identifier: Apache-2.0
#include "k8s/watch/json_frames.h"

#include <fmt/core.h>

namespace firetower::k8s {
namespace {

constexpr std::string_view kItemsKey = "items";

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

bool JsonFrames::Feed(std::string_view bytes) {
  if (!status_) return false;
  for (const char c : bytes) {
    if (!Step(c)) return false;
  }
  return true;
}

bool JsonFrames::Step(char c) {
  if (in_string_) return InString(c);
  switch (c) {
    case '{':
    case '[':
      return Open(c);
    case '}':
    case ']':
      return Close(c);
    case '"':
      if (depth_ == 0) return Fail("text stands where an object is expected");
      if (depth_ == 2 && in_items_) return Fail("an item of the list is not an object");
      in_string_ = true;
      last_string_.clear();
      return Keep(c);
    default:
      if (depth_ == 0 && !IsBlank(c)) return Fail("text stands where an object is expected");
      if (depth_ == 2 && in_items_ && !IsBlank(c) && c != ',')
        return Fail("an item of the list is not an object");
      return depth_ == 0 || Keep(c);
  }
}

bool JsonFrames::InString(char c) {
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    in_string_ = false;
    return Keep(c);
  }
  if (last_string_.size() <= kItemsKey.size()) last_string_ += c;
  return Keep(c);
}

bool JsonFrames::Open(char c) {
  if (depth_ == 0 && c != '{') return Fail("a list stands where an object is expected");
  if (depth_ == 0 && mode_ == FrameMode::kList && began_) return Fail("text follows the list");
  if (depth_ == 2 && in_items_ && c != '{') return Fail("an item of the list is not an object");
  if (++depth_ > kMaxDepth) return Fail(fmt::format("nested more than {} deep", kMaxDepth));
  began_ = true;
  if (mode_ == FrameMode::kList && depth_ == 2 && c == '[' && last_string_ == kItemsKey) {
    if (!Keep(c)) return false;
    in_items_ = true;
    return true;
  }
  if (depth_ == frame_depth() && (mode_ == FrameMode::kWatch || in_items_)) {
    in_frame_ = true;
    frame_.clear();
    frame_bytes_ = 0;
  }
  return Keep(c);
}

bool JsonFrames::Close(char c) {
  if (depth_ == 0) return Fail("a bracket is closed that was not opened");
  if (in_items_ && depth_ == 2) in_items_ = false;
  if (!Keep(c)) return false;
  const bool ends_frame = in_frame_ && depth_ == frame_depth();
  --depth_;
  return !ends_frame || EndFrame();
}

// Adds `c` to the frame, or to the envelope; within "items" only objects matter.
bool JsonFrames::Keep(char c) {
  if (in_frame_) {
    // A frame that is too long is read to its end and let go.
    if (++frame_bytes_ <= max_frame_bytes_) frame_ += c;
    return true;
  }
  if (mode_ == FrameMode::kWatch || in_items_) return true;
  if (envelope_.size() == kMaxEnvelopeBytes) return Fail("the list's own fields are too long");
  envelope_ += c;
  return true;
}

bool JsonFrames::EndFrame() {
  in_frame_ = false;
  last_string_.clear();
  const bool more =
      frame_bytes_ > max_frame_bytes_ ? handler_.OnSkipped(frame_bytes_) : handler_.OnFrame(frame_);
  // One large object does not keep its memory for the whole watch.
  if (frame_.capacity() > (256u << 10)) std::string().swap(frame_);
  if (!more) status_ = Error(ErrorCode::kExhausted, "the rest was not wanted");
  return more;
}

bool JsonFrames::Fail(std::string_view why) {
  status_ = Error(ErrorCode::kCorrupt, fmt::format("not the JSON that was expected: {}", why));
  return false;
}

Status JsonFrames::Finish() const {
  if (!status_) return status_;
  if (depth_ != 0) return Error(ErrorCode::kCorrupt, "the stream was cut within an object");
  if (mode_ == FrameMode::kList && !began_)
    return Error(ErrorCode::kCorrupt, "the list is empty text");
  return OkStatus();
}

}  // namespace firetower::k8s
