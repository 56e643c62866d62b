// SPDX-License-Identifier: Apache-2.0
// Rounds as capture makes them, put together by hand.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "bpf/abi/record.h"
#include "daemon/capture/rounds/round.h"

namespace firetower::testing {

struct BodyOf {
  uint64_t hash = 0;
  uint32_t tgid = 0;
  std::vector<uint64_t> kernel = {};
  std::vector<uint64_t> user = {};
  uint8_t stop = FT_STOP_ROOT;
  uint32_t epoch = 1;
};

inline void AddBody(daemon::Round& round, const BodyOf& body) {
  ft_stack head{};
  head.stack_hash = body.hash;
  head.tgid = body.tgid;
  head.epoch = body.epoch;
  head.kernel_frames = static_cast<uint8_t>(body.kernel.size());
  head.user_frames = static_cast<uint16_t>(body.user.size());
  head.kind = FT_KIND_STACK;
  head.stop = body.stop;
  size_t begin = round.bodies.size();
  round.body_begins.push_back(static_cast<uint32_t>(begin));
  round.bodies.resize(begin + sizeof(head) / sizeof(uint64_t));
  std::memcpy(round.bodies.data() + begin, &head, sizeof(head));
  for (uint64_t address : body.kernel) round.bodies.push_back(address);
  for (uint64_t address : body.user) round.bodies.push_back(address);
}

inline ft_sample SampleOf(int64_t time_ns, uint64_t hash, uint64_t cgroup_id, uint32_t tgid,
                          uint64_t value = 10) {
  ft_sample sample{};
  sample.time_ns = static_cast<uint64_t>(time_ns);
  sample.stack_hash = hash;
  sample.cgroup_id = cgroup_id;
  sample.value = value;
  sample.tgid = sample.tid = tgid;
  sample.kind = FT_KIND_SAMPLE;
  return sample;
}

inline void AddCgroup(daemon::Round& round, int64_t time_ns, ft_cgroup_change change, uint64_t id,
                      std::string_view path, bool path_cut = false) {
  daemon::CgroupEvent event;
  event.time_ns = time_ns;
  event.cgroup_id = id;
  event.change = static_cast<uint8_t>(change);
  event.path_cut = path_cut;
  event.text_begin = static_cast<uint32_t>(round.text.size());
  event.text_size = static_cast<uint32_t>(path.size());
  round.text += path;
  round.cgroup_events.push_back(event);
}

// A task's record; `text` is the name of an exec or a renaming.
inline void AddTask(daemon::Round& round, int64_t time_ns, daemon::SidebandKind kind, uint32_t pid,
                    uint32_t parent = 0, std::string_view text = "") {
  daemon::SidebandEvent event;
  event.time_ns = time_ns;
  event.kind = kind;
  event.pid = event.tid = pid;
  event.parent_pid = event.parent_tid = parent;
  event.text_begin = static_cast<uint32_t>(round.text.size());
  event.text_size = static_cast<uint32_t>(text.size());
  round.text += text;
  round.sideband.push_back(event);
}

struct MapOf {
  uint32_t pid = 0;
  uint64_t start = 0;
  uint64_t bytes = 0;
  uint64_t file_offset = 0;
  std::string_view path = {};
  uint64_t inode = 42;
};

inline void AddMap(daemon::Round& round, int64_t time_ns, const MapOf& map) {
  daemon::SidebandEvent event;
  event.time_ns = time_ns;
  event.kind = daemon::SidebandKind::kMmap;
  event.pid = event.tid = map.pid;
  event.start = map.start;
  event.size_bytes = map.bytes;
  event.file_offset = map.file_offset;
  event.inode = map.inode;
  event.text_begin = static_cast<uint32_t>(round.text.size());
  event.text_size = static_cast<uint32_t>(map.path.size());
  round.text += map.path;
  round.sideband.push_back(event);
}

}  // namespace firetower::testing
