// SPDX-License-Identifier: Apache-2.0
// The requests of querier.v1, read from their binary form. Fields that are not known are ignored;
// each of these is kInvalid when the bytes are no message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace firetower::query::pyroscope {

// Milliseconds of Unix time; 0: not given.
struct AskedRange {
  int64_t start_ms = 0;
  int64_t end_ms = 0;
};

// Of ProfileTypes, LabelNames, LabelValues and Series; what a request has not is empty.
struct LabelsRequest {
  AskedRange range = {};
  std::string name = {};
  std::vector<std::string> matchers = {};     // selectors; what matches one of them is asked for
  std::vector<std::string> label_names = {};  // of Series
};
Result<LabelsRequest> ReadProfileTypesRequest(std::string_view bytes);
Result<LabelsRequest> ReadLabelNamesRequest(std::string_view bytes);
Result<LabelsRequest> ReadLabelValuesRequest(std::string_view bytes);
Result<LabelsRequest> ReadSeriesRequest(std::string_view bytes);

// Of what is selected by a type and a selector.
struct SelectRequest {
  std::string type_id = {};
  std::string selector = {};
  AskedRange range = {};
  std::vector<std::string> call_site = {};  // functions that a stack begins with, root first
  // A single profile is asked for by an id, which none here has, or a trace or span by none.
  bool names_ids = false;
  // Only of these traces or spans, as profile::StackFilterTexts::tag_focus says it; empty: of all.
  std::string tag_focus = {};
  // Of SelectSeries.
  std::vector<std::string> group_by = {};
  double step_seconds = 0;
  uint64_t aggregation = 0;
  int64_t limit = 0;
  // Of what answers with stacks.
  int64_t max_nodes = 0;
  uint64_t format = 0;
};
Result<SelectRequest> ReadSelectSeriesRequest(std::string_view bytes);
Result<SelectRequest> ReadStacktracesRequest(std::string_view bytes);
Result<SelectRequest> ReadSpanProfileRequest(std::string_view bytes);
Result<SelectRequest> ReadMergeProfileRequest(std::string_view bytes);
// Left, right.
Result<std::pair<SelectRequest, SelectRequest>> ReadDiffRequest(std::string_view bytes);

}  // namespace firetower::query::pyroscope
