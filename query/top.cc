// SPDX-License-Identifier: Apache-2.0
#include "query/top.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "profile/pprof.h"
#include "profile/profile.h"
#include "query/function_sums.h"
#include "store/find.h"
#include "store/profiles/best_resolution.h"
#include "store/profiles/counted_part.h"
#include "store/profiles/entry_reader.h"
#include "store/profiles/observed_time.h"
#include "store/profiles/unstored.h"

namespace firetower::query {
namespace {

using ContainerKey = std::tuple<std::string, std::string, std::string>;

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

ContainerKey KeyOf(const store::CatalogRow& row) {
  return {row.namespace_name, row.pod, row.container};
}

// How much of a row's time lies in the range.
double PartInRange(const store::CatalogRow& row, const TimeRange& range) {
  if (row.duration_ns <= 0) return 1;
  int64_t begin = std::max(row.start_ns, range.from_ns);
  int64_t end = std::min(row.end_ns(), range.to_ns);
  return static_cast<double>(std::max<int64_t>(0, end - begin)) /
         static_cast<double>(row.duration_ns);
}

// A row's node and container.
using PlaceKey = std::pair<std::string, ContainerKey>;
using Intervals = std::vector<std::pair<int64_t, int64_t>>;

// Adds [begin, end) of a node without what `holes`, by their begin, have of it.
void AddWithout(const std::string& node, int64_t begin, int64_t end, const Intervals& holes,
                store::ObservedTime* observed) {
  for (const auto& [hole_begin, hole_end] : holes) {
    if (hole_end <= begin) continue;
    if (hole_begin >= end) break;
    observed->Add(node, begin, hole_begin);
    begin = hole_end;
  }
  observed->Add(node, begin, end);
}

// Returns the divisor of "per second": the time of the rows within the range, without what could
// not be read, so that a daemon started two minutes ago does not look idle over the last fifteen.
double ObservedSeconds(const std::vector<store::CatalogRow>& rows,
                       const std::vector<store::CatalogRow>& unread, const TimeRange& range) {
  std::map<PlaceKey, Intervals> holes;
  for (const store::CatalogRow& row : unread)
    holes[{row.node, KeyOf(row)}].emplace_back(row.start_ns, row.end_ns());
  for (auto& [place, intervals] : holes) std::ranges::sort(intervals);
  store::ObservedTime observed;
  for (const store::CatalogRow& row : rows) {
    const int64_t begin = std::max(row.start_ns, range.from_ns);
    const int64_t end = std::min(row.end_ns(), range.to_ns);
    const auto at = holes.empty() ? holes.end() : holes.find({row.node, KeyOf(row)});
    AddWithout(row.node, begin, end, at == holes.end() ? Intervals{} : at->second, &observed);
  }
  return static_cast<double>(std::move(observed).Ns()) / kNsPerSecond;
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

TopReply BeginReply(std::string_view by, const Question& question) {
  TopReply reply;
  reply.by = by;
  reply.type = question.query.type->Name();
  reply.unit = question.query.type->SampleTypes().back().unit;
  reply.from_ms = question.range.from_ns / kNsPerMs;
  reply.to_ms = question.range.to_ns / kNsPerMs;
  return reply;
}

// Index of the asked value; kUnsupported when these profiles have no such value.
Result<uint32_t> ValueIndex(const profile::Profile& profile, const std::string& sample_type) {
  uint32_t index =
      sample_type.empty() ? profile.DefaultValueIndex() : profile.FindValueIndex(sample_type);
  if (index < profile.sample_types().size()) return index;
  return Error(ErrorCode::kUnsupported,
               fmt::format("these profiles have no value '{}'", sample_type));
}

// The results of reading profiles at one resolution.
struct Reading {
  store::SkippedList unread;  // objects that a listing of the same names does not report already
  std::vector<store::CatalogRow> unread_rows;  // of these, at most a query's maximum
  store::SkippedList listed;
  uint64_t profiles = 0;
  bool lost_roll_up = false;
};

// Fails if profiles exist but none could be read, so that they are not taken for missing.
Status CheckRead(const Reading& reading) {
  const uint64_t lacked = reading.unread.lacked + reading.listed.lacked;
  if (reading.profiles > 0 || lacked == 0) return OkStatus();
  return NothingReadable(reading.unread.lacked > 0 ? reading.unread : reading.listed);
}

// Calls `visit` with each profile that matches, stored ones first, within the limits of one answer.
Result<Reading> ForEachProfile(
    const store::ProfileSource& source, const Question& question,
    std::span<const store::OpenProfile> open, store::Resolution resolution,
    const std::function<Status(const store::CatalogRow&, const profile::Profile&)>& visit) {
  const store::CountedPart counted(question.query);
  store::Unstored unstored(open);
  Reading reading;
  const auto skip = [&](const store::StoredEntry& one, const Error& error) {
    reading.unread.AddLacked(one.key, one.entry.name, error.message());
    reading.unread_rows.push_back(one.entry.row);
    reading.lost_roll_up |= store::IsRollUp(one.key);
    return OkStatus();
  };
  const auto visit_read = [&](store::StoredEntry&& one) -> Status {
    if (!one.pprof_gz) return skip(one, one.pprof_gz.error());
    const Result<profile::Profile> profile = profile::DecodePprof(*std::move(one.pprof_gz));
    if (!profile) return skip(one, profile.error());
    ++reading.profiles;
    const store::CatalogRow& row = one.entry.row;
    return visit(row, counted.IsAll(row) ? *profile : store::CountedPart::Of(*profile));
  };
  store::EntryReader reader(source.store(), question.limits, counted, visit_read);
  RETURN_IF_ERROR(store::FindProfiles(source, question.query, question.limits, resolution,
                                      &reading.listed, [&](const store::FoundProfile& found) {
                                        unstored.Found(found);
                                        return reader.Add(found);
                                      }));
  RETURN_IF_ERROR(reader.Finish());
  RETURN_IF_ERROR(unstored.ForEach([&](const store::OpenProfile& one) {
    const bool is_asked = one.profile != nullptr && store::IsAsked(question.query, one.row);
    if (!is_asked) return OkStatus();
    ++reading.profiles;
    return visit(one.row, *one.profile);
  }));
  return reading;
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

struct AllFunctions {
  FunctionSums sums;
  std::string unit;  // unset where nothing was read
  Reading reading;
};

Result<AllFunctions> SumFunctions(const store::ProfileSource& source, const Question& question,
                                  std::span<const store::OpenProfile> open) {
  const auto sum = [&](store::Resolution resolution) -> Result<store::Attempt<AllFunctions>> {
    store::Attempt<AllFunctions> attempt{};
    AllFunctions& functions = attempt.answer;
    auto visit = [&](const store::CatalogRow& row, const profile::Profile& profile) -> Status {
      ASSIGN_OR_RETURN(uint32_t value, ValueIndex(profile, question.sample_type));
      functions.unit = profile.sample_types()[value].unit;
      functions.sums.Add(profile, value,
                         fmt::format("{}/{}/{}", row.namespace_name, row.pod, row.container));
      if (functions.sums.bytes() > question.limits.max_merged_bytes) functions.sums.Prune();
      return OkStatus();
    };
    ASSIGN_OR_RETURN(functions.reading, ForEachProfile(source, question, open, resolution, visit));
    if (functions.sums.needs_recount()) {
      functions.sums.Recount();
      ASSIGN_OR_RETURN(functions.reading,
                       ForEachProfile(source, question, open, resolution, visit));
    }
    attempt.held = functions.sums.total();
    attempt.lost_roll_up = functions.reading.lost_roll_up;
    return attempt;
  };
  ASSIGN_OR_RETURN(AllFunctions functions, store::AtBestResolution<AllFunctions>(sum));
  RETURN_IF_ERROR(CheckRead(functions.reading));
  return functions;
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

}  // namespace

Result<TopReply> TopContainers(const store::ProfileSource& source, const Question& question,
                               std::span<const store::OpenProfile> open, size_t k,
                               store::SkippedList* skipped) {
  const profile::ProfileType& type = *question.query.type;
  if (!question.sample_type.empty() && question.sample_type != type.SampleTypes().back().type) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("containers are ordered by the main value of a type, not by '{}'; ask "
                             "for by=functions",
                             question.sample_type));
  }
  ASSIGN_OR_RETURN(Catalog catalog, ReadCatalog(source, question, open, skipped));
  TopReply reply = BeginReply("containers", question);
  // Only the likely first containers get their hottest function. A container that reaches the top
  // later shows none.
  const size_t likely = std::min(k, catalog.containers.size());
  ASSIGN_OR_RETURN(
      ContainerFunctions functions,
      SumFunctions(source, question, open, std::span(catalog.containers).first(likely)));
  LeaveOut(functions.reading.unread_rows, question, &catalog);
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

Result<TopReply> TopFunctions(const store::ProfileSource& source, const Question& question,
                              std::span<const store::OpenProfile> open, size_t k,
                              store::SkippedList* skipped) {
  ASSIGN_OR_RETURN(Catalog catalog, ReadCatalog(source, question, open, skipped));
  TopReply reply = BeginReply("functions", question);
  ASSIGN_OR_RETURN(AllFunctions functions, SumFunctions(source, question, open));
  // Functions are summed over whole windows, so their time is that of whole windows.
  constexpr TimeRange kAll{std::numeric_limits<int64_t>::min(),
                           std::numeric_limits<int64_t>::max()};
  reply.observed_seconds = ObservedSeconds(catalog.rows, functions.reading.unread_rows, kAll);
  if (!functions.unit.empty()) reply.unit = functions.unit;
  skipped->Append(std::move(functions.reading.unread));
  reply.skipped = static_cast<int64_t>(skipped->total);
  reply.total = functions.sums.total();
  reply.total_rows = static_cast<int64_t>(functions.sums.functions());
  reply.other_self = functions.sums.other_self();
  reply.max_hidden = functions.sums.max_hidden();
  reply.functions = functions.sums.Top(k);
  return reply;
}

}  // namespace firetower::query
