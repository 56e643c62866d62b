// SPDX-License-Identifier: Apache-2.0
#include "query/flame/page.h"

#include "profile/flame/html.h"

namespace firetower::query {

bool WantsPage(const HttpRequest& request) {
  return request.accept.find("text/html") != std::string::npos;
}

HttpResponse ServePage() {
  static const profile::AppPage page = profile::FlameAppPage();
  HttpResponse response;
  response.body = page.body;
  response.headers.emplace_back("Vary", "Accept");
  AddPageHeaders(page.content_security_policy, response);
  return response;
}

// The engine adds Cache-Control and X-Content-Type-Options to every answer.
void AddPageHeaders(const std::string& content_security_policy, HttpResponse& response) {
  response.content_type = "text/html; charset=utf-8";
  response.headers.emplace_back("Content-Security-Policy", content_security_policy);
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
}

}  // namespace firetower::query
