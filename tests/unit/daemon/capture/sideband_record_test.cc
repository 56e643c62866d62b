// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/sideband_record.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/raw_records.h"

namespace firetower::daemon {
namespace {

namespace t = ::firetower::testing;

constexpr uint64_t kTime = 1234567890123;

// The one event that `record` appends, with its text.
std::pair<SidebandEvent, std::string> OnlyEvent(const t::Bytes& record) {
  Round round;
  round.text = "before";  // Text of earlier events stays where it is.
  Status status = AppendSidebandRecord(record, round);
  EXPECT_TRUE(status) << status.error().message();
  EXPECT_EQ(round.sideband.size(), 1u);
  if (round.sideband.empty()) return {};
  EXPECT_EQ(round.text.substr(0, 6), "before");
  const SidebandEvent& event = round.sideband[0];
  EXPECT_EQ(event.time_ns, static_cast<int64_t>(kTime));
  return {event, std::string(round.Text(event.text_begin, event.text_size))};
}

std::vector<uint8_t> BuildId(size_t size) {
  std::vector<uint8_t> id(size);
  std::iota(id.begin(), id.end(), uint8_t{0xa0});
  return id;
}

t::PerfMmap Libc() {
  return {42, 0x7f0000001000, 0x150000, 0x28000, "/usr/lib/x86_64-linux-gnu/libc.so.6", kTime};
}

TEST(SidebandRecord, ReadsFork) {
  auto [event, text] = OnlyEvent(t::PerfTask(t::kPerfFork, 100, 42, 101, 43, kTime));
  EXPECT_EQ(event.kind, SidebandKind::kFork);
  EXPECT_EQ(event.pid, 100u);
  EXPECT_EQ(event.parent_pid, 42u);
  EXPECT_EQ(event.tid, 101u);
  EXPECT_EQ(event.parent_tid, 43u);
  EXPECT_EQ(text, "");
}

TEST(SidebandRecord, ReadsExit) {
  auto [event, text] = OnlyEvent(t::PerfTask(t::kPerfExit, 100, 42, 101, 42, kTime));
  EXPECT_EQ(event.kind, SidebandKind::kExit);
  EXPECT_EQ(event.pid, 100u);
  EXPECT_EQ(event.tid, 101u);
}

TEST(SidebandRecord, TellsExecFromARename) {
  auto [renamed, name] = OnlyEvent(t::PerfComm(42, 43, "worker-1", false, kTime));
  EXPECT_EQ(renamed.kind, SidebandKind::kComm);
  EXPECT_EQ(renamed.pid, 42u);
  EXPECT_EQ(renamed.tid, 43u);
  EXPECT_EQ(name, "worker-1");
  auto [exec, program] = OnlyEvent(t::PerfComm(42, 42, "fifteen_letters", true, kTime));
  EXPECT_EQ(exec.kind, SidebandKind::kExec);
  EXPECT_EQ(program, "fifteen_letters");
}

TEST(SidebandRecord, TakesAnEmptyName) {
  auto [event, text] = OnlyEvent(t::PerfComm(42, 42, "", false, kTime));
  EXPECT_EQ(event.text_size, 0u);
  EXPECT_EQ(text, "");
}

TEST(SidebandRecord, ReadsAMappingWithDeviceAndInode) {
  auto [event, path] = OnlyEvent(t::PerfMmapInode(Libc(), 259, 3, 0x1234567890));
  EXPECT_EQ(event.kind, SidebandKind::kMmap);
  EXPECT_EQ(event.pid, 42u);
  EXPECT_EQ(event.start, 0x7f0000001000u);
  EXPECT_EQ(event.size_bytes, 0x150000u);
  EXPECT_EQ(event.file_offset, 0x28000u);
  EXPECT_EQ(event.device, uint64_t{259} << 32 | 3);
  EXPECT_EQ(event.inode, 0x1234567890u);
  EXPECT_EQ(event.build_id_size, 0);
  EXPECT_EQ(path, "/usr/lib/x86_64-linux-gnu/libc.so.6");
}

TEST(SidebandRecord, ReadsAMappingWithItsBuildId) {
  for (size_t size : {size_t{20}, size_t{16}, size_t{8}, size_t{0}}) {
    std::vector<uint8_t> id = BuildId(size);
    auto [event, path] = OnlyEvent(t::PerfMmapId(Libc(), id));
    ASSERT_EQ(event.build_id_size, size);
    EXPECT_TRUE(std::equal(id.begin(), id.end(), event.build_id.begin()));
    EXPECT_EQ(event.inode, 0u);
    EXPECT_EQ(event.device, 0u);
    EXPECT_EQ(event.file_offset, 0x28000u);
    EXPECT_EQ(path, "/usr/lib/x86_64-linux-gnu/libc.so.6");
  }
}

TEST(SidebandRecord, NeverReadsABuildIdBeyondItsRoom) {
  t::Bytes record = t::PerfMmapId(Libc(), BuildId(20));
  record[8 + 32] = std::byte{255};  // the size byte, after pid, tid and three words
  auto [event, path] = OnlyEvent(record);
  EXPECT_EQ(event.build_id_size, 20);
}

TEST(SidebandRecord, AddsUpWhatWasLost) {
  Round round;
  t::Bytes lost;
  t::Append(lost, uint64_t{7});   // id of the event
  t::Append(lost, uint64_t{30});  // records
  ASSERT_TRUE(AppendSidebandRecord(t::PerfRecord(t::kPerfLost, 0, lost, kTime), round));
  t::Bytes samples;
  t::Append(samples, uint64_t{12});
  ASSERT_TRUE(AppendSidebandRecord(t::PerfRecord(t::kPerfLostSamples, 0, samples, kTime), round));
  EXPECT_EQ(round.lost_sideband, 42u);
  EXPECT_TRUE(round.sideband.empty());
}

TEST(SidebandRecord, LeavesOutKindsItDoesNotKnow) {
  Round round;
  t::Bytes body;
  for (uint64_t word : {1u, 2u, 3u}) t::Append(body, word);
  for (uint32_t type : {t::kPerfThrottle, 1u, 9u, 14u, 21u, 250u, 0xffffffffu}) {
    EXPECT_TRUE(AppendSidebandRecord(t::PerfRecord(type, 0, body, kTime), round)) << type;
  }
  EXPECT_TRUE(round.sideband.empty());
  EXPECT_EQ(round.lost_sideband, 0u);
}

TEST(SidebandRecord, RefusesShortRecordsAndAppendsNothing) {
  struct Case {
    t::Bytes record;
    size_t least;  // bytes of the fixed part: header, body without text, time
  };
  t::Bytes lost;
  t::Append(lost, uint64_t{7});
  t::Append(lost, uint64_t{1});
  const Case cases[] = {
      {t::PerfTask(t::kPerfFork, 1, 1, 2, 1, kTime), 8 + 24 + 8},
      {t::PerfTask(t::kPerfExit, 1, 1, 2, 1, kTime), 8 + 24 + 8},
      {t::PerfComm(1, 1, "a-thread", false, kTime), 8 + 8 + 8},
      {t::PerfMmapId(Libc(), BuildId(20)), 8 + 64 + 8},
      {t::PerfMmapInode(Libc(), 8, 1, 99), 8 + 64 + 8},
      {t::PerfRecord(t::kPerfLost, 0, lost, kTime), 8 + 16 + 8},
  };
  for (const Case& c : cases) {
    for (size_t size = 0; size < c.record.size(); ++size) {
      Round round;
      t::Bytes cut(c.record.begin(), c.record.begin() + static_cast<ptrdiff_t>(size));
      Status status = AppendSidebandRecord(cut, round);
      ASSERT_EQ(status.has_value(), size >= c.least) << "kind " << int(c.record[0]) << ", " << size;
      if (status) continue;
      EXPECT_EQ(status.error().code(), ErrorCode::kCorrupt);
      EXPECT_TRUE(round.sideband.empty());
      EXPECT_TRUE(round.text.empty());
      EXPECT_EQ(round.lost_sideband, 0u);
    }
  }
}

}  // namespace
}  // namespace firetower::daemon
