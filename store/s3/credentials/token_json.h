// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "store/s3/credentials/credentials.h"

namespace firetower::store::s3 {

// Parses the answer of a container or instance endpoint: {"AccessKeyId": …, "SecretAccessKey": …,
// "Token": …, "Expiration": "2026-11-22T16:00:00Z"}. kUnavailable when its "Code" is not "Success",
// kCorrupt when it is no such answer.
Result<Credentials> ParseTokenJson(std::string_view json, int64_t now_ns);

}  // namespace firetower::store::s3
