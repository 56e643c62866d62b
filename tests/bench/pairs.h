// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace firetower::bench {

// Returns whether this is the short form, which CI runs: every step once and on little, no limit
// judged. A step that fails and a wrong answer fail in both forms. (short.py is the same.)
inline bool ShortForm() {
  const char* asked = std::getenv("FIRETOWER_BENCH_SHORT");
  return asked != nullptr && std::string_view(asked) == "1";
}

// Returns how much of something this form takes.
template <typename T>
T Pick(T full, T brief) {
  return ShortForm() ? brief : full;
}

// Returns the word for a figure that is, or is not, within its limit.
inline const char* Verdict(bool holds) { return ShortForm() ? "shown" : holds ? "ok" : "FAIL"; }

// Returns whether a bench may go on to succeed with such a figure.
inline bool Passes(bool holds) { return holds || ShortForm(); }

inline double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size()) / 2,
                   values.end());
  return values[values.size() / 2];
}

struct Interval {
  double low = 0;
  double high = 0;
};

// Returns the 95 % confidence interval of the median of the distribution that `values` come from,
// for any distribution: the number of values below the median is binomial (n, 1/2), here by its
// normal approximation.
inline Interval MedianInterval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  const double half = 0.98 * std::sqrt(n);
  const auto low = static_cast<size_t>(std::max(0.0, std::floor(n / 2 - half)));
  const auto high = static_cast<size_t>(std::min(n - 1, std::ceil(n / 2 + half)));
  return {values[low], values[high]};
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

  // `metric ours peer ratio [min, max] limit verdict`; false if the median ratio is above `limit`,
  // unless this is the short form.
  bool Print(const std::string& metric, const std::string& peer, double limit) const {
    auto [least, most] = std::minmax_element(ratios_.begin(), ratios_.end());
    bool holds = Median(ratios_) <= limit;
    PrintLine(metric, peer, {*least, *most}, limit, Verdict(holds));
    return Passes(holds);
  }

  // For many short pairs, of which no single one says much: where the median lies, and whether all
  // of that is on one side of `limit`.
  Interval interval() const { return MedianInterval(ratios_); }
  bool Decided(double limit) const { return interval().high <= limit || interval().low > limit; }

  // Prints like Print, with the median's 95 % interval in brackets.
  bool PrintInterval(const std::string& metric, const std::string& peer, double limit) const {
    bool holds = Median(ratios_) <= limit;
    std::string verdict = Verdict(holds);
    if (!ShortForm() && !Decided(limit)) verdict += " (the limit is inside the interval)";
    PrintLine(metric, peer, interval(), limit, verdict);
    return Passes(holds);
  }

 private:
  void PrintLine(const std::string& metric, const std::string& peer, Interval interval,
                 double limit, const std::string& verdict) const {
    fmt::print("{} {:.0f} {} {:.0f} ratio {:.3f} [{:.3f}, {:.3f}] <={:g} {}\n", metric,
               Median(ours_), peer, Median(peer_), Median(ratios_), interval.low, interval.high,
               limit, verdict);
    std::fflush(stdout);
  }

  std::vector<double> ours_;
  std::vector<double> peer_;
  std::vector<double> ratios_;
};

}  // namespace firetower::bench
