// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "daemon/capture/rounds/round_builder.h"

namespace {

using firetower::daemon::Round;
using firetower::daemon::RoundBuilder;

template <typename Event>
void CheckList(const Round& round, const std::vector<Event>& events) {
  int64_t last = std::numeric_limits<int64_t>::min();
  for (const Event& event : events) {
    CHECK(event.time_ns >= last && event.time_ns <= round.horizon_ns);
    CHECK(size_t{event.text_begin} + event.text_size <= round.text.size());
    last = event.time_ns;
  }
}

// Everything in time order and inside the horizon; every body whole.
void CheckRound(const Round& round) {
  CheckList(round, round.cgroup_events);
  CheckList(round, round.sideband);
  int64_t last = std::numeric_limits<int64_t>::min();
  for (const ft_sample& sample : round.samples) {
    const auto time_ns = static_cast<int64_t>(sample.time_ns);
    CHECK(time_ns >= last && time_ns <= round.horizon_ns);
    last = time_ns;
  }
  for (uint32_t begin : round.body_begins) {
    ft_stack head;
    CHECK(begin + sizeof(head) / 8 <= round.bodies.size());
    std::memcpy(&head, round.bodies.data() + begin, sizeof(head));
    const size_t frames = size_t{head.kernel_frames} + head.user_frames;
    CHECK(begin + sizeof(head) / 8 + frames <= round.bodies.size());
  }
}

}  // namespace

// Records of [u16 size][bytes], size 0xffff: a horizon of 8 bytes ends the round. Odd sizes go to
// the sideband, less the odd byte.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  RoundBuilder builder;
  Round round;
  builder.Begin(round);
  while (size >= 2) {
    uint16_t wanted = 0;
    std::memcpy(&wanted, data, 2);
    data += 2;
    size -= 2;
    if (wanted == 0xffff && size >= 8) {
      int64_t horizon_ns = 0;
      std::memcpy(&horizon_ns, data, 8);
      data += 8;
      size -= 8;
      builder.Finish(horizon_ns);
      CheckRound(round);
      round.Clear();
      builder.Begin(round);
      continue;
    }
    const size_t bytes = std::min<size_t>(wanted, size);
    const std::span record(reinterpret_cast<const std::byte*>(data), bytes);
    if (wanted % 2 == 1) {
      builder.OnSideband(record.first(bytes & ~size_t{1}));
    } else {
      builder.OnRecord(record);
    }
    data += bytes;
    size -= bytes;
  }
  builder.Finish(std::numeric_limits<int64_t>::max());
  CheckRound(round);
  return 0;
}
