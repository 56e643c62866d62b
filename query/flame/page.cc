// SPDX-License-Identifier: Apache-2.0
#include "query/flame/page.h"

#include <string_view>

#include "profile/flame/html.h"
#include "query/http/params.h"
#include "query/question.h"

namespace firetower::query {

bool WantsPage(const net::HttpRequest& request) {
  return request.accept.find("text/html") != std::string::npos;
}

net::HttpResponse ServePage(const net::HttpRequest& request) {
  // The parameters that web/flame/questions.js reads. A misspelt one would silently show something
  // else.
  static constexpr std::string_view kParams[] = {"type", "q", "from", "to", "s", "find"};
  if (const Result<Params> params = Params::Read(request, kParams); !params)
    return ErrorResponse(params.error());
  static const profile::AppPage page = profile::FlameAppPage();
  net::HttpResponse response;
  response.body = page.body;
  response.headers.emplace_back("Vary", "Accept");
  AddPageHeaders(page.content_security_policy, response);
  return response;
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
