// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "k8s/watch/json_frames.h"
#include "k8s/watch/object_fields.h"
#include "k8s/watch/object_meta.h"

namespace {

namespace k8s = firetower::k8s;

constexpr size_t kMaxFrameBytes = 4096;

struct Collector : k8s::FrameHandler {
  bool OnFrame(std::string_view json) override {
    CHECK(json.size() >= 2 && json.size() <= kMaxFrameBytes);
    CHECK(json.front() == '{');
    frames.emplace_back(json);
    return true;
  }
  bool OnSkipped(size_t bytes) override {
    CHECK(bytes > kMaxFrameBytes);
    ++skipped;
    return true;
  }
  std::vector<std::string> frames;
  size_t skipped = 0;
};

}  // namespace

// The first byte says which kind of stream, the second how long its pieces are. How the bytes
// arrive must not matter, and what is no JSON must end in an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const k8s::FrameMode mode = data[0] % 2 == 0 ? k8s::FrameMode::kList : k8s::FrameMode::kWatch;
  const size_t piece = 1 + data[1];
  const std::string_view text(reinterpret_cast<const char*>(data + 2), size - 2);

  Collector whole;
  k8s::JsonFrames at_once(mode, kMaxFrameBytes, whole);
  at_once.Feed(text);
  Collector cut;
  k8s::JsonFrames in_pieces(mode, kMaxFrameBytes, cut);
  for (size_t at = 0; at < text.size(); at += piece) in_pieces.Feed(text.substr(at, piece));
  CHECK(whole.frames == cut.frames);
  CHECK(whole.skipped == cut.skipped);
  CHECK(at_once.Finish().has_value() == in_pieces.Finish().has_value());
  CHECK(at_once.envelope() == in_pieces.envelope());

  const k8s::FieldSet some = {"metadata.name", "object.metadata", "status.containerStatuses.name"};
  k8s::FieldSet all;
  all.Keep({});
  for (const std::string& frame : whole.frames) {
    const auto chosen = k8s::ParseObject(frame, some);
    const auto everything = k8s::ParseObject(frame, all);
    // Skipped fields are checked as well, except for their keys and their number.
    CHECK(!everything || chosen);
    if (chosen) CHECK(k8s::MetaOf(*chosen).key.size() <= frame.size());
  }
  return 0;
}
