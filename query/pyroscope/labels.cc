// SPDX-License-Identifier: Apache-2.0
#include "query/pyroscope/labels.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/json.h"
#include "profile/type.h"
#include "proto/pyroscope/querier.pb.h"
#include "store/profiles/newest.h"

namespace firetower::query::pyroscope {
namespace {

constexpr size_t kMaxLabelNames = 32;
constexpr std::string_view kNameLabel = "__name__";
// Of our own, which Grafana has in another form: the type as __profile_type__.
constexpr std::string_view kUnshown = "type";
constexpr std::string_view kTypeLabels[] = {"__name__", "__profile_type__", "__type__",
                                            "__unit__", "__period_type__",  "__period_unit__"};

void SetType(const std::string& id, proto::pyroscope::ProfileType* to) {
  const profile::PyroscopeIdParts parts = profile::SplitPyroscopeId(id);
  to->set_id(id);
  to->set_name(parts.name);
  to->set_sample_type(parts.sample_type.type);
  to->set_sample_unit(parts.sample_type.unit);
  to->set_period_type(parts.period_type.type);
  to->set_period_unit(parts.period_type.unit);
}

Answer TypesAnswer(const std::vector<std::string>& names, store::SkippedList skipped) {
  proto::pyroscope::ProfileTypesResponse reply;
  for (const std::string& name : names) {
    const auto type = profile::ParseProfileType(name);
    if (!type) continue;  // of a newer version
    for (const std::string& id : type->PyroscopeIds()) SetType(id, reply.add_profile_types());
  }
  return {.message = reply.SerializeAsString(), .skipped = std::move(skipped)};
}

Answer NamesAnswer(const std::vector<std::string>& names, store::SkippedList skipped) {
  proto::pyroscope::NamesResponse reply;
  for (const std::string& name : names) reply.add_names(ToValidUtf8(name));
  return {.message = reply.SerializeAsString(), .skipped = std::move(skipped)};
}

using LabelSet = std::vector<std::pair<std::string, std::string>>;

Result<std::vector<std::string>> NamesOfSets(const LabelsRequest& request) {
  std::vector<std::string> names;
  for (const std::string& name : request.label_names) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  if (names.size() > kMaxLabelNames) {
    return Error(ErrorCode::kInvalid, fmt::format("{} label names: at most {} are told at once",
                                                  names.size(), kMaxLabelNames));
  }
  if (!names.empty()) return names;
  names.assign(std::begin(kTypeLabels), std::end(kTypeLabels));
  for (const std::string& name : store::CatalogLabelNames()) {
    if (name != kUnshown) names.push_back(name);
  }
  return names;
}

// Without labels that have no value.
LabelSet SetOf(const store::Series& series, const std::vector<std::string>& names) {
  LabelSet set;
  for (const std::string& name : names) {
    const std::string& value = series.labels.at(name);
    if (value.empty()) continue;
    set.emplace_back(name, name == kNameLabel ? PyroscopeName(value) : ToValidUtf8(value));
  }
  return set;
}

}  // namespace

Result<Answer> ProfileTypes(const Caller& caller, std::string_view message) {
  ASSIGN_OR_RETURN(const LabelsRequest request, ReadProfileTypesRequest(message));
  const Result<Question> question = Ask(caller, "", "", request.range, TypeDefault::kAny);
  if (!question && question.error().code() == ErrorCode::kPermission) {
    return TypesAnswer({"cpu", "lock", "memory", "offcpu"}, {});
  }
  if (!question) return question.error();
  const auto open = caller.parts.live.OpenProfiles();
  ASSIGN_OR_RETURN(
      store::LabelsResult types,
      store::LabelValues(caller.parts.store, question->query, kNameLabel, open, question->limits));
  return TypesAnswer(types.values, std::move(types.skipped));
}

Result<Answer> LabelNames(const Caller& caller, std::string_view message) {
  ASSIGN_OR_RETURN(const LabelsRequest request, ReadLabelNamesRequest(message));
  ASSIGN_OR_RETURN(const Question question, AskForAny(caller, request));
  const auto open = caller.parts.live.OpenProfiles();
  ASSIGN_OR_RETURN(store::LabelsResult names,
                   store::LabelNames(caller.parts.store, question.query, open, question.limits));
  std::erase(names.values, kUnshown);
  return NamesAnswer(names.values, std::move(names.skipped));
}

Result<Answer> LabelValues(const Caller& caller, std::string_view message) {
  ASSIGN_OR_RETURN(const LabelsRequest request, ReadLabelValuesRequest(message));
  ASSIGN_OR_RETURN(const Question question, AskForAny(caller, request));
  const auto open = caller.parts.live.OpenProfiles();
  ASSIGN_OR_RETURN(
      store::LabelsResult values,
      store::LabelValues(caller.parts.store, question.query, request.name, open, question.limits));
  if (request.name == kNameLabel) {
    for (std::string& value : values.values) value = PyroscopeName(value);
    std::ranges::sort(values.values);
  }
  return NamesAnswer(values.values, std::move(values.skipped));
}

Result<Answer> LabelSets(const Caller& caller, std::string_view message) {
  ASSIGN_OR_RETURN(const LabelsRequest request, ReadSeriesRequest(message));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesOfSets(request));
  ASSIGN_OR_RETURN(const Question question, AskForAny(caller, request));
  const auto open = caller.parts.live.OpenProfiles();
  // One step: what the sums are is not asked for.
  const int64_t step_ns =
      std::max(question.range.to_ns - question.range.from_ns, int64_t{kNsPerSecond});
  ASSIGN_OR_RETURN(store::SeriesResult found,
                   store::SeriesTotals(caller.parts.store, question.query, step_ns, names, open,
                                       question.limits));
  std::set<LabelSet> sets;
  for (const store::Series& series : found.series) sets.insert(SetOf(series, names));
  proto::pyroscope::SeriesResponse reply;
  for (const LabelSet& set : sets) {
    // Grafana takes the first set without labels for the end of the data.
    if (set.empty()) continue;
    proto::pyroscope::Labels* labels = reply.add_labels_set();
    for (const auto& [name, value] : set) {
      proto::pyroscope::LabelPair* pair = labels->add_labels();
      pair->set_name(name);
      pair->set_value(value);
    }
  }
  return Answer{.message = reply.SerializeAsString(), .skipped = std::move(found.skipped)};
}

Result<Answer> ProfileStats(const Caller& caller, std::string_view) {
  constexpr int64_t kSpans[] = {kLabelsSpanNs, kStatsSpanNs};
  const int64_t now_ms = caller.parts.clock.WallNs() / kNsPerMs;
  const auto open = caller.parts.live.OpenProfiles();
  proto::pyroscope::GetProfileStatsResponse reply;
  reply.set_data_ingested(true);
  const auto there = [&reply](store::SkippedList skipped = {}) {
    return Answer{reply.SerializeAsString(), std::move(skipped)};
  };
  for (const int64_t span_ns : kSpans) {
    const Result<Question> question =
        Ask(caller, "", "", {now_ms - span_ns / kNsPerMs, now_ms}, TypeDefault::kAny);
    if (!question && question.error().code() != ErrorCode::kPermission) return question.error();
    // For who may read single namespaces there is no telling; Grafana then lets them look.
    if (!question) return there();
    auto found = store::ListNewest(caller.parts.store, question->query, 1, open, question->limits);
    const bool are_many = !found && found.error().code() == ErrorCode::kExhausted;
    if (are_many) return there();
    if (!found) return found.error();
    if (found->profiles.empty()) continue;
    reply.set_newest_profile_time(found->profiles.front().row.end_ns() / kNsPerMs);
    return there(std::move(found->skipped));
  }
  return Answer{};
}

}  // namespace firetower::query::pyroscope
