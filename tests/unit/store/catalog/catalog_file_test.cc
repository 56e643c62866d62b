// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/catalog_file.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "profile/codec/gzip.h"
#include "store/catalog/catalog_format.h"
#include "store/catalog/catalog_writer.h"
#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::BundleKeyAt;
using ::firetower::testing::kFirstWindow;
using ::firetower::testing::Row;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

CatalogEntry EntryOf(const std::string& space, const std::string& workload, int pod, int64_t window,
                     const std::string& container = "main") {
  const int64_t start_s = kFirstWindow + 60 * window;
  CatalogEntry one;
  one.bundle = BundleKeyAt(start_s);
  one.entry.row = Row(space, fmt::format("{}-{}", workload, pod), container, start_s);
  one.entry.row.workload = workload;
  one.entry.name = BundleEntryName(one.entry.row);
  one.entry.crc32 = 0xfedcba98;
  one.entry.header_offset = 1000 * static_cast<uint64_t>(pod);
  one.entry.end_offset = one.entry.header_offset + 900;
  one.entry.size = 800;
  return one;
}

// Some 3,000 rows of 20 workloads.
std::vector<CatalogEntry> ManyEntries() {
  std::vector<CatalogEntry> entries;
  for (int workload = 0; workload < 20; ++workload) {
    const std::string space = workload < 10 ? "front" : "shop";
    for (int pod = 0; pod < 15; ++pod) {
      for (int64_t window = 0; window < 10; ++window)
        entries.push_back(EntryOf(space, fmt::format("w{:02}", workload), pod, window));
    }
  }
  return entries;
}

// A file in memory that counts what is read of it.
class CountedFile {
 public:
  explicit CountedFile(std::string bytes) : bytes_(std::move(bytes)) {}

  Result<CatalogFile> Open() { return CatalogFile::Open(bytes_.size(), Reader()); }
  std::vector<CatalogEntry> Read(const CatalogFilter& filter) {
    std::vector<CatalogEntry> found;
    const Result<CatalogFile> file = Open();
    EXPECT_TRUE(file) << file.error().message();
    read_bytes = reads = 0;
    const Status read = file->Read(filter, Reader(), [&](const CatalogEntry& one) {
      found.push_back(one);
      return OkStatus();
    });
    EXPECT_TRUE(read) << read.error().message();
    return found;
  }
  RangeReader Reader() {
    return [this](uint64_t offset, uint64_t length) -> Result<std::string> {
      ++reads;
      read_bytes += length;
      if (offset + length > bytes_.size()) return Error(ErrorCode::kCorrupt, "beyond the end");
      return bytes_.substr(offset, length);
    };
  }
  const std::string& bytes() const { return bytes_; }

  uint64_t read_bytes = 0;
  int reads = 0;

 private:
  std::string bytes_;
};

std::vector<std::string> Places(const std::vector<CatalogEntry>& entries) {
  std::vector<std::string> places;
  for (const CatalogEntry& one : entries) {
    const CatalogRow& row = one.entry.row;
    places.push_back(row.namespace_name + "/" + row.workload + "/" + row.pod);
  }
  return places;
}

// Left out where it follows from the row.
std::string NameOf(const CatalogEntry& one) {
  return one.entry.name.empty() ? BundleEntryName(one.entry.row) : one.entry.name;
}

TEST(CatalogFile, GivesBackWhatItHolds) {
  const CatalogEntry one = EntryOf("shop", "cart", 3, 1);
  CatalogHeader header{.start_s = kFirstWindow, .seconds = 300, .shard = 2, .shards = 4};
  header.replaces = {"v1/standard/home/catalog/a", "v1/standard/home/catalog/b"};
  CountedFile file(EncodeCatalog(header, {one}));
  const Result<CatalogFile> opened = file.Open();
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(opened->header().start_s, kFirstWindow);
  EXPECT_EQ(opened->header().seconds, 300);
  EXPECT_EQ(opened->header().shard, 2u);
  EXPECT_EQ(opened->header().shards, 4u);
  EXPECT_EQ(opened->header().rows, 1u);
  EXPECT_EQ(opened->header().replaces, header.replaces);
  const std::vector<CatalogEntry> found = file.Read({});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].bundle, one.bundle);
  EXPECT_EQ(NameOf(found[0]), one.entry.name);
  EXPECT_EQ(found[0].entry.crc32, one.entry.crc32);
  EXPECT_EQ(found[0].entry.header_offset, one.entry.header_offset);
  EXPECT_EQ(found[0].entry.end_offset, one.entry.end_offset);
  EXPECT_EQ(found[0].entry.size, one.entry.size);
  EXPECT_EQ(found[0].entry.row, one.entry.row);
}

TEST(CatalogFile, SaysWhenItsLastWindowEnds) {
  CatalogEntry rolled_up = EntryOf("shop", "cart", 3, 0);
  rolled_up.entry.row.duration_ns = 600 * testing::kSecondNs;
  rolled_up.bundle = *BuildKey(BundleKey{.cluster = "home",
                                         .start_s = kFirstWindow,
                                         .seconds = 600,
                                         .node = "node-1",
                                         .run = "abcd1234",
                                         .rolled_up = true});
  CountedFile windows(EncodeCatalog({}, {EntryOf("shop", "cart", 3, 1), rolled_up}));
  EXPECT_EQ(windows.Open()->header().last_end_s, kFirstWindow + 120);
  CountedFile none(EncodeCatalog({}, {rolled_up}));
  EXPECT_EQ(none.Open()->header().last_end_s, 0);
}

TEST(CatalogFile, NamesWhatCouldNotBeRead) {
  CatalogHeader header;
  header.unreadable = {{BundleKeyAt(kFirstWindow), "a/b/c/cpu-0.pb.gz", "truncated: \"x\""}};
  CountedFile file(EncodeCatalog(header, {}));
  EXPECT_EQ(file.Open()->header().unreadable, header.unreadable);
}

TEST(CatalogFile, KeepsANameThatIsNotTheUsualOne) {
  CatalogEntry one = EntryOf("shop", "cart", 3, 1);
  one.entry.name.insert(one.entry.name.size() - 6, "-2");
  CountedFile file(EncodeCatalog({}, {one}));
  EXPECT_EQ(file.Read({}).at(0).entry.name, one.entry.name);
}

TEST(CatalogFile, GivesBackEveryRowWhateverItsNeighbours) {
  std::vector<CatalogEntry> entries;
  for (int64_t window = 0; window < 40; ++window) {
    CatalogEntry one = EntryOf("shop", "cart", 3, window);
    CatalogRow& row = one.entry.row;
    row.start_ns += window * 137 % 1000 * 1'000'000;
    row.duration_ns += window * 501 % 1000 * 1'000'000;
    row.samples = window % 7 == 0 ? -window : window << 40;
    if (window % 3 == 1) row.policies = {"shop/a"};
    if (window % 5 == 2) row.build_ids = {"aa", "\\\",\"start\":7"};
    if (window % 11 == 4) row.container_id = "\",\"start\":1";
    if (window % 13 == 5) row.capture = "f00d";
    if (window % 13 == 6) row.also_value = 5;
    one.entry.name = BundleEntryName(row);
    if (window % 17 == 6) one.entry.name += "\"\\,\"row\":{}";
    entries.push_back(one);
  }
  CountedFile file(EncodeCatalog({}, entries));
  const std::vector<CatalogEntry> found = file.Read({});
  ASSERT_THAT(found, SizeIs(entries.size()));
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].entry.row, entries[i].entry.row) << i;
    EXPECT_EQ(NameOf(found[i]), entries[i].entry.name) << i;
    EXPECT_EQ(found[i].bundle, entries[i].bundle) << i;
  }
}

// Another program may write the same JSON with other spaces, and with unknown members.
TEST(CatalogLineParser, TakesAnyJsonOfAnEntry) {
  const CatalogEntry one = EntryOf("shop", "cart", 3, 1);
  const std::string row = CatalogRowToJson(one.entry.row);
  const std::string line = fmt::format(
      R"({{ "size": 800, "bundle" : "{}", "new": [1], "crc32": 5, "offset":3000,"end":3900,"row":{}}})",
      one.bundle, row);
  CatalogLineParser parser;
  for (int i = 0; i < 2; ++i) {
    const Result<CatalogEntry> parsed = parser.Parse(line);
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(parsed->bundle, one.bundle);
    EXPECT_EQ(parsed->entry.crc32, 5u);
    EXPECT_EQ(parsed->entry.size, 800u);
    EXPECT_EQ(parsed->entry.row, one.entry.row);
    EXPECT_EQ(parsed->entry.name, one.entry.name);
  }
}

// A row whose text begins as the one before it does, and goes on otherwise.
TEST(CatalogLineParser, TakesNoTextOfAnotherRow) {
  const CatalogEntry one = EntryOf("shop", "cart", 3, 1);
  const auto line_with = [&](std::string_view more) {
    std::string line = CatalogLineOf(one);
    line.pop_back();
    return line.replace(line.find(",\"start\":"), 0, more);
  };
  CatalogLineParser parser;
  for (const std::string_view node : {"", "n2", "", "n2", "n3", ""}) {
    const std::string more =
        node.empty() ? "" : fmt::format(",\"node\":\"{}\"", node);  // the last of a name counts
    const Result<CatalogEntry> parsed = parser.Parse(line_with(more));
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(parsed->entry.row.node, node.empty() ? one.entry.row.node : node);
  }
}

TEST(CatalogLineParser, RefusesWhatIsNoEntry) {
  const CatalogEntry one = EntryOf("shop", "cart", 3, 1);
  std::string line = CatalogLineOf(one);
  line.pop_back();
  EXPECT_TRUE(CatalogLineParser().Parse(line));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = line;
    EXPECT_NE(changed.find(from), std::string::npos) << from;
    changed.replace(changed.find(from), from.size(), to);
    CatalogLineParser parser;
    EXPECT_TRUE(parser.Parse(line)) << "the row before it is fine";
    return parser.Parse(changed).has_value();
  };
  EXPECT_FALSE(with("\"end\":3900", "\"end\":2999")) << "before its beginning";
  EXPECT_FALSE(with("\"end\":3900", "\"end\":3700")) << "shorter than its data";
  EXPECT_FALSE(with("\"size\":800", "\"size\":-1"));
  EXPECT_FALSE(with("\"crc32\":", "\"crc32\":9"));
  EXPECT_FALSE(with("\"offset\":3000", "\"offset\":4294901761"));
  EXPECT_FALSE(with("\"start\":", "\"start\":-"));
  EXPECT_FALSE(with("\"start\":", "\"start\":99999999"));
  EXPECT_FALSE(with("\"seconds\":60", "\"seconds\":86401"));
  EXPECT_FALSE(with("\"seconds\":60", "\"seconds\":\"60\""));
  EXPECT_FALSE(with("\"samples\":10", "\"samples\":1e70"));
  EXPECT_FALSE(with(",\"row\":", ",\"raw\":"));
  for (size_t size = 0; size < line.size(); ++size)
    EXPECT_FALSE(CatalogLineParser().Parse(line.substr(0, size))) << size;
}

TEST(CatalogFile, HoldsARowThatCameTwiceOnce) {
  const CatalogEntry one = EntryOf("shop", "cart", 3, 1);
  CountedFile file(EncodeCatalog({}, {one, one}));
  EXPECT_THAT(file.Read({}), SizeIs(1));
  EXPECT_EQ(file.Open()->header().rows, 1u);
}

TEST(CatalogFile, AHalfOfAShardIsAShardOfTwiceAsMany) {
  for (int i = 0; i < 200; ++i) {
    const std::string workload = fmt::format("workload-{}", i);
    const uint32_t of = ShardOf("shop", workload, 16);
    EXPECT_EQ(ShardOf("shop", workload, 4), of % 4);
    EXPECT_EQ(ShardOf("shop", workload, 8), of % 8);
  }
}

TEST(CatalogFile, IsOpenedByItsTailAlone) {
  CountedFile file(EncodeCatalog({}, ManyEntries()));
  ASSERT_TRUE(file.Open());
  EXPECT_EQ(file.reads, 1);
  EXPECT_LE(file.read_bytes, 4096u);
}

TEST(CatalogFile, MayBeEmpty) {
  CountedFile file(EncodeCatalog({}, {}));
  EXPECT_THAT(file.Read({}), IsEmpty());
  EXPECT_THAT(file.Read({.pod = "cart-1"}), IsEmpty());
}

TEST(CatalogFile, IsTheSameInWhateverOrderItIsMade) {
  std::vector<CatalogEntry> entries = ManyEntries();
  const std::string bytes = EncodeCatalog({}, entries);
  std::ranges::reverse(entries);
  EXPECT_EQ(EncodeCatalog({}, entries), bytes);
}

TEST(CatalogFile, GivesEverythingInOrder) {
  const std::vector<CatalogEntry> entries = ManyEntries();
  CountedFile file(EncodeCatalog({}, entries));
  const std::vector<CatalogEntry> found = file.Read({});
  EXPECT_THAT(found, SizeIs(entries.size()));
  const std::vector<std::string> places = Places(found);
  EXPECT_TRUE(std::ranges::is_sorted(places));
}

TEST(CatalogFile, ReadsLittleOfItForAWorkload) {
  const std::vector<CatalogEntry> entries = ManyEntries();
  CountedFile file(EncodeCatalog({}, entries));
  const std::vector<CatalogEntry> found = file.Read({"shop", "w13"});
  EXPECT_THAT(found, SizeIs(150));
  for (const CatalogEntry& one : found) EXPECT_EQ(one.entry.row.workload, "w13");
  EXPECT_EQ(file.reads, 1);
  EXPECT_LT(file.read_bytes, file.bytes().size() / 4);
}

TEST(CatalogFile, FindsWhatEachFilterNames) {
  CountedFile file(EncodeCatalog({}, ManyEntries()));
  EXPECT_THAT(file.Read({.namespace_name = "front"}), SizeIs(1500));
  EXPECT_THAT(file.Read({.namespace_name = "fron"}), IsEmpty());
  EXPECT_THAT(file.Read({"front", "w1"}), IsEmpty()) << "no workload, but the beginning of some";
  EXPECT_THAT(Places(file.Read({"shop", "w19", "w19-14"})),
              ::testing::AllOf(SizeIs(10), Each("shop/w19/w19-14")));
  EXPECT_THAT(Places(file.Read({.pod = "w00-1"})),
              ::testing::AllOf(SizeIs(10), Each("front/w00/w00-1")));
  EXPECT_THAT(file.Read({"shop", "w00"}), IsEmpty()) << "it is in another namespace";
}

TEST(CatalogFile, ReadsNothingForAPodThatIsNotInIt) {
  CountedFile file(EncodeCatalog({}, ManyEntries()));
  int in_vain = 0;
  for (int pod = 100; pod < 300; ++pod) {
    EXPECT_THAT(file.Read({.pod = fmt::format("w00-{}", pod)}), IsEmpty());
    in_vain += file.reads;
  }
  EXPECT_LE(in_vain, 10) << "of 200; 2 are due";
}

TEST(CatalogFile, SpreadsWorkloadsOverShards) {
  std::vector<int> workloads(8);
  for (int i = 0; i < 800; ++i) ++workloads[ShardOf("shop", fmt::format("workload-{}", i), 8)];
  EXPECT_GT(*std::ranges::min_element(workloads), 60) << "100 are due each";
  EXPECT_EQ(ShardOf("shop", "cart", 1), 0u);
}

TEST(CatalogFile, IsShownByZcat) {
  testing::ScratchFolder folder;
  const std::string path = folder.path() + "/catalog.ndjson.gz";
  const std::string bytes = EncodeCatalog({}, ManyEntries());
  std::ofstream(path, std::ios::binary) << bytes;
  const testing::CommandResult shown = testing::RunCommand("zcat " + path);
  EXPECT_EQ(shown.exit_code, 0);
  std::istringstream lines(shown.output);
  size_t count = 0;
  std::string last;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(nlohmann::json::accept(line)) << line.substr(0, 200);
    last = line;
  }
  EXPECT_EQ(count, 3001u);
  EXPECT_EQ(nlohmann::json::parse(last)["rows"], 3000);
}

TEST(CatalogFile, TakesNamesOfAnyBytes) {
  const CatalogEntry odd = EntryOf("s\"p", "w\xff\n", 0, 0, "c\\");
  CountedFile file(EncodeCatalog({}, {odd, EntryOf("shop", "cart", 1, 0)}));
  EXPECT_THAT(file.Read({}), SizeIs(2));
}

// An index is JSON, however it is spelled.
class CatalogIndexText : public ::testing::Test {
 protected:
  CountedFile FileWith(const std::string& index) {
    return CountedFile(whole_.substr(0, index_at_) + profile::GzipCompress(index, 1) +
                       CatalogLocator(index_at_));
  }
  std::string Replaced(std::string_view from, std::string_view to) {
    std::string text = index_;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  const std::string whole_ = EncodeCatalog({}, ManyEntries());
  const uint64_t index_at_ = *ReadCatalogLocator(whole_.substr(whole_.size() - kLocatorBytes));
  const std::string index_ = *profile::GzipDecompress(
      whole_.substr(index_at_, whole_.size() - kLocatorBytes - index_at_), 1 << 20);
};

TEST_F(CatalogIndexText, SaysTheSameInAnySpelling) {
  CountedFile ours = FileWith(index_);
  CountedFile other = FileWith(nlohmann::ordered_json::parse(index_).dump(2));
  const CatalogFilter asked{.namespace_name = "shop", .workload = "w12"};
  EXPECT_THAT(ours.Read(asked), SizeIs(150));
  EXPECT_THAT(other.Read(asked), SizeIs(150));
  EXPECT_EQ(other.read_bytes, ours.read_bytes);
  EXPECT_LT(ours.read_bytes, index_at_ / 2);
}

TEST_F(CatalogIndexText, IsRefusedWhenItsBlocksAreNotInOrder) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {R"("offsets":[0,)", R"("offsets":[1,)"},
           {R"("offsets":[0,)", R"("offsets":[0,0,)"},
           {R"("offsets":[0,)", R"("offsets":[0,-1,)"},
           {R"("offsets":[0,)", R"("offsets":[0,99999999,)"},
           {R"("offsets":[0,)", R"("offsets":[)"},
           {R"("firsts":[")", R"("firsts":["z)"},
           {R"("firsts":[")", R"("firsts":["",")"},
           {R"("firsts":[)", R"("firsts":[7,)"},
           {R"("firsts":[)", R"("lasts":[)"},
           {R"("rows":)", R"("rows":-)"}}) {
    const Result<CatalogFile> opened = FileWith(Replaced(from, to)).Open();
    ASSERT_FALSE(opened) << from << " as " << to;
    EXPECT_EQ(opened.error().code(), ErrorCode::kCorrupt);
  }
}

TEST(CatalogFile, EveryTruncationIsAnError) {
  const std::string whole =
      EncodeCatalog({}, {EntryOf("shop", "cart", 1, 0), EntryOf("shop", "cart", 2, 0)});
  for (size_t size = 0; size < whole.size(); ++size) {
    CountedFile file(whole.substr(0, size));
    const Result<CatalogFile> opened = file.Open();
    ASSERT_FALSE(opened) << size;
    EXPECT_EQ(opened.error().code(), ErrorCode::kCorrupt);
  }
}

TEST(CatalogFile, EveryFlippedByteIsAnErrorOrChangesNothing) {
  const std::vector<CatalogEntry> entries = {EntryOf("shop", "cart", 1, 0),
                                             EntryOf("shop", "cart", 2, 0)};
  const std::string whole = EncodeCatalog({}, entries);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    CountedFile file(damaged);
    const Result<CatalogFile> opened = file.Open();
    if (!opened) continue;
    size_t rows = 0;
    const Status read = opened->Read({}, file.Reader(), [&](const CatalogEntry&) {
      ++rows;
      return OkStatus();
    });
    // gzip's header has bytes that mean nothing (time, system); everything else has a checksum.
    EXPECT_TRUE(!read || rows == entries.size()) << at;
  }
}

TEST(CatalogFile, RefusesAnotherFormat) {
  CountedFile zip("PK\x03\x04 something else that is long enough to have an end");
  EXPECT_EQ(zip.Open().error().code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace firetower::store
