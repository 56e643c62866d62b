// SPDX-License-Identifier: Apache-2.0
#include "query/top/function_sums.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <tuple>

namespace firetower::query {
namespace {

// The cost of a map's node beside its value: links and colour, the allocator's header, unused ends
// of texts.
constexpr uint64_t kNodeBytes = 64;

double Percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

void FunctionSums::Add(const profile::Profile& profile, uint32_t value_index,
                       const std::string& container) {
  profile::TopResult top = profile::Top(profile, value_index, 0, by_);
  total_ = profile::SaturatingAdd(total_, top.total);
  for (profile::TopRow& row : top.rows) {
    Name name{std::move(row.function), std::move(row.mapping), std::move(row.file), row.line};
    const size_t name_bytes = name.bytes();
    if (is_recounting_ && !sums_.contains(name)) {
      other_self_ = profile::SaturatingAdd(other_self_, row.self);
      continue;
    }
    const auto [at, is_new] = sums_.try_emplace(std::move(name));
    if (is_new) {
      bytes_ += sizeof(*at) + name_bytes + kNodeBytes;
      at->second.lost = max_hidden_;
    }
    AddTo(at->second, row, container);
  }
}

void FunctionSums::AddTo(Sum& sum, const profile::TopRow& row, const std::string& container) {
  sum.self = profile::SaturatingAdd(sum.self, row.self);
  sum.total = profile::SaturatingAdd(sum.total, row.total);
  auto here = sum.containers.find(container);
  if (here == sum.containers.end()) {
    // In a recount only the chosen containers get names; the others were counted before.
    if (is_recounting_) return;
    here = sum.containers.emplace(container, 0).first;
    bytes_ += sizeof(*here) + container.size() + kNodeBytes;
  }
  here->second = profile::SaturatingAdd(here->second, row.total);
}

void FunctionSums::Prune() {
  const uint64_t wanted = bytes_ / 2;
  for (auto& [name, sum] : sums_) DropContainers(sum);
  constexpr size_t kFewFunctions = 16;
  while (bytes_ > wanted && sums_.size() > kFewFunctions && !is_recounting_) DropFunctions();
}

void FunctionSums::DropContainers(Sum& sum) {
  constexpr size_t kKept = 16;
  if (sum.containers.size() <= kKept) return;
  std::vector<std::pair<int64_t, std::string_view>> order;
  for (const auto& [container, total] : sum.containers) order.emplace_back(-total, container);
  std::ranges::nth_element(order, order.begin() + kKept);
  const std::pair<int64_t, std::string> limit(order[kKept].first, order[kKept].second);
  for (auto at = sum.containers.begin(); at != sum.containers.end();) {
    if (std::tie(limit.first, limit.second) > std::tuple(-at->second, at->first)) {
      ++at;
      continue;
    }
    bytes_ -= sizeof(*at) + at->first.size() + kNodeBytes;
    ++sum.more_containers;
    at = sum.containers.erase(at);
  }
}

void FunctionSums::DropFunctions() {
  std::vector<int64_t> mosts;
  for (const auto& [name, sum] : sums_)
    mosts.push_back(profile::SaturatingAdd(sum.total, sum.lost));
  const auto middle = mosts.begin() + static_cast<ptrdiff_t>(mosts.size() / 2);
  std::ranges::nth_element(mosts, middle, std::greater<>());
  const int64_t limit = *middle;
  for (auto at = sums_.begin(); at != sums_.end();) {
    const auto& [name, sum] = *at;
    if (profile::SaturatingAdd(sum.total, sum.lost) > limit) {
      ++at;
      continue;
    }
    other_self_ = profile::SaturatingAdd(other_self_, sum.self);
    bytes_ -= sizeof(*at) + name.bytes() + kNodeBytes;
    for (const auto& one : sum.containers) bytes_ -= sizeof(one) + one.first.size() + kNodeBytes;
    at = sums_.erase(at);
  }
  max_hidden_ = std::max(max_hidden_, limit);
}

void FunctionSums::Recount() {
  is_recounting_ = true;
  total_ = 0;
  other_self_ = 0;
  for (auto& [name, sum] : sums_) {
    sum.self = 0;
    sum.total = 0;
    for (auto& [container, total] : sum.containers) total = 0;
  }
}

std::vector<TopFunction> FunctionSums::Top(size_t k) const {
  std::vector<std::pair<const Name*, const Sum*>> order;
  for (const auto& [name, sum] : sums_) order.emplace_back(&name, &sum);
  auto hotter = [](const auto& a, const auto& b) {
    return std::tie(b.second->self, b.second->total, *a.first) <
           std::tie(a.second->self, a.second->total, *b.first);
  };
  k = std::min(k, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(k), order.end(), hotter);
  std::vector<TopFunction> rows;
  for (size_t i = 0; i < k; ++i) rows.push_back(Row(*order[i].first, *order[i].second));
  return rows;
}

int64_t FunctionSums::SelfOf(const TopFunction& row) const {
  const auto found = sums_.find({row.function, row.module, row.file, row.line});
  return found == sums_.end() ? 0 : found->second.self;
}

TopFunction FunctionSums::Row(const Name& name, const Sum& sum) const {
  TopFunction row;
  row.function = name.function;
  row.module = name.module;
  row.file = name.file;
  row.line = name.line;
  row.self = sum.self;
  row.self_percent = Percent(sum.self, total_);
  row.total = sum.total;
  row.total_percent = Percent(sum.total, total_);
  std::vector<std::pair<int64_t, std::string>> containers;
  for (const auto& [container, total] : sum.containers) containers.emplace_back(-total, container);
  std::sort(containers.begin(), containers.end());
  // A list of 5,000 pods beside each of 1,000 functions would be nothing to read, or to send.
  constexpr size_t kMostNamed = 100;
  const size_t named = std::min(containers.size(), kMostNamed);
  for (size_t i = 0; i < named; ++i) row.containers.push_back(std::move(containers[i].second));
  row.more_containers = static_cast<int64_t>(sum.more_containers + containers.size() - named);
  return row;
}

}  // namespace firetower::query
