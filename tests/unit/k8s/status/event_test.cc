// SPDX-License-Identifier: Apache-2.0
#include "k8s/status/event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/k8s/status/watched_policies.h"

namespace firetower::k8s {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMinute = 60 * kNsPerSecond;

ObjectEvent Firing(std::string note = "ContainerCPU 93 % > 80 %") {
  ObjectEvent what;
  what.regarding = {"firetower.dev/v1alpha1", "ProfilingPolicy", "shop", "checkout", "uid-1"};
  what.related = ObjectRef{"v1", "Pod", "shop", "cart-1", "uid-2"};
  what.reason = "CaptureTaken";
  what.action = "Capture";
  what.note = std::move(note);
  return what;
}

TEST(EventSeries, TellsTheFirstAtOnce) {
  EventSeries series("firetower.dev/agent", "node-1");
  const auto request = series.Take(Firing(), 0, kCreatedNs);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "POST");
  EXPECT_EQ(request->target, "/apis/events.k8s.io/v1/namespaces/shop/events");
  const Json json = Json::parse(request->body);
  EXPECT_EQ(json["eventTime"], "2026-11-21T19:43:27.000000Z");
  EXPECT_EQ(json["regarding"]["uid"], "uid-1");
  EXPECT_EQ(json["related"]["name"], "cart-1");
  EXPECT_EQ(json["reportingController"], "firetower.dev/agent");
  EXPECT_EQ(json["reportingInstance"], "node-1");
  EXPECT_EQ(json["type"], "Normal");
}

TEST(EventSeries, TellsTheSameOnceAMinuteAsASeries) {
  EventSeries series("c", "i");
  const auto first = series.Take(Firing(), 0, kCreatedNs);
  int sent = 0;
  std::optional<ApiRequest> last;
  for (int64_t now = kNsPerSecond; now <= 3 * kMinute; now += kNsPerSecond) {
    if (auto request = series.Take(Firing(), now, kCreatedNs + now)) {
      ++sent;
      last = std::move(request);
    }
  }
  EXPECT_EQ(sent, 3);
  EXPECT_EQ(last->method, "PATCH");
  EXPECT_EQ(last->target,
            first->target + "/" + Json::parse(first->body)["metadata"]["name"].get<std::string>());
  EXPECT_EQ(Json::parse(last->body)["series"]["count"], 181);
}

TEST(EventSeries, ANewNoteIsANewEventThatCountsWhatWasHeldBack) {
  EventSeries series("c", "i");
  series.Take(Firing("one"), 0, kCreatedNs);
  EXPECT_FALSE(series.Take(Firing("two"), kMinute - 1, kCreatedNs));
  const auto request = series.Take(Firing("three"), kMinute, kCreatedNs);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "POST");
  EXPECT_EQ(Json::parse(request->body)["note"], "three (2 times since the last such event)");
}

// Nothing may come after it that would bring the count along.
TEST(EventSeries, TellsWhatWasHeldBackWhenItsMinuteIsOver) {
  EventSeries series("c", "i");
  series.Take(Firing(), 0, kCreatedNs);
  EXPECT_FALSE(series.Take(Firing(), 10 * kNsPerSecond, kCreatedNs + 10 * kNsPerSecond));
  EXPECT_FALSE(series.Take(Firing(), 20 * kNsPerSecond, kCreatedNs + 20 * kNsPerSecond));
  EXPECT_FALSE(series.TakeDue(kMinute - 1));
  const auto request = series.TakeDue(kMinute);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "PATCH");
  const Json patch = Json::parse(request->body);
  EXPECT_EQ(patch["series"]["count"], 3);
  EXPECT_EQ(patch["series"]["lastObservedTime"], "2026-11-21T19:43:47.000000Z") << "when it was";
  EXPECT_FALSE(series.TakeDue(3 * kMinute)) << "once";
}

TEST(EventSeries, WhatWasHeldBackWithAnotherNoteIsAnEvent) {
  EventSeries series("c", "i");
  series.Take(Firing(), 0, kCreatedNs);
  series.Take(Firing("85 %"), kNsPerSecond, kCreatedNs);
  series.Take(Firing("99 %"), 2 * kNsPerSecond, kCreatedNs + kNsPerSecond);
  const auto request = series.TakeDue(kMinute);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "POST");
  EXPECT_EQ(Json::parse(request->body)["note"], "99 % (2 times since the last such event)");
}

TEST(EventSeries, QuietForLongBeginsAnew) {
  EventSeries series("c", "i");
  series.Take(Firing(), 0, kCreatedNs);
  EXPECT_EQ(series.Take(Firing(), 6 * kMinute, kCreatedNs)->method, "POST");
}

TEST(EventSeries, AnotherReasonAndAnotherObjectAreTheirOwn) {
  EventSeries series("c", "i");
  ObjectEvent what = Firing();
  EXPECT_TRUE(series.Take(what, 0, kCreatedNs));
  what.reason = "CaptureSuppressed";
  EXPECT_TRUE(series.Take(what, 0, kCreatedNs));
  what.regarding = {"firetower.dev/v1alpha1", "ClusterProfilingPolicy", "", "nodes", "uid-9"};
  const auto request = series.Take(what, 0, kCreatedNs);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target, "/apis/events.k8s.io/v1/namespaces/default/events");
}

TEST(EventSeries, IsBounded) {
  EventSeries series("c", "i");
  ObjectEvent what = Firing(std::string(5000, 'n'));
  for (int i = 0; i < 2000; ++i) {
    what.regarding.uid = std::to_string(i);
    const auto request = series.Take(what, i, kCreatedNs);
    ASSERT_TRUE(request);
    EXPECT_EQ(Json::parse(request->body)["note"].get<std::string>().size(), 1024u);
  }
  EXPECT_EQ(series.size(), EventSeries::kMaxObjects);
}

}  // namespace
}  // namespace firetower::k8s
