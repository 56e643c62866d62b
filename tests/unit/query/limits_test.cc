// SPDX-License-Identifier: Apache-2.0
// What an answer may take: beyond it every path says 413, why, and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/diff.h"
#include "profile/pprof.h"
#include "query/http/url.h"
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

HttpResponse Get(Fixture& fixture, const std::string& target) {
  HttpRequest request;
  request.method = "GET";
  request.path = target.substr(0, target.find('?'));
  if (request.path != target) request.params = *DecodeQuery(target.substr(request.path.size() + 1));
  return fixture.api().Serve(request);
}

void ExpectTooLarge(Fixture& fixture, const char* target, const char* why) {
  const HttpResponse response = Get(fixture, target);
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
  // What is narrow enough is answered.
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
    // Of two sides, each may read half.
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

TEST(AnswerLimits, TooMuchMemory) {
  Fixture fixture({.max_merged_bytes = 1000});
  for (const char* target : kMerging) ExpectTooLarge(fixture, target, "limit of");
  ExpectTooLarge(fixture, "/api/v1/top", "limit of 1000 bytes");
}

// The least limit with which that is so, which it then stays with more.
uint64_t LeastLimit(const std::function<bool(uint64_t bytes)>& is_enough) {
  uint64_t too_few = 0, enough = uint64_t{1} << 20;
  while (enough - too_few > 1) {
    const uint64_t bytes = (too_few + enough) / 2;
    (is_enough(bytes) ? enough : too_few) = bytes;
  }
  return enough;
}

uint64_t LeastMemory(const std::string& target) {
  return LeastLimit([&](uint64_t bytes) {
    Fixture fixture({.max_merged_bytes = bytes});
    return Get(fixture, target).status == 200;
  });
}

// Of two unlike sides, and of two that are equal, of which each is as large as it may be.
TEST(AnswerLimits, ADifferenceAndItsSidesFitTogether) {
  Fixture fixture;
  const auto profile_of = [&](const std::string& selector) {
    return profile::DecodePprof(Get(fixture, "/api/v1/profile?" + selector).body).value();
  };
  const std::string web = "q={container=\"web\"}";
  const uint64_t after = LeastMemory("/api/v1/profile?" + web);
  const profile::Profile after_profile = profile_of(web);
  for (const std::string& base_selector : {std::string("q={container=\"sidecar\"}"), web}) {
    const uint64_t base = LeastMemory("/api/v1/profile?" + base_selector);
    const profile::Profile base_profile = profile_of(base_selector);
    const uint64_t difference = LeastLimit([&](uint64_t bytes) {
      return profile::Diff(base_profile, after_profile, {.limits = {.max_bytes = bytes}})
          .has_value();
    });
    const uint64_t needed = LeastMemory("/api/v1/diff?" + web + "&base-" + base_selector);
    EXPECT_GE(needed, after + base + difference) << base_selector;
    EXPECT_LE(needed, 4 * (after + base)) << "no more is asked for than that keeps";
  }
}

TEST(AnswerLimits, OneProfileThatIsTooLarge) {
  Fixture fixture({.max_read_bytes = 20});
  const auto list = ProfilesReplyFromJson(Get(fixture, "/api/v1/profiles").body);
  ASSERT_TRUE(list);
  HttpRequest request;
  request.method = "GET";
  request.path = "/api/v1/profile";
  request.params = {{"id", list->rows.back().id}};
  const HttpResponse response = fixture.api().Serve(request);
  EXPECT_EQ(response.status, 413) << response.body;
  EXPECT_THAT(response.body, HasSubstr("an answer may read 20"));
}

}  // namespace
}  // namespace firetower::query
