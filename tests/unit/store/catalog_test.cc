// SPDX-License-Identifier: Apache-2.0
#include "store/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::kFirstWindow;
using ::firetower::testing::Row;
using ::testing::HasSubstr;

TEST(CatalogRow, ComesBackTheSame) {
  CatalogRow row = Row("shop", "web-1", "web", kFirstWindow);
  row.start_ns += 250'000'000;
  row.policies = {"p1", "p2"};
  row.build_ids = {"aa", "bb"};
  row.capture = "f00d";
  row.also_samples = 3;
  row.also_value = 30;
  auto back = CatalogRowFromJson(CatalogRowToJson(row));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, row);
}

TEST(CatalogRow, IsPlainJson) {
  auto json = nlohmann::json::parse(CatalogRowToJson(Row("shop", "web-1", "web", kFirstWindow, 7)));
  EXPECT_EQ(json["namespace"], "shop");
  EXPECT_EQ(json["start"], kFirstWindow);
  EXPECT_TRUE(json["start"].is_number_integer());
  EXPECT_EQ(json["seconds"], 60);
  EXPECT_EQ(json["samples"], 7);
  EXPECT_EQ(json["value"], 70'000'000);
}

TEST(CatalogRow, IsCutToFitAZipComment) {
  CatalogRow row = Row("shop", "web-1", "web", kFirstWindow);
  for (int i = 0; i < 5000; ++i) row.build_ids.push_back(std::string(40, 'a'));
  std::string json = CatalogRowToJson(row);
  EXPECT_LE(json.size(), kMaxRowJsonBytes);
  auto back = CatalogRowFromJson(json);
  ASSERT_TRUE(back);
  EXPECT_GT(back->build_ids.size(), 500u);
  EXPECT_EQ(back->pod, "web-1");
}

TEST(CatalogRow, SaysWhatIsWrong) {
  auto error = [](std::string_view json) {
    auto row = CatalogRowFromJson(json);
    return row ? "no error" : row.error().message();
  };
  EXPECT_THAT(error(""), HasSubstr("not a JSON object"));
  EXPECT_THAT(error("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error("{}"), HasSubstr("\"type\" is missing"));
  EXPECT_THAT(error(R"({"type":"cpu","seconds":1})"), HasSubstr("\"start\" is missing"));
  EXPECT_THAT(error(R"({"type":"cpu","start":1e300,"seconds":1})"),
              HasSubstr("\"start\" is not in"));
  EXPECT_THAT(
      error(R"({"type":"cpu","start":9763700000,"seconds":60})"),  // overflows in nanoseconds
      HasSubstr("\"start\" is not in"));
  EXPECT_THAT(error(R"({"type":"cpu","start":1,"seconds":1,"samples":"x"})"),
              HasSubstr("\"samples\" is not an integer"));
  EXPECT_THAT(error(R"({"type":"cpu","start":1,"seconds":1,"value":18446744073709551615})"),
              HasSubstr("\"value\" is not an integer"));
  EXPECT_THAT(error(R"({"type":"cpu","start":1,"seconds":1,"pod":3})"), HasSubstr("\"pod\""));
  EXPECT_EQ(error(R"({"type":"cpu","start":1,"seconds":1,"later":{}})"), "no error");
}

TEST(CatalogRow, AnswersForItsLabels) {
  CatalogRow row = Row("shop", "web-1", "web", kFirstWindow);
  EXPECT_EQ(LabelValueOf(row, "namespace"), "shop");
  EXPECT_EQ(LabelValueOf(row, "type"), "cpu");
  EXPECT_EQ(LabelValueOf(row, "__name__"), "cpu");
  EXPECT_EQ(LabelValueOf(row, "__profile_type__"), "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  EXPECT_EQ(LabelValueOf(row, "__type__"), "cpu");
  EXPECT_EQ(LabelValueOf(row, "__unit__"), "nanoseconds");
  EXPECT_EQ(LabelValueOf(row, "__period_type__"), "cpu");
  EXPECT_EQ(LabelValueOf(row, "__period_unit__"), "nanoseconds");
  EXPECT_EQ(LabelValueOf(row, "__nonsense__"), "");
  EXPECT_EQ(LabelValueOf(row, "service_name"), "web-1-workload");
  EXPECT_EQ(LabelValueOf(row, "nonsense"), "");
  row.workload.clear();
  EXPECT_EQ(LabelValueOf(row, "service_name"), "web");
}

TEST(CatalogRow, OverlapsHalfOpenRanges) {
  CatalogRow row = Row("a", "b", "c", 100);  // [100 s, 160 s)
  auto overlaps = [&](int64_t from_s, int64_t to_s) {
    return row.Overlaps(from_s * 1'000'000'000, to_s * 1'000'000'000);
  };
  EXPECT_TRUE(overlaps(0, 101));
  EXPECT_FALSE(overlaps(0, 100));
  EXPECT_TRUE(overlaps(159, 200));
  EXPECT_FALSE(overlaps(160, 200));
  EXPECT_TRUE(overlaps(110, 111));
}

TEST(ProfileId, TellsApartWhatTheRowTellsApart) {
  CatalogRow row = Row("shop", "web-1", "web", kFirstWindow);
  CatalogRow other = row;
  EXPECT_EQ(ProfileId(row), ProfileId(other));
  EXPECT_EQ(ProfileId(row).size(), 12u);
  other.container_id = "restarted";
  EXPECT_NE(ProfileId(row), ProfileId(other));
  other = row;
  other.samples = 99;  // content is no identity: a retry has the same name
  EXPECT_EQ(ProfileId(row), ProfileId(other));
  other.capture = "f00d";  // a capture may begin when a window does, and another capture
  EXPECT_NE(ProfileId(row), ProfileId(other));
}

}  // namespace
}  // namespace firetower::store
