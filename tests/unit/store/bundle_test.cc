// SPDX-License-Identifier: Apache-2.0
#include "store/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::BundleOf;
using ::firetower::testing::HaveCommand;
using ::firetower::testing::kFirstWindow;
using ::firetower::testing::ProfileOf;
using ::firetower::testing::Row;
using ::firetower::testing::RunCommand;
using ::firetower::testing::ScratchFolder;
using ::testing::HasSubstr;

RangeReader Over(const std::string& bytes, int* reads = nullptr) {
  return [&bytes, reads](uint64_t offset, uint64_t length) -> Result<std::string> {
    if (reads != nullptr) ++*reads;
    if (offset > bytes.size() || length > bytes.size() - offset) {
      return Error(ErrorCode::kCorrupt, "out of range");
    }
    return bytes.substr(offset, length);
  };
}

std::vector<CatalogRow> Rows(int count) {
  std::vector<CatalogRow> rows;
  for (int i = 0; i < count; ++i) {
    rows.push_back(Row("shop", "web-" + std::to_string(i), "web", kFirstWindow, i + 1));
  }
  return rows;
}

TEST(Bundle, ComesBackTheSame) {
  std::vector<CatalogRow> rows = Rows(20);
  std::string bytes = BundleOf(rows);
  auto index = ReadBundleIndex(bytes.size(), Over(bytes));
  ASSERT_TRUE(index) << index.error().message();
  ASSERT_EQ(index->entries.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(index->entries[i].row, rows[i]);
    EXPECT_EQ(index->entries[i].name, BundleEntryName(rows[i]));
    auto data = ReadBundleEntry(index->entries[i], Over(bytes));
    ASSERT_TRUE(data) << data.error().message();
    EXPECT_EQ(*data, profile::EncodePprof(ProfileOf(rows[i])));
  }
}

// Every second entry has one, of another size each.
TEST(Bundle, ServesSideEntriesBesideEntriesWithoutOne) {
  const std::vector<CatalogRow> rows = Rows(20);
  const auto times_of = [](size_t i) {
    return i % 2 == 0 ? std::string() : std::string(i * i, static_cast<char>('a' + i));
  };
  BundleWriter writer(kFirstWindow);
  for (size_t i = 0; i < rows.size(); ++i)
    ASSERT_TRUE(writer.Add(rows[i], profile::EncodePprof(ProfileOf(rows[i])), times_of(i)));
  EXPECT_EQ(writer.entries(), rows.size());
  const auto bytes = std::move(writer).Finish();
  ASSERT_TRUE(bytes);
  const auto index = ReadBundleIndex(bytes->size(), Over(*bytes));
  ASSERT_TRUE(index) << index.error().message();
  ASSERT_EQ(index->entries.size(), rows.size());
  EXPECT_TRUE(index->bad_entries.empty());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(index->entries[i].row, rows[i]);
    EXPECT_TRUE(ReadBundleEntry(index->entries[i], Over(*bytes)));
    int reads = 0;
    const auto times = ReadBundleTimes(index->entries[i], Over(*bytes, &reads));
    ASSERT_TRUE(times) << times.error().message();
    EXPECT_EQ(*times, times_of(i));
    EXPECT_LE(reads, i * i <= 64 ? 1 : 2) << i;
  }
}

TEST(Bundle, NoticesADamagedSideEntry) {
  BundleWriter writer(kFirstWindow);
  const CatalogRow row = Rows(1)[0];
  ASSERT_TRUE(writer.Add(row, profile::EncodePprof(ProfileOf(row)), "a side entry"));
  auto bytes = std::move(writer).Finish();
  ASSERT_TRUE(bytes);
  const auto index = ReadBundleIndex(bytes->size(), Over(*bytes));
  ASSERT_TRUE(index);
  (*bytes)[bytes->find("a side entry")] ^= 1;
  const auto times = ReadBundleTimes(index->entries[0], Over(*bytes));
  ASSERT_FALSE(times);
  EXPECT_THAT(times.error().message(), HasSubstr("bad CRC-32"));
  EXPECT_TRUE(ReadBundleEntry(index->entries[0], Over(*bytes)));
}

TEST(Bundle, GivesTheSameBytesEachTime) { EXPECT_EQ(BundleOf(Rows(5)), BundleOf(Rows(5))); }

TEST(Bundle, ServesAnEntryWithTwoReads) {
  std::string bytes = BundleOf(Rows(100));
  int reads = 0;
  auto index = ReadBundleIndex(bytes.size(), Over(bytes, &reads));
  ASSERT_TRUE(index);
  EXPECT_EQ(reads, 1);
  ASSERT_TRUE(ReadBundleEntry(index->entries[42], Over(bytes, &reads)));
  EXPECT_EQ(reads, 2);
}

TEST(Bundle, ReadsADirectoryLongerThanTheTail) {
  std::string bytes = BundleOf(Rows(1500));
  int reads = 0;
  auto index = ReadBundleIndex(bytes.size(), Over(bytes, &reads));
  ASSERT_TRUE(index) << index.error().message();
  EXPECT_EQ(index->entries.size(), 1500u);
  EXPECT_EQ(reads, 2);
}

TEST(Bundle, IsAcceptedByUnzip) {
  if (!HaveCommand("unzip")) GTEST_SKIP() << "Bundle.IsAcceptedByUnzip: no unzip on PATH";
  ScratchFolder folder;
  std::string path = folder.path() + "/b.zip";
  std::vector<CatalogRow> rows = Rows(3);
  ASSERT_TRUE(WriteFileAtomic(path, BundleOf(rows)));
  auto tested = RunCommand("unzip -t " + path);
  EXPECT_EQ(tested.exit_code, 0) << tested.output;
  EXPECT_THAT(tested.output, HasSubstr("No errors detected"));
  auto listed = RunCommand("TZ=UTC unzip -lv " + path);
  EXPECT_THAT(listed.output, HasSubstr("Stored"));
  EXPECT_THAT(listed.output, HasSubstr("2025-11-21 04:40"));
  EXPECT_EQ(RunCommand("unzip -p " + path + " " + BundleEntryName(rows[1])).output,
            profile::EncodePprof(ProfileOf(rows[1])));
}

TEST(Bundle, IsReadByPython) {
  if (!HaveCommand("python3")) GTEST_SKIP() << "Bundle.IsReadByPython: no python3 on PATH";
  ScratchFolder folder;
  std::string path = folder.path() + "/b.zip";
  ASSERT_TRUE(WriteFileAtomic(path, BundleOf(Rows(2))));
  auto run = RunCommand("python3 -c 'import zipfile,json;z=zipfile.ZipFile(\"" + path +
                        "\");print(z.testzip(),[json.loads(i.comment)[\"pod\"] for i in "
                        "z.infolist()])'");
  EXPECT_EQ(run.output, "None ['web-0', 'web-1']\n");
}

TEST(Bundle, NeverServesAPrefix) {
  std::string bytes = BundleOf(Rows(3));
  for (size_t length = 0; length < bytes.size(); ++length) {
    std::string cut = bytes.substr(0, length);
    auto index = ReadBundleIndex(cut.size(), Over(cut));
    EXPECT_FALSE(index) << length;
  }
}

TEST(Bundle, NoticesEachFlippedByteOfAnEntry) {
  std::string bytes = BundleOf(Rows(2));
  auto index = ReadBundleIndex(bytes.size(), Over(bytes));
  ASSERT_TRUE(index);
  const BundleEntry& entry = index->entries[1];
  for (uint64_t at = entry.end_offset - entry.size; at < entry.end_offset; ++at) {
    std::string broken = bytes;
    broken[at] = static_cast<char>(broken[at] ^ 0x40);
    auto data = ReadBundleEntry(entry, Over(broken));
    ASSERT_FALSE(data) << at;
    EXPECT_THAT(data.error().message(), HasSubstr("bad CRC-32"));
    EXPECT_TRUE(ReadBundleEntry(index->entries[0], Over(broken)));
  }
}

TEST(Bundle, NeverCrashesOnAnyFlippedByte) {
  std::string bytes = BundleOf(Rows(2));
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string broken = bytes;
    broken[at] = static_cast<char>(broken[at] ^ 0xFF);
    auto index = ReadBundleIndex(broken.size(), Over(broken));
    if (!index) continue;
    for (const BundleEntry& entry : index->entries) (void)ReadBundleEntry(entry, Over(broken));
  }
}

TEST(Bundle, KeepsTwoOfOneName) {
  CatalogRow row = Row("shop", "web", "web", kFirstWindow);
  std::string bytes = BundleOf({row, row});
  auto index = ReadBundleIndex(bytes.size(), Over(bytes));
  ASSERT_TRUE(index) << index.error().message();
  ASSERT_EQ(index->entries.size(), 2u);
  EXPECT_NE(index->entries[0].name, index->entries[1].name);
}

TEST(Bundle, KeepsHostileNamesInsideTheFolder) {
  CatalogRow row = Row("..", "../../etc", "a/b\\c", kFirstWindow);
  EXPECT_THAT(BundleEntryName(row), HasSubstr("_./.._.._etc/a_b_c/cpu-"));
  std::string bytes = BundleOf({row});
  auto index = ReadBundleIndex(bytes.size(), Over(bytes));
  ASSERT_TRUE(index);
  EXPECT_EQ(index->entries[0].row.namespace_name, "..");  // the row tells the truth
}

TEST(Bundle, MayBeEmpty) {
  std::string bytes = BundleOf({});
  auto index = ReadBundleIndex(bytes.size(), Over(bytes));
  ASSERT_TRUE(index) << index.error().message();
  EXPECT_TRUE(index->entries.empty());
}

TEST(Bundle, NamesAForeignZip) {
  if (!HaveCommand("python3")) GTEST_SKIP() << "Bundle.NamesAForeignZip: no python3 on PATH";
  ScratchFolder folder;
  auto foreign = [&](const std::string& python) {
    std::string path = folder.path() + "/f.zip";
    RunCommand("rm -f " + path + "; python3 -c 'import zipfile;" + python + "' " + path);
    std::string bytes = *ReadFile(path);
    auto index = ReadBundleIndex(bytes.size(), Over(bytes));
    if (!index) return index.error().message();
    return index->bad_entries.empty() ? "no error" : index->bad_entries[0].reason;
  };
  std::string open = "import sys;z=zipfile.ZipFile(sys.argv[1],\"w\"";
  EXPECT_THAT(foreign(open + ",zipfile.ZIP_DEFLATED);z.writestr(\"a\",\"b\"*99);z.close()"),
              HasSubstr("compressed a second time"));
  EXPECT_THAT(foreign(open + ");z.comment=b\"hi\";z.writestr(\"a\",\"b\");z.close()"),
              HasSubstr("no end of central directory"));
  EXPECT_THAT(foreign(open + ");z.writestr(\"a\",\"b\");z.close()"),
              HasSubstr("not a JSON object"));
}

}  // namespace
}  // namespace firetower::store
