// SPDX-License-Identifier: Apache-2.0
#include "store/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "profile/export.h"
#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::kFirstWindow;
using ::firetower::testing::ProfileOf;
using ::firetower::testing::Row;
using ::testing::HasSubstr;

std::string CaptureOf(const CatalogRow& row) {
  return *EncodeCapture(row, profile::EncodePprof(ProfileOf(row)));
}

TEST(Capture, IsStillAPprofFile) {
  CatalogRow row = Row("shop", "web-1", "web", kFirstWindow, 3);
  std::string bytes = CaptureOf(row);
  auto profile = profile::DecodePprof(bytes);
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile::ToFolded(*profile, 0), "main;web 3\n");
  if (!testing::HaveCommand("go")) GTEST_SKIP() << "Capture.IsStillAPprofFile: no go on PATH";
  testing::ScratchFolder folder;
  std::string path = folder.path() + "/c.pb.gz";
  ASSERT_TRUE(WriteFileAtomic(path, bytes));
  auto traces = testing::RunCommand("go tool pprof -traces -sample_index=samples " + path);
  EXPECT_EQ(traces.exit_code, 0);
  EXPECT_THAT(traces.output, HasSubstr("3   web"));
}

TEST(Capture, CarriesItsRow) {
  CatalogRow row = Row("shop", "web-1", "web", kFirstWindow, 3);
  auto back = ReadCaptureRow(CaptureOf(row));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, row);
}

TEST(Capture, SaysWhyAFileHasNoRow) {
  auto error = [](std::string_view bytes) { return ReadCaptureRow(bytes).error().message(); };
  EXPECT_THAT(error(""), HasSubstr("no gzip header"));
  EXPECT_THAT(error(profile::EncodePprof(profile::Profile())), HasSubstr("no catalog row"));
  std::string whole = CaptureOf(Row("shop", "web-1", "web", kFirstWindow));
  size_t row_ends = 10 + 2 + 4 + CatalogRowToJson(Row("shop", "web-1", "web", kFirstWindow)).size();
  for (size_t length = 0; length < row_ends; ++length) {
    EXPECT_FALSE(ReadCaptureRow(whole.substr(0, length))) << length;
  }
  EXPECT_TRUE(ReadCaptureRow(whole.substr(0, row_ends)));
}

TEST(Capture, RefusesWhatIsNoPlainGzip) {
  CatalogRow row = Row("shop", "web-1", "web", kFirstWindow);
  EXPECT_FALSE(EncodeCapture(row, "raw"));
  EXPECT_FALSE(EncodeCapture(row, CaptureOf(row)));  // has a row already
}

}  // namespace
}  // namespace firetower::store
