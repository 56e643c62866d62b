// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "profile/export.h"
#include "profile/format.h"
#include "profile/import.h"
#include "tests/support/command.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::HaveCommand;
using ::firetower::testing::RunCommand;
using ::firetower::testing::ScratchFolder;
using ::testing::HasSubstr;

struct Form {
  size_t bytes;
  bool big_endian;
};
constexpr Form kForms[] = {{4, false}, {4, true}, {8, false}, {8, true}};

std::string Words(Form form, const std::vector<uint64_t>& words) {
  std::string out;
  for (const uint64_t word : words) {
    for (size_t i = 0; i < form.bytes; ++i) {
      const size_t byte = form.big_endian ? form.bytes - 1 - i : i;
      out += static_cast<char>(word >> (8 * byte));
    }
  }
  return out;
}

constexpr char kMaps[] =
    "00400000-00500000 r-xp 00001000 08:01 42    /usr/bin/my app\n"
    "00600000-00601000 rw-p 00000000 00:00 0\n"
    "b7000000-b7010000 r-xp 00020000 08:01 43    /lib/libc.so.6\n"
    "build=/nothing\n";

// The header says 10 ms, the documented form: hdr count, hdr words, version, period in us, padding.
const std::vector<uint64_t> kHeader = {0, 3, 0, 10000, 0};
const std::vector<uint64_t> kRecords = {3, 3, 0x400100,   0x400201,   0x400301,  //
                                        2, 2, 0xb7000010, 0x400301,              //
                                        1, 3, 0xb7000010, 0xb7000010, 0x400301};
const std::vector<uint64_t> kTrailer = {0, 1, 0};

std::string File(Form form) {
  return Words(form, kHeader) + Words(form, kRecords) + Words(form, kTrailer) + kMaps;
}

TEST(DecodeGperftools, ReadsBothSizesAndOrdersOfWords) {
  for (const Form form : kForms) {
    const std::string file = File(form);
    EXPECT_EQ(DetectFormat(file, "cpu.prof").value(), Format::kGperftools);
    const Result<Profile> profile = DecodeProfile(file, "cpu.prof");
    ASSERT_TRUE(profile) << profile.error().message();
    EXPECT_EQ(profile->sample_types(),
              (std::vector<ValueType>{{"samples", "count"}, {"cpu", "nanoseconds"}}));
    EXPECT_EQ(profile->meta().period, 10'000'000);
    EXPECT_EQ(profile->Total(0), 6);
    EXPECT_EQ(profile->Total(1), 60'000'000);
    // Callers' addresses are one less; a leaf that comes twice is one.
    EXPECT_EQ(ToFolded(*profile, 0),
              "[my app]+0x1300;[libc.so.6]+0x20010 3\n"
              "[my app]+0x1300;[my app]+0x1200;[my app]+0x1100 3\n");
    EXPECT_EQ(profile->mapping_count(), 2u);
  }
}

TEST(DecodeGperftools, AgreesWithPprof) {
  if (!HaveCommand("go")) GTEST_SKIP() << "no go on PATH: cannot compare with go tool pprof";
  const ScratchFolder folder;
  for (const Form form : kForms) {
    const std::string path = folder.path() + "/cpu.prof";
    ASSERT_TRUE(WriteFileAtomic(path, File(form)));
    const auto made =
        RunCommand("cd " + folder.path() + " && PPROF_TMPDIR=" + folder.path() +
                   " go tool pprof -symbolize=none -proto -output=out.pb.gz cpu.prof");
    ASSERT_EQ(made.exit_code, 0) << made.output;
    const auto theirs = DecodeProfile(ReadFile(folder.path() + "/out.pb.gz").value(), "");
    const auto ours = DecodeProfile(File(form), "");
    ASSERT_TRUE(theirs && ours);
    EXPECT_EQ(theirs->sample_types(), ours->sample_types());
    EXPECT_EQ(theirs->meta().period, ours->meta().period);
    EXPECT_EQ(theirs->meta().period_type, ours->meta().period_type);
    ASSERT_EQ(theirs->sample_count(), ours->sample_count());
    for (uint32_t i = 0; i < ours->sample_count(); ++i) {
      const Sample a = theirs->sample(i);
      const Sample b = ours->sample(i);
      EXPECT_TRUE(std::ranges::equal(a.values, b.values));
      ASSERT_EQ(a.locations.size(), b.locations.size());
      for (size_t at = 0; at < a.locations.size(); ++at) {
        EXPECT_EQ(theirs->location(a.locations[at]).address,
                  ours->location(b.locations[at]).address);
      }
    }
  }
}

TEST(DecodeGperftools, RefusesWhatIsCutOff) {
  for (const Form form : kForms) {
    const std::string binary = Words(form, kHeader) + Words(form, kRecords) + Words(form, kTrailer);
    for (size_t size = 0; size < binary.size(); ++size) {
      const auto cut = DecodeGperftools(std::string_view(binary).substr(0, size));
      ASSERT_FALSE(cut) << size;
      EXPECT_EQ(cut.error().code(), ErrorCode::kCorrupt);
    }
    EXPECT_TRUE(DecodeGperftools(binary));
    const std::string whole = File(form);
    for (size_t size = binary.size(); size < whole.size(); ++size) {
      EXPECT_TRUE(DecodeGperftools(std::string_view(whole).substr(0, size)));
    }
  }
}

// Records begin behind 5 words, and have 5, 4 and 3 of their own.
TEST(DecodeGperftools, SaysInWhichRecordAFileIsCut) {
  for (const Form form : kForms) {
    const std::string binary = Words(form, kHeader) + Words(form, kRecords);
    const auto cut_to = [&](size_t words, size_t bytes) {
      const auto cut = DecodeProfile(binary.substr(0, words * form.bytes + bytes), "cpu.prof");
      EXPECT_FALSE(cut);
      EXPECT_EQ(cut.error().sys_errno(), kGetItAgain);
      EXPECT_THAT(cut.error().message(), HasSubstr("ProfilerStop() or exits"));
      return cut.error().message();
    };
    const std::string second = std::to_string(10 * form.bytes);
    EXPECT_THAT(cut_to(12, 1), HasSubstr("byte " + second +
                                         ": cut off inside record 2, a stack of 2 addresses, where "
                                         "0 fit; "));
    EXPECT_THAT(cut_to(11, 1), HasSubstr("byte " + second + ": cut off inside record 2, of which " +
                                         std::to_string(form.bytes + 1) + " bytes are there; "));
    EXPECT_THAT(cut_to(10, 0),
                HasSubstr("byte " + second + ": cut off behind record 1, without the trailer; "));
  }
}

// The format's own page: 0, the slots behind this one (3), version 0, the period, padding.
TEST(DetectFormat, NamesDamagedProfilesOfGperftools) {
  for (const Form form : kForms) {
    for (size_t size = 2 * form.bytes; size < 5 * form.bytes; ++size) {
      const auto cut = DetectFormat(Words(form, kHeader).substr(0, size), "cpu.prof");
      ASSERT_FALSE(cut) << size;
      EXPECT_EQ(cut.error().code(), ErrorCode::kCorrupt);
      EXPECT_EQ(cut.error().sys_errno(), kGetItAgain);
      EXPECT_THAT(cut.error().message(), HasSubstr("gperftools' CPU profile, cut off inside"));
    }
    const std::string rest = Words(form, kRecords) + Words(form, kTrailer) + kMaps;
    const auto idle = DetectFormat(Words(form, {0, 3, 0, 0, 0}) + rest, "");
    EXPECT_EQ(idle.error().code(), ErrorCode::kUnsupported);
    EXPECT_THAT(idle.error().message(), HasSubstr("a sampling period of 0"));
    for (const std::vector<uint64_t>& words :
         {std::vector<uint64_t>{0, 2, 0, 10000}, std::vector<uint64_t>{0, 4, 0, 10000, 0, 0}}) {
      const auto other = DetectFormat(Words(form, words) + rest, "");
      ASSERT_FALSE(other);
      EXPECT_EQ(other.error().code(), ErrorCode::kUnsupported);
      EXPECT_THAT(other.error().message(),
                  HasSubstr("a header of " + std::to_string(words.size()) + " words"));
      EXPECT_FALSE(DecodeProfile(Words(form, words) + rest, "", {.format = Format::kGperftools}));
    }
  }
  // Zeros are anything's.
  EXPECT_THAT(DecodeProfile(std::string(40, '\0'), "").error().message(),
              HasSubstr("no format that Firetower knows"));
}

TEST(DecodeGperftools, RefusesNumbersThatCannotBe) {
  const Form form{8, false};
  auto decode = [&](std::vector<uint64_t> record) {
    return DecodeGperftools(Words(form, kHeader) + Words(form, record) + Words(form, kTrailer));
  };
  EXPECT_THAT(decode({1, uint64_t{1} << 61, 1}).error().message(), HasSubstr("addresses, where"));
  EXPECT_EQ(decode({uint64_t{1} << 63, 1, 1}).error().code(), ErrorCode::kExhausted);
  EXPECT_EQ(decode({uint64_t{1} << 60, 1, 1}).error().code(), ErrorCode::kExhausted);
  EXPECT_TRUE(decode({1, 1, UINT64_MAX}));
  EXPECT_EQ(DecodeGperftools(File(form), {.max_entries = 1}).error().code(), ErrorCode::kExhausted);
  EXPECT_EQ(DecodeGperftools(File(form), {.max_bytes = 10}).error().code(), ErrorCode::kExhausted);
}

}  // namespace
}  // namespace firetower::profile
