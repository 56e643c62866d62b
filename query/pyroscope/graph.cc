// SPDX-License-Identifier: Apache-2.0
#include "query/pyroscope/graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/json.h"
#include "profile/builder.h"
#include "profile/codec/pprof/wire_writer.h"
#include "profile/flame/layout.h"
#include "profile/flame/tree.h"
#include "profile/pprof.h"
#include "profile/type.h"
#include "query/flame/flame_sum.h"
#include "query/profiles/profile_endpoint.h"
#include "query/pyroscope/pick.h"

namespace firetower::query::pyroscope {
namespace {

using profile::FlameBar;
using profile::FlameLevels;
using profile::FlameTreeBuilder;
using profile::WireWriter;

// As /api/v1/flame has them.
constexpr int64_t kDefaultNodes = 8192;
constexpr int64_t kMaxNodes = 1 << 20;

enum Format : uint64_t { kUnspecified = 0, kFlameGraph = 1, kPprof = 4 };

struct Picked {
  profile::Profile profile = {};
  uint32_t value = 0;     // which of its values
  std::string type = {};  // its profile type, as we write it
  store::SkippedList skipped = {};
  std::optional<double> max_hidden_share = {};
};

// Returns the value that is asked for, as profiles of the type have it.
profile::ValueType ValueAsked(const Question& question) {
  const std::vector<profile::ValueType> values = question.query.type->SampleTypes();
  return question.sample_type == values.front().type ? values.front() : values.back();
}

// A profile without samples, of the value that is asked for.
profile::Profile NoneOf(const Question& question) {
  return profile::ProfileBuilder({.sample_types = {ValueAsked(question)},
                                  .period_type = question.query.type->PeriodType()})
      .Build();
}

struct How {
  bool value_alone = false;  // the profile has no other value
  uint64_t sides = 1;        // that share what an answer may read
};

Result<Picked> PickAsked(const Caller& caller, const SelectRequest& request, const How& how) {
  ASSIGN_OR_RETURN(Question question, Ask(caller, request.type_id, request.selector, request.range,
                                          TypeDefault::kCpu));
  question.limits.max_read_bytes /= how.sides;
  const bool is_copied = how.value_alone || !request.call_site.empty();
  // The merged profile and the one that is picked of it are in memory at once.
  if (is_copied) question.limits.max_merged_bytes /= 2;
  Picked picked{.type = question.query.type->Name()};
  store::MergeResult merged;
  if (!request.names_ids) {
    const auto open = caller.parts.live.OpenProfiles();
    ASSIGN_OR_RETURN(merged, MergeAsked(question, open, caller.parts));
  }
  picked.skipped = std::move(merged.skipped);
  picked.max_hidden_share = merged.max_hidden_share;
  if (merged.profiles == 0) {
    picked.profile = NoneOf(question);
    return picked;
  }
  picked.value = question.sample_type.empty() ? merged.profile.DefaultValueIndex()
                                              : merged.profile.FindValueIndex(question.sample_type);
  if (picked.value >= merged.profile.sample_types().size()) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("these profiles have no value '{}'", question.sample_type));
  }
  picked.profile =
      is_copied ? Pick(merged.profile, picked.value, request.call_site) : std::move(merged.profile);
  if (is_copied) picked.value = 0;
  return picked;
}

FlameLevels LayOut(FlameTreeBuilder builder, int64_t max_nodes) {
  profile::FlameCut cut;
  cut.max_bars =
      static_cast<uint32_t>(max_nodes <= 0 ? kDefaultNodes : std::min(max_nodes, kMaxNodes));
  return LayOutFlame(std::move(builder).Build(), cut, profile::SiblingOrder::kName);
}

// x as the distance from the end of the bar before, total, self.
void AddBar(const FlameBar& bar, int64_t& end, std::vector<int64_t>& values) {
  values.insert(values.end(), {bar.x - end, bar.total, bar.self});
  end = bar.x + bar.total;
}

// FlameGraph, or FlameGraphDiff: names 1, levels 2 { values 1 }, total 3, max_self 4, and of a
// difference left_ticks 5, right_ticks 6.
std::string EncodeGraph(const FlameLevels& levels) {
  const bool is_diff = !levels.left.empty();
  std::string out;
  WireWriter writer;
  for (const profile::FlameName& name : levels.names) writer.Bytes(1, ToValidUtf8(name.text));
  out.append(writer.bytes());
  writer.Clear();
  std::vector<int64_t> values;
  int64_t max_self = 0;
  for (size_t level = 0; level < levels.level_count(); ++level) {
    values.clear();
    int64_t end = 0;
    int64_t left_end = 0;
    for (uint32_t bar = levels.level_starts[level]; bar < levels.level_starts[level + 1]; ++bar) {
      if (is_diff) AddBar(levels.left[bar], left_end, values);
      AddBar(levels.bars[bar], end, values);
      values.push_back(levels.name_of[bar]);
      max_self = std::max({max_self, levels.bars[bar].self, is_diff ? levels.left[bar].self : 0});
    }
    writer.Packed(1, values.size(), [&](size_t i) { return values[i]; });
    writer.MoveTo(&out, 2);
  }
  const int64_t left = is_diff ? levels.left[0].total : 0;
  writer.Number(3, profile::SaturatingAdd(left, levels.total()));
  writer.Number(4, max_self);
  if (is_diff) {
    writer.Number(5, left);
    writer.Number(6, levels.total());
  }
  out.append(writer.bytes());
  return out;
}

// As field `number` of the reply.
std::string Within(uint32_t number, std::string_view message) {
  WireWriter writer;
  writer.Bytes(number, message);
  return std::string(writer.bytes());
}

// Encodes what was built, as the reply's first field.
void SetGraph(FlameTreeBuilder builder, int64_t max_nodes, Answer* answer) {
  const FlameLevels levels = LayOut(std::move(builder), max_nodes);
  if (levels.max_hidden_share)
    answer->max_hidden_share = std::max(answer->max_hidden_share, levels.max_hidden_share);
  answer->message = Within(1, EncodeGraph(levels));
}

Result<Question> AskSide(const Caller& caller, const SelectRequest& request, uint64_t sides) {
  ASSIGN_OR_RETURN(Question question, Ask(caller, request.type_id, request.selector, request.range,
                                          TypeDefault::kCpu));
  question.limits.max_read_bytes /= sides;
  return question;
}

// One side of a graph, or the only one.
struct GraphSide {
  const SelectRequest& request;
  const Question& question;
  FlameSum::Side side = FlameSum::Side::kRight;
  uint64_t sides = 1;
};

// Adds what a side asks for to the tree. Of stacks below a call site a merged profile is made
// first, of all stacks none. Returns the value that is counted.
Result<profile::ValueType> AddSide(const Caller& caller, const GraphSide& asked,
                                   FlameTreeBuilder* builder, Answer* answer) {
  const bool is_alone = asked.sides == 1 && asked.request.call_site.empty();
  FlameSum sum(builder, asked.side, asked.question.sample_type, /*recounts=*/is_alone);
  sum.Clear();
  if (!asked.request.call_site.empty()) {
    ASSIGN_OR_RETURN(Picked picked, PickAsked(caller, asked.request, {.sides = asked.sides}));
    answer->skipped.Append(std::move(picked.skipped));
    answer->max_hidden_share = std::max(answer->max_hidden_share, picked.max_hidden_share);
    RETURN_IF_ERROR(sum.Add(picked.profile));
  } else if (!asked.request.names_ids) {
    const auto open = caller.parts.live.OpenProfiles();
    ASSIGN_OR_RETURN(store::SumResult summed, SumAsked(asked.question, open, caller.parts, sum));
    answer->skipped.Append(std::move(summed.skipped));
  }
  return sum.value().value_or(ValueAsked(asked.question));
}

Result<Answer> Graph(const Caller& caller, const SelectRequest& request) {
  ASSIGN_OR_RETURN(const Question question, AskSide(caller, request, 1));
  FlameTreeBuilder builder(profile::NameDetail::kFull, TreeNodesWithin(question.limits));
  Answer answer;
  do {
    answer = {};
    RETURN_IF_ERROR(AddSide(caller, {.request = request, .question = question}, &builder, &answer));
  } while (builder.Recount());
  SetGraph(std::move(builder), request.max_nodes, &answer);
  return answer;
}

std::string_view NameOf(FlameSum::Side side) {
  return side == FlameSum::Side::kLeft ? "left" : "right";
}

Status CheckComparable(const std::vector<Question>& sides, const profile::ValueType& left,
                       const profile::ValueType& right) {
  const std::string left_type = sides[0].query.type->Name();
  const std::string right_type = sides[1].query.type->Name();
  if (left_type == right_type && left == right) return OkStatus();
  return Error(ErrorCode::kInvalid,
               fmt::format("{} of {} and {} of {} cannot be compared: ask for one type", left.type,
                           left_type, right.type, right_type));
}

Result<Answer> InFormat(const Caller& caller, const SelectRequest& request) {
  if (request.format != kUnspecified && request.format != kFlameGraph && request.format != kPprof) {
    return Error(ErrorCode::kUnsupported,
                 "this profile format is not written here: ask for PROFILE_FORMAT_FLAMEGRAPH or "
                 "PROFILE_FORMAT_PPROF");
  }
  const bool is_pprof = request.format == kPprof;
  if (!is_pprof) return Graph(caller, request);
  ASSIGN_OR_RETURN(Picked picked, PickAsked(caller, request, {.value_alone = true}));
  return Answer{Within(5, Within(1, profile::EncodePprof(picked.profile, {.gzip = false}))),
                std::move(picked.skipped), picked.max_hidden_share};
}

}  // namespace

Result<Answer> SelectMergeStacktraces(const Caller& caller, std::string_view message) {
  ASSIGN_OR_RETURN(const SelectRequest request, ReadStacktracesRequest(message));
  return InFormat(caller, request);
}

Result<Answer> SelectMergeSpanProfile(const Caller& caller, std::string_view message) {
  ASSIGN_OR_RETURN(const SelectRequest request, ReadSpanProfileRequest(message));
  return InFormat(caller, request);
}

Result<Answer> SelectMergeProfile(const Caller& caller, std::string_view message) {
  ASSIGN_OR_RETURN(const SelectRequest request, ReadMergeProfileRequest(message));
  ASSIGN_OR_RETURN(Picked picked, PickAsked(caller, request, {.value_alone = true}));
  return Answer{profile::EncodePprof(picked.profile, {.gzip = false}), std::move(picked.skipped),
                picked.max_hidden_share};
}

Result<Answer> DiffGraph(const Caller& caller, std::string_view message) {
  using Side = FlameSum::Side;
  ASSIGN_OR_RETURN(const auto asked, ReadDiffRequest(message));
  constexpr Side kSides[] = {Side::kLeft, Side::kRight};
  const SelectRequest* requests[] = {&asked.first, &asked.second};
  std::vector<Question> questions;
  for (const Side side : kSides) {
    Result<Question> question = AskSide(caller, *requests[questions.size()], 2);
    if (!question) return Error(question.error()).Context(NameOf(side));
    questions.push_back(*std::move(question));
  }
  FlameTreeBuilder builder(profile::NameDetail::kFull, TreeNodesWithin(questions[0].limits) / 2);
  Answer answer;
  do {
    answer = {};
    std::optional<profile::ValueType> counted;
    for (size_t i = 0; i < questions.size(); ++i) {
      const GraphSide side{.request = *requests[i],
                           .question = questions[i],
                           .side = kSides[i],
                           .sides = questions.size()};
      const Result<profile::ValueType> value = AddSide(caller, side, &builder, &answer);
      if (!value) return Error(value.error()).Context(NameOf(kSides[i]));
      RETURN_IF_ERROR(CheckComparable(questions, counted.value_or(*value), *value));
      counted = *value;
    }
  } while (builder.Recount());
  const int64_t max_nodes = std::max(asked.first.max_nodes, asked.second.max_nodes);
  SetGraph(std::move(builder), max_nodes, &answer);
  return answer;
}

}  // namespace firetower::query::pyroscope
