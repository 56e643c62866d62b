// SPDX-License-Identifier: Apache-2.0
// Bytes from a peer: framed, then parsed and answered as a server would.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "query/http/engine.h"
#include "query/http/framing.h"
#include "query/http/params.h"
#include "query/http/url.h"

namespace {

firetower::query::HttpResponse Echo(const firetower::query::HttpRequest& request) {
  constexpr std::string_view kAllowed[] = {"type", "q", "from", "to", "k"};
  auto params = firetower::query::Params::Read(request, kAllowed);
  firetower::query::HttpResponse response;
  if (!params) return firetower::query::JsonError(400, params.error().message());
  response.body = request.path + firetower::query::EncodeQuery(request.params);
  return response;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace query = firetower::query;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  static const query::HttpHandler handler = Echo;
  static query::HttpEngine engine(handler);
  query::FrameLimits limits{4096, 4096};
  while (!rest.empty()) {
    query::Frame frame = query::FrameRequest(rest, 0, limits);
    if (frame.state != query::Frame::State::kComplete) break;
    if (frame.total_bytes == 0 || frame.total_bytes > rest.size()) std::abort();
    query::HttpEngine::Reply reply =
        engine.Serve(rest.substr(0, frame.total_bytes), "127.0.0.1", false);
    // Every whole request gets a whole answer.
    if (!reply.bytes.starts_with("HTTP/1.1 ") ||
        reply.bytes.find("\r\n\r\n") == std::string::npos) {
      std::abort();
    }
    rest.remove_prefix(frame.total_bytes);
  }
  auto params = query::DecodeQuery(std::string_view(reinterpret_cast<const char*>(data), size));
  if (params && !params->empty()) {
    auto again = query::DecodeQuery(std::string_view(query::EncodeQuery(*params)).substr(1));
    if (!again || *again != *params) std::abort();
  }
  return 0;
}
