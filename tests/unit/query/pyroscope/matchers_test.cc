// SPDX-License-Identifier: Apache-2.0
// Every matcher of a selector counts, those of the type's labels too: a store with one profile of
// each type, whose pod is called by its type.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/check.h"
#include "profile/builder.h"
#include "profile/pprof.h"
#include "profile/type.h"
#include "store/bundle.h"
#include "store/key.h"
#include "tests/support/memory_store.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query::pyroscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Json = nlohmann::json;
using Pods = std::vector<std::string>;

constexpr int64_t kStartNs = Fixture::kNowNs - 120 * kNsPerSecond;
constexpr const char* kCpu = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
constexpr const char* kSamples = "process_cpu:samples:count:cpu:nanoseconds";
constexpr const char* kSpace = "memory:alloc_space:bytes:space:bytes";

// 1 of the first value and 1000 of the main one.
profile::Profile ProfileOf(const profile::ProfileType& type) {
  profile::Meta meta;
  meta.sample_types = type.SampleTypes();
  meta.default_sample_type = meta.sample_types.back().type;
  meta.time_nanos = kStartNs;
  meta.duration_nanos = 60 * kNsPerSecond;
  profile::ProfileBuilder builder(std::move(meta));
  profile::Line line;
  line.function = builder.AddFunction("main", "main", "");
  const uint32_t leaf = builder.AddLocation(profile::kNoMapping, 16, {&line, 1});
  // A count, and then the others.
  std::vector<int64_t> values(type.SampleTypes().size(), 1000);
  values.front() = 1;
  CHECK(builder.AddSample({&leaf, 1}, values));
  return std::move(builder).Build();
}

class PyroscopeMatchers : public ::testing::Test {
 protected:
  PyroscopeMatchers() {
    store::BundleWriter bundle(kStartNs);
    for (const char* name : {"cpu", "offcpu", "lock", "memory", "event:page-faults"}) {
      const auto type = profile::ParseProfileType(name);
      CHECK(type);
      store::CatalogRow row;
      row.namespace_name = "types";
      row.pod = name;
      row.container = "c";
      row.type = name;
      row.start_ns = kStartNs;
      row.duration_ns = 60 * kNsPerSecond;
      row.samples = 1;
      row.value = 1000;
      row.unit = type->SampleTypes().back().unit;
      CHECK(bundle.Add(row, profile::EncodePprof(ProfileOf(*type))));
    }
    store::BundleKey key;
    key.cluster = "local";
    key.start_s = kStartNs / kNsPerSecond;
    key.seconds = 60;
    key.node = "n";
    key.run = "abcd1234";
    const auto name = store::BuildKey(key);
    const auto bytes = std::move(bundle).Finish();
    CHECK(name && bytes && store_.Put(*name, *bytes));
  }

  net::HttpResponse Post(const std::string& method, const Json& body) {
    net::HttpRequest request;
    request.method = "POST";
    request.path = "/querier.v1.QuerierService/" + method;
    request.body = body.dump();
    request.content_type = "application/json";
    return fixture_.api().Serve(request);
  }
  Pods PodsOf(const std::string& selector) {
    const net::HttpResponse response =
        Post("LabelValues", {{"name", "pod"}, {"matchers", {selector}}});
    EXPECT_EQ(response.status, 200) << selector << ": " << response.body;
    return Json::parse(response.body).value("names", Pods());
  }
  // Selects the pods of the types only, because the fixture has other open ones.
  Pods Types(const std::string& matchers) {
    return PodsOf("{namespace=\"types\"," + matchers + "}");
  }
  std::string Total(const char* type_id, const std::string& matchers) {
    const net::HttpResponse response =
        Post("SelectMergeStacktraces", {{"profileTypeID", type_id},
                                        {"labelSelector", "{namespace=\"types\"" + matchers + "}"},
                                        {"start", kStartNs / kNsPerMs},
                                        {"end", Fixture::kNowNs / kNsPerMs}});
    EXPECT_EQ(response.status, 200) << matchers << ": " << response.body;
    return Json::parse(response.body)["flamegraph"].value("total", "0");
  }
  testing::MemoryStore store_;
  Fixture fixture_{{}, &store_};
};

TEST_F(PyroscopeMatchers, OfTheNameAreOfEveryKind) {
  EXPECT_THAT(Types(R"(__name__="process_cpu")"), ElementsAre("cpu"));
  EXPECT_THAT(Types(R"(__name__="cpu")"), ElementsAre("cpu")) << "our spelling";
  EXPECT_THAT(Types(R"(__name__="block")"), ElementsAre("lock")) << "its second name";
  EXPECT_THAT(Types(R"(__name__!="process_cpu")"),
              ElementsAre("event:page-faults", "lock", "memory", "offcpu"));
  EXPECT_THAT(Types(R"(__name__!="cpu")"),
              ElementsAre("event:page-faults", "lock", "memory", "offcpu"));
  EXPECT_THAT(Types(R"(__name__=~"process_.*|mutex")"), ElementsAre("cpu", "lock"));
  EXPECT_THAT(Types(R"(__name__=~"process")"), IsEmpty()) << "of the whole name";
  EXPECT_THAT(Types(R"(__name__=~"event:.*")"), ElementsAre("event:page-faults"));
  EXPECT_THAT(Types(R"(__name__!~"process_.*|event:.*")"), ElementsAre("lock", "memory", "offcpu"));
}

TEST_F(PyroscopeMatchers, OfTheIdAreOfEveryKind) {
  const std::string cpu = kCpu;
  EXPECT_THAT(Types("__profile_type__=\"" + cpu + "\""), ElementsAre("cpu"));
  // A type whose main value is excluded still matches by its samples.
  EXPECT_THAT(Types("__profile_type__!=\"" + cpu + "\"").size(), 5u);
  EXPECT_THAT(Types(R"(__profile_type__!~"process_cpu:.*")"),
              ElementsAre("event:page-faults", "lock", "memory", "offcpu"));
  EXPECT_THAT(Types(R"(__profile_type__=~"memory:inuse_.*")"), ElementsAre("memory"));
  EXPECT_THAT(Types(R"(__type__="samples")"), ElementsAre("cpu", "offcpu"));
  EXPECT_THAT(Types(R"(__unit__="bytes")"), ElementsAre("memory"));
  EXPECT_THAT(Types(R"(__unit__!="count")"), ElementsAre("cpu", "lock", "memory", "offcpu"));
}

// A missing label equals the empty text, as in Prometheus.
TEST_F(PyroscopeMatchers, EmptyValuesAreOfLabelsThatAreNotThere) {
  for (const char* none : {R"(__name__="")", R"(__profile_type__="")", R"(__name__=~"")",
                           R"(__name__!~".*")", R"(__type__="")", R"(__name__!~".+",pod!="")"}) {
    EXPECT_THAT(Types(none), IsEmpty()) << none;
  }
  for (const char* all :
       {R"(__name__!="")", R"(__profile_type__!="")", R"(__name__=~".*")", R"(__name__=~".+")",
        R"(__name__!~"")", R"(nonesuch="")", R"(__nonesuch__="")", R"(nonesuch!="x")",
        R"(nonesuch=~"x?")", R"(nonesuch!~"x")"}) {
    EXPECT_EQ(Types(all).size(), 5u) << all;
  }
  for (const char* none : {R"(nonesuch!="")", R"(nonesuch=~".+")", R"(nonesuch="x")"}) {
    EXPECT_THAT(Types(none), IsEmpty()) << none;
  }
  EXPECT_THAT(Types(R"(__period_type__="")"), ElementsAre("offcpu"));
  EXPECT_EQ(Total("", R"(,__name__="")"), "0") << "not the default type";
}

TEST_F(PyroscopeMatchers, ThatContradictSelectNothing) {
  const std::string cpu = std::string("__profile_type__=\"") + kCpu + "\"";
  EXPECT_THAT(Types(R"(__name__="process_cpu",__name__="memory")"), IsEmpty());
  EXPECT_THAT(Types(R"(__name__="cpu",__name__!="cpu")"), IsEmpty());
  EXPECT_THAT(Types(R"(__name__="cpu",__name__!~"process_.*")"), IsEmpty());
  EXPECT_THAT(Types(R"(__name__=~"process_.*",__name__!~".*_cpu")"), IsEmpty());
  EXPECT_THAT(Types(cpu + ",__profile_type__=\"" + kSamples + "\""), IsEmpty());
  EXPECT_THAT(Types(cpu + ",__profile_type__!=\"" + kCpu + "\""), IsEmpty());
  EXPECT_THAT(Types(cpu + R"(,__name__="memory")"), IsEmpty());
  EXPECT_THAT(Types(cpu + R"(,__type__="samples")"), IsEmpty()) << "of one id, not of two";
  EXPECT_THAT(Types(R"(pod="cpu",pod="memory")"), IsEmpty());
  EXPECT_THAT(PodsOf(std::string(kCpu) + R"({namespace="types",__name__="memory"})"), IsEmpty());
  // Twice the same is no contradiction.
  EXPECT_THAT(Types(cpu + "," + cpu + R"(,__name__="process_cpu",__name__=~".*")"),
              ElementsAre("cpu"));
}

TEST_F(PyroscopeMatchers, AreOfTheTypeThatIsAskedFor) {
  EXPECT_EQ(Total(kCpu, ""), "1000");
  EXPECT_EQ(Total(kSamples, R"(,__name__="process_cpu",__type__="samples",__unit__!="bytes")"),
            "1");
  EXPECT_EQ(Total(kSamples, R"(,__type__="cpu")"), "0");
  EXPECT_EQ(Total(kCpu, std::string(",__profile_type__=\"") + kSamples + "\""), "0");
  EXPECT_EQ(Total(kCpu, R"(,__name__!="process_cpu")"), "0");
  EXPECT_EQ(Total(kCpu, R"(,__name__!~"mem.*")"), "1000");
  EXPECT_EQ(Total(kSpace, R"(,__name__=~"mem.*")"), "1000");
  // If there is none, the answer uses the first value of the named type that all matchers match.
  EXPECT_EQ(Total("", R"(,__name__="memory",__type__="alloc_objects")"), "1");
  EXPECT_EQ(Total("", R"(,__name__="event:page-faults",__type__="events")"), "1000");
  EXPECT_EQ(Total("", R"(,__name__="event:page-faults",__type__="samples")"), "0");
}

TEST_F(PyroscopeMatchers, OfApiV1CountAsWell) {
  const auto status = [&](const std::string& selector) {
    net::HttpRequest request;
    request.method = "GET";
    request.path = "/api/v1/profile";
    request.params = {{"q", selector}, {"from", "now-5m"}};
    return fixture_.api().Serve(request);
  };
  EXPECT_EQ(status(R"({namespace="types",__name__="memory"})").status, 200);
  const net::HttpResponse none = status(R"({namespace="types",__name__="memory",__name__="cpu"})");
  EXPECT_EQ(none.status, 404) << none.body;
  EXPECT_THAT(none.body, ::testing::HasSubstr(R"(memory{namespace="types",__name__="cpu"})"));
  EXPECT_EQ(status(R"(cpu{namespace="types",__name__!="cpu"})").status, 404);
  EXPECT_EQ(status(R"({namespace="types",__name__=""})").status, 404);
}

// Each look at the store reads its bundle's directory once.
TEST_F(PyroscopeMatchers, OfOneRequestAreLookedForInOneWalk) {
  const auto reads_of = [&](const char* method, Json body) {
    const int before = store_.reads;
    const net::HttpResponse response = Post(method, body);
    EXPECT_EQ(response.status, 200) << response.body;
    return store_.reads - before;
  };
  const Json one = {R"({namespace="types",pod="p0"})"};
  Json many = Json::array();
  for (int i = 0; i < 16; ++i) {
    many.push_back("{namespace=\"types\",pod=\"p" + std::to_string(i) + "\"}");
  }
  for (const char* method : {"LabelNames", "LabelValues", "Series"}) {
    const int once = reads_of(method, {{"name", "pod"}, {"matchers", one}});
    EXPECT_GT(once, 0) << method;
    EXPECT_EQ(reads_of(method, {{"name", "pod"}, {"matchers", many}}), once) << method;
  }
}

TEST_F(PyroscopeMatchers, OfSeveralSelectorsAreEachHeard) {
  const auto pods = [&](std::vector<std::string> selectors) {
    const net::HttpResponse response =
        Post("LabelValues", {{"name", "pod"}, {"matchers", std::move(selectors)}});
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body).value("names", Pods());
  };
  const std::string cpu = std::string(kCpu) + R"({namespace="types"})";
  const std::string memory = R"({namespace="types",__name__="memory"})";
  EXPECT_THAT(pods({cpu, memory}), ElementsAre("cpu", "memory"));
  EXPECT_THAT(pods({cpu, R"({namespace="types",__unit__="bytes"})"}), ElementsAre("cpu", "memory"));
  EXPECT_THAT(pods({cpu, R"({namespace="types",__name__="cpu",__name__="memory"})"}),
              ElementsAre("cpu"));
  EXPECT_THAT(pods({memory, R"({namespace="shop",pod="web-0"})"}), ElementsAre("memory", "web-0"));
  EXPECT_EQ(pods({memory, "{}"}).size(), 7u) << "everything";
}

}  // namespace
}  // namespace firetower::query::pyroscope
