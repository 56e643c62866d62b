// SPDX-License-Identifier: Apache-2.0
#include "hub/profiles/own_rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/k8s/recording_api_server.h"

namespace firetower::hub {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kYes = R"({"status":{"allowed":true}})";
constexpr const char* kNo = R"({"status":{"allowed":false}})";

TEST(OwnRights, AsksForBothAsItself) {
  k8s::RecordingApiServer server;
  OwnRights rights(server);
  server.Answer(201, kYes);
  server.Answer(201, kNo);
  rights.Look();
  ASSERT_THAT(server.requests(), SizeIs(2));
  EXPECT_EQ(server.requests()[0].target, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
  EXPECT_THAT(server.requests()[0].body,
              HasSubstr(R"("verb":"create","group":"authentication.k8s.io",)"
                        R"("resource":"tokenreviews")"));
  EXPECT_THAT(server.requests()[1].body,
              HasSubstr(R"("group":"authorization.k8s.io","resource":"subjectaccessreviews")"));
  const auto known = rights.Get();
  ASSERT_THAT(*known, SizeIs(2));
  EXPECT_EQ((*known)[0].allowed, true);
  EXPECT_EQ((*known)[1].allowed, false);
}

TEST(OwnRights, KeepsWhatItKnowsWhileTheServerIsAway) {
  k8s::RecordingApiServer server;
  OwnRights rights(server);
  EXPECT_FALSE(rights.Get()->at(0).allowed.has_value());
  rights.Look();
  EXPECT_FALSE(rights.Get()->at(0).allowed.has_value());
  EXPECT_THAT(rights.Get()->at(0).message, HasSubstr("connection refused"));
  server.Answer(201, kYes);
  server.Answer(201, kYes);
  rights.Look();
  EXPECT_EQ(rights.Get()->at(0).allowed, true);
  rights.Look();
  EXPECT_EQ(rights.Get()->at(0).allowed, true);
}

}  // namespace
}  // namespace firetower::hub
