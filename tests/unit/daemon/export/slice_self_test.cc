// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/hotspots/slice_self.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/daemon/export/slices.h"

namespace firetower::daemon {
namespace {

class SliceSelfTest : public ::testing::Test {
 protected:
  // Self time in ms by "container function binary".
  std::map<std::string, int64_t> Compute(const std::vector<RowOf>& rows) {
    std::unique_ptr<Slice> slice = SliceOf(kFirstWindowNs, kFirstWindowNs + 1, rows);
    code_.TellModules(*slice);
    namer_.LearnModules(*slice);
    namer_.BeginSlice();
    std::map<std::string, int64_t> by_name;
    for (const ContainerSlice& container : self_.Compute(*slice)) {
      int64_t sum_ns = 0;
      for (const FunctionSelf& function : container.functions) {
        std::string key = container.labels.container + " " + std::string(function.function) + " " +
                          std::string(function.binary);
        EXPECT_EQ(by_name.count(key), 0u) << key;
        by_name[key] = function.value / 1'000'000;
        EXPECT_EQ(function.value, function.samples * 10'000'000);
        sum_ns += function.value;
      }
      EXPECT_EQ(sum_ns, container.total) << "every sample has a function on top";
      EXPECT_EQ(container.labels.pod, "pod-1");
    }
    return by_name;
  }

  symbolizer::SymbolCache cache_;
  KnownCode code_{cache_};
  SymbolLoader loader_{"/nonexistent", cache_};
  FrameNamer namer_{loader_, cache_, "/nonexistent"};
  SliceSelf self_{namer_};
  std::shared_ptr<const Container> web_ = ContainerCalled("web");
  std::shared_ptr<const Container> db_ = ContainerCalled("db");
};

using Expected = std::map<std::string, int64_t>;

TEST_F(SliceSelfTest, CountsTheFunctionOnTop) {
  uint32_t app = code_.AddModule("/usr/bin/app", {"main", "_ZN4shop5ServeEi"});
  Frame main{app, 0, 0}, serve{app, 0, 16};
  EXPECT_EQ(Compute({{.container = web_, .frames = {serve, main}, .count = 3},
                     {.container = web_, .frames = {serve, serve, main}, .count = 1},
                     {.container = web_, .frames = {main}, .count = 2},
                     {.container = db_, .frames = {main}, .count = 5}}),
            (Expected{{"web shop::Serve app", 40}, {"web main app", 20}, {"db main app", 50}}));
}

TEST_F(SliceSelfTest, CountsAllocationsByWhoCallsTheAllocator) {
  const uint32_t app = code_.AddModule("/usr/bin/app", {"main", "_ZN4shop5ServeEi"});
  const uint32_t libc = code_.AddModule("/lib/libc.so.6", {"malloc", "strdup"});
  const Frame main{app, 0, 0}, serve{app, 0, 16}, allocate{libc, 0, 0}, duplicate{libc, 0, 16};
  const auto row = [&](std::vector<Frame> frames, uint64_t count) {
    return RowOf{
        .container = web_, .frames = std::move(frames), .count = count, .type = FT_TYPE_MEMORY};
  };
  EXPECT_EQ(Compute({row({allocate, serve, main}, 3), row({allocate, duplicate, main}, 2),
                     row({allocate}, 1)}),
            (Expected{{"web shop::Serve app", 30},
                      {"web strdup libc.so.6", 20},
                      {"web malloc libc.so.6", 10}}));
}

TEST_F(SliceSelfTest, MakesInstancesOfATemplateOne) {
  uint32_t app = code_.AddModule("/usr/bin/app", {"_Z4sortIiEvT_", "_Z4sortIlEvT_"});
  EXPECT_EQ(Compute({{.container = web_, .frames = {Frame{app, 0, 0}}},
                     {.container = web_, .frames = {Frame{app, 0, 16}}}}),
            (Expected{{"web sort app", 20}}));
}

TEST_F(SliceSelfTest, CountsCodeWithoutANameByItsBinary) {
  uint32_t bare = code_.AddModule("/usr/lib/libbare.so", {});
  EXPECT_EQ(Compute({{.container = web_, .frames = {Frame{bare, 0, 0x10}}},
                     {.container = web_, .frames = {Frame{bare, 0, 0x20}}},
                     {.container = web_, .frames = {Frame{ModuleRegistry::kJit, 7, 0x10}}},
                     {.container = web_, .frames = {Frame{ModuleRegistry::kJit, 7, 0x20}}},
                     {.container = web_, .frames = {Frame{ModuleRegistry::kKernel, 0, ~0ull}}},
                     {.container = web_, .frames = {Frame{}}}}),
            (Expected{{"web [libbare.so] libbare.so", 20},
                      {"web [jit] [jit]", 20},
                      {"web [kernel.kallsyms] [kernel.kallsyms]", 10},
                      {"web [unknown] [unknown]", 10}}));
}

TEST_F(SliceSelfTest, CountsStacksWithoutFrames) {
  EXPECT_EQ(Compute({{.container = web_, .count = 2, .stop = kStopStackLost},
                     {.container = web_, .stop = FT_STOP_NO_USER}}),
            (Expected{{"web [stack lost] ", 20}, {"web [no frames] ", 10}}));
}

TEST_F(SliceSelfTest, CountsEachSliceByItself) {
  uint32_t app = code_.AddModule("/usr/bin/app", {"main"});
  std::vector<RowOf> rows = {{.container = web_, .frames = {Frame{app, 0, 0}}, .count = 2}};
  EXPECT_EQ(Compute(rows), (Expected{{"web main app", 20}}));
  EXPECT_EQ(Compute(rows), (Expected{{"web main app", 20}}));
  EXPECT_EQ(Compute({}), Expected{});
}

}  // namespace
}  // namespace firetower::daemon
