// SPDX-License-Identifier: Apache-2.0
#include "query/pyroscope/connect.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "profile/codec/gzip.h"
#include "query/http/errors.h"
#include "query/pyroscope/json.h"

namespace firetower::query::pyroscope {
namespace {

constexpr std::string_view kProtoType = "application/proto";
constexpr std::string_view kJsonType = "application/json";
// What is smaller fits a packet as it is.
constexpr size_t kMinGzipBytes = 1024;
constexpr int kGzipLevel = 1;

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool SameToken(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// RFC 9110 §12.5.3, as far as it says that gzip is welcome: named, and not with a weight of 0.
bool TakesGzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    const size_t comma = std::min(accept_encoding.find(','), accept_encoding.size());
    const std::string_view one = accept_encoding.substr(0, comma);
    accept_encoding.remove_prefix(std::min(comma + 1, accept_encoding.size()));
    const size_t semicolon = std::min(one.find(';'), one.size());
    if (!SameToken(Trimmed(one.substr(0, semicolon)), "gzip")) continue;
    std::string_view weight = Trimmed(one.substr(std::min(semicolon + 1, one.size())));
    if (!weight.starts_with("q=")) return true;
    weight.remove_prefix(2);
    return weight.find_first_not_of("0.") != std::string_view::npos;
  }
  return false;
}

}  // namespace

std::optional<Codec> CodecOf(std::string_view content_type) {
  const std::string_view type = Trimmed(content_type.substr(0, content_type.find(';')));
  if (SameToken(type, kProtoType)) return Codec::kProto;
  if (SameToken(type, kJsonType)) return Codec::kJson;
  return std::nullopt;
}

Result<std::string> ReadMessage(const net::HttpRequest& request, Codec codec,
                                const google::protobuf::Descriptor& type) {
  if (!request.connect_version.empty() && request.connect_version != "1") {
    return Error(ErrorCode::kInvalid,
                 fmt::format("Connect-Protocol-Version is '{}': version 1 is spoken here",
                             request.connect_version));
  }
  const std::string_view encoding = Trimmed(request.content_encoding);
  std::string body;
  if (SameToken(encoding, "gzip")) {
    Result<std::string> inflated = profile::GzipDecompress(request.body, kMaxMessageBytes);
    // What does not come out is not the server's fault.
    if (!inflated && inflated.error().code() != ErrorCode::kExhausted) {
      return Error(ErrorCode::kInvalid, "the body is not gzip: " + inflated.error().message());
    }
    ASSIGN_OR_RETURN(body, std::move(inflated));
  } else if (encoding.empty() || SameToken(encoding, "identity")) {
    body = request.body;
  } else {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("unknown compression \"{}\": supported encodings are gzip, identity",
                             encoding));
  }
  if (codec == Codec::kProto) return body;
  // curl without a body asks as `{}` does.
  return body.empty() ? Result<std::string>(body) : MessageFromJson(body, type);
}

Result<net::HttpResponse> MessageResponse(const net::HttpRequest& request, Codec codec,
                                          const google::protobuf::Descriptor& type,
                                          std::string message, size_t max_bytes) {
  net::HttpResponse response;
  if (codec == Codec::kJson) {
    // The HTTP front compresses what is text.
    response.content_type = kJsonType;
    ASSIGN_OR_RETURN(response.body, MessageToJson(message, type, max_bytes));
    return response;
  }
  response.content_type = kProtoType;
  if (message.size() >= kMinGzipBytes && TakesGzip(request.accept_encoding)) {
    response.body = profile::GzipCompress(message, kGzipLevel);
    response.headers.emplace_back("Content-Encoding", "gzip");
  } else {
    response.body = std::move(message);
  }
  response.headers.emplace_back("Vary", "Accept-Encoding");
  return response;
}

net::HttpResponse ConnectError(int status, std::string_view message) {
  if (status == 413) status = 429;  // resource_exhausted
  if (status == 422) status = 501;  // unimplemented
  return JsonError(status, message);
}

net::HttpResponse ConnectError(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kInvalid:
      return ConnectError(400, error.message());
    case ErrorCode::kPermission:
      return ConnectError(403, error.message());
    case ErrorCode::kNotFound:
      return ConnectError(404, error.message());
    case ErrorCode::kExhausted:
      return ConnectError(429, error.message());
    case ErrorCode::kUnsupported:
      return ConnectError(501, error.message());
    case ErrorCode::kUnavailable:
      return ConnectError(503, error.message());
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal:
      return ConnectError(500, error.message());
  }
  return ConnectError(500, error.message());
}

}  // namespace firetower::query::pyroscope
