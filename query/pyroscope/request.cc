// SPDX-License-Identifier: Apache-2.0
#include "query/pyroscope/request.h"

#include <fmt/core.h>
#include <google/protobuf/stubs/logging.h>

#include <climits>
#include <utility>

#include "profile/comments.h"
#include "proto/pyroscope/querier.pb.h"

namespace firetower::query::pyroscope {
namespace {

using proto::pyroscope::StackTraceSelector;

template <typename Message>
Result<Message> Parse(std::string_view bytes) {
  // Broken UTF-8 is refused; protobuf would log it besides, as often as a peer sends it.
  const google::protobuf::LogSilencer silencer;
  Message message;
  if (bytes.size() > INT_MAX ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Error(ErrorCode::kInvalid, "the body is no protobuf message of this method's request");
  }
  return message;
}

template <typename Texts>
std::vector<std::string> ListOf(const Texts& texts) {
  return {texts.begin(), texts.end()};
}

template <typename Message>
AskedRange RangeOf(const Message& message) {
  return {.start_ms = message.start(), .end_ms = message.end()};
}

// Reads the fields that every request for profiles has.
template <typename Message>
SelectRequest SelectOf(const Message& message) {
  return {.type_id = message.profile_typeid(),
          .selector = message.label_selector(),
          .range = RangeOf(message)};
}

std::vector<std::string> CallSiteOf(const StackTraceSelector& selector) {
  std::vector<std::string> names;
  for (const proto::pyroscope::Location& location : selector.call_site())
    names.push_back(location.name());
  return names;
}

// Narrows a request to samples with one of these ids as that label.
void NarrowTo(std::string_view label, const std::vector<std::string>& ids, SelectRequest& request) {
  if (ids.empty()) return;
  std::string any;
  for (std::string id : ids) {
    for (char& digit : id)
      digit = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit + 32) : digit;
    if (id.empty() || id.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
    any += (any.empty() ? "" : "|") + id;
  }
  request.names_ids |= any.empty();
  request.tag_focus = fmt::format("{}=^({})$", label, any);
}

SelectRequest StacktracesOf(const proto::pyroscope::SelectMergeStacktracesRequest& message) {
  SelectRequest request = SelectOf(message);
  request.call_site = CallSiteOf(message.stack_trace_selector());
  request.names_ids = message.profile_id_selector_size() > 0;
  NarrowTo(profile::kTraceLabel, ListOf(message.trace_id_selector()), request);
  // A span is of one trace.
  NarrowTo(profile::kSpanLabel, ListOf(message.span_selector()), request);
  request.max_nodes = message.max_nodes();
  request.format = static_cast<uint64_t>(message.format());
  return request;
}

}  // namespace

Result<LabelsRequest> ReadProfileTypesRequest(std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto message, Parse<proto::pyroscope::ProfileTypesRequest>(bytes));
  return LabelsRequest{.range = RangeOf(message)};
}

Result<LabelsRequest> ReadLabelNamesRequest(std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto message, Parse<proto::pyroscope::LabelNamesRequest>(bytes));
  return LabelsRequest{.range = RangeOf(message), .matchers = ListOf(message.matchers())};
}

Result<LabelsRequest> ReadLabelValuesRequest(std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto message, Parse<proto::pyroscope::LabelValuesRequest>(bytes));
  return LabelsRequest{
      .range = RangeOf(message), .name = message.name(), .matchers = ListOf(message.matchers())};
}

Result<LabelsRequest> ReadSeriesRequest(std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto message, Parse<proto::pyroscope::SeriesRequest>(bytes));
  return LabelsRequest{.range = RangeOf(message),
                       .matchers = ListOf(message.matchers()),
                       .label_names = ListOf(message.label_names())};
}

Result<SelectRequest> ReadSelectSeriesRequest(std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto message, Parse<proto::pyroscope::SelectSeriesRequest>(bytes));
  SelectRequest request = SelectOf(message);
  request.call_site = CallSiteOf(message.stack_trace_selector());
  request.group_by = ListOf(message.group_by());
  request.step_seconds = message.step();
  request.aggregation = static_cast<uint64_t>(message.aggregation());
  request.limit = message.limit();
  return request;
}

Result<SelectRequest> ReadStacktracesRequest(std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto message,
                   Parse<proto::pyroscope::SelectMergeStacktracesRequest>(bytes));
  return StacktracesOf(message);
}

Result<SelectRequest> ReadSpanProfileRequest(std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto message,
                   Parse<proto::pyroscope::SelectMergeSpanProfileRequest>(bytes));
  SelectRequest request = SelectOf(message);
  NarrowTo(profile::kSpanLabel, ListOf(message.span_selector()), request);
  request.max_nodes = message.max_nodes();
  request.format = static_cast<uint64_t>(message.format());
  return request;
}

Result<SelectRequest> ReadMergeProfileRequest(std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto message, Parse<proto::pyroscope::SelectMergeProfileRequest>(bytes));
  SelectRequest request = SelectOf(message);
  request.call_site = CallSiteOf(message.stack_trace_selector());
  request.names_ids = message.profile_id_selector_size() > 0;
  NarrowTo(profile::kTraceLabel, ListOf(message.trace_id_selector()), request);
  request.max_nodes = message.max_nodes();
  return request;
}

Result<std::pair<SelectRequest, SelectRequest>> ReadDiffRequest(std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto message, Parse<proto::pyroscope::DiffRequest>(bytes));
  return std::pair(StacktracesOf(message.left()), StacktracesOf(message.right()));
}

}  // namespace firetower::query::pyroscope
