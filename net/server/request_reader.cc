// SPDX-License-Identifier: Apache-2.0
#include "net/server/request_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text/percent.h"
#include "net/url.h"

namespace firetower::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

// A longer target is a mistake of whoever built it; 431 would blame the headers.
constexpr size_t kMaxTargetBytes = 8192;
// The size line of a chunk, with extensions; Beast waits for its end without a bound.
constexpr size_t kMaxChunkLineBytes = 4096;

// Beast's string_view is another class in each version of Boost.
std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct RequestReader::Parser {
  http::request_parser<http::string_body> http;
  size_t head_bytes = 0;
  bool head_is_read = false;

  std::string Header(http::field name) { return std::string(View(http.get()[name])); }
  std::string Header(const char* name) { return std::string(View(http.get()[name])); }
};

RequestReader::RequestReader(RequestLimits limits) : limits_(limits) {}
RequestReader::~RequestReader() { Release(); }

void RequestReader::Release() {
  if (reserved_bytes_ > 0) limits_.large->held_bytes -= reserved_bytes_;
  reserved_bytes_ = 0;
}

RequestReader::State RequestReader::Feed(std::string& in) {
  while (!in.empty()) {
    const State state = Parse(in);
    if (state != State::kNeedMore) return state;
    // The parser left what has no end yet, or has paused behind the head.
    if (parser_->head_is_read && !parser_->http.eager()) {
      parser_->http.eager(true);
      continue;
    }
    const bool is_long = parser_->head_is_read && in.size() > kMaxChunkLineBytes;
    return is_long ? Refuse(400, "the size line of a chunk is too long") : State::kNeedMore;
  }
  return State::kNeedMore;
}

RequestReader::State RequestReader::Parse(std::string& in) {
  if (parser_ == nullptr) {
    // The answer to the request before has gone: whoever handled it has let go of its body.
    Release();
    body_limit_ = limits_.body_bytes;
    parser_ = std::make_unique<Parser>();
    parser_->http.header_limit(static_cast<std::uint32_t>(limits_.head_bytes));
    // Beast reads head and body in one call, so the larger limit holds until AllowBody() decides.
    const size_t large = limits_.large ? limits_.large->each_bytes : 0;
    parser_->http.body_limit(std::max(limits_.body_bytes, large));
  }
  beast::error_code error;
  const size_t consumed = parser_->http.put(asio::buffer(in), error);
  in.erase(0, consumed);
  // Beast's own limit is that of one line, at least in Boost 1.74.
  if (!parser_->head_is_read) parser_->head_bytes += consumed;
  if (error == http::error::header_limit || parser_->head_bytes > limits_.head_bytes) {
    return Refuse(431, "the request line and headers are longer than this server takes");
  }
  if (error == http::error::body_limit) {
    return Refuse(413, "the body is larger than this server takes");
  }
  if (error && error != http::error::need_more) {
    return Refuse(400, fmt::format("the request is not valid HTTP/1.1: {}", error.message()));
  }
  if (parser_->http.is_header_done() && !parser_->head_is_read) {
    parser_->head_is_read = true;
    if (ReadHead() == State::kRefused || AllowBody() == State::kRefused) return State::kRefused;
  }
  if (parser_->http.get().body().size() > body_limit_)
    return Refuse(413, "the body is larger than this server takes");
  return parser_->http.is_done() ? State::kComplete : State::kNeedMore;
}

// Reads everything but the body, before the body: trailers, which Beast adds to the headers, are
// ignored that way. kNeedMore where all is well.
RequestReader::State RequestReader::ReadHead() {
  const auto& head = parser_->http.get();
  const std::string_view target = View(head.target());
  const auto codings = head.equal_range(http::field::transfer_encoding);
  const auto coding_count = std::distance(codings.first, codings.second);
  // RFC 9112 §6.1: a server that does not know chunks reads another request out of these bytes.
  if (coding_count > 0 && head.version() < 11) {
    return Refuse(400, "Transfer-Encoding needs HTTP/1.1");
  }
  if (coding_count > 1 ||
      (coding_count == 1 && !beast::iequals(codings.first->value(), "chunked"))) {
    return Refuse(411, "a body needs a Content-Length, or chunked as its Transfer-Encoding");
  }
  const size_t lengths = head.count(http::field::content_length);
  const std::string length = parser_->Header(http::field::content_length);
  if (lengths > 1 || length.find(',') != std::string::npos || (lengths == 1 && coding_count > 0)) {
    return Refuse(400, "a body has one Content-Length, or is chunked");
  }
  if (head.method() == http::verb::unknown) return Refuse(400, "the method is unknown");
  if (target.size() > kMaxTargetBytes) {
    return Refuse(414, fmt::format("the path with its parameters has more than {} bytes: shorten "
                                   "the selector",
                                   kMaxTargetBytes));
  }
  HttpRequest& request = request_.http;
  request.method = View(head.method_string());
  const size_t question = target.find('?');
  std::optional<std::string> path = DecodePercent(target.substr(0, question));
  if (!path || !path->starts_with('/')) {
    return Refuse(400,
                  "the path does not begin with '/', or has a '%' without two hexadecimal "
                  "digits");
  }
  request.path = *std::move(path);
  if (question != std::string_view::npos) {
    Result<NamedValues> params = DecodeQuery(target.substr(question + 1));
    if (!params) return Refuse(400, params.error().message());
    request.params = *std::move(params);
  }
  request.accept = parser_->Header(http::field::accept);
  request.authorization = parser_->Header(http::field::authorization);
  request.host = parser_->Header(http::field::host);
  request_.accept_encoding = parser_->Header(http::field::accept_encoding);
  request_.keep_alive = head.keep_alive();
  request_.is_http10 = head.version() == 10;
  if (head.method() != http::verb::get && head.method() != http::verb::head) {
    request.content_type = parser_->Header(http::field::content_type);
    request.content_encoding = parser_->Header(http::field::content_encoding);
    request.accept_encoding = request_.accept_encoding;
    request.connect_version = parser_->Header("Connect-Protocol-Version");
  }
  return State::kNeedMore;
}

RequestReader::State RequestReader::AllowBody() {
  const auto length = parser_->http.content_length();
  LargeBodies* large = limits_.large.get();
  if (large == nullptr || request_.http.path != large->path) {
    return length && *length > body_limit_
               ? Refuse(413, "the body is larger than this server takes")
               : State::kNeedMore;
  }
  if (request_.http.method == "GET" || request_.http.method == "HEAD") return State::kNeedMore;
  if (!length) return Refuse(411, "a file needs a Content-Length");
  if (*length > large->each_bytes)
    return Refuse(413, fmt::format("a file has at most {} bytes here", large->each_bytes));
  if (large->held_bytes + *length > large->all_bytes)
    return Refuse(503, "other files are being read: try again in a moment");
  reserved_bytes_ = *length;
  large->held_bytes += reserved_bytes_;
  body_limit_ = std::max(body_limit_, reserved_bytes_);
  return State::kNeedMore;
}

RequestReader::State RequestReader::Refuse(int status, std::string_view why) {
  status_ = status;
  why_ = why;
  return State::kRefused;
}

ReadRequest RequestReader::Take() {
  ReadRequest out = std::exchange(request_, {});
  if (out.http.method != "GET" && out.http.method != "HEAD") {
    out.http.body = std::move(parser_->http.get().body());
  }
  parser_.reset();
  return out;
}

}  // namespace firetower::net
