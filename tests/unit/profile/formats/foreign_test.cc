// SPDX-License-Identifier: Apache-2.0
// Files of unsupported formats, which are recognized by their magic numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "profile/codec/gzip.h"
#include "profile/format.h"

namespace firetower::profile {
namespace {

using ::testing::HasSubstr;

// Appends zeros, so that the file is as long as the header of its format.
std::string Padded(std::string bytes, size_t size = 64) {
  bytes.resize(std::max(bytes.size(), size));
  return bytes;
}

std::string Elf(char byte_order, std::string type) {
  return Padded(Padded(std::string("\x7f"
                                   "ELF\x02") +
                           byte_order + '\x01',
                       16) +
                type);
}

struct Case {
  std::string bytes;
  const char* what;
  const char* fix;
};

std::vector<Case> Cases() {
  const std::string tar = Padded("cpu.pb.gz", 257);
  return {
      {Padded("PERFILE2h"), "perf.data", "`perf script -i FILE"},
      {Padded("2ELIFREP"), "perf.data", "`perf script -i FILE"},
      {Padded("PERFILE2\x10"), "perf.data for a pipe", "`perf script -i - < FILE"},
      {Padded(std::string("FLR\0\0\2", 6)), "JFR", "`jfrconv -o pb.gz"},
      {Elf(1, std::string("\4\0", 2)), "a core file", "gdb"},
      {Elf(2, std::string("\0\4", 2)), "a core file", "gdb"},
      {Elf(1, std::string("\3\0", 2)), "a program or a library (ELF)", "perf record"},
      {Padded("BZh91AY&SY"), "bzip2", "`bzip2 -d"},
      {Padded("\x04\x22\x4d\x18"), "lz4", "`lz4 -d"},
      {Padded("\x02\x21\x4c\x18\x19"), "lz4", "`lz4 -d"},
      {"\x02\x21\x4c\x18"
       "main;foo 10\n",
       "lz4", "`lz4 -d"},
      {Padded("Rar!\x1a\x07"), "RAR", "`unrar x"},
      {Padded("x\x9c"), "zlib", "`pigz -dz"},
      {Padded("\x5d"), "lzma", "`xz -d"},
      {Padded("\xff\xfem"), "UTF-16", "`iconv"},
      {Padded("\x89PNG\r\n\x1a\n"), "PNG", "profile"},
      {Padded("MZ\x90"), "PE", "profile"},
      {Padded("\xcf\xfa\xed\xfe"), "Mach-O", "profile"},
      {Padded("SQLite format 3"), "SQLite", "profile"},
      {Padded("7z\xbc\xaf\x27\x1c"), "7-Zip", "`7z x"},
      {tar + Padded(std::string("ustar\0"
                                "00",
                                8)),
       "a tar", "`tar -xf"},
      {tar + Padded(std::string("ustar  \0", 8)), "a tar", "`tar -xf"},
      {R"({"nodes":[{"id":1,"callFrame":{"functionName":"root"}}]
})",
       ".cpuprofile", "speedscope.app"},
      {"\xEF\xBB\xBF{ \"head\" : {\"callFrame\":{}}}", ".heapprofile", "speedscope.app"},
      {R"({"traceEvents":[]})", "Chrome", "speedscope.app"},
      {"heap profile: 9: 931344 [10: 1979920] @ heap/1048576\n", "text", "without debug=1"},
      {"--- heapz 1 ---\n", "text", "`go tool pprof -proto"},
      {Padded(std::string("\0\0\0\0\3\0\0\0\1\0\0\0", 12)), "Java", "`go tool pprof -proto"},
  };
}

TEST(DetectFormat, SaysWhatAFileIsThatIsNotRead) {
  for (const Case& file : Cases()) {
    const Result<Format> format = DetectFormat(file.bytes, "cpu.pb.gz");
    ASSERT_FALSE(format) << file.what;
    EXPECT_EQ(format.error().code(), ErrorCode::kUnsupported);
    EXPECT_THAT(format.error().message(), HasSubstr(file.what));
    EXPECT_THAT(format.error().message(), HasSubstr(file.fix));
    const Result<Profile> packed = DecodeProfile(GzipCompress(file.bytes, 1), "");
    ASSERT_FALSE(packed) << file.what;
    EXPECT_THAT(packed.error().message(), HasSubstr("after gzip -d: this is "));
    EXPECT_THAT(packed.error().message(), HasSubstr(file.what));
  }
}

// The commands take no packed file.
TEST(DecodeProfile, SaysHowToUnpackAFileThatIsNotRead) {
  const auto reason = [](const std::string& bytes) {
    return DecodeProfile(GzipCompress(bytes, 1), "").error().message();
  };
  EXPECT_EQ(reason(Padded("PERFILE2h")),
            "after gzip -d: this is what `perf record` writes (perf.data): unpack it first with "
            "`gzip -d < "
            "FILE > OUT`, then run `perf script -i OUT > OUT.perf` and give that");
  EXPECT_THAT(reason(Padded(std::string("FLR\0\0\2", 6))),
              HasSubstr("`gzip -d < FILE > OUT`, then run `jfrconv -o pb.gz OUT OUT.pb.gz`"));
  EXPECT_THAT(reason(Elf(1, std::string("\4\0", 2))),
              HasSubstr("then look at its stacks with `gdb PROGRAM OUT`"));
  // Unpacked, it is of no more use.
  EXPECT_THAT(reason(Elf(1, std::string("\3\0", 2))), HasSubstr("(ELF): give a profile of it"));
}

TEST(DetectFormat, TakesTextsThatLookAlmostLikeThem) {
  EXPECT_EQ(DetectFormat("BZh;main 3\n", "").value(), Format::kFolded);
  EXPECT_EQ(DetectFormat("PERF;main 3\n", "").value(), Format::kFolded);
  EXPECT_EQ(DetectFormat("PK;main 3\n", "").value(), Format::kFolded);
  EXPECT_EQ(DetectFormat(R"({"name":"nodes","profiles":[]})", "").value(), Format::kSpeedscope);
  // PHP's root frame, and others in braces.
  for (const char* text : {"{main};a 3\n", "{main} 3\n", " {closure};a 3\n", "{};a 3\n",
                           "{\"x\"};a 3\n", "{main};a\x01 3\nmain 1\n"}) {
    EXPECT_EQ(DetectFormat(text, "x.json").value(), Format::kFolded) << text;
  }
  for (const char* text : {"{", "{ ", "{}", "{}\n", "{\"a", "{\"a\" :", "{\n\"a\\\"b\"\n:1}"}) {
    EXPECT_EQ(DetectFormat(text, "x.folded").value(), Format::kSpeedscope) << text;
  }
}

}  // namespace
}  // namespace firetower::profile
