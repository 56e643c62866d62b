// SPDX-License-Identifier: Apache-2.0
// The limits of an answer. Beyond the limits on profiles that are looked for and read, every path
// answers 413 with the reason and a remedy; beyond the limits on memory, answers are less exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "net/url.h"
#include "profile/pprof.h"
#include "query/question.h"
#include "query/wire.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::HasSubstr;

// Each with the whole content, 9 profiles of which 6 are stored.
constexpr const char* kMerging[] = {"/api/v1/profile", "/api/v1/diff?base-to=now-1m",
                                    "/api/v1/flame", "/api/v1/top?by=functions"};
constexpr const char* kLooking[] = {"/api/v1/profiles",        "/api/v1/top",
                                    "/api/v1/series",          "/api/v1/labels",
                                    "/api/v1/labels?name=pod", "/api/v1/types"};

net::HttpResponse Get(Fixture& fixture, const std::string& target) {
  net::HttpRequest request;
  request.method = "GET";
  request.path = target.substr(0, target.find('?'));
  if (request.path != target)
    request.params = *net::DecodeQuery(target.substr(request.path.size() + 1));
  return fixture.api().Serve(request);
}

void ExpectTooLarge(Fixture& fixture, const char* target, const char* why) {
  const net::HttpResponse response = Get(fixture, target);
  EXPECT_EQ(response.status, 413) << target << ": " << response.body;
  EXPECT_THAT(response.body, HasSubstr(why)) << target;
  EXPECT_THAT(response.body, HasSubstr("narrow the selector or the time range")) << target;
}

TEST(AnswerLimits, TooManyProfiles) {
  Fixture fixture({.max_rows = 5});
  for (const char* target : kMerging) ExpectTooLarge(fixture, target, "more than 5 profiles match");
  for (const char* target : kLooking) ExpectTooLarge(fixture, target, "more than 5 profiles match");
  EXPECT_EQ(ErrorMessageFromJson(Get(fixture, "/api/v1/top").body),
            "more than 5 profiles match: narrow the selector or the time range");
  // A query that is narrow enough is answered.
  for (const char* target : kMerging) {
    const std::string joined = std::string(target).find('?') == std::string::npos ? "?" : "&";
    EXPECT_EQ(Get(fixture, target + joined + "q={container=\"web\"}").status, 200) << target;
  }
  EXPECT_EQ(Get(fixture, "/api/v1/profiles?from=now-2m&to=now-1m").status, 200);
  Fixture enough({.max_rows = 6});
  for (const char* target : kLooking) EXPECT_EQ(Get(enough, target).status, 200) << target;
}

TEST(AnswerLimits, TooManyBytesToRead) {
  Fixture fixture({.max_read_bytes = 200});
  for (const char* target : kMerging) {
    // Each of two sides may read half.
    const bool is_diff = std::string_view(target).starts_with("/api/v1/diff");
    ExpectTooLarge(fixture, target,
                   is_diff ? "needs more than 100 bytes of profiles"
                           : "needs more than 200 bytes of profiles");
  }
  // These read no profile.
  for (const char* target : kLooking) {
    if (std::string(target) == "/api/v1/top") continue;
    EXPECT_EQ(Get(fixture, target).status, 200) << target;
  }
}

// A large answer is still given: it is less exact, and says so.
TEST(AnswerLimits, TooMuchMemoryMakesAnswersCoarse) {
  Fixture fixture({.max_merged_bytes = 1000});
  Fixture whole;
  for (const char* target : kMerging) {
    const net::HttpResponse response = Get(fixture, target);
    EXPECT_EQ(response.status, 200) << target << ": " << response.body;
  }
  const auto total = [](const net::HttpResponse& response) {
    const auto profile = profile::DecodePprof(response.body);
    return profile ? profile->Total(1) : -1;
  };
  // It says so where it is less exact: of graphs and tables of some bars nothing was dropped.
  const auto says = [](const net::HttpResponse& response) {
    return std::ranges::count(response.headers, kMaxHiddenHeader,
                              [](const auto& header) { return header.first; });
  };
  for (const char* target : {"/api/v1/profile", "/api/v1/diff?base-to=now-1m"}) {
    EXPECT_EQ(says(Get(fixture, target)), 1) << target;
    EXPECT_EQ(says(Get(whole, target)), 0) << target;
  }
  EXPECT_THAT(Get(fixture, "/api/v1/doctor").body, HasSubstr("too large to be exact"));
  EXPECT_EQ(total(Get(fixture, "/api/v1/profile")), total(Get(whole, "/api/v1/profile")));
  EXPECT_EQ(total(Get(fixture, "/api/v1/diff?base-to=now-1m")),
            total(Get(whole, "/api/v1/diff?base-to=now-1m")));
}

TEST(AnswerLimits, OneProfileThatIsTooLarge) {
  Fixture fixture({.max_read_bytes = 20});
  const auto list = ProfilesReplyFromJson(Get(fixture, "/api/v1/profiles").body);
  ASSERT_TRUE(list);
  net::HttpRequest request;
  request.method = "GET";
  request.path = "/api/v1/profile";
  request.params = {{"id", list->rows.back().id}};
  const net::HttpResponse response = fixture.api().Serve(request);
  EXPECT_EQ(response.status, 413) << response.body;
  EXPECT_THAT(response.body, HasSubstr("an answer may read 20"));
}

}  // namespace
}  // namespace firetower::query
