// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/client/curl_client.h"
#include "symbolizer/random_access.h"

namespace firetower::symbolizer {

struct DebuginfodOptions {
  std::vector<std::string> urls;  // asked in turn
  std::string cache_folder;       // made when first needed
  uint64_t max_cache_bytes = 1ull << 30;
  uint64_t max_file_bytes = 512ull << 20;
  int64_t timeout_ns = 90 * kNsPerSecond;    // of one request, all servers together
  int64_t negative_ns = 600 * kNsPerSecond;  // how long a missing file is not requested again
};

// Parses "http://a https://b/path", separated by spaces or commas as in DEBUGINFOD_URLS. kInvalid
// names the text that is not a URL.
Result<std::vector<std::string>> ParseDebuginfodUrls(std::string_view text);

// Fetches files by build id from debuginfod servers (debuginfod(8), "WEBAPI") into a folder with
// the layout of elfutils' own client: <build id>/debuginfo, <build id>/executable. An empty file
// means that no server has it. A file is kept only if it has the build id. The folder is bounded;
// the least recently used files are deleted first. Calls wait for the network, so they must never
// run on a sampling thread.
class DebuginfodClient {
 public:
  DebuginfodClient(DebuginfodOptions options, const Clock& clock)
      : options_(std::move(options)), clock_(clock) {}

  // Fetches a file. kNotFound: no server has it. Other errors: a later attempt may succeed.
  Result<FileSource> DebugFile(std::string_view build_id_hex);
  Result<FileSource> Executable(std::string_view build_id_hex);

 private:
  enum class Cached { kNo, kYes, kNobodyHasIt };

  Result<FileSource> Get(std::string_view build_id_hex, std::string_view what);
  Cached LookAt(const std::string& path) const;
  Status Fetch(std::string_view build_id_hex, std::string_view what, const std::string& to);
  void HoldToSize(const std::string& keep) const;

  DebuginfodOptions options_;
  const Clock& clock_;
  net::CurlClient http_;
};

}  // namespace firetower::symbolizer
