// SPDX-License-Identifier: Apache-2.0
#include "query/pyroscope/request.h"

#include <algorithm>
#include <bit>
#include <span>

#include "profile/codec/pprof/wire.h"

namespace firetower::query::pyroscope {
namespace {

using profile::ForEachField;
using profile::WireField;

Error NoMessage() {
  return {ErrorCode::kInvalid, "the body is no protobuf message of this method's request"};
}

// Where a request has its fields; 0: it has none such.
struct LabelsNumbers {
  uint32_t name = 0;
  uint32_t matchers = 0;
  uint32_t label_names = 0;
  uint32_t start = 0;
  uint32_t end = 0;
};

Result<LabelsRequest> ReadLabels(std::string_view message, const LabelsNumbers& numbers) {
  LabelsRequest request;
  const bool is_message = ForEachField(message, [&](const WireField& field) {
    if (field.number == 0) return;
    if (field.is_bytes) {
      if (field.number == numbers.name) request.name = field.bytes;
      if (field.number == numbers.matchers) request.matchers.emplace_back(field.bytes);
      if (field.number == numbers.label_names) request.label_names.emplace_back(field.bytes);
      return;
    }
    if (field.number == numbers.start) request.range.start_ms = field.number_value();
    if (field.number == numbers.end) request.range.end_ms = field.number_value();
  });
  if (!is_message) return NoMessage();
  return request;
}

struct SelectNumbers {
  uint32_t start = 3;
  uint32_t end = 4;
  uint32_t group_by = 0;
  uint32_t step = 0;
  uint32_t aggregation = 0;
  uint32_t limit = 0;
  uint32_t max_nodes = 0;
  uint32_t format = 0;
  uint32_t stacks = 0;
  uint32_t ids[3] = {};
};
constexpr uint32_t kTypeId = 1;
constexpr uint32_t kSelector = 2;
constexpr SelectNumbers kSeriesNumbers{
    .group_by = 5, .step = 6, .aggregation = 7, .limit = 9, .stacks = 8};
constexpr SelectNumbers kStacktracesNumbers{
    .max_nodes = 5, .format = 6, .stacks = 7, .ids = {8, 10, 11}};
constexpr SelectNumbers kSpanNumbers{.start = 4, .end = 5, .max_nodes = 6, .format = 7, .ids = {3}};
constexpr SelectNumbers kMergeNumbers{.max_nodes = 5, .stacks = 6, .ids = {7, 8}};

// StackTraceSelector: call_site 1 { name 1 }
bool ReadCallSite(std::string_view selector, std::vector<std::string>& out) {
  bool is_message = true;
  const bool is_outer = ForEachField(selector, [&](const WireField& site) {
    if (site.number != 1 || !site.is_bytes) return;
    std::string& name = out.emplace_back();
    is_message &= ForEachField(site.bytes, [&](const WireField& field) {
      if (field.number == 1 && field.is_bytes) name = field.bytes;
    });
  });
  return is_outer && is_message;
}

void ReadNumber(const WireField& field, const SelectNumbers& numbers, SelectRequest& request) {
  const std::pair<uint32_t, int64_t*> places[] = {{numbers.start, &request.range.start_ms},
                                                  {numbers.end, &request.range.end_ms},
                                                  {numbers.limit, &request.limit},
                                                  {numbers.max_nodes, &request.max_nodes}};
  for (const auto& [number, place] : places) {
    if (field.number == number) *place = field.number_value();
  }
  if (field.number == numbers.aggregation) request.aggregation = field.value;
  if (field.number == numbers.format) request.format = field.value;
}

Result<SelectRequest> ReadSelect(std::string_view message, const SelectNumbers& numbers) {
  SelectRequest request;
  bool are_stacks = true;
  const bool is_message = ForEachField(message, [&](const WireField& field) {
    if (numbers.step != 0 && field.fixed64_number == numbers.step) {
      request.step_seconds = std::bit_cast<double>(field.value);
    }
    if (field.number == 0) return;
    if (!field.is_bytes) return ReadNumber(field, numbers, request);
    if (field.number == kTypeId) request.type_id = field.bytes;
    if (field.number == kSelector) request.selector = field.bytes;
    if (field.number == numbers.group_by) request.group_by.emplace_back(field.bytes);
    if (field.number == numbers.stacks) are_stacks &= ReadCallSite(field.bytes, request.call_site);
    request.names_ids |= std::ranges::find(numbers.ids, field.number) != std::end(numbers.ids);
  });
  if (!is_message || !are_stacks) return NoMessage();
  return request;
}

}  // namespace

Result<LabelsRequest> ReadProfileTypesRequest(std::string_view message) {
  return ReadLabels(message, {.start = 1, .end = 2});
}

Result<LabelsRequest> ReadLabelNamesRequest(std::string_view message) {
  return ReadLabels(message, {.matchers = 1, .start = 2, .end = 3});
}

Result<LabelsRequest> ReadLabelValuesRequest(std::string_view message) {
  return ReadLabels(message, {.name = 1, .matchers = 2, .start = 3, .end = 4});
}

Result<LabelsRequest> ReadSeriesRequest(std::string_view message) {
  return ReadLabels(message, {.matchers = 1, .label_names = 2, .start = 3, .end = 4});
}

Result<SelectRequest> ReadSelectSeriesRequest(std::string_view message) {
  return ReadSelect(message, kSeriesNumbers);
}

Result<SelectRequest> ReadStacktracesRequest(std::string_view message) {
  return ReadSelect(message, kStacktracesNumbers);
}

Result<SelectRequest> ReadSpanProfileRequest(std::string_view message) {
  return ReadSelect(message, kSpanNumbers);
}

Result<SelectRequest> ReadMergeProfileRequest(std::string_view message) {
  return ReadSelect(message, kMergeNumbers);
}

Result<std::pair<SelectRequest, SelectRequest>> ReadDiffRequest(std::string_view message) {
  std::string_view sides[2];
  const bool is_message = ForEachField(message, [&](const WireField& field) {
    if (field.is_bytes && (field.number == 1 || field.number == 2)) {
      sides[field.number - 1] = field.bytes;
    }
  });
  if (!is_message) return NoMessage();
  ASSIGN_OR_RETURN(SelectRequest left, ReadStacktracesRequest(sides[0]));
  ASSIGN_OR_RETURN(SelectRequest right, ReadStacktracesRequest(sides[1]));
  return std::pair(std::move(left), std::move(right));
}

}  // namespace firetower::query::pyroscope
