// SPDX-License-Identifier: Apache-2.0
// The client of tests: it sends nothing, remembers what it was asked and answers from a script, or
// as a function says.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/client/http_client.h"
#include "tests/support/http/body_text.h"

namespace firetower::testing {

struct SentRequest {
  std::string method = {};
  std::string url = {};
  net::NamedValues headers = {};
  std::string body = {};

  std::string Header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return "";
  }
};

// State that a test and its clients share.
struct Script {
  std::deque<Result<net::HttpResponse>> answers = {};
  std::vector<SentRequest> sent = {};
  std::function<void()> on_send = [] {};

  Script& Then(int status, std::string body = "", net::NamedValues headers = {}) {
    answers.emplace_back(net::HttpResponse{
        .status = status, .headers = std::move(headers), .body = std::move(body)});
    return *this;
  }
  Script& ThenFails(ErrorCode code) {
    answers.emplace_back(Error(code, "connection reset"));
    return *this;
  }
};

class FakeHttpClient : public net::HttpClient {
 public:
  using Answer =
      std::function<Result<net::HttpResponse>(const net::ClientRequest&, const CallLimits&)>;

  explicit FakeHttpClient(Answer answer) : answer_(std::move(answer)) {}
  explicit FakeHttpClient(std::shared_ptr<Script> script)
      : answer_([script = std::move(script)](const net::ClientRequest& request, const CallLimits&) {
          return Next(*script, request);
        }) {}

  Result<net::HttpResponse> Send(const net::ClientRequest& request,
                                 const CallLimits& limits) override {
    return answer_(request, limits);
  }

 private:
  static Result<net::HttpResponse> Next(Script& script, const net::ClientRequest& request) {
    script.sent.push_back({.method = request.method,
                           .url = request.url,
                           .headers = request.headers,
                           .body = TextOf(request.body)});
    script.on_send();
    if (script.answers.empty()) {
      ADD_FAILURE() << "no answer for " << request.method << ' ' << request.url;
      return Error(ErrorCode::kInternal, "the script has ended");
    }
    Result<net::HttpResponse> answer = std::move(script.answers.front());
    script.answers.pop_front();
    return answer;
  }

  const Answer answer_;
};

}  // namespace firetower::testing
