// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/sideband_record.h"

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace firetower::daemon {
namespace {

constexpr size_t kTrailerBytes = 8;  // PERF_SAMPLE_TIME
// PERF_RECORD_MISC_MMAP_BUILD_ID of Linux 5.12; the headers of Debian 12 have it, older ones not.
constexpr uint16_t kMiscBuildId = 1 << 14;
constexpr uint16_t kMiscCommExec = 1 << 13;

struct TaskRecord {  // FORK and EXIT
  uint32_t pid, parent_pid, tid, parent_tid;
  uint64_t time;
};

struct MmapRecord {  // MMAP2
  uint32_t pid, tid;
  uint64_t start, size_bytes, file_offset;
  uint8_t identity[24];  // device, inode and its generation; or size, padding and build id
  uint32_t protection, flags;
};

template <typename T>
T Load(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

// The zero-terminated text that fills the rest of a record.
std::string_view RestText(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

void SetText(std::string_view text, SidebandEvent& event, Round& round) {
  event.text_begin = static_cast<uint32_t>(round.text.size());
  event.text_size = static_cast<uint32_t>(text.size());
  round.text += text;
}

void AppendMmap(std::span<const std::byte> body, uint16_t misc, SidebandEvent event, Round& round) {
  auto mmap = Load<MmapRecord>(body);
  event.kind = SidebandKind::kMmap;
  event.pid = mmap.pid;
  event.tid = mmap.tid;
  event.start = mmap.start;
  event.size_bytes = mmap.size_bytes;
  event.file_offset = mmap.file_offset;
  if ((misc & kMiscBuildId) != 0) {
    event.build_id_size =
        std::min<uint8_t>(mmap.identity[0], static_cast<uint8_t>(event.build_id.size()));
    std::memcpy(event.build_id.data(), mmap.identity + 4, event.build_id_size);
  } else {
    uint32_t major = 0, minor = 0;
    std::memcpy(&major, mmap.identity, 4);
    std::memcpy(&minor, mmap.identity + 4, 4);
    std::memcpy(&event.inode, mmap.identity + 8, 8);
    event.device = static_cast<uint64_t>(major) << 32 | minor;
  }
  SetText(RestText(body.subspan(sizeof(mmap))), event, round);
  round.sideband.push_back(event);
}

size_t LeastBodyBytes(uint32_t type) {
  switch (type) {
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      return sizeof(TaskRecord);
    case PERF_RECORD_COMM:
      return 8;
    case PERF_RECORD_MMAP2:
      return sizeof(MmapRecord);
    case PERF_RECORD_LOST:
      return 16;
    case PERF_RECORD_LOST_SAMPLES:
      return 8;
    default:
      return 0;
  }
}

}  // namespace

Status AppendSidebandRecord(std::span<const std::byte> record, Round& round) {
  if (record.size() < sizeof(perf_event_header)) {
    return Error(ErrorCode::kCorrupt, "perf record without a header");
  }
  auto header = Load<perf_event_header>(record);
  std::span<const std::byte> body = record.subspan(sizeof(header));
  if (body.size() < LeastBodyBytes(header.type) + kTrailerBytes) {
    return Error(ErrorCode::kCorrupt, fmt::format("perf record of type {} has {} bytes",
                                                  uint32_t{header.type}, record.size()));
  }
  SidebandEvent event;
  event.time_ns = Load<int64_t>(body.last(kTrailerBytes));
  body = body.first(body.size() - kTrailerBytes);
  switch (header.type) {
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT: {
      auto task = Load<TaskRecord>(body);
      event.kind = header.type == PERF_RECORD_FORK ? SidebandKind::kFork : SidebandKind::kExit;
      event.pid = task.pid;
      event.tid = task.tid;
      event.parent_pid = task.parent_pid;
      event.parent_tid = task.parent_tid;
      round.sideband.push_back(event);
      break;
    }
    case PERF_RECORD_COMM:
      event.kind = (header.misc & kMiscCommExec) != 0 ? SidebandKind::kExec : SidebandKind::kComm;
      event.pid = Load<uint32_t>(body);
      event.tid = Load<uint32_t>(body.subspan(4));
      SetText(RestText(body.subspan(8)), event, round);
      round.sideband.push_back(event);
      break;
    case PERF_RECORD_MMAP2:
      AppendMmap(body, header.misc, event, round);
      break;
    case PERF_RECORD_LOST:
      round.lost_sideband += Load<uint64_t>(body.subspan(8));
      break;
    case PERF_RECORD_LOST_SAMPLES:
      round.lost_sideband += Load<uint64_t>(body);
      break;
    default:
      break;  // THROTTLE and kinds of later kernels
  }
  return OkStatus();
}

}  // namespace firetower::daemon
