// SPDX-License-Identifier: Apache-2.0
#include "query/app/pages.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/hash.h"
#include "net/url.h"
#include "query/app/assets.h"
#include "query/http/params.h"
#include "query/question.h"

namespace firetower::query {
namespace {

// The parameters that web/app reads. A misspelt one would silently show something else.
constexpr std::string_view kParams[] = {
    "type", "q",     "from",  "to",   "by",    "view",  "mode", "color",   "names",
    "sort", "pct",   "f",     "i",    "h",     "w",     "sf",   "tf",      "s",
    "find", "fn",    "z",     "bars", "width", "theme", "now",  "refresh", "tab",
    "n",    "q2",    "from2", "to2",  "oa",    "ob",    "norm", "thr",     "rows",
    "map",  "scale", "sel",   "bsel", "paint", "bfrom", "bto",  "why",     "ago"};

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string VersionOf(std::string_view content) {
  return fmt::format("{:016x}", HashBytes(content));
}

// Addresses are relative, so that the pages also work behind a proxy that adds a path.
std::string Document(std::string_view trace_url) {
  static const std::string style = VersionOf(kAppStyle), script = VersionOf(kAppScript);
  return fmt::format(
      "<!doctype html>\n"
      "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"trace-url\" content=\"{}\">\n"
      "<title>Firetower</title>\n<link rel=\"icon\" href=\"data:,\">\n"
      "<link rel=\"stylesheet\" href=\"assets/app.css?v={}\">\n"
      "<script type=\"module\" src=\"assets/app.js?v={}\"></script>\n"
      "</head>\n<body>\n<div id=\"app\"></div>\n"
      "<noscript><p>These pages draw with JavaScript. Without it, <code>firetower top</code> and "
      "<code>firetower flame -o svg</code> answer the same questions.</p></noscript>\n"
      "</body>\n</html>\n",
      trace_url, style, script);
}

net::HttpResponse Asset(const net::HttpRequest& request, std::string_view content,
                        std::string_view type) {
  net::HttpResponse response;
  response.body = content;
  response.content_type = type;
  const auto version = std::ranges::find(request.params, "v", &net::NamedValue::first);
  if (version != request.params.end() && version->second == VersionOf(content))
    response.headers.emplace_back("Cache-Control", "public, max-age=31536000, immutable");
  response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}

}  // namespace

bool WantsPage(const net::HttpRequest& request) {
  return request.accept.find("text/html") != std::string::npos;
}

net::HttpResponse ServePage(const net::HttpRequest& request, std::string_view trace_url) {
  if (const Result<Params> params = Params::Read(request, kParams); !params)
    return ErrorResponse(params.error());
  net::HttpResponse response;
  response.body = Document(trace_url);
  response.headers.emplace_back("Vary", "Accept");
  AddPageHeaders(std::string(kPolicy), response);
  return response;
}

net::HttpResponse ServeHome(const net::HttpRequest& request, std::string_view trace_url) {
  const auto is_search = [](const net::NamedValue& one) {
    return one.first == "s" || one.first == "find";
  };
  if (std::ranges::none_of(request.params, is_search)) return ServePage(request, trace_url);
  net::HttpResponse response;
  response.status = 307;
  response.headers.emplace_back("Location", "explore" + net::EncodeQuery(request.params));
  response.headers.emplace_back("Vary", "Accept");
  return response;
}

net::HttpResponse ServeAppScript(const net::HttpRequest& request) {
  return Asset(request, kAppScript, "text/javascript; charset=utf-8");
}

net::HttpResponse ServeAppStyle(const net::HttpRequest& request) {
  return Asset(request, kAppStyle, "text/css; charset=utf-8");
}

// The engine adds Cache-Control and X-Content-Type-Options to every answer.
void AddPageHeaders(const std::string& content_security_policy, net::HttpResponse& response) {
  response.content_type = "text/html; charset=utf-8";
  response.headers.emplace_back("Content-Security-Policy", content_security_policy);
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
}

}  // namespace firetower::query
