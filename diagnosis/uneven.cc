// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/uneven.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace firetower::diagnosis {

std::optional<Finding> FindUneven(const std::string& workload, const PodValues& pods, double total,
                                  double share_percent) {
  if (pods.size() < kLeastPods || total <= 0) return std::nullopt;
  std::vector<double> values;
  for (const auto& [pod, value] : pods) values.push_back(value);
  std::ranges::sort(values);
  // The lower one of two in the middle: the busiest pod must not raise its own measure.
  const double median = values[(values.size() - 1) / 2];
  const auto busiest =
      std::ranges::max_element(pods, {}, [](const auto& one) { return one.second; });
  const double percent = 100 * busiest->second / total;
  const bool uneven = median > 0 && busiest->second >= kUnevenTimes * median;
  if (!uneven || percent < share_percent) return std::nullopt;
  const double times = busiest->second / median;
  Finding finding;
  finding.signature = "uneven-pods";
  finding.cause = fmt::format("pod {} of {} uses {:.1f} times as much as the median of its {} pods",
                              busiest->first, workload, times, pods.size());
  finding.confidence = 1 - 0.5 * kUnevenTimes / times;
  finding.percent = percent;
  finding.evidence.push_back(
      {"pod " + busiest->first, {}, static_cast<int64_t>(busiest->second), percent});
  finding.evidence.push_back(
      {"the median pod", {}, static_cast<int64_t>(median), 100 * median / total});
  finding.next = fmt::format(
      "look at how requests or partitions are spread over the pods (sticky sessions, a hot key, a "
      "leader), and compare the two: firetower diff pod/A pod/{}",
      busiest->first);
  finding.confirm = "the difference of the two pods shows the same functions, only more of them";
  return finding;
}

}  // namespace firetower::diagnosis
