// SPDX-License-Identifier: Apache-2.0
#include "hub/profiles/profile_figures.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hub/hub_metrics.h"

namespace firetower::hub {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProfileFigures, StandOnTheHubsPage) {
  ProfileFigures figures;
  figures.catalogs.rounds = 7;
  figures.catalogs.keeper.catalogs_written = 3;
  figures.retention.swept.deleted_bytes = 4096;
  figures.retention.swept.aborted_uploads = 2;
  figures.recent_rows = 11;
  figures.store_skew_ns = -3599'900'000'000;
  figures.catalog_lag_seconds = 212;
  figures.rights = {{"authentication.k8s.io", "tokenreviews", true, ""},
                    {"authorization.k8s.io", "subjectaccessreviews", false, ""}};
  HubMetrics metrics;
  metrics.OnHttpRequest("/api/v1/top", 401);
  HubMetrics::Now now;
  now.profiles = figures;
  const std::string page = metrics.Render(now);
  for (const char* line :
       {"firetower_hub_catalog_rounds_total{result=\"ok\"} 7\n",
        "firetower_hub_catalogs_total{event=\"written\"} 3\n",
        "firetower_hub_retention_deleted_bytes_total 4096\n",
        "firetower_hub_retention_aborted_uploads_total 2\n", "firetower_hub_recent_rows 11\n",
        "firetower_hub_catalog_lag_seconds 212\n",
        "firetower_objectstore_clock_skew_seconds -3599\n",
        "firetower_hub_access_allowed{resource=\"tokenreviews\"} 1\n",
        "firetower_hub_access_allowed{resource=\"subjectaccessreviews\"} 0\n",
        "firetower_hub_http_requests_total{code=\"401\",route=\"/api/v1/top\"} 1\n"}) {
    EXPECT_THAT(page, HasSubstr(line));
  }
}

// Prometheus' increase() takes the first sample of a series for where it began.
TEST(HubMetrics, CountersBeginWithZeroBeforeTheirFirstEvent) {
  HubMetrics metrics;
  HubMetrics::Now now;
  now.watches.emplace_back().resource = "profilingpolicies";
  const std::string before = metrics.Render(now);
  for (const char* resource : {"status", "policies", "events"}) {
    for (const char* result : {"written", "conflict", "gone", "refused", "failed"}) {
      EXPECT_THAT(before, HasSubstr(fmt::format(
                              "firetower_hub_writes_total{{resource=\"{}\",result=\"{}\"}} 0\n",
                              resource, result)));
    }
  }
  for (const char* line :
       {"firetower_kube_watch_restarts_total{reason=\"expired\",resource=\"profilingpolicies\"} "
        "0\n",
        "firetower_kube_objects_skipped_total{reason=\"event\",resource=\"profilingpolicies\"} 0\n",
        "firetower_hub_terms_total 0\n", "firetower_hub_lease_failures_total 0\n"}) {
    EXPECT_THAT(before, HasSubstr(line));
  }
  metrics.OnStatusWrite(k8s::WriteEnd::kRefused, 422);
  metrics.OnRestart("profilingpolicies", "expired", true);
  const std::string after = metrics.Render(now);
  const auto count = [&after](std::string_view text) {
    size_t found = 0;
    for (size_t at = after.find(text); at != std::string::npos; at = after.find(text, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("firetower_hub_writes_total{resource=\"status\",result=\"refused\"} 1\n"), 1u);
  EXPECT_EQ(count("firetower_hub_writes_total{resource=\"status\",result=\"refused\"}"), 1u);
  EXPECT_EQ(count("firetower_kube_watch_restarts_total{reason=\"expired\",resource="
                  "\"profilingpolicies\"} 1\n"),
            1u);
}

TEST(HubMetrics, SpeaksOpenMetricsToo) {
  HubMetrics metrics;
  HubMetrics::Now now;
  now.terms = 100'000;
  const std::string page = metrics.Render(now, service::ExpositionFormat::kOpenMetrics);
  EXPECT_THAT(page, HasSubstr("# TYPE firetower_hub_terms counter\n"
                              "firetower_hub_terms_total 100000\n"));
  EXPECT_THAT(page, HasSubstr("# TYPE firetower_build info\n"));
  EXPECT_TRUE(page.ends_with("# EOF\n"));
}

TEST(ProfileFigures, AreLeftOutWithoutAStore) {
  EXPECT_THAT(HubMetrics().Render({}), Not(HasSubstr("firetower_hub_catalog")));
}

// An unknown right is reported neither as present nor as missing.
TEST(ProfileFigures, SayNothingOfARightThatIsNotKnown) {
  ProfileFigures figures;
  figures.rights = {{"authentication.k8s.io", "tokenreviews", std::nullopt, "away"}};
  service::ExpositionWriter writer(service::ExpositionFormat::kText);
  AddProfileMetrics(figures, writer);
  const std::string page = std::move(writer).Finish();
  EXPECT_THAT(page, Not(HasSubstr("tokenreviews")));
}

}  // namespace
}  // namespace firetower::hub
