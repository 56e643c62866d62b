// SPDX-License-Identifier: Apache-2.0
// Sends every field of profile.proto, built byte by byte, through `convert` and `merge`: it must
// survive or be reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "profile/export.h"
#include "profile/format.h"
#include "profile/merge.h"
#include "profile/pprof.h"

namespace firetower::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}
std::string Number(uint32_t field, uint64_t value) { return Varint(field << 3) + Varint(value); }
std::string Bytes(uint32_t field, const std::string& bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + bytes;
}

// Strings 1 to 9 of the file.
constexpr const char* kStrings[] = {"",    "cpu", "nanoseconds", "key", "value",
                                    "two", "app", "main",        "^x$", "id"};

// A profile of one sample, to which each case adds fields of its own.
struct Fields {
  std::string profile = {};
  std::string sample = {};
  std::string label = Number(1, 3);
  bool has_label = false;
  std::string mapping = {};
  std::string location = {};
  std::string line = {};
  std::string function = {};

  std::string ToFile() const {
    std::string out = Bytes(1, Number(1, 1) + Number(2, 2));
    const std::string labels = has_label ? Bytes(3, label) : "";
    out += Bytes(2, Number(1, 1) + Number(2, 7) + sample + labels);
    out += Bytes(3, Number(1, 1) + Number(2, 0x1000) + Number(3, 0x3000) + Number(5, 6) + mapping);
    out += Bytes(4, Number(1, 1) + Number(2, 1) + Number(3, 0x1234) + location +
                        Bytes(4, Number(1, 1) + line));
    out += Bytes(5, Number(1, 1) + Number(2, 7) + function);
    for (const char* text : kStrings) out += Bytes(6, text);
    return out + profile;
  }
};

struct Case {
  const char* name;
  Fields fields;
  std::function<std::string(const Profile&)> read;
  std::string expected;
};

std::string LabelsText(const Profile& profile) {
  std::string out;
  for (const Label& label : profile.sample(0).labels) {
    out += std::string(profile.string(label.key)) + "=" +
           (label.is_number != 0
                ? std::to_string(label.number) + " " + std::string(profile.string(label.unit))
                : "'" + std::string(profile.string(label.string_value)) + "'") +
           ";";
  }
  return out;
}

std::string Text(int64_t number) { return std::to_string(number); }

std::vector<Case> ProfileCases() {
  return {
      {"drop_frames",
       {.profile = Number(7, 8)},
       [](const Profile& p) { return p.meta().drop_frames; },
       "^x$"},
      {"keep_frames",
       {.profile = Number(8, 8)},
       [](const Profile& p) { return p.meta().keep_frames; },
       "^x$"},
      {"time_nanos",
       {.profile = Number(9, 1234567)},
       [](const Profile& p) { return Text(p.meta().time_nanos); },
       "1234567"},
      {"duration_nanos",
       {.profile = Number(10, 55)},
       [](const Profile& p) { return Text(p.meta().duration_nanos); },
       "55"},
      {"period_type",
       {.profile = Bytes(11, Number(1, 1) + Number(2, 2))},
       [](const Profile& p) { return p.meta().period_type.type + p.meta().period_type.unit; },
       "cpunanoseconds"},
      {"period",
       {.profile = Number(12, 99)},
       [](const Profile& p) { return Text(p.meta().period); },
       "99"},
      {"comment",
       {.profile = Number(13, 4) + Bytes(13, Varint(5) + Varint(6))},
       [](const Profile& p) {
         std::string out;
         for (const std::string& comment : p.meta().comments) out += comment + ";";
         return out;
       },
       "value;two;app;"},
      {"default_sample_type",
       {.profile = Number(14, 1)},
       [](const Profile& p) { return p.meta().default_sample_type; },
       "cpu"},
      {"doc_url",
       {.profile = Number(15, 6)},
       [](const Profile& p) { return p.meta().doc_url; },
       "app"},
  };
}

std::vector<Case> EntryCases() {
  const auto mapping_flags = [](const Profile& p) { return Text(int64_t(p.mapping(0).flags)); };
  return {
      {"label of text",
       {.label = Number(1, 3) + Number(3 - 1, 4), .has_label = true},
       LabelsText,
       "key='value';"},
      {"label of number",
       {.label = Number(1, 3) + Number(3, 12), .has_label = true},
       LabelsText,
       "key=12 ;"},
      {"label of unit",
       {.label = Number(1, 3) + Number(3, 12) + Number(4, 2), .has_label = true},
       LabelsText,
       "key=12 nanoseconds;"},
      {"label of zero",
       {.label = Number(1, 3) + Number(4, 2), .has_label = true},
       LabelsText,
       "key=0 nanoseconds;"},
      {"label of nothing", {.has_label = true}, LabelsText, "key='';"},
      {"labels of one key",
       {.sample = Bytes(3, Number(1, 3) + Number(2, 5)) + Bytes(3, Number(1, 3) + Number(3, 1)) +
                  Bytes(3, Number(1, 3) + Number(3, 1)),
        .label = Number(1, 3) + Number(2, 4),
        .has_label = true},
       LabelsText,
       "key='two';key=1 ;key=1 ;key='value';"},
      {"mapping.memory_limit",
       {},
       [](const Profile& p) { return Text(int64_t(p.mapping(0).memory_limit)); },
       "12288"},
      {"mapping.file_offset",
       {.mapping = Number(4, 0x2000)},
       [](const Profile& p) { return Text(int64_t(p.mapping(0).file_offset)); },
       "8192"},
      {"mapping.build_id",
       {.mapping = Number(6, 9)},
       [](const Profile& p) { return std::string(p.string(p.mapping(0).build_id)); },
       "id"},
      {"mapping.has_functions", {.mapping = Number(7, 1)}, mapping_flags, "1"},
      {"mapping.has_filenames", {.mapping = Number(8, 1)}, mapping_flags, "2"},
      {"mapping.has_line_numbers", {.mapping = Number(9, 1)}, mapping_flags, "4"},
      {"mapping.has_inline_frames", {.mapping = Number(10, 1)}, mapping_flags, "8"},
      {"location.is_folded",
       {.location = Number(5, 1)},
       [](const Profile& p) { return Text(p.location(0).is_folded ? 1 : 0); },
       "1"},
      {"line.line",
       {.line = Number(2, 33)},
       [](const Profile& p) { return Text(p.location(0).lines[0].line); },
       "33"},
      {"line.column",
       {.line = Number(3, 44)},
       [](const Profile& p) { return Text(p.location(0).lines[0].column); },
       "44"},
      {"function.system_name",
       {.function = Number(3, 6)},
       [](const Profile& p) { return std::string(p.string(p.function(0).system_name)); },
       "app"},
      {"function.filename",
       {.function = Number(4, 6)},
       [](const Profile& p) { return std::string(p.string(p.function(0).filename)); },
       "app"},
      {"function.start_line",
       {.function = Number(5, 77)},
       [](const Profile& p) { return Text(p.function(0).start_line); },
       "77"},
      {"sample of value 0",
       {.profile = Bytes(2, Number(2, 0))},
       [](const Profile& p) { return Text(p.sample_count()); },
       "2"},
      {"entries that no sample names",
       {.profile = Bytes(3, Number(1, 9) + Number(2, 0x9000)) +
                   Bytes(5, Number(1, 9) + Number(2, 9)) + Bytes(4, Number(1, 9) + Number(3, 9))},
       [](const Profile& p) {
         return Text(p.mapping_count()) + Text(p.function_count()) + Text(p.location_count());
       },
       "222"},
  };
}

TEST(PprofFields, SurviveConvertAndMerge) {
  std::vector<Case> cases = ProfileCases();
  for (Case& entry : EntryCases()) cases.push_back(std::move(entry));
  for (const Case& one : cases) {
    const std::string file = one.fields.ToFile();
    std::vector<std::string> notes;
    const Result<Profile> profile = DecodeProfile(file, "x.pb", {}, &notes);
    ASSERT_TRUE(profile) << one.name << ": " << profile.error().message();
    EXPECT_THAT(notes, IsEmpty()) << one.name;
    EXPECT_EQ(one.read(*profile), one.expected) << one.name;
    const Result<Profile> again = DecodeProfile(*EncodeProfile(*profile, Format::kPprof), "x.pb");
    ASSERT_TRUE(again) << one.name;
    EXPECT_EQ(one.read(*again), one.expected) << one.name << ", written";
    Merger merger;
    ASSERT_TRUE(AddToMerge(file, "x.pb", {}, &merger, &notes)) << one.name;
    EXPECT_THAT(notes, IsEmpty()) << one.name;
    EXPECT_EQ(one.read(std::move(merger).Finish()), one.expected) << one.name << ", merged";
  }
}

TEST(PprofFields, AreToldOfWhereTheyAreLost) {
  const std::string fixed = Varint(20 << 3 | 1) + std::string(8, 'x');
  const Fields files[] = {
      {.profile = Number(16, 1)}, {.profile = fixed},
      {.sample = Number(9, 1)},   {.label = Number(1, 3) + Number(9, 1), .has_label = true},
      {.mapping = Number(11, 1)}, {.location = Bytes(9, "x")},
      {.line = Number(9, 1)},     {.function = Number(9, 1)},
  };
  for (const Fields& fields : files) {
    PprofLosses losses;
    ASSERT_TRUE(DecodePprof(fields.ToFile(), {}, &losses));
    EXPECT_EQ(losses, PprofLosses{.unknown_fields = 1}) << &fields - files;
  }
  const auto fixed32 = [](uint32_t field) { return Varint(field << 3 | 5) + "four"; };
  const Fields of_other_types[] = {
      {.profile = Bytes(12, "x")},
      {.profile = Varint(9 << 3 | 1) + std::string(8, 'x')},
      {.profile = Bytes(11, Bytes(1, "cpu"))},
      {.sample = fixed32(2)},
      {.label = Number(1, 3) + Bytes(2, "x"), .has_label = true},
      {.mapping = Bytes(5, "/bin/app")},
      {.location = Bytes(3, "x")},
      {.line = fixed32(2)},
      {.function = Bytes(2, "main")},
  };
  for (const Fields& fields : of_other_types) {
    PprofLosses losses;
    ASSERT_TRUE(DecodePprof(fields.ToFile(), {}, &losses));
    EXPECT_EQ(losses, PprofLosses{.wrong_types = 1}) << &fields - of_other_types;
    std::vector<std::string> notes;
    ASSERT_TRUE(DecodeProfile(fields.ToFile(), "", {}, &notes));
    EXPECT_THAT(notes, ElementsAre("1 fields are left out: profile.proto gives them another type"));
  }
  PprofLosses losses;
  const Fields odd{.profile = Bytes(6, "caf\xe9"),
                   .label = Number(1, 3) + Number(2, 4) + Number(3, 5),
                   .has_label = true,
                   .line = Number(3, uint64_t{1} << 40)};
  ASSERT_TRUE(DecodePprof(odd.ToFile(), {}, &losses));
  EXPECT_EQ(losses, (PprofLosses{.label_numbers = 1, .columns = 1, .texts = 1}));
  std::vector<std::string> notes;
  Merger merger;
  ASSERT_TRUE(AddToMerge(odd.ToFile(), "", {}, &merger, &notes));
  ASSERT_TRUE(DecodeProfile(odd.ToFile(), "", {}, &notes));
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0], notes[1]);
  EXPECT_THAT(notes[0], HasSubstr("1 labels have a text and a number"));
  EXPECT_THAT(notes[0], HasSubstr("1 texts are not UTF-8"));
}

TEST(PprofFields, ThatDifferBetweenFilesAreNamed) {
  Merger merger;
  for (const uint64_t text : {0, 8, 8}) {
    const Fields fields{.profile = Number(7, text) + Number(15, 6)};
    ASSERT_TRUE(AddToMerge(fields.ToFile(), "x.pb", {}, &merger));
  }
  EXPECT_THAT(merger.cleared_fields(), ElementsAre("drop_frames"));
  const Profile sum = std::move(merger).Finish();
  EXPECT_EQ(sum.meta().drop_frames, "");
  EXPECT_EQ(sum.meta().doc_url, "app");
}

// An unknown start is not the beginning of 1970.
TEST(PprofFields, OfTimeAddUpWithoutAStart) {
  Merger merger;
  for (const uint64_t start : {uint64_t{0}, uint64_t{1'000'000'000'000}}) {
    const Fields fields{.profile = Number(9, start) + Number(10, 60)};
    ASSERT_TRUE(AddToMerge(fields.ToFile(), "x.pb", {}, &merger));
  }
  const Profile sum = std::move(merger).Finish();
  EXPECT_EQ(sum.meta().time_nanos, 1'000'000'000'000);
  EXPECT_EQ(sum.meta().duration_nanos, 120);
}

TEST(PprofFields, RepeatedLabelsAreAListInJson) {
  const Fields fields{.sample = Bytes(3, Number(1, 3) + Number(2, 5)),
                      .label = Number(1, 3) + Number(2, 4),
                      .has_label = true};
  const Result<Profile> profile = DecodePprof(fields.ToFile());
  ASSERT_TRUE(profile);
  EXPECT_THAT(ToJson(*profile), HasSubstr(R"("labels":{"key":["two","value"]})"));
}

}  // namespace
}  // namespace firetower::profile
