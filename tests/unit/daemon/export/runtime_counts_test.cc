// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/runtimes/runtime_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/export/slices.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const Frame kNamed{ModuleRegistry::kPython, 0, uint64_t{7} << 32 | 3};
const Frame kNameless{ModuleRegistry::kPython, 0, 0};

class RuntimeCountsTest : public ::testing::Test {
 protected:
  uint32_t AddRuntime(const std::string& path, const std::string& runtime, const std::string& why) {
    const uint32_t id = code_.AddModule(path, {"f"});
    notes_.Add(code_.module(id).cache_key,
               std::make_shared<const RuntimeNote>(RuntimeNote{runtime, path, why}));
    return id;
  }
  RuntimeFacts Take(const std::vector<RowOf>& rows, bool ends_window = true) {
    const auto slice = SliceOf(kFirstWindowNs, kFirstWindowNs + 1, rows, ends_window);
    counts_.Take(*slice, [this](uint32_t id) -> const Module& { return code_.module(id); });
    return counts_.Facts(ends_window);
  }
  RowOf Row(std::vector<Frame> frames, uint64_t count, Type type = FT_TYPE_CPU) {
    RowOf row{.container = web_, .frames = std::move(frames), .count = count, .type = type};
    row.decision.policies = {"shop/web"};
    return row;
  }

  symbolizer::SymbolCache cache_;
  KnownCode code_{cache_};
  RuntimeNotes notes_;
  RuntimeCounts counts_{notes_};
  std::shared_ptr<const Container> web_ = ContainerCalled("web");
};

TEST_F(RuntimeCountsTest, TellWhatBecameOfSamplesInAnInterpreter) {
  const Frame python{AddRuntime("/usr/bin/python3.11", "CPython 3.11", ""), 0, 0};
  const Frame app{code_.AddModule("/bin/app", {"main"}), 0, 0};
  const RuntimeFacts facts =
      Take({Row({kNamed, python}, 5), Row({kNamed, kNameless, python}, 2), Row({app, python}, 3),
            Row({app}, 100), Row({kNamed, python}, 7, FT_TYPE_OFFCPU)});
  EXPECT_THAT(facts.totals, ElementsAre(Pair("CPython 3.11", RuntimeSamples{5, 2, 3, 0})));
  EXPECT_EQ(facts.window, facts.totals);
  EXPECT_THAT(facts.unsupported, IsEmpty());
  EXPECT_THAT(facts.by_policy, IsEmpty());
}

TEST_F(RuntimeCountsTest, TellWhoseStacksAreOfAVersionThatIsNotSupported) {
  const std::string why = "its functions have no names";
  const Frame old{AddRuntime("/usr/bin/python3.7", "CPython 3.7", why), 0, 0};
  const Frame older{AddRuntime("/usr/bin/python3.6", "CPython 3.6", why), 0, 0};
  const RuntimeFacts facts = Take({Row({old}, 3), Row({older}, 4)});
  const UnsupportedRuntime of_old{"CPython 3.7", "/usr/bin/python3.7", why, 3};
  const UnsupportedRuntime of_older{"CPython 3.6", "/usr/bin/python3.6", why, 4};
  EXPECT_THAT(facts.unsupported, ElementsAre(of_older, of_old));
  EXPECT_THAT(facts.by_policy, ElementsAre(Pair("shop/web", of_older)));
  EXPECT_EQ(facts.totals.at("CPython 3.7").unsupported, 3u);
}

TEST_F(RuntimeCountsTest, KeepTheLastWindowUntilTheNextOneEnds) {
  const Frame python{AddRuntime("/usr/bin/python3.11", "CPython 3.11", ""), 0, 0};
  Take({Row({kNamed, python}, 5)});
  RuntimeFacts facts = Take({Row({kNamed, python}, 1)}, false);
  EXPECT_EQ(facts.window.at("CPython 3.11").named, 5u);
  EXPECT_EQ(facts.totals.at("CPython 3.11").named, 6u);
  facts = Take({Row({kNamed, python}, 2)});
  EXPECT_EQ(facts.window.at("CPython 3.11").named, 3u);
  EXPECT_EQ(facts.totals.at("CPython 3.11").named, 8u);
}

TEST_F(RuntimeCountsTest, TellSoManyRuntimesApartAndNoMore) {
  std::vector<RowOf> rows;
  for (size_t i = 0; i < RuntimeCounts::kMaxRuntimes + 5; ++i) {
    const std::string number = std::to_string(i);
    rows.push_back(Row({{AddRuntime("/p" + number, "CPython 9." + number, "unknown"), 0, 0}}, 1));
  }
  const RuntimeFacts facts = Take(rows);
  EXPECT_EQ(facts.totals.size(), RuntimeCounts::kMaxRuntimes);
  EXPECT_EQ(facts.unsupported.size(), RuntimeCounts::kMaxRuntimes);
}

}  // namespace
}  // namespace firetower::daemon
