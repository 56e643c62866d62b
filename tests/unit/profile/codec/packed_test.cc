// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <functional>
#include <vector>

#include "profile/codec/gzip.h"
#include "profile/codec/packed/unpack.h"
#include "profile/codec/packed/xz.h"
#include "profile/codec/packed/zip.h"
#include "profile/codec/packed/zstd.h"
#include "profile/export.h"
#include "profile/format.h"
#include "profile/merge.h"

namespace firetower::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kFolded = "main;a 3\nmain;b 4\n";

// Written by `zstd -c --check`, `xz -c`, Python's zipfile and `zip -q - -`, in hexadecimal. The
// first ZIP has a folder, a deflated file of kFolded three times and a comment; the second two
// stored files, of kFolded and of "main;c 5"; the last has lengths behind its data.
constexpr std::string_view kZstd = "28b52ffd04589100006d61696e3b6120330a6d61696e3b6220340a164683b6";

constexpr std::string_view kXz =
    "fd377a585a000004e6d6b4460200210116000000742fe5a30100116d61696e3b6120330a6d61696e3b622034"
    "0a000000c2ac5682a3d821c300012a124b0854bc1fb6f37d010000000004595a";

constexpr std::string_view kZipOfOne =
    "504b030414000000000000002100000000000000000000000000040000007765622f504b0304140000000800"
    "0000210008ad488a14000000360000000c0000007765622f612e666f6c646564cb4dccccb34e5430e6ca0531"
    "92144c200c022200504b01021403140000000000000021000000000000000000000000000400000000000000"
    "000000008001000000007765622f504b010214031400000008000000210008ad488a14000000360000000c00"
    "000000000000000000008001220000007765622f612e666f6c646564504b050600000000020002006c000000"
    "6000000009006f6620612074657374";

constexpr std::string_view kZipOfTwo =
    "504b03041400000000000000210006db8efc120000001200000008000000612e666f6c6465646d61696e3b61"
    "20330a6d61696e3b6220340a504b03041400000000000000210056097ffe090000000900000008000000622e"
    "666f6c6465646d61696e3b6320350a504b010214031400000000000000210006db8efc120000001200000008"
    "0000000000000000000000800100000000612e666f6c646564504b010214031400000000000000210056097f"
    "fe0900000009000000080000000000000000000000800138000000622e666f6c646564504b05060000000002"
    "0002006c000000670000000000";

constexpr std::string_view kZipStreamed =
    "504b03042d00080008004055795d00000000ffffffffffffffff010014002d01001000000000000000000000"
    "00000000000000cb4dccccb34e5430e6ca053192144c200c022200504b070808ad488a140000000000000036"
    "00000000000000504b01021e032d00080008004055795d08ad488a1400000036000000010000000000000001"
    "0000008011000000002d504b050600000000010001002f0000005f0000000000";

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

// Returns the contents of a file, each part after its name and the way to it.
Result<std::vector<std::string>> UnpackAll(std::string_view bytes, UnpackOptions options = {}) {
  std::vector<std::string> parts;
  RETURN_IF_ERROR(Unpack(bytes, "file", options, [&](const Unpacked& part) {
    parts.push_back(std::string(part.name) + "|" + part.way + "|" + std::string(part.bytes));
    return OkStatus();
  }));
  return parts;
}

std::vector<std::string> Parts(std::string_view bytes, UnpackOptions options = {}) {
  auto parts = UnpackAll(bytes, options);
  EXPECT_TRUE(parts) << parts.error().message();
  return parts ? *parts : std::vector<std::string>();
}

TEST(Unpack, ReadsWhatOtherToolsWrite) {
  const std::string folded(kFolded);
  const std::string thrice = folded + folded + folded;
  EXPECT_THAT(Parts(kFolded), ElementsAre("file||" + folded));
  EXPECT_THAT(Parts(FromHex(kZstd)), ElementsAre("file|after zstd -d|" + folded));
  EXPECT_THAT(Parts(FromHex(kXz)), ElementsAre("file|after xz -d|" + folded));
  EXPECT_THAT(Parts(GzipCompress(kFolded, 1)), ElementsAre("file|after gzip -d|" + folded));
  EXPECT_THAT(Parts(FromHex(kZipOfOne)),
              ElementsAre("web/a.folded|in the ZIP's file web/a.folded|" + thrice));
  EXPECT_THAT(Parts(FromHex(kZipStreamed)), ElementsAre("-|in the ZIP's file -|" + thrice));
  EXPECT_THAT(Parts(GzipCompress(FromHex(kXz), 1)),
              ElementsAre("file|after gzip -d, after xz -d|" + folded));
  EXPECT_THAT(Parts(FromHex(kZstd) + FromHex(kZstd)),
              ElementsAre("file|after zstd -d|" + folded + folded));
  EXPECT_THAT(Parts(FromHex(kXz) + FromHex(kXz)),
              ElementsAre("file|after xz -d|" + folded + folded));
}

// Returns the growth of a process that does `work`; 0: it failed.
size_t PeakBytesOf(const std::function<bool()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    rusage before = {};
    rusage after = {};
    getrusage(RUSAGE_SELF, &before);
    const bool done = work();
    getrusage(RUSAGE_SELF, &after);
    const long grown = after.ru_maxrss - before.ru_maxrss;
    _exit(done && write(ends[1], &grown, sizeof grown) == sizeof grown ? 0 : 1);
  }
  close(ends[1]);
  long grown = 0;
  if (read(ends[0], &grown, sizeof grown) != sizeof grown) grown = 0;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return static_cast<size_t>(grown) << 10;
}

TEST(Unpack, LetsAFileOfAZipBeChosen) {
  const std::string zip = FromHex(kZipOfTwo);
  const std::string b = "b.folded|in the ZIP's file b.folded|main;c 5\n";
  EXPECT_THAT(Parts(zip, {.entry = "b.folded"}), ElementsAre(b));
  EXPECT_THAT(Parts(zip, {.entry = "b*"}), ElementsAre(b));
  EXPECT_THAT(Parts(zip, {.entry = "?.folded", .all_entries = true}), ::testing::SizeIs(2));
  EXPECT_THAT(Parts(zip, {.all_entries = true}), ::testing::SizeIs(2));
  const auto none = UnpackAll(zip);
  EXPECT_EQ(none.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(none.error().message(), HasSubstr("a ZIP of 2 files: a.folded, b.folded"));
  const auto many = UnpackAll(zip, {.entry = "*"});
  EXPECT_THAT(many.error().message(),
              HasSubstr("'*' names 2 files of the ZIP: a.folded, b.folded"));
  const auto missing = UnpackAll(zip, {.entry = "c", .all_entries = true});
  EXPECT_THAT(missing.error().message(), HasSubstr("no file 'c'; it has a.folded, b.folded"));
  EXPECT_EQ(UnpackAll(kFolded, {.entry = "a"}).error().code(), ErrorCode::kNotFound);
}

std::string Little(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

// APPNOTE.TXT 4.3.7, 4.3.12 and 4.3.16: a ZIP of one stored file.
std::string StoredZip(const std::string& name, const std::string& data) {
  uint32_t crc = ~0u;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0u);
  }
  const std::string common = Little(20, 2) + Little(0, 8) + Little(~crc, 4) +
                             Little(data.size(), 4) + Little(data.size(), 4) +
                             Little(name.size(), 2) + Little(0, 2);
  const std::string local = "PK\x03\x04" + common + name + data;
  const std::string central = "PK\x01\x02" + Little(20, 2) + common + Little(0, 14) + name;
  return local + central + "PK\x05\x06" + Little(0, 4) + Little(1, 2) + Little(1, 2) +
         Little(central.size(), 4) + Little(local.size(), 4) + Little(0, 2);
}

// `?` is one character of UTF-8, and one byte of what is none.
TEST(Unpack, MatchesCharactersOfNames) {
  struct {
    const char* name;
    const char* pattern;
    bool is_match;
  } rows[] = {{"größe.folded", "gr?ße.folded", true},
              {"größe.folded", "gr??e.folded", true},
              {"größe.folded", "gr??ße.folded", false},
              {"größe.folded", "*?.folded", true},
              {"größe.folded", "?????.folded", true},
              {"größe.folded", "??????.folded", false},
              {"\xe9.folded", "?.folded", true},
              {"\xc3.folded", "?.folded", true},
              {"日本/語", "?本/?", true},
              {"日本/語", "*語", true},
              {"日本/語", "?", false},
              {"a/b/c", "a*c", true},
              {"a/b/c", "*b", false},
              {"aab", "*ab", true},
              {"abab", "a*b*b", true},
              {"a", "a*", true},
              {"a", "**", true},
              {"a", "?*?", false},
              {"x[1]", "x[?]", true},
              {"x1", "x[1]", false}};
  for (const auto& row : rows) {
    const std::string zip = StoredZip(row.name, "main 1\n");
    EXPECT_EQ(static_cast<bool>(UnpackAll(zip, {.entry = row.pattern})), row.is_match)
        << row.name << " " << row.pattern;
  }
}

TEST(Unpack, SaysHowAShellUnpacksAFile) {
  const auto command_of = [](const std::string& bytes) {
    std::string command;
    EXPECT_TRUE(Unpack(bytes, "file", {}, [&](const Unpacked& part) {
      command = part.command;
      return OkStatus();
    }));
    return command;
  };
  const std::string zip = StoredZip("web (1)/a.perf", "x");
  EXPECT_EQ(command_of("x"), "");
  EXPECT_EQ(command_of(GzipCompress("x", 1)), "gzip -d < FILE");
  EXPECT_EQ(command_of(GzipCompress(FromHex(kXz), 1)), "gzip -d < FILE | xz -d");
  EXPECT_EQ(command_of(StoredZip("it's", "x")), "unzip -p FILE ENTRY");
  EXPECT_EQ(command_of(StoredZip("a.gz", GzipCompress("x", 1))), "unzip -p FILE 'a.gz' | gzip -d");
  EXPECT_EQ(command_of(GzipCompress(zip, 1)),
            "gzip -d < FILE > FILE.zip; unzip -p FILE.zip 'web (1)/a.perf'");
}

TEST(DecodeProfile, TellsOfAnEntryThatIsCut) {
  const std::string cut = "app 7 1.5: 1 cycles: \n\t1a leaf+0x1 (/a)\n\t2b main (/a)\n";
  const std::string zip = StoredZip("x.perf", cut);
  std::vector<std::string> notes;
  ASSERT_TRUE(DecodeProfile(zip, "z.zip", {}, &notes));
  EXPECT_THAT(
      notes,
      ElementsAre(HasSubstr("in the ZIP's file x.perf: it ends inside a sample of perf script")));
  Merger merger;
  std::vector<std::string> same;
  ASSERT_TRUE(AddToMerge(zip, "z.zip", {}, &merger, &same));
  EXPECT_EQ(same, notes);
  notes.clear();
  ASSERT_TRUE(DecodeProfile(StoredZip("x.perf", cut + "\n"), "z.zip", {}, &notes));
  EXPECT_THAT(notes, ElementsAre());
}

TEST(Unpack, SaysWhatToDoWithAZipInsideAZip) {
  const std::string inner = StoredZip("a.folded", std::string(kFolded));
  EXPECT_THAT(Parts(inner),
              ElementsAre("a.folded|in the ZIP's file a.folded|" + std::string(kFolded)));
  const auto outer = UnpackAll(StoredZip("b.zip", inner));
  EXPECT_EQ(outer.error().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(outer.error().message(),
              HasSubstr("in the ZIP's file b.zip: it is a ZIP inside a ZIP: unpack the outer one "
                        "with `unzip`"));
}

TEST(Unpack, BoundsWhatComesOut) {
  for (std::string_view hex : {kZstd, kXz, kZipOfTwo, kZipOfOne}) {
    const std::string bytes = FromHex(hex);
    EXPECT_TRUE(UnpackAll(bytes, {.max_bytes = 54, .all_entries = true}));
    EXPECT_EQ(UnpackAll(bytes, {.max_bytes = 17, .all_entries = true}).error().code(),
              ErrorCode::kExhausted);
  }
  EXPECT_TRUE(ZstdDecompress(FromHex(kZstd), kFolded.size()));
  EXPECT_TRUE(XzDecompress(FromHex(kXz), kFolded.size()));
  std::string nested(kFolded);
  for (int i = 0; i < 4; ++i) nested = GzipCompress(nested, 1);
  EXPECT_THAT(Parts(nested), ::testing::SizeIs(1));
  EXPECT_THAT(UnpackAll(GzipCompress(nested, 1)).error().message(), HasSubstr("packed too often"));
}

// A member of 16 MiB of zeros, many times: nothing says how much comes out of all.
TEST(Unpack, HoldsNoMoreOfABombThanTheLimit) {
  const std::string zeros(16 << 20, '\0');
  std::string zstd(ZSTD_compressBound(zeros.size()), '\0');
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), zeros.data(), zeros.size(), 1));
  std::string xz(lzma_stream_buffer_bound(zeros.size()), '\0');
  size_t xz_size = 0;
  ASSERT_EQ(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr,
                                    reinterpret_cast<const uint8_t*>(zeros.data()), zeros.size(),
                                    reinterpret_cast<uint8_t*>(xz.data()), &xz_size, xz.size()),
            LZMA_OK);
  xz.resize(xz_size);
  constexpr size_t kLimit = size_t{192} << 20;
  constexpr size_t kBesides = size_t{32} << 20;  // windows, and what the test itself has
  for (const std::string& member : {GzipCompress(zeros, 1), zstd, xz}) {
    std::string bomb;
    for (int i = 0; i < 14; ++i) bomb += member;
    EXPECT_TRUE(UnpackAll(member, {.max_bytes = kLimit}));
    const size_t held = PeakBytesOf([&] {
      return UnpackAll(bomb, {.max_bytes = kLimit}).error().code() == ErrorCode::kExhausted;
    });
    ASSERT_GT(held, 0u);
    EXPECT_LE(held, kLimit + kLimit / 8 + kBesides);
  }
}

TEST(Unpack, RefusesWhatIsCutOffOrDamaged) {
  for (std::string_view hex : {kZstd, kXz, kZipOfTwo, kZipOfOne, kZipStreamed}) {
    const std::string bytes = FromHex(hex);
    const UnpackOptions options{.all_entries = true};
    ASSERT_TRUE(UnpackAll(bytes, options));
    for (size_t size = 8; size < bytes.size(); ++size) {
      const auto cut = UnpackAll(std::string_view(bytes).substr(0, size), options);
      ASSERT_FALSE(cut) << hex << " to " << size;
      EXPECT_NE(cut.error().code(), ErrorCode::kInternal);
    }
    EXPECT_FALSE(UnpackAll(bytes + "x", options));
  }
  for (size_t at = 4; at < FromHex(kZstd).size(); ++at) {
    std::string damaged = FromHex(kZstd);
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto read = ZstdDecompress(damaged, 1 << 20);
    EXPECT_TRUE(!read || *read == kFolded) << at;
  }
}

// Two headers of the directory that lead to one local header, as bombs have them.
TEST(Unpack, RefusesAZipWhoseFilesOverlap) {
  std::string zip = FromHex(kZipOfTwo);
  const size_t central = zip.find("PK\x01\x02", zip.find("PK\x01\x02") + 1);
  zip[central + 42] = 0;
  EXPECT_THAT(UnpackAll(zip, {.all_entries = true}).error().message(), HasSubstr("overlap"));
}

TEST(Unpack, SaysWhatOfAZipIsNotRead) {
  const std::string zip = FromHex(kZipOfOne);
  const size_t central = zip.rfind("PK\x01\x02");
  std::string encrypted = zip;
  encrypted[central + 8] = 1;
  EXPECT_THAT(UnpackAll(encrypted).error().message(), HasSubstr("encrypted: unpack it"));
  std::string lzma = zip;
  lzma[central + 10] = 14;
  EXPECT_THAT(UnpackAll(lzma).error().message(), HasSubstr("method 14"));
  std::string checksum = zip;
  checksum[central + 16] = static_cast<char>(checksum[central + 16] ^ 1);
  EXPECT_THAT(UnpackAll(checksum).error().message(), HasSubstr("checksum"));
}

TEST(AddToMerge, AddsAllFilesOfAZip) {
  Merger merger;
  ASSERT_TRUE(AddToMerge(FromHex(kZipOfTwo), "x.zip", {}, &merger));
  EXPECT_EQ(merger.count(), 2u);
  EXPECT_EQ(ToFolded(std::move(merger).Finish(), 0), "main;a 3\nmain;b 4\nmain;c 5\n");
  const auto one = DecodeProfile(FromHex(kZipOfTwo), "x.zip", {.entry = "b.folded"});
  ASSERT_TRUE(one) << one.error().message();
  EXPECT_EQ(ToFolded(*one, 0), "main;c 5\n");
}

}  // namespace
}  // namespace firetower::profile
