// SPDX-License-Identifier: Apache-2.0
#include "daemon/push/protocol/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "base/clock.h"
#include "profile/codec/gzip.h"
#include "profile/export.h"
#include "profile/pprof.h"
#include "tests/support/push/proto_message.h"
#include "tests/support/stored_profiles.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::kFirstWindow;
using ::firetower::testing::ProfileOf;
using ::firetower::testing::ProtoMessage;
using ::firetower::testing::Row;
using ::firetower::testing::StackBuilder;
using net::HttpResponse;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

using Texts = std::map<std::string, std::string>;

store::CatalogRow HostRow() {
  store::CatalogRow row = Row("-", "-", "nginx.service", kFirstWindow);
  row.pod_uid = row.container_id = row.workload = "";
  return row;
}

// types.v1.LabelPair {name 1, value 2}, push.v1.RawProfileSeries {labels 1, samples 2}.
ProtoMessage SeriesOf(const store::CatalogRow& row, const profile::Profile& profile) {
  const auto protocol = NewPyroscopeProtocol("prod");
  EXPECT_TRUE(protocol->Add(row, profile::EncodePprof(profile)));
  const ProtoMessage request(protocol->TakeBody());
  EXPECT_THAT(request.Messages(1), SizeIs(1));
  return request.Message(1);
}

Texts LabelsOf(const store::CatalogRow& row) {
  Texts labels;
  for (const ProtoMessage& pair : SeriesOf(row, ProfileOf(row)).Messages(1))
    labels[pair.Text(1)] = pair.Text(2);
  return labels;
}

TEST(PyroscopeProtocol, LabelsAreThoseItsUsersSelectBy) {
  EXPECT_THAT(LabelsOf(Row("shop", "cart-0", "web", kFirstWindow)),
              ElementsAre(Pair("__name__", "process_cpu"), Pair("cluster", "prod"),
                          Pair("container", "web"), Pair("namespace", "shop"),
                          Pair("node", "node-1"), Pair("pod", "cart-0"),
                          Pair("service_name", "shop/web"), Pair("workload", "cart-0-workload")));
  EXPECT_THAT(LabelsOf(HostRow()),
              ElementsAre(Pair("__name__", "process_cpu"), Pair("cluster", "prod"),
                          Pair("container", "nginx.service"), Pair("node", "node-1"),
                          Pair("service_name", "nginx.service")));
}

TEST(PyroscopeProtocol, NamesOfTypesAreMetricNames) {
  const std::pair<const char*, const char*> cases[] = {{"cpu", "process_cpu"},
                                                       {"offcpu", "off_cpu"},
                                                       {"lock", "mutex"},
                                                       {"memory", "memory"},
                                                       {"event:page-faults", "event_page_faults"}};
  for (const auto& [type, name] : cases) {
    store::CatalogRow row = Row("shop", "cart-0", "web", kFirstWindow);
    row.type = type;
    EXPECT_EQ(LabelsOf(row)["__name__"], name);
  }
}

TEST(PyroscopeProtocol, SendsTheProfileWithoutItsSamplesLabels) {
  StackBuilder stacks;
  stacks.Add({"main", "serve"}, 2, {{"thread", "a"}}).Add({"main", "serve"}, 3, {{"thread", "b"}});
  stacks.Add({"main"}, 1);
  const ProtoMessage sample =
      SeriesOf(Row("shop", "cart-0", "web", kFirstWindow), stacks.Build()).Message(2);
  const Result<profile::Profile> profile = profile::DecodePprof(sample.Text(1));
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile::ToFolded(*profile, 0), "main 1\nmain;serve 5\n");
  EXPECT_EQ(profile->sample_count(), 2u);
  for (uint32_t i = 0; i < profile->sample_count(); ++i)
    EXPECT_TRUE(profile->sample(i).labels.empty());
  EXPECT_EQ(profile->meta().period, 10'000'000);
  EXPECT_EQ(profile->meta().duration_nanos, 60'000'000'000);
}

TEST(PyroscopeProtocol, IdsAreUuidsAndThoseOfTheProfile) {
  const auto id = [](const store::CatalogRow& row) {
    return SeriesOf(row, ProfileOf(row)).Message(2).Text(2);
  };
  const store::CatalogRow row = Row("shop", "cart-0", "web", kFirstWindow);
  // RFC 9562: version 8 and the variant of that document.
  EXPECT_TRUE(std::regex_match(
      id(row), std::regex("[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")))
      << id(row);
  EXPECT_EQ(id(row), id(row));
  EXPECT_NE(id(row), id(Row("shop", "cart-0", "web", kFirstWindow + 60)));
}

TEST(PyroscopeProtocol, LeavesOutWhatIsNoProfile) {
  const auto protocol = NewPyroscopeProtocol("prod");
  EXPECT_FALSE(protocol->Add(Row("shop", "cart-0", "web", kFirstWindow), "no profile"));
  EXPECT_EQ(protocol->bytes(), 0u);
  EXPECT_EQ(protocol->TakeBody(), "");
}

Texts ResourceOf(const store::CatalogRow& row) {
  const auto protocol = NewOtlpProtocol("prod");
  EXPECT_TRUE(protocol->Add(row, profile::EncodePprof(ProfileOf(row))));
  const Result<std::string> body = profile::GzipDecompress(protocol->TakeBody(), 1 << 20);
  EXPECT_TRUE(body);
  Texts attributes;
  const ProtoMessage resource = ProtoMessage(*body).Message(1).Message(1);
  for (const ProtoMessage& pair : resource.Messages(1))
    attributes[pair.Text(1)] = pair.Message(2).Text(1);
  return attributes;
}

TEST(OtlpProtocol, ResourcesFollowTheConventions) {
  EXPECT_THAT(
      ResourceOf(Row("shop", "cart-0", "web", kFirstWindow)),
      ElementsAre(Pair("container.id", "cid-web"), Pair("host.name", "node-1"),
                  Pair("k8s.cluster.name", "prod"), Pair("k8s.container.name", "web"),
                  Pair("k8s.namespace.name", "shop"), Pair("k8s.node.name", "node-1"),
                  Pair("k8s.pod.name", "cart-0"), Pair("k8s.pod.uid", "uid-cart-0"),
                  Pair("service.name", "cart-0-workload"), Pair("service.namespace", "shop")));
  EXPECT_THAT(ResourceOf(HostRow()),
              ElementsAre(Pair("host.name", "node-1"), Pair("service.name", "nginx.service")));
}

HttpResponse Answer(int status, const std::string& type, const std::string& body = "",
                    const std::string& retry_after = "") {
  HttpResponse response{.status = status, .headers = {{"content-type", type}}, .body = body};
  if (!retry_after.empty()) response.headers.push_back({"retry-after", retry_after});
  return response;
}

PushAnswer Judge(const PushProtocol& protocol, const HttpResponse& response, int tries = 1) {
  return protocol.Judge(response, tries, kFirstWindow * kNsPerSecond);
}

// Connect's table of codes tells which may go through later, and which are of one profile.
TEST(PyroscopeProtocol, TellsWhatMayBeTriedAgain) {
  const auto protocol = NewPyroscopeProtocol("prod");
  for (const int status : {408, 429, 500, 502, 503, 504})
    EXPECT_EQ(Judge(*protocol, Answer(status, "")).verdict, PushVerdict::kLater) << status;
  for (const int status : {301, 400, 401, 403, 404, 409, 413, 499, 501})
    EXPECT_EQ(Judge(*protocol, Answer(status, "")).verdict, PushVerdict::kRefused) << status;
  for (const int status : {400, 413})
    EXPECT_TRUE(Judge(*protocol, Answer(status, "")).blames_content) << status;
  for (const int status : {401, 403, 404})
    EXPECT_FALSE(Judge(*protocol, Answer(status, "")).blames_content) << status;
  EXPECT_EQ(Judge(*protocol, Answer(500, ""), 5).verdict, PushVerdict::kRefused);
  EXPECT_TRUE(Judge(*protocol, Answer(500, ""), 5).blames_content);
}

TEST(PyroscopeProtocol, IsNotMetByAnyPageThatAnswers200) {
  const auto protocol = NewPyroscopeProtocol("prod");
  EXPECT_EQ(Judge(*protocol, Answer(200, "application/proto")).verdict, PushVerdict::kTaken);
  EXPECT_EQ(Judge(*protocol, Answer(200, "text/html")).verdict, PushVerdict::kRefused);
}

// https://opentelemetry.io/docs/specs/otlp/: 429, 502, 503 and 504, all others must not be retried.
TEST(OtlpProtocol, TellsWhatMayBeTriedAgain) {
  const auto protocol = NewOtlpProtocol("prod");
  for (const int status : {429, 502, 503, 504})
    EXPECT_EQ(Judge(*protocol, Answer(status, "")).verdict, PushVerdict::kLater) << status;
  for (const int status : {301, 400, 401, 403, 404, 408, 413, 500, 501, 505})
    EXPECT_EQ(Judge(*protocol, Answer(status, "")).verdict, PushVerdict::kRefused) << status;
  for (const int status : {200, 202, 204})
    EXPECT_EQ(Judge(*protocol, Answer(status, "")).verdict, PushVerdict::kTaken) << status;
  EXPECT_EQ(Judge(*protocol, Answer(200, "text/html", "<html>")).verdict, PushVerdict::kRefused);
}

TEST(OtlpProtocol, PartOfARequestMayBeRejected) {
  const auto protocol = NewOtlpProtocol("prod");
  const PushAnswer answer =
      Judge(*protocol, Answer(200, "application/x-protobuf", "\x0a\x0b\x08\x02\x12\x07too big"));
  EXPECT_EQ(answer.verdict, PushVerdict::kTaken);
  EXPECT_EQ(answer.rejected, 2u);
  EXPECT_EQ(answer.reason, "too big");
  const std::string escape =
      "\x0a\x06\x08\x02\x12\x02"
      "a\x1b";
  EXPECT_EQ(Judge(*protocol, Answer(200, "application/x-protobuf", escape)).reason, "a ");
  const std::string head = "\x0a\xb1\x02\x08\x02\x12\xac\x02";
  const PushAnswer cut =
      Judge(*protocol, Answer(200, "application/x-protobuf", head + std::string(300, 'x')));
  EXPECT_EQ(cut.reason, std::string(200, 'x'));
  EXPECT_EQ(Judge(*protocol, Answer(200, "application/json", "{}")).verdict, PushVerdict::kTaken);
}

TEST(PushAnswer, WaitsAsLongAsTheServerAsksForFiveMinutesAtMost) {
  const auto protocol = NewOtlpProtocol("prod");
  EXPECT_EQ(Judge(*protocol, Answer(503, "", "", "7")).wait_ns, 7 * kNsPerSecond);
  EXPECT_EQ(Judge(*protocol, Answer(429, "", "", "86400")).wait_ns, 300 * kNsPerSecond);
  EXPECT_EQ(Judge(*protocol, Answer(503, "", "", "soon")).wait_ns, 0);
  EXPECT_EQ(Judge(*protocol, Answer(503, "")).wait_ns, 0);
}

TEST(PushAnswer, TellsWhatTheServerSaysOnOneShortLine) {
  EXPECT_EQ(DescribeRefusal(Answer(401, "")), "it answers 401");
  EXPECT_EQ(DescribeRefusal(Answer(400, "", "{\"code\":\"invalid_argument\"}")),
            "it answers 400: {\"code\":\"invalid_argument\"}");
  EXPECT_EQ(DescribeRefusal(Answer(400, "", "a\n\x1b[31mb\xff")), "it answers 400: a  [31mb ");
  EXPECT_LT(DescribeRefusal(Answer(400, "", std::string(10'000, 'x'))).size(), 300u);
}

}  // namespace
}  // namespace firetower::daemon
