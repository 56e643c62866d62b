// SPDX-License-Identifier: Apache-2.0
#include "query/pyroscope/graph.h"

#include <fmt/core.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/json.h"
#include "profile/builder.h"
#include "profile/flame/layout.h"
#include "profile/flame/tree.h"
#include "profile/pprof.h"
#include "profile/select/stack_filter.h"
#include "profile/type.h"
#include "proto/pyroscope/querier.pb.h"
#include "query/flame/flame_sum.h"
#include "query/profiles/profile_endpoint.h"
#include "query/pyroscope/pick.h"

namespace firetower::query::pyroscope {
namespace {

using profile::FlameBar;
using profile::FlameLevels;
using profile::FlameTreeBuilder;

namespace pb = proto::pyroscope;

// As /api/v1/flame has them.
constexpr int64_t kDefaultNodes = 8192;
constexpr int64_t kMaxNodes = 1 << 20;

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
  const auto asked = std::ranges::find(values, question.sample_type, &profile::ValueType::type);
  return asked != values.end() ? *asked : question.query.type->MainValue();
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

// The question of one of so many sides: of all samples, or of those of some traces or spans.
Result<Question> AskSide(const Caller& caller, const SelectRequest& request, uint64_t sides) {
  ASSIGN_OR_RETURN(Question question, Ask(caller, request.type_id, request.selector, request.range,
                                          TypeDefault::kCpu));
  question.limits.max_read_bytes /= sides;
  if (!request.tag_focus.empty()) {
    ASSIGN_OR_RETURN(profile::StackFilter filter,
                     profile::StackFilter::Create({.tag_focus = request.tag_focus}));
    question.query.stacks = std::make_shared<const profile::StackFilter>(std::move(filter));
  }
  return question;
}

Result<Picked> PickAsked(const Caller& caller, const SelectRequest& request, const How& how) {
  ASSIGN_OR_RETURN(Question question, AskSide(caller, request, how.sides));
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
void AddBar(const FlameBar& bar, int64_t& end, pb::Level& level) {
  for (const int64_t value : {bar.x - end, bar.total, bar.self}) level.add_values(value);
  end = bar.x + bar.total;
}

// Writes what FlameGraph and FlameGraphDiff have in common, but for the total.
template <typename Graph>
void SetBars(const FlameLevels& levels, Graph* graph) {
  const bool is_diff = !levels.left.empty();
  for (const profile::FlameName& name : levels.names) graph->add_names(ToValidUtf8(name.text));
  int64_t max_self = 0;
  for (size_t i = 0; i < levels.level_count(); ++i) {
    pb::Level& level = *graph->add_levels();
    int64_t end = 0;
    int64_t left_end = 0;
    for (uint32_t bar = levels.level_starts[i]; bar < levels.level_starts[i + 1]; ++bar) {
      if (is_diff) AddBar(levels.left[bar], left_end, level);
      AddBar(levels.bars[bar], end, level);
      level.add_values(levels.name_of[bar]);
      max_self = std::max({max_self, levels.bars[bar].self, is_diff ? levels.left[bar].self : 0});
    }
  }
  graph->set_max_self(max_self);
}

// Encodes a message that has an encoded one as its only field.
std::string Within(int number, std::string message) {
  google::protobuf::UnknownFieldSet fields;
  *fields.AddLengthDelimited(number) = std::move(message);
  std::string encoded;
  fields.SerializeToString(&encoded);
  return encoded;
}

std::string EncodeGraph(const FlameLevels& levels) {
  if (levels.left.empty()) {
    pb::SelectMergeStacktracesResponse reply;
    SetBars(levels, reply.mutable_flamegraph());
    reply.mutable_flamegraph()->set_total(levels.total());
    return reply.SerializeAsString();
  }
  pb::DiffResponse reply;
  pb::FlameGraphDiff* graph = reply.mutable_flamegraph();
  SetBars(levels, graph);
  const int64_t left = levels.left[0].total;
  graph->set_total(profile::SaturatingAdd(left, levels.total()));
  graph->set_leftticks(left);
  graph->set_rightticks(levels.total());
  return reply.SerializeAsString();
}

// Lays out and encodes what was built.
void AnswerWith(FlameTreeBuilder builder, int64_t max_nodes, Answer* answer) {
  const FlameLevels levels = LayOut(std::move(builder), max_nodes);
  if (levels.max_hidden_share)
    answer->max_hidden_share = std::max(answer->max_hidden_share, levels.max_hidden_share);
  answer->message = EncodeGraph(levels);
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
  AnswerWith(std::move(builder), request.max_nodes, &answer);
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
  const bool is_pprof = request.format == pb::PROFILE_FORMAT_PPROF;
  if (!is_pprof && request.format != pb::PROFILE_FORMAT_UNSPECIFIED &&
      request.format != pb::PROFILE_FORMAT_FLAMEGRAPH) {
    return Error(ErrorCode::kUnsupported,
                 "this profile format is not written here: ask for PROFILE_FORMAT_FLAMEGRAPH or "
                 "PROFILE_FORMAT_PPROF");
  }
  if (!is_pprof) return Graph(caller, request);
  ASSIGN_OR_RETURN(Picked picked, PickAsked(caller, request, {.value_alone = true}));
  std::string pprof = profile::EncodePprof(picked.profile, {.gzip = false});
  pprof = Within(pb::PprofProfile::kProfileFieldNumber, std::move(pprof));
  return Answer{Within(pb::SelectMergeStacktracesResponse::kPprofFieldNumber, std::move(pprof)),
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
  AnswerWith(std::move(builder), max_nodes, &answer);
  return answer;
}

}  // namespace firetower::query::pyroscope
