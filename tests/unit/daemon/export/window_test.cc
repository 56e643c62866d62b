// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "tests/unit/daemon/export/slices.h"

namespace firetower::daemon {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class WindowTest : public ::testing::Test {
 protected:
  WindowTest() {
    app_ = code_.AddModule("/usr/bin/app", {"main", "_ZN4shop5ServeEi", "step"});
    bare_ = code_.AddModule("/usr/lib/libbare.so", {});
  }

  void Add(const std::vector<RowOf>& rows, int64_t begin_ns = kFirstWindowNs,
           int64_t end_ns = kFirstWindowNs + 5 * kNsPerSecond) {
    std::unique_ptr<Slice> slice = SliceOf(begin_ns, end_ns, rows);
    code_.TellModules(*slice);
    namer_.LearnModules(*slice);
    namer_.BeginSlice();
    window_.Add(*slice);
  }
  Frame InApp(uint64_t function) const { return {app_, 0, function * 16 + 4}; }

  // Names of a sample's frames, leaf first.
  static std::vector<std::string> Names(const profile::Profile& profile, uint32_t sample) {
    std::vector<std::string> names;
    for (uint32_t location : profile.sample(sample).locations) {
      names.push_back(profile.FrameName(profile.location(location), 0));
    }
    return names;
  }
  static std::vector<std::string> Labels(const profile::Profile& profile, uint32_t sample) {
    std::vector<std::string> labels;
    for (const profile::Label& label : profile.sample(sample).labels) {
      labels.push_back(std::string(profile.string(label.key)) + "=" +
                       (label.is_number != 0 ? std::to_string(label.number)
                                             : std::string(profile.string(label.string_value))));
    }
    return labels;
  }

  symbolizer::SymbolCache cache_;
  KnownCode code_{cache_};
  SymbolLoader loader_{"/nonexistent", cache_};
  FrameNamer namer_{loader_, cache_, "/nonexistent"};
  WindowOptions options_{"node-1", kWindowNs, {true, true, true}};
  FakeClock clock_{kNsPerSecond, kFirstWindowNs};
  ContainerNames names_{nullptr, clock_};
  Window window_{options_, namer_, names_};
  std::shared_ptr<const Container> web_ = ContainerCalled("web");
  std::shared_ptr<const Container> db_ = ContainerCalled("db");
  uint32_t app_ = 0, bare_ = 0;
};

TEST_F(WindowTest, MakesAProfileAContainer) {
  Add({{.container = web_, .frames = {InApp(2), InApp(1), InApp(0)}, .count = 3},
       {.container = db_, .frames = {InApp(0)}, .count = 2}});
  Add({{.container = web_, .frames = {InApp(2), InApp(1), InApp(0)}, .count = 4}},
      kFirstWindowNs + 5 * kNsPerSecond, kFirstWindowNs + 10 * kNsPerSecond);
  std::vector<Window::Finished> finished = window_.Take();
  ASSERT_EQ(finished.size(), 2u);
  if (finished[0].open.row.container != "web") std::swap(finished[0], finished[1]);
  const store::CatalogRow& row = finished[0].open.row;
  EXPECT_EQ(row.namespace_name, "-");
  EXPECT_EQ(row.pod, "pod-1");
  EXPECT_EQ(row.container, "web");
  EXPECT_EQ(row.pod_uid, "pod-1");
  EXPECT_EQ(row.container_id, "web-id");
  EXPECT_EQ(row.node, "node-1");
  EXPECT_EQ(row.type, "cpu");
  EXPECT_EQ(row.unit, "nanoseconds");
  EXPECT_EQ(row.samples, 7);
  EXPECT_EQ(row.value, 70'000'000);
  EXPECT_EQ(row.start_ns, kFirstWindowNs);
  EXPECT_EQ(row.duration_ns, 10 * kNsPerSecond);
  const profile::Profile& web = *finished[0].open.profile;
  ASSERT_EQ(web.sample_count(), 1u);
  EXPECT_THAT(Names(web, 0), ElementsAre("step", "shop::Serve(int)", "main"));
  EXPECT_THAT(web.sample(0).values, ElementsAre(7, 70'000'000));
  EXPECT_THAT(web.sample_types(), ElementsAre(profile::ValueType{"samples", "count"},
                                              profile::ValueType{"cpu", "nanoseconds"}));
  EXPECT_EQ(web.meta().period, 10'000'000);
  EXPECT_EQ(web.meta().time_nanos, kFirstWindowNs);
  EXPECT_EQ(web.meta().duration_nanos, 10 * kNsPerSecond);
  EXPECT_EQ(finished[1].open.row.samples, 2);
}

TEST_F(WindowTest, HasALineForEachInlinedCall) {
  std::vector<symbolizer::SourceFrame> frames = {
      {.name = "_ZN4shop5PriceEv", .file = "/src/price.h", .line = 7, .start_line = 5},
      {.name = "_ZN4shop5ServeEi", .file = "/src/serve.cc", .line = 30, .column = 9}};
  code_.Load(app_, {"main", "_ZN4shop5ServeEi"},
             std::make_shared<FramesAt>(KnownCode::kVaddr + 16, KnownCode::kVaddr + 32, frames));
  Add({{.container = web_, .frames = {InApp(1), InApp(0)}}});
  std::vector<Window::Finished> finished = window_.Take();
  const profile::Profile& web = *finished.at(0).open.profile;
  const profile::Location leaf = web.location(web.sample(0).locations[0]);
  ASSERT_EQ(leaf.lines.size(), 2u);
  EXPECT_EQ(web.FrameName(leaf, 0), "shop::Price()");
  EXPECT_EQ(web.FrameName(leaf, 1), "shop::Serve(int)");
  const profile::Function& price = web.function(leaf.lines[0].function);
  EXPECT_EQ(web.string(price.filename), "/src/price.h");
  EXPECT_EQ(web.string(price.system_name), "_ZN4shop5PriceEv");
  EXPECT_EQ(price.start_line, 5);
  EXPECT_EQ(leaf.lines[0].line, 7);
  EXPECT_EQ(leaf.lines[1].line, 30);
  EXPECT_EQ(leaf.lines[1].column, 9u);
  const uint64_t told = profile::Mapping::kHasFunctions | profile::Mapping::kHasFilenames |
                        profile::Mapping::kHasLineNumbers | profile::Mapping::kHasInlineFrames;
  EXPECT_EQ(web.mapping(leaf.mapping).flags, told);
  const profile::Location root = web.location(web.sample(0).locations[1]);
  ASSERT_EQ(root.lines.size(), 1u) << "no source there, so its symbol";
  EXPECT_EQ(web.FrameName(root, 0), "main");
}

// Go's function tables have inlined calls without lines.
TEST_F(WindowTest, TellsOfInlinedCallsWithoutTheirLines) {
  std::vector<symbolizer::SourceFrame> frames = {{.name = "main.price"}, {.name = "main.serve"}};
  code_.Load(app_, {"main", "main.serve"},
             std::make_shared<FramesAt>(KnownCode::kVaddr + 16, KnownCode::kVaddr + 32, frames));
  Add({{.container = web_, .frames = {InApp(0)}}});
  Add({{.container = web_, .frames = {InApp(1), InApp(0)}}});
  std::vector<Window::Finished> finished = window_.Take();
  const profile::Profile& web = *finished.at(0).open.profile;
  ASSERT_EQ(web.sample_count(), 2u);
  const profile::Location leaf = web.location(web.sample(1).locations[0]);
  ASSERT_EQ(leaf.lines.size(), 2u);
  EXPECT_EQ(web.FrameName(leaf, 0), "main.price");
  EXPECT_EQ(web.FrameName(leaf, 1), "main.serve");
  EXPECT_EQ(web.mapping(leaf.mapping).flags,
            profile::Mapping::kHasFunctions | profile::Mapping::kHasInlineFrames);
}

TEST_F(WindowTest, IsEmptyAfterTake) {
  EXPECT_TRUE(window_.empty());
  Add({{.container = web_, .frames = {InApp(0)}}});
  EXPECT_FALSE(window_.empty());
  EXPECT_EQ(window_.Take().size(), 1u);
  EXPECT_TRUE(window_.empty());
  EXPECT_THAT(window_.Snapshot(), IsEmpty());
  Add({{.container = web_, .frames = {InApp(0)}, .count = 2}}, kFirstWindowNs + kWindowNs,
      kFirstWindowNs + kWindowNs + 1);
  EXPECT_EQ(window_.start_ns(), kFirstWindowNs + kWindowNs);
  EXPECT_EQ(window_.Take().at(0).open.row.samples, 2);
}

TEST_F(WindowTest, GoesOnAfterASnapshot) {
  Add({{.container = web_, .frames = {InApp(0)}, .count = 2}});
  std::vector<store::OpenProfile> snapshot = window_.Snapshot();
  ASSERT_EQ(snapshot.size(), 1u);
  Add({{.container = web_, .frames = {InApp(0)}, .count = 3}});
  EXPECT_EQ(snapshot[0].row.samples, 2);
  EXPECT_EQ(snapshot[0].profile->Total(0), 2);
  EXPECT_EQ(window_.Take().at(0).open.profile->Total(0), 5);
}

TEST_F(WindowTest, TellsTasksApart) {
  TaskLabel task{ToComm("app"), ToComm("pool"), 3};
  Add({{.container = web_, .frames = {InApp(0)}, .label = task}});
  auto profile = window_.Take().at(0).open.profile;
  EXPECT_THAT(Labels(*profile, 0), UnorderedElementsAre("comm=app", "thread=pool", "cpu=3"));
}

TEST_F(WindowTest, ATaskWhoseNameNobodyKnowsHasNoLabelOfIt) {
  Add({{.container = web_, .frames = {InApp(0)}, .label = {Comm{}, Comm{}, 3}}});
  EXPECT_THAT(Labels(*window_.Take().at(0).open.profile, 0), UnorderedElementsAre("cpu=3"));
}

TEST_F(WindowTest, LeavesOutLabelsNobodyWants) {
  WindowOptions bare{"node-1", kWindowNs, {false, false, false}};
  Window window(bare, namer_, names_);
  std::unique_ptr<Slice> slice =
      SliceOf(kFirstWindowNs, kFirstWindowNs + 1, {{.container = web_, .frames = {InApp(0)}}});
  code_.TellModules(*slice);
  namer_.LearnModules(*slice);
  window.Add(*slice);
  EXPECT_THAT(Labels(*window.Take().at(0).open.profile, 0), IsEmpty());
}

TEST_F(WindowTest, SaysWhyAStackIsCut) {
  Add({{.container = web_, .frames = {InApp(0)}, .count = 1, .stop = FT_STOP_PAGE},
       {.container = web_, .frames = {InApp(0)}, .count = 3},
       {.container = db_, .frames = {InApp(0)}}});
  for (const Window::Finished& finished : window_.Take()) {
    const profile::Profile& profile = *finished.open.profile;
    bool web = finished.open.row.container == "web";
    std::vector<std::string> cut;
    for (uint32_t i = 0; i < profile.sample_count(); ++i) {
      for (const std::string& label : Labels(profile, i)) {
        if (label.starts_with("cut=")) cut.push_back(label);
      }
    }
    EXPECT_EQ(cut, web ? std::vector<std::string>{"cut=page"} : std::vector<std::string>{});
    EXPECT_THAT(profile.meta().comments,
                Contains(HasSubstr(web ? "25.0% of samples have a cut stack" : "0.0% of samples")));
  }
}

TEST_F(WindowTest, ExplainsADetachedFile) {
  Decision decision = ToBoth();
  decision.policies = {"shop/cart", "everything"};
  Add({{.container = web_, .frames = {InApp(0)}, .decision = decision}});
  Window::Finished finished = window_.Take().at(0);
  const std::vector<std::string>& comments = finished.open.profile->meta().comments;
  EXPECT_THAT(comments, Contains("namespace=- pod=pod-1 container=web node=node-1"));
  EXPECT_THAT(comments, Contains("cgroup=/kubepods/pod-1/web"));
  EXPECT_THAT(comments, Contains(HasSubstr("100 Hz")));
  EXPECT_THAT(comments, Contains("policy=shop/cart"));
  EXPECT_THAT(comments, Contains("policy=everything"));
  EXPECT_THAT(finished.open.row.policies, ElementsAre("shop/cart", "everything"));
}

TEST_F(WindowTest, NamesWhatIsLostApartFromWhatIsNotThere) {
  Add({{.container = web_, .stop = kStopStackLost},
       {.container = db_, .count = 2, .stop = FT_STOP_NO_USER}});  // A policy wants user frames.
  for (const Window::Finished& finished : window_.Take()) {
    EXPECT_THAT(Names(*finished.open.profile, 0),
                ElementsAre(finished.open.row.container == "web" ? "[stack lost]" : "[no frames]"));
  }
}

TEST_F(WindowTest, NamesNothingItDoesNotKnow) {
  Add({{.container = web_,
        .frames = {Frame{bare_, 0, 0x1f0}, Frame{app_, 0, 0x9999},
                   Frame{ModuleRegistry::kKernel, 0, 0xffffffff81000010},
                   Frame{ModuleRegistry::kJit, 7, 0x7f0010}, Frame{}}}});
  EXPECT_THAT(
      Names(*window_.Take().at(0).open.profile, 0),
      ElementsAre("[libbare.so]+0x1f0", "[app]+0x9999", "[kernel.kallsyms]+0xffffffff81000010",
                  "[jit]+0x7f0010", "[unknown]+0x0"));
  EXPECT_EQ(namer_.misses(), 5u);
  EXPECT_EQ(namer_.hits(), 0u);
}

TEST_F(WindowTest, NamesAllItsSamplesWhenSymbolsComeWithinIt) {
  Frame leaf{bare_, 0, 16 + 4}, caller{bare_, 0, 4};
  Add({{.container = web_, .frames = {leaf, caller}, .count = 2}});
  EXPECT_THAT(Names(*window_.Snapshot().at(0).profile, 0),
              ElementsAre("[libbare.so]+0x14", "[libbare.so]+0x4"));
  code_.Load(bare_, {"open_it", "_ZN4bare4ReadEv"});
  Add({{.container = web_, .frames = {leaf, caller}, .count = 3},
       {.container = web_, .frames = {caller}}});
  EXPECT_THAT(Names(*window_.Snapshot().at(0).profile, 0), ElementsAre("bare::Read()", "open_it"));
  auto profile = window_.Take().at(0).open.profile;
  ASSERT_EQ(profile->sample_count(), 2u);
  EXPECT_EQ(profile->sample(0).values[0], 5);
  EXPECT_THAT(Names(*profile, 0), ElementsAre("bare::Read()", "open_it"));
  EXPECT_THAT(Names(*profile, 1), ElementsAre("open_it"));
  // The result equals a first naming: the object's own address, and no function of its old name.
  EXPECT_EQ(profile->location(profile->sample(0).locations[0]).address, KnownCode::kVaddr + 16 + 4);
  EXPECT_EQ(profile->function_count(), 2u);
  EXPECT_EQ(namer_.misses(), 2u) << "looking again is no further miss";
  EXPECT_EQ(namer_.hits(), 2u);
}

TEST_F(WindowTest, NamesWhatIsStillOpenWhenItIsTaken) {
  Add({{.container = web_, .frames = {Frame{bare_, 0, 4}}}});
  EXPECT_TRUE(window_.waits_for_names());
  code_.Load(bare_, {"open_it"});
  namer_.BeginSlice();
  EXPECT_THAT(Names(*window_.Take().at(0).open.profile, 0), ElementsAre("open_it"));
  EXPECT_FALSE(window_.waits_for_names());
}

TEST_F(WindowTest, AsksNoMoreForCodeWithoutASymbol) {
  // Its table is loaded and has no symbol there, so no later table can name it either.
  Add({{.container = web_, .frames = {Frame{app_, 0, 0x9999}}}});
  EXPECT_FALSE(window_.waits_for_names());
}

TEST_F(WindowTest, KeepsNamesWhoseTableWentWithinIt) {
  Add({{.container = web_, .frames = {InApp(1)}}});
  cache_.Erase(code_.module(app_).cache_key);
  Add({{.container = web_, .frames = {InApp(1)}}});
  EXPECT_THAT(Names(*window_.Take().at(0).open.profile, 0), ElementsAre("shop::Serve(int)"));
}

TEST_F(WindowTest, TellsABuildIdThatIsFoundLater) {
  Add({{.container = web_, .frames = {Frame{bare_, 0, 4}}}});
  EXPECT_THAT(window_.Snapshot().at(0).row.build_ids, IsEmpty());
  code_.module(bare_).SetFoundBuildId("abcd12");
  Window::Finished finished = window_.Take().at(0);
  EXPECT_THAT(finished.open.row.build_ids, ElementsAre("abcd12"));
  const profile::Profile& profile = *finished.open.profile;
  EXPECT_EQ(profile.string(profile.mapping(0).build_id), "abcd12");
}

TEST_F(WindowTest, GivesAddressesOfTheObjectItself) {
  Add({{.container = web_, .frames = {InApp(2)}}});
  auto profile = window_.Take().at(0).open.profile;
  profile::Location location = profile->location(profile->sample(0).locations[0]);
  EXPECT_EQ(location.address, KnownCode::kVaddr + 2 * 16 + 4);
  const profile::Mapping& mapping = profile->mapping(location.mapping);
  EXPECT_EQ(profile->string(mapping.filename), "/usr/bin/app");
  // One that spans everything: pprof then leaves addresses as they are.
  EXPECT_EQ(mapping.memory_start, 0u);
  EXPECT_EQ(mapping.memory_limit, ~uint64_t{0});
}

TEST_F(WindowTest, TellsBuildIds) {
  code_.module(app_).SetFoundBuildId("abcd12");
  Add({{.container = web_, .frames = {InApp(0), InApp(1), Frame{bare_, 0, 0}}}});
  Window::Finished finished = window_.Take().at(0);
  EXPECT_THAT(finished.open.row.build_ids, ElementsAre("abcd12"));
  const profile::Profile& profile = *finished.open.profile;
  EXPECT_EQ(profile.string(profile.mapping(0).build_id), "abcd12");
}

TEST_F(WindowTest, LeavesOutWhatIsNotForTheStore) {
  Decision metrics_only = ToBoth();
  metrics_only.to_store = false;
  Add({{.container = web_, .frames = {InApp(0)}, .decision = metrics_only},
       {.container = db_, .frames = {InApp(0)}}});
  std::vector<Window::Finished> finished = window_.Take();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].open.row.container, "db");
}

TEST_F(WindowTest, TakesTheHighestOfWhatPoliciesSaidWithinIt) {
  Decision slow = ToBoth(k8s::RetentionClass::kShort), fast = ToBoth(k8s::RetentionClass::kLong);
  slow.frequency_hz = 20;
  slow.policies = {"a"};
  fast.policies = {"a", "b"};
  for (const Decision& decision : {slow, fast, slow}) {
    Add({{.container = web_, .frames = {InApp(0)}, .decision = decision}});
  }
  Window::Finished finished = window_.Take().at(0);
  EXPECT_EQ(finished.retention, k8s::RetentionClass::kLong);
  EXPECT_EQ(finished.open.profile->meta().period, 10'000'000);
  EXPECT_THAT(finished.open.row.policies, ElementsAre("a", "b"));
}

TEST_F(WindowTest, KeepsAShortRetention) {
  Add({{.container = web_, .frames = {InApp(0)}, .decision = ToBoth(k8s::RetentionClass::kShort)}});
  EXPECT_EQ(window_.Take().at(0).retention, k8s::RetentionClass::kShort);
}

TEST_F(WindowTest, CoversItsSlicesWhenTheWallClockIsSetBackWithin) {
  Add({{.container = web_, .frames = {InApp(0)}}}, kFirstWindowNs + 40 * kNsPerSecond,
      kFirstWindowNs + 45 * kNsPerSecond);
  Add({{.container = web_, .frames = {InApp(0)}}}, kFirstWindowNs + 10 * kNsPerSecond,
      kFirstWindowNs + 15 * kNsPerSecond);
  Window::Finished finished = window_.Take().at(0);
  EXPECT_EQ(finished.open.row.start_ns, kFirstWindowNs + 10 * kNsPerSecond);
  EXPECT_EQ(finished.open.row.duration_ns, 35 * kNsPerSecond);
  EXPECT_EQ(finished.open.profile->meta().duration_nanos, 35 * kNsPerSecond);
}

TEST_F(WindowTest, NeverHasANegativeDuration) {
  // The last slice ends when the daemon does, maybe before the clock's time at its beginning.
  Add({{.container = web_, .frames = {InApp(0)}}}, kFirstWindowNs + 40 * kNsPerSecond,
      kFirstWindowNs + 10 * kNsPerSecond);
  EXPECT_GE(window_.Take().at(0).open.row.duration_ns, 0);
}

// The hash is not secret (base/hash.h): two frames with the same hash are still two locations.
TEST_F(WindowTest, TellsFramesWithOneHashApart) {
  uint64_t one = HashWord(kHashSeed, uint64_t{app_} << 32);
  uint64_t other = HashWord(kHashSeed, uint64_t{ModuleRegistry::kUnknown} << 32);
  Frame known = InApp(0);
  Frame twin{ModuleRegistry::kUnknown, 0, known.offset ^ one ^ other};
  ASSERT_EQ(HashWord(one, known.offset), HashWord(other, twin.offset));
  Add({{.container = web_, .frames = {known, twin}}});
  std::vector<std::string> names = Names(*window_.Take().at(0).open.profile, 0);
  EXPECT_EQ(names.at(0), "main");
  EXPECT_THAT(names.at(1), Not("main"));
}

class HeapWindowTest : public WindowTest {
 protected:
  // One sampled allocation, which stands for ten of a million bytes each, by its time and thread.
  struct Allocation {
    uint64_t time_ns = 0;
    uint32_t pid = 7;
    uint64_t function = 2;  // that called main
  };
  static AllocationId IdOf(uint64_t time_ns) { return {time_ns, 70}; }

  void AddSlice(int64_t window, const std::vector<Allocation>& allocations,
                const std::vector<uint64_t>& freed, uint8_t why = FT_FREED) {
    Decision decision = ToBoth();
    decision.in_use = true;
    std::vector<RowOf> rows;
    for (const Allocation& one : allocations) {
      rows.push_back({.container = web_,
                      .frames = {InApp(one.function), InApp(0)},
                      .decision = decision,
                      .type = FT_TYPE_MEMORY});
    }
    const int64_t begin_ns = kFirstWindowNs + window * kWindowNs;
    std::unique_ptr<Slice> slice = SliceOf(begin_ns, begin_ns + 5 * kNsPerSecond, rows);
    for (size_t i = 0; i < allocations.size(); ++i) {
      const auto row = std::ranges::find_if(slice->rows, [&](const Slice::Row& candidate) {
        return slice->frames[slice->stacks[candidate.stack].begin] ==
               InApp(allocations[i].function);
      });
      slice->allocated.push_back({IdOf(allocations[i].time_ns),
                                  allocations[i].pid,
                                  static_cast<uint32_t>(row - slice->rows.begin()),
                                  {.count = 10, .value = 10'000'000}});
    }
    for (const uint64_t time_ns : freed) {
      ft_freed record{};
      record.time_ns = static_cast<uint64_t>(slice->begin_ns);
      record.sample_ns = time_ns;
      record.tid = 70;
      record.why = why;
      slice->freed.push_back(record);
    }
    code_.TellModules(*slice);
    namer_.LearnModules(*slice);
    namer_.BeginSlice();
    window_.Add(*slice);
  }

  // Returns what is in use by function, in millions of bytes.
  static std::map<std::string, int64_t> InUse(const profile::Profile& profile) {
    std::map<std::string, int64_t> by_leaf;
    for (uint32_t i = 0; i < profile.sample_count(); ++i) {
      const profile::Sample sample = profile.sample(i);
      if (sample.values[3] == 0) continue;
      EXPECT_EQ(sample.values[2] * 1'000'000, sample.values[3]);
      by_leaf[Names(profile, i).front()] += sample.values[3] / 1'000'000;
    }
    return by_leaf;
  }
  std::map<std::string, int64_t> Taken() {
    const std::vector<Window::Finished> finished = window_.Take();
    if (finished.size() != 1) return {};
    meta_ = finished[0].open.profile->meta();
    row_ = finished[0].open.row;
    return InUse(*finished[0].open.profile);
  }

  profile::Meta meta_;
  store::CatalogRow row_;
};

TEST_F(HeapWindowTest, HasWhatIsNotFreedYetInEachWindow) {
  using ::testing::Pair;
  AddSlice(0, {{1}, {2}, {3, 7, 1}}, {2});
  EXPECT_THAT(InUse(*window_.Snapshot().at(0).profile),
              ElementsAre(Pair("shop::Serve(int)", 10), Pair("step", 10)))
      << "also while it is open";
  EXPECT_THAT(Taken(), ElementsAre(Pair("shop::Serve(int)", 10), Pair("step", 10)));
  EXPECT_THAT(meta_.sample_types, ElementsAre(profile::ValueType{"alloc_objects", "count"},
                                              profile::ValueType{"alloc_space", "bytes"},
                                              profile::ValueType{"inuse_objects", "count"},
                                              profile::ValueType{"inuse_space", "bytes"}));
  EXPECT_EQ(meta_.default_sample_type, "inuse_space");
  EXPECT_EQ(row_.value, 30'000'000) << "the catalog has what was allocated";
  EXPECT_THAT(meta_.comments, Contains(HasSubstr("allocated since 2025-11-21T04:40:00Z")));
  EXPECT_TRUE(window_.empty()) << "until the next slice";
  AddSlice(1, {}, {});
  EXPECT_FALSE(window_.empty());
  EXPECT_THAT(Taken(), ElementsAre(Pair("shop::Serve(int)", 10), Pair("step", 10)))
      << "nothing was allocated in it";
  EXPECT_EQ(row_.value, 0);
  AddSlice(2, {}, {1, 3});
  EXPECT_TRUE(window_.empty());
}

TEST_F(HeapWindowTest, WhatIsFreedBeforeItsSampleComesIsNotInUse) {
  AddSlice(0, {{1}}, {2});
  AddSlice(0, {{2}}, {});
  EXPECT_THAT(Taken(), ElementsAre(::testing::Pair("step", 10)));
}

TEST_F(HeapWindowTest, ForgetsWhatAProcessHadThatIsNotFollowedAnyMore) {
  AddSlice(0, {{1, 7}, {2, 8}, {9, 7}}, {});
  window_.EndHeap(7, 5);
  EXPECT_THAT(Taken(), ElementsAre(::testing::Pair("step", 20))) << "of 8, and of 7 since then";
  AddSlice(1, {{3, 7}}, {});
  EXPECT_THAT(Taken(), ElementsAre(::testing::Pair("step", 20))) << "a sample that comes late";
}

TEST_F(HeapWindowTest, SaysWhatCouldNotBeFollowed) {
  AddSlice(0, {{1}, {2}}, {2}, FT_FREED_UNSEEN);
  EXPECT_THAT(Taken(), ElementsAre(::testing::Pair("step", 10)));
  EXPECT_THAT(meta_.comments, Contains(HasSubstr("in use lacks 10 allocations")));
}

TEST_F(HeapWindowTest, WithoutThatMemoryIsOfAllocations) {
  Add({{.container = web_, .frames = {InApp(0)}, .type = FT_TYPE_MEMORY}});
  EXPECT_THAT(Taken(), IsEmpty());
  EXPECT_EQ(meta_.default_sample_type, "alloc_space");
}

}  // namespace
}  // namespace firetower::daemon
