// SPDX-License-Identifier: Apache-2.0
#include "query/top/top.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "query/top/function_sums.h"
#include "query/top/process_sums.h"
#include "query/top/reading.h"
#include "store/profiles/best_resolution.h"
#include "store/profiles/counted_part.h"

namespace firetower::query {
namespace {

struct ContainerSum {
  ContainerKey key;
  double value = 0;
  double samples = 0;
};

struct Catalog {
  std::vector<ContainerSum> containers;  // by value, falling, then by name: Sort
  double value = 0;
  double observed_seconds = 0;
  std::vector<store::CatalogRow> rows;
};

// How much of a row's time lies in the range.
double PartInRange(const store::CatalogRow& row, const TimeRange& range) {
  if (row.duration_ns <= 0) return 1;
  int64_t begin = std::max(row.start_ns, range.from_ns);
  int64_t end = std::min(row.end_ns(), range.to_ns);
  return static_cast<double>(std::max<int64_t>(0, end - begin)) /
         static_cast<double>(row.duration_ns);
}

void Sort(std::vector<ContainerSum>& containers) {
  std::sort(containers.begin(), containers.end(), [](const auto& a, const auto& b) {
    return std::tie(b.value, a.key) < std::tie(a.value, b.key);
  });
}

Result<Catalog> ReadCatalog(const store::ProfileSource& source, const Question& question,
                            std::span<const store::OpenProfile> open, store::SkippedList* skipped) {
  ASSIGN_OR_RETURN(store::ListResult list,
                   store::ListProfiles(source, question.query, open, question.limits));
  std::map<ContainerKey, ContainerSum> sums;
  const store::CountedPart counted(question.query);
  Catalog catalog;
  for (const store::CatalogRow& row : list.rows) {
    ContainerKey key = KeyOf(row);
    ContainerSum& sum = sums.try_emplace(key, ContainerSum{key, 0, 0}).first->second;
    double part = PartInRange(row, question.range);
    const double value = part * static_cast<double>(counted.Value(row));
    sum.value += value;
    sum.samples += part * static_cast<double>(counted.Samples(row));
    catalog.value += value;
  }
  for (auto& [key, sum] : sums) catalog.containers.push_back(std::move(sum));
  Sort(catalog.containers);
  catalog.rows = std::move(list.rows);
  skipped->Append(std::move(list.skipped));
  return catalog;
}

// The catalog has what cannot be read, and no other answer does: out with it.
void LeaveOut(const std::vector<store::CatalogRow>& unread, const Question& question,
              Catalog* catalog) {
  catalog->observed_seconds = ObservedSeconds(catalog->rows, unread, question.range);
  if (unread.empty()) return;
  const store::CountedPart counted(question.query);
  std::map<ContainerKey, ContainerSum> missing;
  for (const store::CatalogRow& row : unread) {
    ContainerSum& sum = missing[KeyOf(row)];
    const double part = PartInRange(row, question.range);
    sum.value += part * static_cast<double>(counted.Value(row));
    sum.samples += part * static_cast<double>(counted.Samples(row));
  }
  for (ContainerSum& sum : catalog->containers) {
    const auto at = missing.find(sum.key);
    if (at == missing.end()) continue;
    const double value = std::min(sum.value, at->second.value);
    sum.value -= value;
    sum.samples -= std::min(sum.samples, at->second.samples);
    catalog->value -= value;
  }
  std::erase_if(catalog->containers, [&](const ContainerSum& sum) {
    return sum.value < 1 && missing.contains(sum.key);  // nothing of it could be read
  });
  Sort(catalog->containers);
}

struct ContainerFunctions {
  std::map<ContainerKey, FunctionSums> sums;
  uint64_t bytes = 0;  // of all sums
  Reading reading;

  // Makes the largest sums smaller until all of them are within the limit of an answer.
  void Bound(const store::QueryLimits& limits) {
    while (bytes > limits.max_merged_bytes) {
      FunctionSums& largest = std::ranges::max_element(sums, {}, [](const auto& one) {
                                return one.second.bytes();
                              })->second;
      const uint64_t before = largest.bytes();
      largest.Prune();
      bytes -= before - largest.bytes();
      if (largest.bytes() == before) return;  // there is nothing to drop
    }
  }
  // True once, if one of them has to be recounted: then all are, since all are fed again.
  bool Recount() {
    const bool is_any =
        std::ranges::any_of(sums, [](const auto& one) { return one.second.needs_recount(); });
    if (is_any) {
      for (auto& [key, sum] : sums) sum.Recount();
    }
    return is_any;
  }
};

// Sums the functions of the `wanted` containers.
Result<ContainerFunctions> SumFunctions(const store::ProfileSource& source,
                                        const Question& question,
                                        std::span<const store::OpenProfile> open,
                                        std::span<const ContainerSum> wanted) {
  const auto sum = [&](store::Resolution resolution) -> Result<store::Attempt<ContainerFunctions>> {
    store::Attempt<ContainerFunctions> attempt{};
    ContainerFunctions& functions = attempt.answer;
    for (const ContainerSum& one : wanted) functions.sums[one.key];
    auto visit = [&](const store::CatalogRow& row, const profile::Profile& profile) -> Status {
      auto at = functions.sums.find(KeyOf(row));
      if (at == functions.sums.end()) return OkStatus();
      ASSIGN_OR_RETURN(uint32_t value, ValueIndex(profile, question.sample_type));
      const uint64_t before = at->second.bytes();
      at->second.Add(profile, value, "");
      functions.bytes += at->second.bytes() - before;
      functions.Bound(question.limits);
      return OkStatus();
    };
    ASSIGN_OR_RETURN(functions.reading, ForEachProfile(source, question, open, resolution, visit));
    if (functions.Recount()) {
      ASSIGN_OR_RETURN(functions.reading,
                       ForEachProfile(source, question, open, resolution, visit));
    }
    for (const auto& [key, one] : functions.sums)
      attempt.held = profile::SaturatingAdd(attempt.held, one.total());
    attempt.lost_roll_up = functions.reading.lost_roll_up;
    return attempt;
  };
  ASSIGN_OR_RETURN(ContainerFunctions functions, store::AtBestResolution<ContainerFunctions>(sum));
  RETURN_IF_ERROR(CheckRead(functions.reading));
  return functions;
}

// Orders the containers by what their profiles say.
void TakeLevels(const ContainerFunctions& functions, Catalog* catalog) {
  catalog->value = 0;
  for (ContainerSum& sum : catalog->containers) {
    const auto at = functions.sums.find(sum.key);
    sum.value = at == functions.sums.end() ? 0 : static_cast<double>(at->second.total());
    catalog->value += sum.value;
  }
  std::erase_if(catalog->containers, [](const ContainerSum& sum) { return sum.value == 0; });
  Sort(catalog->containers);
}

// All that matches, added up by functions or by processes.
template <typename Sums>
struct All {
  Sums sums;
  std::string unit;  // unset where nothing was read
  Reading reading;
};

// Calls `add` with the sums, each profile, the index of its value, and its row.
template <typename Sums, typename Add>
Result<All<Sums>> SumAll(const store::ProfileSource& source, const Question& question,
                         std::span<const store::OpenProfile> open, const Add& add) {
  const auto sum = [&](store::Resolution resolution) -> Result<store::Attempt<All<Sums>>> {
    store::Attempt<All<Sums>> attempt{};
    All<Sums>& all = attempt.answer;
    // Roll-ups have no traces.
    if (std::is_same_v<Sums, TraceSums>) resolution = store::Resolution::kWindows;
    const auto visit = [&](const store::CatalogRow& row,
                           const profile::Profile& profile) -> Status {
      ASSIGN_OR_RETURN(uint32_t value, ValueIndex(profile, question.sample_type));
      all.unit = profile.sample_types()[value].unit;
      add(all.sums, profile, value, row);
      if (all.sums.bytes() > question.limits.max_merged_bytes) all.sums.Prune();
      return OkStatus();
    };
    ASSIGN_OR_RETURN(all.reading, ForEachProfile(source, question, open, resolution, visit));
    if (all.sums.needs_recount()) {
      all.sums.Recount();
      ASSIGN_OR_RETURN(all.reading, ForEachProfile(source, question, open, resolution, visit));
    }
    attempt.held = all.sums.total();
    attempt.lost_roll_up = all.reading.lost_roll_up;
    return attempt;
  };
  ASSIGN_OR_RETURN(All<Sums> all, store::AtBestResolution<All<Sums>>(sum));
  RETURN_IF_ERROR(CheckRead(all.reading));
  return all;
}

// Fills in what a reply has beside its rows.
template <typename Sums>
void Describe(const Catalog& catalog, const Question& question, All<Sums>& all,
              store::SkippedList* skipped, TopReply& reply) {
  // Sums over whole windows have the time of whole windows.
  TimeRange range{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  const auto& cut = question.query.cut;
  if (cut) {
    range = {cut->from_slot * profile::SampleTimes::kSlotNs,
             cut->to_slot * profile::SampleTimes::kSlotNs};
  }
  reply.observed_seconds = ObservedSeconds(catalog.rows, all.reading.unread_rows, range);
  if (cut) reply.observed_seconds *= cut->OffsetShare();
  if (!all.unit.empty()) reply.unit = all.unit;
  skipped->Append(std::move(all.reading.unread));
  reply.skipped = static_cast<int64_t>(skipped->total);
  reply.total = all.sums.total();
  reply.max_hidden = all.sums.max_hidden();
}

TopContainer ContainerRow(const ContainerSum& sum, const Catalog& catalog, bool is_cpu,
                          const FunctionSums& functions) {
  TopContainer row;
  std::tie(row.namespace_name, row.pod, row.container) = sum.key;
  row.share_percent = catalog.value > 0 ? 100 * sum.value / catalog.value : 0;
  if (is_cpu && catalog.observed_seconds > 0) {
    row.cores = sum.value / kNsPerSecond / catalog.observed_seconds;
  }
  row.samples = std::llround(sum.samples);
  row.value = std::llround(sum.value);
  for (const TopFunction& hottest : functions.Top(1)) {
    row.hottest_function = hottest.function;
    row.hottest_module = hottest.module;
    row.hottest_percent = hottest.self_percent;
  }
  return row;
}

template <typename Sums>
Result<TopReply> TopByLabel(std::string_view by, const store::ProfileSource& source,
                            const Question& question, std::span<const store::OpenProfile> open,
                            size_t k, store::SkippedList* skipped) {
  ASSIGN_OR_RETURN(Catalog catalog, ReadCatalog(source, question, open, skipped));
  TopReply reply = BeginReply(by, question);
  const auto add = [](Sums& sums, const profile::Profile& profile, uint32_t value,
                      const store::CatalogRow& row) { sums.Add(profile, value, KeyOf(row)); };
  ASSIGN_OR_RETURN(All<Sums> all, SumAll<Sums>(source, question, open, add));
  Describe(catalog, question, all, skipped, reply);
  reply.total_rows = static_cast<int64_t>(all.sums.processes());
  reply.processes = all.sums.Top(k);
  const bool has_cores = question.query.type->kind == profile::TypeKind::kCpu &&
                         reply.unit == "nanoseconds" && reply.observed_seconds > 0;
  for (TopProcess& row : reply.processes) {
    if (has_cores)
      row.cores = static_cast<double>(row.value) / kNsPerSecond / reply.observed_seconds;
  }
  return reply;
}

}  // namespace

Result<TopReply> TopContainers(const store::ProfileSource& source, const Question& question,
                               std::span<const store::OpenProfile> open, size_t k,
                               store::SkippedList* skipped) {
  const profile::ProfileType& type = *question.query.type;
  const bool of_level = question.query.of_level;
  if (!of_level && !question.sample_type.empty() && question.sample_type != type.MainValue().type) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("containers are ordered by the main value of a type, not by '{}'; ask "
                             "for by=functions",
                             question.sample_type));
  }
  ASSIGN_OR_RETURN(Catalog catalog, ReadCatalog(source, question, open, skipped));
  TopReply reply = BeginReply("containers", question);
  // Only the likely first containers get their hottest function. A container that reaches the top
  // later shows none. The catalog does not have values of a moment: there all are read.
  const size_t likely =
      of_level ? catalog.containers.size() : std::min(k, catalog.containers.size());
  ASSIGN_OR_RETURN(
      ContainerFunctions functions,
      SumFunctions(source, question, open, std::span(catalog.containers).first(likely)));
  LeaveOut(functions.reading.unread_rows, question, &catalog);
  if (of_level) TakeLevels(functions, &catalog);
  reply.observed_seconds = catalog.observed_seconds;
  reply.total = std::llround(catalog.value);
  reply.total_rows = static_cast<int64_t>(catalog.containers.size());
  if (catalog.containers.size() > k) catalog.containers.resize(k);
  skipped->Append(std::move(functions.reading.unread));
  reply.skipped = static_cast<int64_t>(skipped->total);
  for (const ContainerSum& sum : catalog.containers) {
    reply.containers.push_back(
        ContainerRow(sum, catalog, type.kind == profile::TypeKind::kCpu, functions.sums[sum.key]));
  }
  return reply;
}

namespace {

// `Sums` is FunctionSums or LineSums.
template <typename Sums>
Result<TopReply> TopOf(std::string_view by, const store::ProfileSource& source,
                       const Question& question, std::span<const store::OpenProfile> open, size_t k,
                       store::SkippedList* skipped) {
  ASSIGN_OR_RETURN(Catalog catalog, ReadCatalog(source, question, open, skipped));
  TopReply reply = BeginReply(by, question);
  const auto add = [](Sums& sums, const profile::Profile& profile, uint32_t value,
                      const store::CatalogRow& row) {
    sums.Add(profile, value, fmt::format("{}/{}/{}", row.namespace_name, row.pod, row.container));
  };
  ASSIGN_OR_RETURN(All<Sums> all, SumAll<Sums>(source, question, open, add));
  Describe(catalog, question, all, skipped, reply);
  reply.total_rows = static_cast<int64_t>(all.sums.functions());
  reply.other_self = all.sums.other_self();
  reply.functions = all.sums.Top(k);
  if (!question.query.of_level) return reply;
  Question at_begin = question;
  at_begin.query.at_begin = true;
  ASSIGN_OR_RETURN(const All<Sums> before, SumAll<Sums>(source, at_begin, open, add));
  for (TopFunction& row : reply.functions) row.growth = row.self - before.sums.SelfOf(row);
  return reply;
}

}  // namespace

Result<TopReply> TopFunctions(const store::ProfileSource& source, const Question& question,
                              std::span<const store::OpenProfile> open, size_t k,
                              store::SkippedList* skipped) {
  return TopOf<FunctionSums>("functions", source, question, open, k, skipped);
}

Result<TopReply> TopLines(const store::ProfileSource& source, const Question& question,
                          std::span<const store::OpenProfile> open, size_t k,
                          store::SkippedList* skipped) {
  return TopOf<LineSums>("lines", source, question, open, k, skipped);
}

Result<TopReply> TopProcesses(const store::ProfileSource& source, const Question& question,
                              std::span<const store::OpenProfile> open, size_t k,
                              store::SkippedList* skipped) {
  return TopByLabel<ProcessSums>("processes", source, question, open, k, skipped);
}

Result<TopReply> TopTraces(const store::ProfileSource& source, const Question& question,
                           std::span<const store::OpenProfile> open, size_t k,
                           store::SkippedList* skipped) {
  return TopByLabel<TraceSums>("traces", source, question, open, k, skipped);
}

}  // namespace firetower::query
