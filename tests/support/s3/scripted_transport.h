// SPDX-License-Identifier: Apache-2.0
// A transport that answers from a script and remembers what it was asked, and a pause that only
// turns a clock.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "store/s3/client.h"
#include "tests/support/s3/body_text.h"

namespace firetower::testing {

struct SentRequest {
  std::string method = {};
  std::string url = {};
  std::vector<store::s3::HttpHeader> headers = {};
  std::string body = {};

  std::string Header(std::string_view name) const {
    for (const auto& header : headers) {
      if (header.name == name) return header.value;
    }
    return "";
  }
};

// State that a test and its transports share.
struct Script {
  std::deque<Result<store::s3::HttpResponse>> answers = {};
  std::vector<SentRequest> sent = {};
  std::function<void()> on_send = [] {};

  Script& Then(int status, std::string body = "", std::vector<store::s3::HttpHeader> headers = {}) {
    answers.emplace_back(store::s3::HttpResponse{
        .status = status, .headers = std::move(headers), .body = std::move(body)});
    return *this;
  }
  Script& ThenFails(ErrorCode code) {
    answers.emplace_back(Error(code, "connection reset"));
    return *this;
  }
};

class ScriptedTransport : public store::s3::HttpTransport {
 public:
  explicit ScriptedTransport(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  Result<store::s3::HttpResponse> Send(const store::s3::HttpRequest& request,
                                       const store::CallLimits&) override {
    script_->sent.push_back({.method = request.method,
                             .url = request.url,
                             .headers = request.headers,
                             .body = TextOf(request.body)});
    script_->on_send();
    if (script_->answers.empty()) {
      ADD_FAILURE() << "no answer for " << request.method << ' ' << request.url;
      return Error(ErrorCode::kInternal, "the script has ended");
    }
    Result<store::s3::HttpResponse> answer = std::move(script_->answers.front());
    script_->answers.pop_front();
    return answer;
  }

 private:
  std::shared_ptr<Script> script_;
};

class FakePause : public store::s3::Pause {
 public:
  explicit FakePause(FakeClock& clock) : clock_(clock) {}
  void For(int64_t ns, const store::CallLimits&) override {
    waits_ns.push_back(ns);
    clock_.Advance(ns);
    on_pause();
  }
  std::vector<int64_t> waits_ns = {};
  std::function<void()> on_pause = [] {};

 private:
  FakeClock& clock_;
};

class FixedCredentials : public store::s3::CredentialsSource {
 public:
  explicit FixedCredentials(std::string session_token = "", int* fetches = nullptr)
      : session_token_(std::move(session_token)), fetches_(fetches) {}
  Result<store::s3::Credentials> Fetch(const store::CallLimits&) override {
    if (fetches_ != nullptr) ++*fetches_;
    return store::s3::Credentials{.access_key_id = "AKID",
                                  .secret_access_key = "SECRET-VALUE",
                                  .session_token = session_token_};
  }
  std::string Describe() const override { return "the test"; }

 private:
  std::string session_token_;
  int* fetches_;
};

inline std::string ErrorXml(const std::string& code, const std::string& more = "") {
  return "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>told so</Message>" +
         more + "</Error>";
}

}  // namespace firetower::testing
