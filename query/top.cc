// SPDX-License-Identifier: Apache-2.0
#include "query/top.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "profile/top.h"

namespace firetower::query {
namespace {

using ContainerKey = std::tuple<std::string, std::string, std::string>;

struct ContainerSum {
  ContainerKey key;
  double value = 0;
  double samples = 0;
};

struct Catalog {
  std::vector<ContainerSum> containers;  // by value, falling, then by name
  double value = 0;
  double observed_seconds = 0;
  store::SkippedList skipped;
};

// How much of a row's time lies in the range.
double PartInRange(const store::CatalogRow& row, const TimeRange& range) {
  if (row.duration_ns <= 0) return 1;
  int64_t begin = std::max(row.start_ns, range.from_ns);
  int64_t end = std::min(row.end_ns(), range.to_ns);
  return static_cast<double>(std::max<int64_t>(0, end - begin)) /
         static_cast<double>(row.duration_ns);
}

// Length of the union of the rows' times within the range: what "per second" divides by, so that a
// daemon started two minutes ago does not look idle over the last fifteen. `rows` are by start.
double ObservedSeconds(const std::vector<store::CatalogRow>& rows, const TimeRange& range) {
  int64_t covered_ns = 0;
  int64_t upto_ns = range.from_ns;
  for (const store::CatalogRow& row : rows) {
    int64_t begin = std::max(row.start_ns, upto_ns);
    int64_t end = std::min(row.end_ns(), range.to_ns);
    if (end <= begin) continue;
    covered_ns += end - begin;
    upto_ns = end;
  }
  return static_cast<double>(covered_ns) / kNsPerSecond;
}

Result<Catalog> ReadCatalog(const store::ObjectStore& store, const Question& question,
                            std::span<const store::OpenProfile> open) {
  ASSIGN_OR_RETURN(store::ListResult list, store::ListProfiles(store, question.query, open));
  std::map<ContainerKey, ContainerSum> sums;
  Catalog catalog;
  for (const store::CatalogRow& row : list.rows) {
    ContainerKey key(row.namespace_name, row.pod, row.container);
    ContainerSum& sum = sums.try_emplace(key, ContainerSum{key, 0, 0}).first->second;
    double part = PartInRange(row, question.range);
    sum.value += part * static_cast<double>(row.value);
    sum.samples += part * static_cast<double>(row.samples);
    catalog.value += part * static_cast<double>(row.value);
  }
  for (auto& [key, sum] : sums) catalog.containers.push_back(std::move(sum));
  std::stable_sort(catalog.containers.begin(), catalog.containers.end(),
                   [](const auto& a, const auto& b) { return a.value > b.value; });
  catalog.observed_seconds = ObservedSeconds(list.rows, question.range);
  catalog.skipped = std::move(list.skipped);
  return catalog;
}

Result<store::Query> OnlyContainer(const store::Query& query, const ContainerKey& key) {
  const auto& [namespace_name, pod, container] = key;
  store::Query only = query;
  const std::pair<const char*, const std::string*> labels[] = {
      {"namespace", &namespace_name}, {"pod", &pod}, {"container", &container}};
  for (const auto& [label, value] : labels) {
    ASSIGN_OR_RETURN(profile::Matcher matcher,
                     profile::Matcher::Create(label, profile::MatchOp::kEqual, *value));
    only.selector = only.selector.With(std::move(matcher));
  }
  return only;
}

TopReply BeginReply(std::string_view by, const Question& question, const Catalog& catalog) {
  TopReply reply;
  reply.by = by;
  reply.type = question.query.type->Name();
  reply.unit = question.query.type->SampleTypes().back().unit;
  reply.from_ms = question.range.from_ns / kNsPerMs;
  reply.to_ms = question.range.to_ns / kNsPerMs;
  reply.observed_seconds = catalog.observed_seconds;
  reply.skipped = static_cast<int64_t>(catalog.skipped.total);
  return reply;
}

double Percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// Index of the asked value; kUnsupported when these profiles have no such value.
Result<uint32_t> ValueIndex(const profile::Profile& profile, const std::string& sample_type) {
  if (sample_type.empty()) return profile.DefaultValueIndex();
  uint32_t index = profile.FindValueIndex(sample_type);
  if (index < profile.sample_types().size()) return index;
  return Error(ErrorCode::kUnsupported,
               fmt::format("these profiles have no value '{}'", sample_type));
}

// Functions summed over several profiles.
class FunctionSums {
 public:
  void Add(const profile::TopResult& top, const std::string& container) {
    total_ = profile::SaturatingAdd(total_, top.total);
    unit_ = top.value_type.unit;
    for (const profile::TopRow& row : top.rows) {
      Sum& sum = sums_[{row.function, row.mapping}];
      sum.self = profile::SaturatingAdd(sum.self, row.self);
      sum.total = profile::SaturatingAdd(sum.total, row.total);
      if (!container.empty()) sum.containers.emplace_back(row.self, row.total, container);
    }
  }

  void Finish(size_t k, TopReply& reply) && {
    reply.total = total_;
    if (!unit_.empty()) reply.unit = unit_;
    reply.total_rows = static_cast<int64_t>(sums_.size());
    std::vector<std::pair<const Name*, Sum*>> order;
    for (auto& [name, sum] : sums_) order.emplace_back(&name, &sum);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second->self, a.second->total) >
             std::pair(b.second->self, b.second->total);
    });
    if (order.size() > k) order.resize(k);
    for (auto& [name, sum] : order) reply.functions.push_back(Row(*name, *sum));
  }

 private:
  using Name = std::pair<std::string, std::string>;
  struct Sum {
    int64_t self = 0;
    int64_t total = 0;
    std::vector<std::tuple<int64_t, int64_t, std::string>> containers;
  };

  TopFunction Row(const Name& name, Sum& sum) const {
    TopFunction row;
    row.function = name.first;
    row.module = name.second;
    row.self = sum.self;
    row.self_percent = Percent(static_cast<double>(sum.self), static_cast<double>(total_));
    row.total = sum.total;
    row.total_percent = Percent(static_cast<double>(sum.total), static_cast<double>(total_));
    std::sort(sum.containers.rbegin(), sum.containers.rend());
    for (auto& container : sum.containers) row.containers.push_back(std::get<2>(container));
    return row;
  }

  std::map<Name, Sum> sums_;
  int64_t total_ = 0;
  std::string unit_;
};

Result<profile::TopResult> TopOf(const store::ObjectStore& store, const store::Query& query,
                                 const std::string& sample_type,
                                 std::span<const store::OpenProfile> open, size_t limit) {
  ASSIGN_OR_RETURN(store::MergeResult merged, store::MergeProfiles(store, query, open));
  if (merged.profiles == 0) return profile::TopResult{};
  ASSIGN_OR_RETURN(uint32_t value, ValueIndex(merged.profile, sample_type));
  return profile::Top(merged.profile, value, limit);
}

}  // namespace

Result<TopReply> TopContainers(const store::ObjectStore& store, const Question& question,
                               std::span<const store::OpenProfile> open, size_t k) {
  if (!question.sample_type.empty() &&
      question.sample_type != question.query.type->SampleTypes().back().type) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("containers are ordered by the main value of a type, not by '{}'; ask "
                             "for by=functions",
                             question.sample_type));
  }
  ASSIGN_OR_RETURN(Catalog catalog, ReadCatalog(store, question, open));
  TopReply reply = BeginReply("containers", question, catalog);
  reply.total = static_cast<int64_t>(catalog.value);
  reply.total_rows = static_cast<int64_t>(catalog.containers.size());
  if (catalog.containers.size() > k) catalog.containers.resize(k);
  bool is_cpu = question.query.type->kind == profile::TypeKind::kCpu;
  for (const ContainerSum& sum : catalog.containers) {
    TopContainer row;
    std::tie(row.namespace_name, row.pod, row.container) = sum.key;
    row.share_percent = Percent(sum.value, catalog.value);
    if (is_cpu && catalog.observed_seconds > 0) {
      row.cores = sum.value / kNsPerSecond / catalog.observed_seconds;
    }
    row.samples = std::llround(sum.samples);
    row.value = static_cast<int64_t>(sum.value);
    ASSIGN_OR_RETURN(store::Query only, OnlyContainer(question.query, sum.key));
    ASSIGN_OR_RETURN(profile::TopResult top, TopOf(store, only, question.sample_type, open, 1));
    if (!top.rows.empty()) {
      row.hottest_function = top.rows[0].function;
      row.hottest_module = top.rows[0].mapping;
      row.hottest_percent = top.rows[0].self_percent;
    }
    reply.containers.push_back(std::move(row));
  }
  return reply;
}

Result<TopReply> TopFunctions(const store::ObjectStore& store, const Question& question,
                              std::span<const store::OpenProfile> open, size_t k) {
  ASSIGN_OR_RETURN(Catalog catalog, ReadCatalog(store, question, open));
  TopReply reply = BeginReply("functions", question, catalog);
  FunctionSums sums;
  if (catalog.containers.size() > kMaxContainersToldApart) {
    ASSIGN_OR_RETURN(profile::TopResult top,
                     TopOf(store, question.query, question.sample_type, open, 0));
    sums.Add(top, "");
  } else {
    for (const ContainerSum& sum : catalog.containers) {
      ASSIGN_OR_RETURN(store::Query only, OnlyContainer(question.query, sum.key));
      ASSIGN_OR_RETURN(profile::TopResult top, TopOf(store, only, question.sample_type, open, 0));
      const auto& [namespace_name, pod, container] = sum.key;
      sums.Add(top, fmt::format("{}/{}/{}", namespace_name, pod, container));
    }
  }
  std::move(sums).Finish(k, reply);
  return reply;
}

}  // namespace firetower::query
