// SPDX-License-Identifier: Apache-2.0
// Credentials for an S3 client, and a pause that only turns a clock.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "store/s3/client.h"
#include "tests/support/http/fake_http_client.h"

namespace firetower::testing {

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
