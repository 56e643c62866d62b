// SPDX-License-Identifier: Apache-2.0
// Records as the kernel writes them, byte by byte: perf_event_open(2) for the sideband, and
// bpf/abi/record.h for the sample ring.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "bpf/abi/record.h"

namespace firetower::testing {

using Bytes = std::vector<std::byte>;

template <typename T>
void Append(Bytes& bytes, const T& value) {
  size_t at = bytes.size();
  bytes.resize(at + sizeof(value));
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

// Text with its terminator, padded with zeros to a multiple of eight.
inline void AppendText(Bytes& bytes, std::string_view text) {
  for (char c : text) bytes.push_back(static_cast<std::byte>(c));
  do {
    bytes.push_back(std::byte{0});
  } while (bytes.size() % 8 != 0);
}

// struct perf_event_header, the body, and the time that sample_id_all puts at the end.
inline Bytes PerfRecord(uint32_t type, uint16_t misc, const Bytes& body, uint64_t time_ns) {
  Bytes record;
  Append(record, type);
  Append(record, misc);
  Append(record, static_cast<uint16_t>(8 + body.size() + 8));
  for (std::byte byte : body) record.push_back(byte);
  Append(record, time_ns);
  return record;
}

// The numbers of enum perf_event_type.
inline constexpr uint32_t kPerfLost = 2, kPerfComm = 3, kPerfExit = 4, kPerfThrottle = 5,
                          kPerfFork = 7, kPerfMmap2 = 10, kPerfLostSamples = 13;
inline constexpr uint16_t kPerfCommExec = 1 << 13, kPerfMmapBuildId = 1 << 14;

inline Bytes PerfTask(uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid,
                      uint64_t time_ns) {
  Bytes body;
  for (uint32_t word : {pid, ppid, tid, ptid}) Append(body, word);
  Append(body, time_ns);
  return PerfRecord(type, 0, body, time_ns);
}

inline Bytes PerfComm(uint32_t pid, uint32_t tid, std::string_view comm, bool exec,
                      uint64_t time_ns) {
  Bytes body;
  Append(body, pid);
  Append(body, tid);
  AppendText(body, comm);
  return PerfRecord(kPerfComm, exec ? kPerfCommExec : 0, body, time_ns);
}

struct PerfMmap {
  uint32_t pid = 0;
  uint64_t start = 0;
  uint64_t bytes = 0;
  uint64_t file_offset = 0;
  std::string_view path = {};
  uint64_t time_ns = 0;
};

namespace internal {
inline Bytes MmapHead(const PerfMmap& mmap) {
  Bytes body;
  Append(body, mmap.pid);
  Append(body, mmap.pid);
  for (uint64_t word : {mmap.start, mmap.bytes, mmap.file_offset}) Append(body, word);
  return body;
}
inline Bytes MmapRest(const PerfMmap& mmap, uint16_t misc, Bytes body) {
  Append(body, uint32_t{5});  // PROT_READ | PROT_EXEC
  Append(body, uint32_t{2});  // MAP_PRIVATE
  AppendText(body, mmap.path);
  return PerfRecord(kPerfMmap2, misc, body, mmap.time_ns);
}
}  // namespace internal

inline Bytes PerfMmapInode(const PerfMmap& mmap, uint32_t major, uint32_t minor, uint64_t inode) {
  Bytes body = internal::MmapHead(mmap);
  Append(body, major);
  Append(body, minor);
  Append(body, inode);
  Append(body, uint64_t{77});  // generation of the inode
  return internal::MmapRest(mmap, 0, std::move(body));
}

// From Linux 5.12: u8 size, u8 and u16 reserved, u8 build_id[20].
inline Bytes PerfMmapId(const PerfMmap& mmap, std::span<const uint8_t> build_id) {
  Bytes body = internal::MmapHead(mmap);
  uint8_t identity[24] = {};
  identity[0] = static_cast<uint8_t>(build_id.size());
  std::ranges::copy(build_id, identity + 4);
  Append(body, identity);
  return internal::MmapRest(mmap, kPerfMmapBuildId, std::move(body));
}

inline Bytes RingSample(const ft_sample& sample) {
  Bytes record;
  Append(record, sample);
  return record;
}

// `head`'s frame counts are set from the addresses.
inline Bytes RingStack(ft_stack head, std::span<const uint64_t> kernel,
                       std::span<const uint64_t> user) {
  head.kind = FT_KIND_STACK;
  head.kernel_frames = static_cast<uint8_t>(kernel.size());
  head.user_frames = static_cast<uint16_t>(user.size());
  Bytes record;
  Append(record, head);
  for (uint64_t address : kernel) Append(record, address);
  for (uint64_t address : user) Append(record, address);
  return record;
}

inline Bytes RingCgroup(ft_cgroup_change change, uint64_t id, std::string_view path,
                        uint64_t time_ns) {
  ft_cgroup_event head{};
  head.time_ns = time_ns;
  head.cgroup_id = id;
  head.path_bytes = static_cast<uint16_t>(path.size());
  head.kind = FT_KIND_CGROUP;
  head.change = static_cast<uint8_t>(change);
  Bytes record;
  Append(record, head);
  for (char c : path) record.push_back(static_cast<std::byte>(c));
  return record;
}

}  // namespace firetower::testing
