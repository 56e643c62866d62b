// SPDX-License-Identifier: Apache-2.0
// Bytes from a peer: read as requests, whole and in pieces, and answered as a server would.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/server/listener.h"
#include "net/server/request_reader.h"
#include "net/server/response_bytes.h"
#include "net/url.h"

namespace {

namespace net = firetower::net;

constexpr std::string_view kFilePath = "/file";
constexpr size_t kFileBytes = 8192;

net::RequestLimits Limits() {
  net::RequestLimits limits{4096, 4096};
  limits.large = std::make_shared<net::LargeBodies>(net::LargeBodies{
      .path = std::string(kFilePath), .each_bytes = kFileBytes, .all_bytes = 2 * kFileBytes});
  return limits;
}
const net::RequestLimits kLimits = Limits();

// Returns each request that `bytes` hold, as text, and how it ended. `step`: how many bytes arrive
// at once.
std::vector<std::string> ReadAll(std::string_view bytes, size_t step) {
  std::vector<std::string> out;
  if (kLimits.large->held_bytes != 0) std::abort();  // every reader gave back what it held
  net::RequestReader reader(kLimits);
  std::string in;
  while (!bytes.empty()) {
    in += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    net::RequestReader::State state = reader.Feed(in);
    while (state == net::RequestReader::State::kComplete) {
      const net::ReadRequest request = reader.Take();
      if (!request.http.path.starts_with('/') ||
          request.http.body.size() >
              (request.http.path == kFilePath ? kFileBytes : kLimits.body_bytes)) {
        std::abort();
      }
      net::HttpResponse response;
      response.body = request.http.path + net::EncodeQuery(request.http.params);
      response.headers.emplace_back("X-Path", request.http.path);
      out.push_back(request.http.method + response.body + request.http.body);
      // Every whole request gets one whole answer.
      const net::ResponseBytes answer = net::EncodeResponse(std::move(response), request, false);
      if (!answer.head.starts_with("HTTP/1.") ||
          answer.head.find("\r\n\r\n") != answer.head.size() - 4) {
        std::abort();
      }
      state = reader.Feed(in);
    }
    if (state == net::RequestReader::State::kRefused) {
      out.push_back(std::to_string(reader.refused_status()));
      break;
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> whole = ReadAll(text, size);
  std::vector<std::string> pieces = ReadAll(text, 7);
  // Limits may be met a little earlier or later, requests that are whole may not differ.
  const size_t both = std::min(whole.size(), pieces.size());
  for (size_t i = 0; i + 1 < both; ++i) {
    if (whole[i] != pieces[i]) std::abort();
  }
  auto params = net::DecodeQuery(text);
  if (params && !params->empty()) {
    auto again = net::DecodeQuery(std::string_view(net::EncodeQuery(*params)).substr(1));
    if (!again || *again != *params) std::abort();
  }
  (void)net::ParseListenAddress(text);
  return 0;
}
