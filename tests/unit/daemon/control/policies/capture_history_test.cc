// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/policies/capture_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "tests/support/fake_proc.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr int64_t kMinute = 60 * kNsPerSecond;
constexpr int64_t kNow = 1'763'700'000 * kNsPerSecond;

class CaptureHistoryTest : public ::testing::Test {
 protected:
  CaptureHistory At(int64_t wall_ns) { return CaptureHistory(path_, wall_ns); }

  testing::ScratchFolder folder_;
  const std::string path_ = folder_.path() + "/state/captures";
};

TEST_F(CaptureHistoryTest, OutlivesTheProcess) {
  {
    CaptureHistory history = At(kNow);
    EXPECT_THAT(history.ByPolicy(), IsEmpty());
    ASSERT_TRUE(history.Add("ProfilingPolicy shop/spikes", kNow));
    ASSERT_TRUE(history.Add("ClusterProfilingPolicy node", kNow + kMinute));
    ASSERT_TRUE(history.Add("ProfilingPolicy shop/spikes", kNow + 2 * kMinute));
  }
  EXPECT_THAT(
      At(kNow + 3 * kMinute).ByPolicy(),
      ElementsAre(Pair("ClusterProfilingPolicy node", ElementsAre(kNow + kMinute)),
                  Pair("ProfilingPolicy shop/spikes", ElementsAre(kNow, kNow + 2 * kMinute))));
}

TEST_F(CaptureHistoryTest, ForgetsAfterAnHour) {
  CaptureHistory history = At(kNow);
  ASSERT_TRUE(history.Add("p", kNow));
  ASSERT_TRUE(history.Add("p", kNow + 30 * kMinute));
  ASSERT_TRUE(history.Add("p", kNow + 60 * kMinute));
  EXPECT_THAT(At(kNow + 60 * kMinute).ByPolicy().at("p"),
              ElementsAre(kNow + 30 * kMinute, kNow + 60 * kMinute));
  EXPECT_THAT(At(kNow + 120 * kMinute).ByPolicy(), IsEmpty());
}

TEST_F(CaptureHistoryTest, AClockThatIsSetBackFreesNothing) {
  ASSERT_TRUE(At(kNow).Add("p", kNow));
  EXPECT_THAT(At(kNow - 90 * kMinute).ByPolicy().at("p"), ElementsAre(kNow - 90 * kMinute));
}

TEST_F(CaptureHistoryTest, LeavesOutWhatMakesNoSense) {
  const std::string ms = std::to_string(kNow / kNsPerMs);
  testing::WriteText(path_, "x y\n\n" + ms + "\n" + ms + " \n-5 p\n99999999999999999999 p\n" + ms +
                                " good one\n" + ms + " " + std::string(600, 'p') + "\n" + ms);
  EXPECT_THAT(At(kNow).ByPolicy(), ElementsAre(Pair("good one", ElementsAre(kNow))));
}

TEST_F(CaptureHistoryTest, SaysWhenItCannotWrite) {
  testing::WriteText(folder_.path() + "/state", "no folder");
  EXPECT_FALSE(At(kNow).Add("p", kNow));
}

}  // namespace
}  // namespace firetower::daemon
