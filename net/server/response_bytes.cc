// SPDX-License-Identifier: Apache-2.0
#include "net/server/response_bytes.h"

#include <libdeflate.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/serializer.hpp>
#include <memory>
#include <string_view>
#include <utility>

namespace firetower::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

// Below that a packet holds the text anyway.
constexpr size_t kMinGzipBytes = 1024;
// libdeflate's own default; 1 GB/s of JSON is not needed here.
constexpr int kGzipLevel = 6;

beast::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// Profiles are compressed already.
bool IsText(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  return type.starts_with("text/") || type == "application/json" || type == "image/svg+xml";
}

bool AcceptsGzip(std::string_view accept_encoding) {
  for (const auto& [name, params] : http::ext_list(View(accept_encoding))) {
    if (!beast::iequals(name, "gzip")) continue;
    const auto is_refused = [](const auto& param) {
      const std::string_view weight(param.second.data(), param.second.size());
      return beast::iequals(param.first, "q") &&
             weight.find_first_not_of("0.") == std::string_view::npos;
    };
    return std::none_of(params.begin(), params.end(), is_refused);
  }
  return false;
}

// "" where nothing is gained.
std::string Gzip(std::string_view text) {
  struct Free {
    void operator()(libdeflate_compressor* compressor) const {
      libdeflate_free_compressor(compressor);
    }
  };
  const std::unique_ptr<libdeflate_compressor, Free> compressor(
      libdeflate_alloc_compressor(kGzipLevel));
  if (compressor == nullptr) return "";
  std::string out(text.size(), '\0');
  out.resize(
      libdeflate_gzip_compress(compressor.get(), text.data(), text.size(), out.data(), out.size()));
  out.shrink_to_fit();
  return out;
}

bool HoldsLineEnd(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

std::string HeadBytes(const http::response<http::empty_body>& message) {
  std::string out;
  http::response_serializer<http::empty_body> serializer(message);
  beast::error_code error;
  while (!error && !serializer.is_done()) {
    serializer.next(error, [&](beast::error_code&, const auto& buffers) {
      for (const asio::const_buffer piece : beast::buffers_range_ref(buffers)) {
        out.append(static_cast<const char*>(piece.data()), piece.size());
      }
      serializer.consume(asio::buffer_size(buffers));
    });
  }
  return out;
}

}  // namespace

ResponseBytes EncodeResponse(HttpResponse response, const ReadRequest& request, bool close) {
  http::response<http::empty_body> message;
  message.version(request.is_http10 ? 10 : 11);
  message.result(static_cast<unsigned>(response.status));
  message.set("X-Content-Type-Options", "nosniff");
  message.set(http::field::content_type, View(response.content_type));
  for (const auto& [name, value] : response.headers) {
    // A foreign name in a value must not begin another header.
    if (!HoldsLineEnd(name) && !HoldsLineEnd(value)) message.insert(View(name), View(value));
  }
  // Profiles are of today; a cache in between must not answer tomorrow.
  if (message.count(http::field::cache_control) == 0)
    message.set(http::field::cache_control, "no-store");
  if (response.body.size() >= kMinGzipBytes && IsText(response.content_type) &&
      message.count(http::field::content_encoding) == 0 && AcceptsGzip(request.accept_encoding)) {
    std::string packed = Gzip(response.body);
    if (!packed.empty()) {
      response.body = std::move(packed);
      message.set(http::field::content_encoding, "gzip");
    }
  }
  message.content_length(response.body.size());
  message.keep_alive(!close);
  ResponseBytes out;
  out.head = HeadBytes(message);
  if (request.http.method != "HEAD") out.body = std::move(response.body);
  out.close = close;
  return out;
}

}  // namespace firetower::net
