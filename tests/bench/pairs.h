// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace firetower::bench {

inline double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size()) / 2,
                   values.end());
  return values[values.size() / 2];
}

// One figure of ours beside a peer's, measured in turn in one run. The machine's own mood is in
// both of a pair, so the median of the pairwise ratios counts, not the ratio of two medians.
class Pairs {
 public:
  void Add(double ours, double peer) {
    ours_.push_back(ours);
    peer_.push_back(peer);
    ratios_.push_back(ours / peer);
  }

  // `metric ours peer ratio [min, max] limit verdict`; false if the median ratio is above `limit`.
  bool Print(const std::string& metric, const std::string& peer, double limit) const {
    auto [least, most] = std::minmax_element(ratios_.begin(), ratios_.end());
    double ratio = Median(ratios_);
    bool holds = ratio <= limit;
    fmt::print("{} {:.0f} {} {:.0f} ratio {:.3f} [{:.3f}, {:.3f}] <={:g} {}\n", metric,
               Median(ours_), peer, Median(peer_), ratio, *least, *most, limit,
               holds ? "ok" : "FAIL");
    std::fflush(stdout);
    return holds;
  }

 private:
  std::vector<double> ours_;
  std::vector<double> peer_;
  std::vector<double> ratios_;
};

}  // namespace firetower::bench
