// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/change.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "profile/top/top.h"

namespace firetower::diagnosis {
namespace {

// A function with fewer samples on both sides together is judged exactly.
constexpr int64_t kManySamples = 200;
// One function's own spread between parts counts as much as what all have, seen in that many parts.
constexpr double kPriorParts = 8;
// Fewer samples say nothing of the spread.
constexpr double kSpreadSamples = 20;
// The whole has grown if it takes that many times as much.
constexpr double kBusierTimes = 1.25;

double TwoSided(double z) { return std::erfc(std::fabs(z) / std::numbers::sqrt2); }

// Samples of one function by part, on both sides.
struct Row {
  FunctionName name;
  int64_t before = 0;
  int64_t after = 0;
  double chi = 0;  // the sum of squared deviations of its parts, in variances of chance
  double parts = 0;
};

// The probability that of `all` samples, each of which is `after` with that share, at least as many
// are as far from the mean as `seen`; twice the smaller tail of the binomial distribution.
double Exact(int64_t all, int64_t seen, double share) {
  if (share <= 0 || share >= 1 || all == 0) return 1;
  const auto n = static_cast<double>(all);
  const auto log_of = [&](int64_t k) {
    const auto x = static_cast<double>(k);
    return std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) + x * std::log(share) +
           (n - x) * std::log1p(-share);
  };
  const bool upper = static_cast<double>(seen) > n * share;
  double tail = 0;
  for (int64_t k = seen; k >= 0 && k <= all; k += upper ? 1 : -1) tail += std::exp(log_of(k));
  return std::min(1.0, 2 * tail);
}

// The number of functions among which the false alarms are divided. One with so few samples that
// even all of them on one side would not be beyond chance cannot raise a false alarm.
size_t TestedOf(const std::vector<Row>& rows, double share, double false_alarms) {
  std::vector<double> least;
  for (const Row& row : rows)
    least.push_back(
        2 * std::pow(std::min(share, 1 - share), static_cast<double>(row.before + row.after)));
  std::ranges::sort(least);
  for (size_t m = 1; m <= least.size(); ++m) {
    const auto end = std::ranges::upper_bound(least, false_alarms / static_cast<double>(m));
    if (static_cast<size_t>(end - least.begin()) <= m) return m;
  }
  return std::max<size_t>(1, least.size());
}

void AddSpread(const SideSamples& side, const FunctionName& name, int64_t own, Row& row) {
  const auto total = static_cast<double>(side.total());
  const double share = static_cast<double>(own) / total;
  if (side.parts.size() < 2 || share <= 0 || share >= 1) return;
  for (const PartSamples& part : side.parts) {
    if (part.total == 0) continue;
    const auto found = part.own.find(name);
    const double expected = static_cast<double>(part.total) * share;
    const double off =
        (found == part.own.end() ? 0 : static_cast<double>(found->second)) - expected;
    row.chi += off * off / (expected * (1 - share));
    row.parts += 1;
  }
  row.parts -= 1;
}

std::vector<Row> RowsOf(const SideSamples& before, const SideSamples& after) {
  std::map<FunctionName, std::pair<int64_t, int64_t>> sums;
  for (const PartSamples& part : before.parts)
    for (const auto& [name, own] : part.own) sums[name].first += own;
  for (const PartSamples& part : after.parts)
    for (const auto& [name, own] : part.own) sums[name].second += own;
  std::vector<Row> rows;
  for (const auto& [name, both] : sums) {
    Row row{.name = name, .before = both.first, .after = both.second};
    AddSpread(before, name, both.first, row);
    AddSpread(after, name, both.second, row);
    rows.push_back(row);
  }
  return rows;
}

// The spread that all functions have between the parts, at least that of chance.
double SpreadOf(const std::vector<Row>& rows) {
  double chi = 0, parts = 0;
  for (const Row& row : rows) {
    if (static_cast<double>(row.before + row.after) < kSpreadSamples * (row.parts + 1)) continue;
    chi += row.chi;
    parts += row.parts;
  }
  return parts > 0 ? std::max(1.0, chi / parts) : 1;
}

}  // namespace

PartSamples CountSamples(const profile::Profile& profile) {
  PartSamples part;
  const profile::TopResult top = profile::Top(profile, 0);
  part.total = top.total;
  for (const profile::TopRow& row : top.rows)
    if (row.self > 0) part.own[{row.function, row.mapping}] += row.self;
  return part;
}

int64_t SideSamples::total() const {
  int64_t sum = 0;
  for (const PartSamples& part : parts) sum += part.total;
  return sum;
}

Changes FindChanges(const SideSamples& before, const SideSamples& after, double false_alarms) {
  Changes changes;
  changes.false_alarms = false_alarms;
  const auto n1 = static_cast<double>(before.total()), n2 = static_cast<double>(after.total());
  if (n1 <= 0 || n2 <= 0) return changes;
  const std::vector<Row> rows = RowsOf(before, after);
  const double share = n2 / (n1 + n2);
  changes.tested = TestedOf(rows, share, false_alarms);
  changes.spread = SpreadOf(rows);
  const double limit = false_alarms / static_cast<double>(changes.tested);
  for (const Row& row : rows) {
    const auto k1 = static_cast<double>(row.before), k2 = static_cast<double>(row.after);
    const double pooled = (k1 + k2) / (n1 + n2);
    if (pooled >= 1) continue;
    const double spread =
        std::max(1.0, (kPriorParts * changes.spread + row.chi) / (kPriorParts + row.parts));
    const double error = std::sqrt(spread * pooled * (1 - pooled) * (1 / n1 + 1 / n2));
    Change change{.function = row.name.first, .module = row.name.second};
    change.before = row.before;
    change.after = row.after;
    change.before_percent = 100 * k1 / n1;
    change.after_percent = 100 * k2 / n2;
    change.z = (k2 / n2 - k1 / n1) / error;
    change.p = TwoSided(change.z);
    if (row.before + row.after < kManySamples)
      change.p = std::max(change.p, Exact(row.before + row.after, row.after, share));
    if (change.p <= limit) changes.rows.push_back(std::move(change));
  }
  std::ranges::stable_sort(changes.rows, std::greater(), [](const Change& one) {
    return std::fabs(one.after_percent - one.before_percent);
  });
  return changes;
}

namespace {

Finding GrowthOf(const Change& change, const SideSamples& before, const SideSamples& after,
                 const Changes& all) {
  const double was = before.cores * change.before_percent / 100;
  const double is = after.cores * change.after_percent / 100;
  const std::string where = change.module.empty() ? "" : " of " + change.module;
  Finding finding;
  finding.signature = 10 * was < is ? "new-hotspot" : "grew";
  finding.function = change.function;
  finding.cause =
      fmt::format("{}{} takes {:.2f} % where it took {:.2f} % before: {:.3f} cores, before {:.3f}",
                  change.function, where, change.after_percent, change.before_percent, is, was);
  finding.confidence =
      1 - std::min(0.5, change.p * static_cast<double>(std::max<size_t>(all.tested, 1)));
  finding.percent = change.after_percent;
  finding.evidence.push_back({"samples now", {}, change.after, change.after_percent});
  finding.evidence.push_back({"samples before", {}, change.before, change.before_percent});
  finding.next =
      "see what calls it now and what was changed between the two times (roll-outs, input, "
      "configuration): firetower diff A B shows all that changed";
  finding.confirm = fmt::format(
      "{:.1f} standard errors; of comparisons of equal times {:g} % name any of {} functions",
      change.z, 100 * all.false_alarms, all.tested);
  return finding;
}

}  // namespace

std::vector<Finding> FindGrowth(const SideSamples& before, const SideSamples& after,
                                double false_alarms) {
  const Changes changes = FindChanges(before, after, false_alarms);
  std::vector<Finding> findings;
  for (const Change& change : changes.rows) {
    const double grown = change.after_percent - change.before_percent;
    // If the whole shrank, what stayed has a larger share of it.
    const bool in_time = after.cores * change.after_percent > before.cores * change.before_percent;
    if (grown < kLeastGrowth || !in_time || findings.size() >= kMostGrown) continue;
    findings.push_back(GrowthOf(change, before, after, changes));
  }
  const bool enough = before.total() >= kFewSamples && after.total() >= kFewSamples;
  if (enough && before.cores > 0 && after.cores >= kBusierTimes * before.cores) {
    const double times = after.cores / before.cores;
    Finding finding;
    finding.signature = "busier";
    finding.cause = fmt::format(
        "the whole uses {:.2f} times the CPU that it used before: {:.3f} cores, before "
        "{:.3f}; {}",
        times, after.cores, before.cores,
        findings.empty() ? "no function takes more of it than before"
                         : "some functions take more of it than before");
    finding.confidence = 1 - 0.5 * kBusierTimes / times;
    finding.percent = 100;
    finding.next = findings.empty() ? "look at what comes in: the same work is done more often"
                                    : "look at the functions that grew first";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace firetower::diagnosis
