// SPDX-License-Identifier: Apache-2.0
// Bodies that a peer sends to Pyroscope's query API, in both forms. The first byte says which
// method's request it is.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "query/pyroscope/json.h"
#include "query/pyroscope/request.h"

namespace {

namespace pyroscope = firetower::query::pyroscope;

constexpr size_t kMaxBytes = 16 << 20;

void ReadAll(std::string_view message) {
  (void)pyroscope::ReadProfileTypesRequest(message);
  (void)pyroscope::ReadLabelNamesRequest(message);
  (void)pyroscope::ReadLabelValuesRequest(message);
  (void)pyroscope::ReadSeriesRequest(message);
  (void)pyroscope::ReadSelectSeriesRequest(message);
  (void)pyroscope::ReadStacktracesRequest(message);
  (void)pyroscope::ReadSpanProfileRequest(message);
  (void)pyroscope::ReadMergeProfileRequest(message);
  (void)pyroscope::ReadDiffRequest(message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const pyroscope::MessageSchema* schemas[] = {&pyroscope::kLabelValuesRequest,
                                               &pyroscope::kSeriesRequest,
                                               &pyroscope::kSelectSeriesRequest,
                                               &pyroscope::kSelectMergeStacktracesRequest,
                                               &pyroscope::kSelectMergeSpanProfileRequest,
                                               &pyroscope::kSelectMergeProfileRequest,
                                               &pyroscope::kDiffRequest,
                                               &pyroscope::kPprofProfile};
  const pyroscope::MessageSchema& schema = *schemas[data[0] % std::size(schemas)];
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  ReadAll(body);
  (void)pyroscope::MessageToJson(body, schema, kMaxBytes);
  const auto message = pyroscope::MessageFromJson(body, schema);
  if (!message) return 0;
  ReadAll(*message);
  // A message read from JSON can be written as JSON and read again.
  const auto json = pyroscope::MessageToJson(*message, schema, kMaxBytes);
  if (!json || !pyroscope::MessageFromJson(*json, schema)) std::abort();
  return 0;
}
