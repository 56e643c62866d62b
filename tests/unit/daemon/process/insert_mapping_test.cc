// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "daemon/process/process_table.h"

namespace firetower::daemon {
namespace {

constexpr uint64_t kPage = 0x1000;

// Model of an address space: for each page, the file and the place in it.
using Pages = std::map<uint64_t, std::pair<uint32_t, uint64_t>>;

void MapPages(Pages& pages, const ProcessMapping& mapping) {
  for (uint64_t page = mapping.start; page < mapping.end; page += kPage) {
    pages[page] = {mapping.module, mapping.file_offset + (page - mapping.start)};
  }
}

void ExpectSame(const Pages& pages, const std::vector<ProcessMapping>& mappings) {
  uint64_t last_end = 0;
  Pages seen;
  for (const ProcessMapping& mapping : mappings) {
    ASSERT_LT(mapping.start, mapping.end);
    ASSERT_GE(mapping.start, last_end);
    last_end = mapping.end;
    MapPages(seen, mapping);
  }
  ASSERT_EQ(seen, pages);
}

TEST(InsertMapping, EqualsAModelOfPages) {
  std::mt19937 random(20261121);  // NOLINT(cert-msc51-cpp)
  for (int run = 0; run < 300; ++run) {
    std::vector<ProcessMapping> mappings;
    Pages pages;
    for (int step = 0; step < 60; ++step) {
      ProcessMapping mapping;
      mapping.start = (1 + random() % 48) * kPage;
      mapping.end = mapping.start + (1 + random() % 12) * kPage;
      mapping.file_offset = random() % 16 * kPage;
      mapping.module = 4 + static_cast<uint32_t>(random() % 5);
      InsertMapping(mappings, mapping);
      MapPages(pages, mapping);
      ASSERT_NO_FATAL_FAILURE(ExpectSame(pages, mappings)) << "run " << run << " step " << step;
    }
  }
}

TEST(InsertMapping, CutsTheOldOneInTwo) {
  std::vector<ProcessMapping> mappings;
  InsertMapping(mappings, {0x10000, 0x20000, 0x3000, 5});
  InsertMapping(mappings, {0x14000, 0x16000, 0x0, 6});
  ASSERT_EQ(mappings.size(), 3u);
  EXPECT_EQ(mappings[0].end, 0x14000u);
  EXPECT_EQ(mappings[1].module, 6u);
  EXPECT_EQ(mappings[2].start, 0x16000u);
  EXPECT_EQ(mappings[2].file_offset, 0x9000u);
}

TEST(InsertMapping, FindsEachByteOfIt) {
  Process process;
  process.mappings = std::make_shared<std::vector<ProcessMapping>>();
  InsertMapping(*process.mappings, {0x3000, 0x4000, 0, 5});
  InsertMapping(*process.mappings, {0x1000, 0x2000, 0, 6});
  EXPECT_EQ(ProcessTable::FindMapping(process, 0xfff), nullptr);
  EXPECT_EQ(ProcessTable::FindMapping(process, 0x1000)->module, 6u);
  EXPECT_EQ(ProcessTable::FindMapping(process, 0x1fff)->module, 6u);
  EXPECT_EQ(ProcessTable::FindMapping(process, 0x2000), nullptr);
  EXPECT_EQ(ProcessTable::FindMapping(process, 0x3fff)->module, 5u);
  EXPECT_EQ(ProcessTable::FindMapping(process, ~uint64_t{0}), nullptr);
}

}  // namespace
}  // namespace firetower::daemon
