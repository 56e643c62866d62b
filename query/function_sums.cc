// SPDX-License-Identifier: Apache-2.0
#include "query/function_sums.h"

#include <algorithm>
#include <tuple>

#include "profile/top.h"

namespace firetower::query {
namespace {

// Of a map's node, beside its value: links and colour, the allocator's own, unused ends of texts.
constexpr uint64_t kNodeBytes = 64;

double Percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

void FunctionSums::Add(const profile::Profile& profile, uint32_t value_index,
                       const std::string& container) {
  profile::TopResult top = profile::Top(profile, value_index);
  total_ = profile::SaturatingAdd(total_, top.total);
  for (profile::TopRow& row : top.rows) {
    const size_t name_bytes = row.function.size() + row.mapping.size();
    const auto [at, is_new] = sums_.try_emplace({std::move(row.function), std::move(row.mapping)});
    if (is_new) bytes_ += sizeof(*at) + name_bytes + kNodeBytes;
    Sum& sum = at->second;
    sum.self = profile::SaturatingAdd(sum.self, row.self);
    sum.total = profile::SaturatingAdd(sum.total, row.total);
    const auto [here, is_first] = sum.containers.try_emplace(container);
    if (is_first) bytes_ += sizeof(*here) + container.size() + kNodeBytes;
    here->second = profile::SaturatingAdd(here->second, row.total);
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

TopFunction FunctionSums::Row(const Name& name, const Sum& sum) const {
  TopFunction row;
  row.function = name.first;
  row.module = name.second;
  row.self = sum.self;
  row.self_percent = Percent(sum.self, total_);
  row.total = sum.total;
  row.total_percent = Percent(sum.total, total_);
  std::vector<std::pair<int64_t, std::string>> containers;
  for (const auto& [container, total] : sum.containers) containers.emplace_back(-total, container);
  std::sort(containers.begin(), containers.end());
  for (auto& container : containers) row.containers.push_back(std::move(container.second));
  return row;
}

}  // namespace firetower::query
