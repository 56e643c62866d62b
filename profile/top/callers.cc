// SPDX-License-Identifier: Apache-2.0
#include "profile/top/callers.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "profile/selector.h"

namespace firetower::profile {
namespace {

using Name = std::pair<std::string, std::string>;  // function, module

// Functions by dense numbers, and those of each location, innermost first.
class Functions {
 public:
  Functions(const Profile& profile, const Matcher& wanted) {
    for (uint32_t i = 0; i < profile.location_count(); ++i) {
      const Location location = profile.location(i);
      std::vector<uint32_t>& lines = of_location_.emplace_back();
      for (size_t line = 0; line < std::max<size_t>(location.lines.size(), 1); ++line)
        lines.push_back(NumberOf(profile, location, line, wanted));
    }
  }
  const Name& name(uint32_t function) const { return *names_[function]; }
  bool is_wanted(uint32_t function) const { return wanted_[function]; }
  const std::vector<uint32_t>& OfLocation(uint32_t location) const {
    return of_location_[location];
  }

 private:
  uint32_t NumberOf(const Profile& profile, const Location& location, size_t line,
                    const Matcher& wanted) {
    std::string module;
    if (location.mapping != kNoMapping)
      module = profile.string(profile.mapping(location.mapping).filename);
    const auto [at, is_new] = numbers_.try_emplace(
        Name(profile.FrameName(location, line), std::move(module)), numbers_.size());
    if (is_new) {
      names_.push_back(&at->first);
      wanted_.push_back(wanted.Matches(at->first.first) || wanted.Matches(at->first.second));
    }
    if (line < location.lines.size()) {
      const Function& function = profile.function(location.lines[line].function);
      if (wanted.Matches(profile.string(function.filename))) wanted_[at->second] = true;
    }
    return static_cast<uint32_t>(at->second);
  }

  std::map<Name, size_t> numbers_;
  std::vector<const Name*> names_;
  std::vector<bool> wanted_;
  std::vector<std::vector<uint32_t>> of_location_;
};

struct Sums {
  int64_t self = 0;
  int64_t total = 0;
  std::map<uint32_t, int64_t> callers = {};
  std::map<uint32_t, int64_t> callees = {};
};

// Adds one sample to the sums of the functions that are wanted.
class Adder {
 public:
  Adder(const Functions& functions, std::map<uint32_t, Sums>& sums)
      : functions_(functions), sums_(sums) {}

  void Add(const Sample& sample, int64_t value) {
    stack_.clear();
    for (const uint32_t location : sample.locations) {
      const std::vector<uint32_t>& lines = functions_.OfLocation(location);
      stack_.insert(stack_.end(), lines.begin(), lines.end());
    }
    seen_.clear();
    edges_.clear();
    for (size_t i = 0; i < stack_.size(); ++i) {
      const uint32_t here = stack_[i];
      const bool has_caller = i + 1 < stack_.size();
      if (functions_.is_wanted(here)) {
        Sums& sums = sums_[here];
        if (i == 0) sums.self = SaturatingAdd(sums.self, value);
        if (seen_.insert(here).second) sums.total = SaturatingAdd(sums.total, value);
      }
      if (!has_caller || !edges_.insert({stack_[i + 1], here}).second) continue;
      const uint32_t caller = stack_[i + 1];
      if (functions_.is_wanted(here)) AddTo(sums_[here].callers[caller], value);
      if (functions_.is_wanted(caller)) AddTo(sums_[caller].callees[here], value);
    }
  }

 private:
  static void AddTo(int64_t& sum, int64_t value) { sum = SaturatingAdd(sum, value); }

  const Functions& functions_;
  std::map<uint32_t, Sums>& sums_;
  std::vector<uint32_t> stack_;
  std::set<uint32_t> seen_;
  std::set<std::pair<uint32_t, uint32_t>> edges_;
};

std::vector<Neighbour> Neighbours(const Functions& functions,
                                  const std::map<uint32_t, int64_t>& values) {
  std::vector<Neighbour> out;
  for (const auto& [function, value] : values)
    out.push_back({functions.name(function).first, functions.name(function).second, value});
  std::ranges::sort(out, [](const Neighbour& a, const Neighbour& b) {
    return std::tie(b.value, a.function, a.module) < std::tie(a.value, b.function, b.module);
  });
  return out;
}

}  // namespace

Result<Peeked> Peek(const Profile& profile, uint32_t value_index, const std::string& function,
                    size_t limit) {
  // A matcher compares the whole text.
  ASSIGN_OR_RETURN(const Matcher wanted,
                   Matcher::Create("function", MatchOp::kRegex, ".*(?:" + function + ").*"));
  const Functions functions(profile, wanted);
  std::map<uint32_t, Sums> sums;
  Adder adder(functions, sums);
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    const Sample sample = profile.sample(i);
    adder.Add(sample, sample.values[value_index]);
  }
  Peeked peeked{.value_type = profile.sample_types().at(value_index),
                .total = profile.Total(value_index)};
  for (const auto& [number, sum] : sums) {
    peeked.functions.push_back({functions.name(number).first, functions.name(number).second,
                                sum.self, sum.total, Neighbours(functions, sum.callers),
                                Neighbours(functions, sum.callees)});
  }
  std::ranges::sort(peeked.functions, [](const PeekedFunction& a, const PeekedFunction& b) {
    return std::tie(b.total, a.function, a.module) < std::tie(a.total, b.function, b.module);
  });
  if (limit != 0 && peeked.functions.size() > limit) peeked.functions.resize(limit);
  return peeked;
}

}  // namespace firetower::profile
