// SPDX-License-Identifier: Apache-2.0
// XML messages of S3 and STS servers, or of any server that answers in their place.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "store/s3/messages.h"

namespace firetower::store::s3 {
namespace {

void Try(std::string_view xml) {
  const ErrorBody error = ParseError(xml);
  for (const std::string* text : {&error.code, &error.message, &error.region, &error.endpoint}) {
    CHECK(text->size() <= 300);
    for (const char c : *text) CHECK(c < 0 || (c >= ' ' && c != 0x7F));
  }
  CHECK(error.code.empty() || IsErrorBody(xml) || xml.find("ErrorResponse") != xml.npos);
  if (const auto page = ParseListPage(xml)) {
    for (const ObjectInfo& info : page->objects) CHECK(!info.key.empty());
  }
  if (const auto uploads = ParsePendingUploads(xml)) {
    for (const PendingUpload& upload : uploads->uploads) CHECK(!upload.upload_id.empty());
  }
  if (const auto id = ParseUploadId(xml)) CHECK(!id->empty());
  if (const auto answer = ParseDeleteAnswer(xml)) {
    for (const std::string& key : answer->deleted) CHECK(!key.empty());
    for (const auto& failure : answer->failed) {
      CHECK(!failure.key.empty() && !failure.code.empty() && failure.code.size() <= 64);
    }
  }
  (void)ParseCompleted(xml);
  (void)ParseAssumedRole(xml);
}

}  // namespace
}  // namespace firetower::store::s3

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  firetower::store::s3::Try({reinterpret_cast<const char*>(data), size});
  return 0;
}
