// SPDX-License-Identifier: Apache-2.0
// The XML of S3 and STS: what we read, and the documents that we write. No answer is trusted to be
// complete, sorted or small.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace firetower::store::s3 {

// Enough for a page of 1,000 keys of 1,024 bytes, each byte as %XX.
inline constexpr uint64_t kMaxMessageBytes = 8 << 20;

// <Error>, at the root or below STS's <ErrorResponse>. Empty if the body is something else, for
// example after a HEAD or from a front end. Printable and cut to one line, for messages.
struct ErrorBody {
  std::string code = {};
  std::string message = {};
  std::string region = {};    // of AuthorizationHeaderMalformed and PermanentRedirect
  std::string endpoint = {};  // of PermanentRedirect
};
ErrorBody ParseError(std::string_view xml);
// Returns true if the body of a 200 is an <Error>.
bool IsErrorBody(std::string_view xml);

struct ListPage {
  std::vector<ObjectInfo> objects = {};
  std::vector<std::string> prefixes = {};  // CommonPrefixes, whole, with their '/'
  bool truncated = false;
  std::string continuation = {};  // version 2: for the next page
  std::string next_marker = {};   // version 1, with a delimiter only
  bool is_version_1 = false;      // the server answered as if list-type=2 were not there
};
// kCorrupt when it is not a ListBucketResult, or holds an entry without a key or a size.
Result<ListPage> ParseListPage(std::string_view xml);

// CreateMultipartUpload's UploadId.
Result<std::string> ParseUploadId(std::string_view xml);
// OK when the body is a CompleteMultipartUploadResult.
Status ParseCompleted(std::string_view xml);

struct PendingUpload {
  std::string key = {};
  std::string upload_id = {};
  int64_t initiated_s = 0;  // Unix time
};
struct PendingPage {
  std::vector<PendingUpload> uploads = {};
  bool truncated = false;
  std::string next_key = {};
  std::string next_upload_id = {};
};
Result<PendingPage> ParsePendingUploads(std::string_view xml);

// The body of DeleteObjects; whole keys, of printable ASCII.
std::string DeleteBody(const std::vector<std::string>& keys);
struct DeleteAnswer {
  struct Failure {
    std::string key = {};
    std::string code = {};  // letters, digits and '.'; the rest of the message may be secret
  };
  std::vector<std::string> deleted = {};
  std::vector<Failure> failed = {};
};
// kCorrupt when it is not a DeleteResult, or an entry has no key.
Result<DeleteAnswer> ParseDeleteAnswer(std::string_view xml);

struct AssumedRole {
  std::string access_key_id = {};
  std::string secret_access_key = {};
  std::string session_token = {};
  std::string expiration = {};
};
Result<AssumedRole> ParseAssumedRole(std::string_view xml);

struct UploadedPart {
  std::string etag = {};
  std::string crc32c = {};  // "" for none
};
// The body of CompleteMultipartUpload; part 1 comes first.
std::string CompleteBody(const std::vector<UploadedPart>& parts);

}  // namespace firetower::store::s3
