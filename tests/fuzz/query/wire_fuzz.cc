// SPDX-License-Identifier: Apache-2.0
// Answers of a server that is not what it says it is, as the CLI reads them.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "query/wire.h"

namespace {

template <typename Reply>
void Check(const firetower::Result<Reply>& reply) {
  if (reply && firetower::query::ToJson(*reply).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view json(reinterpret_cast<const char*>(data), size);
  Check(firetower::query::TopReplyFromJson(json));
  Check(firetower::query::SeriesReplyFromJson(json));
  Check(firetower::query::LabelsReplyFromJson(json));
  Check(firetower::query::TypesReplyFromJson(json));
  Check(firetower::query::DoctorReplyFromJson(json));
  (void)firetower::query::ErrorMessageFromJson(json);
  return 0;
}
