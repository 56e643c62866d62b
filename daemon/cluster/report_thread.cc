// SPDX-License-Identifier: Apache-2.0
#include "daemon/cluster/report_thread.h"

#include <algorithm>
#include <climits>
#include <stop_token>

namespace firetower::daemon {

void ReportThread::Start() {
  thread_ = NamedThread("report", [this](std::stop_token stop, WakeFd& wake) {
    const std::stop_callback cancel(stop, [this] { client_->Cancel(); });
    while (!stop.stop_requested()) {
      const int64_t wait_ms = reporter_.StepNs() / kNsPerMs + 1;
      wake.Wait(static_cast<int>(std::min<int64_t>(wait_ms, INT_MAX)));
    }
  });
}

void ReportThread::Stop() {
  thread_.RequestStop();
  thread_.Join();
}

std::vector<Check> ReportThread::GetChecks() const {
  std::vector<Check> checks;
  if (std::optional<Check> check = reporter_.GetCheck()) checks.push_back(*std::move(check));
  if (std::optional<Check> check = reporter_.GetEventCheck()) checks.push_back(*std::move(check));
  return checks;
}

}  // namespace firetower::daemon
