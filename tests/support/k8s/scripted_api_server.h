// SPDX-License-Identifier: Apache-2.0
// An API server that says what a test tells it to, on the test's thread and clock.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "k8s/client/api_client.h"

namespace firetower::k8s {

// One exchange. Without an error the reply ends in good order after its pieces.
struct ScriptedReply {
  int status = 200;
  std::vector<std::string> pieces = {};  // of the body, each arriving by itself
  int64_t lasts_ns = 0;                  // by the clock, before its end
  int64_t retry_after_ns = 0;
  std::optional<Error> error = {};  // instead of an end; with status 0 instead of a reply
};

class ScriptedApiServer : public ApiServer {
 public:
  explicit ScriptedApiServer(FakeClock& clock) : clock_(clock) {}

  void Expect(ScriptedReply reply) { replies_.push_back(std::move(reply)); }
  const std::vector<std::string>& targets() const { return targets_; }
  const std::string& last_target() const { return targets_.back(); }

  Result<ApiReply> Send(const ApiRequest& request, BodySink& sink) override {
    targets_.push_back(request.target);
    if (replies_.empty()) return Error(ErrorCode::kUnavailable, "connection refused");
    const ScriptedReply script = std::move(replies_.front());
    replies_.pop_front();
    if (script.status == 0) return *script.error;
    ApiReply reply{script.status, "", script.retry_after_ns};
    if (reply.ok()) sink.OnHead();
    for (const std::string& piece : script.pieces) {
      if (!reply.ok()) {
        reply.refusal += piece;
      } else if (!sink.OnBody(piece)) {
        return Error(ErrorCode::kExhausted, "the rest was not wanted");
      }
    }
    clock_.Advance(script.lasts_ns);
    if (script.error) return *script.error;
    return reply;
  }

 private:
  FakeClock& clock_;
  std::deque<ScriptedReply> replies_;
  std::vector<std::string> targets_;
};

}  // namespace firetower::k8s
