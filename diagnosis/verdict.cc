// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/verdict.h"

#include <algorithm>

#include "profile/top/own_frame.h"
#include "profile/top/top.h"

namespace firetower::diagnosis {
namespace {

std::vector<std::string> NamesOf(const profile::Profile& profile, uint32_t index) {
  std::vector<std::string> names;
  const profile::Sample sample = profile.sample(index);
  for (const uint32_t at : sample.locations) {
    const profile::Location location = profile.location(at);
    for (size_t line = 0; line < std::max<size_t>(location.lines.size(), 1); ++line)
      names.push_back(profile.FrameName(location, line));
  }
  std::ranges::reverse(names);
  return names;
}

const char* RuleOf(Domain domain) {
  switch (domain) {
    case Domain::kApplication:
      return "most of it is spent in functions of the program's own files or scripts";
    case Domain::kRuntime:
      return "most of it is spent in the interpreter or virtual machine that runs the program";
    case Domain::kLibrary:
      return "most of it is spent in shared libraries, on behalf of the program";
    case Domain::kKernel:
      return "most of it is spent in the kernel";
    case Domain::kUnknown:
      return "most of it is in code whose file is not known";
  }
  return "";
}

// Finds the heaviest stack whose own function is that of a row.
void AddHeaviest(const profile::Profile& profile, uint32_t value_index,
                 const profile::OwnFrames& own, const profile::TopRow& row, Verdict& verdict) {
  int64_t most = 0;
  uint32_t heaviest = 0;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    const profile::Sample sample = profile.sample(i);
    if (sample.values[value_index] <= most) continue;
    const auto place = own.Of(sample);
    if (!place) continue;
    const profile::Location location = profile.location(sample.locations[place->location]);
    if (profile.FrameName(location, place->line) != row.function) continue;
    most = sample.values[value_index];
    heaviest = i;
  }
  if (most == 0) return;
  const auto total = static_cast<double>(profile.Total(value_index));
  verdict.evidence.push_back({"its heaviest stack", NamesOf(profile, heaviest), most,
                              100 * static_cast<double>(most) / total});
}

}  // namespace

Verdict Judge(const profile::Profile& profile, uint32_t value_index, const Domains& domains) {
  const profile::OwnFrames own(profile);
  std::array<int64_t, kDomains> values{};
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    const profile::Sample sample = profile.sample(i);
    const auto place = own.Of(sample);
    const Domain domain =
        place ? domains.Of(sample.locations[place->location], place->line) : Domain::kUnknown;
    int64_t& value = values[static_cast<size_t>(domain)];
    value = profile::SaturatingAdd(value, sample.values[value_index]);
  }
  Verdict verdict;
  const profile::TopResult top = profile::Top(profile, value_index, 1);
  if (top.total <= 0) return verdict;
  for (size_t i = 0; i < kDomains; ++i)
    verdict.percents[i] = 100 * static_cast<double>(values[i]) / static_cast<double>(top.total);
  const auto most = std::ranges::max_element(verdict.percents);
  verdict.domain = static_cast<Domain>(most - verdict.percents.begin());
  verdict.percent = *most;
  verdict.rule = RuleOf(verdict.domain);
  const double unknown = verdict.percents[static_cast<size_t>(Domain::kUnknown)];
  // Half of it is a narrow majority, all of it a clear one.
  verdict.confidence =
      Certainty(profile.Total(0), unknown) * std::min(1.0, verdict.percent / 100 + 0.2);
  if (top.rows.empty()) return verdict;
  const profile::TopRow& hottest = top.rows.front();
  verdict.function = hottest.function;
  verdict.module = hottest.mapping;
  verdict.function_percent = hottest.self_percent;
  AddHeaviest(profile, value_index, own, hottest, verdict);
  return verdict;
}

}  // namespace firetower::diagnosis
