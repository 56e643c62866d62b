// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/http_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/direct_sink.h"
#include "tests/support/fake_proc.h"
#include "tests/support/memory_store.h"
#include "tests/unit/daemon/export/slices.h"

namespace firetower::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Nobody : public ExportObserver {
 public:
  void OnSlice(const Slice&, std::span<const ContainerSlice>,
               std::span<const ContainerLabels>) override {}
};

class HttpSourcesTest : public ::testing::Test {
 protected:
  static DoctorInput Input(const std::string& proc_root) {
    DoctorInput input;
    input.proc_root = input.sys_root = proc_root;
    input.cgroup = [] { return CgroupFacts{"v2", "cgroup2", ""}; };
    input.store = [] {
      StoreFacts facts;
      facts.url = "file:///store";
      facts.error = Error(ErrorCode::kExhausted, "no space left");
      return facts;
    };
    return input;
  }

  testing::FakeProc proc_;
  FakeClock clock_{kNsPerSecond, kFirstWindowNs};
  testing::MemoryStore store_;
  testing::DirectSink sink_{store_};
  Nobody observer_;
  symbolizer::SymbolCache cache_;
  KnownCode code_{cache_};
  SymbolLoader loader_{proc_.root(), cache_};
  Exporter exporter_{sink_,
                     loader_,
                     cache_,
                     proc_.root(),
                     observer_,
                     clock_,
                     {{"node-1", kWindowNs, {}}, "home", "abcd1234"}};
  MetricsRegistry registry_;
  HttpSources sources_{exporter_, registry_, Input(proc_.root())};
};

TEST_F(HttpSourcesTest, ShowsWhatIsOnItsWayIntoTheStore) {
  ListedSlices slices;
  uint32_t app = code_.AddModule("/usr/bin/app", {"main"});
  slices.slices.push_back(
      SliceOf(kFirstWindowNs, kFirstWindowNs + kWindowNs,
              {{.container = ContainerCalled("web"), .frames = {Frame{app, 0, 0}}}}, true));
  code_.TellModules(*slices.slices[0]);
  std::vector<store::OpenProfile> seen;
  store_.on_put = [&](const std::string&) { seen = sources_.OpenProfiles(); };
  exporter_.Start(slices);
  exporter_.Finish();
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].row.container, "web");
  EXPECT_THAT(sources_.OpenProfiles(), IsEmpty());
}

TEST_F(HttpSourcesTest, RendersWhatTheScraperAccepts) {
  auto plain = sources_.Render("");
  EXPECT_THAT(plain.content_type, HasSubstr("text/plain"));
  EXPECT_THAT(plain.body, HasSubstr("# TYPE firetower_samples_total counter"));
  auto open = sources_.Render("application/openmetrics-text;version=1.0.0,text/plain;q=0.5");
  EXPECT_THAT(open.content_type, HasSubstr("application/openmetrics-text"));
  EXPECT_TRUE(open.body.ends_with("# EOF\n"));
}

TEST_F(HttpSourcesTest, HandsTheDoctorsChecksOnWhole) {
  std::vector<Check> own = RunDoctor(Input(proc_.root()));
  std::vector<query::Check> checks = sources_.Checks();
  ASSERT_EQ(checks.size(), own.size());
  auto status = [](CheckStatus one) {
    return one == CheckStatus::kOk     ? query::CheckStatus::kOk
           : one == CheckStatus::kWarn ? query::CheckStatus::kWarn
                                       : query::CheckStatus::kFail;
  };
  for (size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(checks[i].name, own[i].name);
    EXPECT_EQ(checks[i].message, own[i].message) << own[i].name;
    EXPECT_EQ(checks[i].fix, own[i].fix) << own[i].name;
    EXPECT_EQ(checks[i].status, status(own[i].status)) << own[i].name;
  }
  auto store = std::find_if(checks.begin(), checks.end(),
                            [](const query::Check& check) { return check.name == "store"; });
  ASSERT_NE(store, checks.end());
  EXPECT_EQ(store->status, query::CheckStatus::kFail);
  EXPECT_THAT(store->message, HasSubstr("no space left"));
}

TEST_F(HttpSourcesTest, IsReadyWhenSamplingBegan) {
  EXPECT_THAT(sources_.NotReadyReasons(), SizeIs(1));
  sources_.SetReady(true);
  EXPECT_THAT(sources_.NotReadyReasons(), IsEmpty());
  sources_.SetReady(false);
  EXPECT_THAT(sources_.NotReadyReasons(), SizeIs(1));
}

}  // namespace
}  // namespace firetower::daemon
