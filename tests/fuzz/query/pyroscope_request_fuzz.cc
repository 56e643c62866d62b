// SPDX-License-Identifier: Apache-2.0
// Bodies that a peer sends to Pyroscope's query API, in both forms. The first byte says which
// method's request it is.
#include <google/protobuf/message.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "proto/pyroscope/querier.pb.h"
#include "query/pyroscope/json.h"
#include "query/pyroscope/request.h"

namespace {

namespace pb = firetower::proto::pyroscope;
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
  const google::protobuf::Descriptor* types[] = {pb::LabelValuesRequest::descriptor(),
                                                 pb::SeriesRequest::descriptor(),
                                                 pb::SelectSeriesRequest::descriptor(),
                                                 pb::SelectMergeStacktracesRequest::descriptor(),
                                                 pb::SelectMergeSpanProfileRequest::descriptor(),
                                                 pb::SelectMergeProfileRequest::descriptor(),
                                                 pb::DiffRequest::descriptor(),
                                                 firetower::proto::pprof::Profile::descriptor()};
  const google::protobuf::Descriptor& type = *types[data[0] % std::size(types)];
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  ReadAll(body);
  // Only what an encoder wrote becomes JSON: answers are ours.
  const std::unique_ptr<google::protobuf::Message> parsed(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->New());
  if (parsed->ParseFromString(std::string(body)))
    (void)pyroscope::MessageToJson(parsed->SerializeAsString(), type, kMaxBytes);
  const auto message = pyroscope::MessageFromJson(body, type);
  if (!message) return 0;
  ReadAll(*message);
  // What was read of JSON is a message, and is written as JSON that is read again.
  const auto json = pyroscope::MessageToJson(*message, type, kMaxBytes);
  if (!json || !pyroscope::MessageFromJson(*json, type)) std::abort();
  return 0;
}
