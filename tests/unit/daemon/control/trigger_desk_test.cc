// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/trigger_desk.h"

#include <gmock/gmock.h>

#include "tests/unit/daemon/trigger/readings.h"

namespace firetower::daemon {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kSecond = kNsPerSecond;
constexpr int64_t kWallNs = 1'700'000'000 * kSecond;

// One policy, `hot`, that takes kCart and captures for 20 s; looked at once a second.
class TriggerDeskTest : public ::testing::Test {
 protected:
  static ArmedPolicy Hot(const std::string& more = "") {
    return TriggerPolicy("hot", "rules: [" + CpuRule("busy", 80, 0) +
                                    "], capture: {scope: Container, durationSeconds: 20}" + more);
  }
  void Arm(const std::vector<ArmedPolicy>& policies) {
    std::vector<PolicySchedule::Armed> armed;
    for (const ArmedPolicy& policy : policies) armed.push_back({policy, {cart_}});
    desk_.Arm(armed, nullptr);
  }
  // True if a rate changes.
  bool Second(double cpu_percent) {
    source_.containers[{cart_->root_path, k8s::Metric::kContainerCpu}] = cpu_percent;
    now_ns_ += kSecond;
    return desk_.Evaluate(now_ns_, wall_ns_);
  }

  const std::shared_ptr<const Container> cart_ = PodContainer('a', '1');
  FakeMetrics source_;
  MetricsRegistry registry_;
  std::vector<CaptureOrder> orders_;
  TriggerDesk desk_{{source_, registry_, "node-1",
                     [this](CaptureOrder order) { orders_.push_back(std::move(order)); }, nullptr}};
  int64_t now_ns_ = 5000 * kSecond;
  int64_t wall_ns_ = kWallNs;
};

// The wall clock is set back and on by people and NTP.
TEST_F(TriggerDeskTest, ACaptureLastsAsLongAsItSaysWhateverTheWallClockDoes) {
  for (const int64_t jump_ns : {-3600 * kSecond, 3600 * kSecond}) {
    desk_.Arm({}, nullptr);
    Arm({Hot()});
    wall_ns_ = kWallNs;
    EXPECT_TRUE(Second(90));
    ASSERT_THAT(desk_.captures(), SizeIs(1)) << jump_ns;
    wall_ns_ += jump_ns;
    for (int i = 1; i < 20; ++i) {
      EXPECT_FALSE(Second(0)) << jump_ns;
      EXPECT_THAT(desk_.captures(), SizeIs(1)) << jump_ns << " after " << i << " s";
    }
    EXPECT_TRUE(Second(0)) << jump_ns;
    EXPECT_THAT(desk_.captures(), IsEmpty()) << jump_ns;
    now_ns_ += 7200 * kSecond;
  }
}

}  // namespace
}  // namespace firetower::daemon
