// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "k8s/client/api_client.h"

namespace firetower::k8s {

// An API server that keeps what it was sent, and answers as it was told to; without that it is
// away.
class RecordingApiServer : public ApiServer {
 public:
  void Answer(int status, std::string body = "{}", int64_t retry_after_ns = 0) {
    answers_.push_back({status, std::move(body), retry_after_ns});
  }
  const std::vector<ApiRequest>& requests() const { return requests_; }
  const ApiRequest& last() const { return requests_.back(); }

  Result<ApiReply> Send(const ApiRequest& request, BodySink& sink) override {
    requests_.push_back(request);
    if (answers_.empty()) return Error(ErrorCode::kUnavailable, "connection refused");
    const Scripted answer = std::move(answers_.front());
    answers_.pop_front();
    ApiReply reply{answer.status, "", answer.retry_after_ns};
    if (!reply.ok()) {
      reply.refusal = answer.body;
      return reply;
    }
    sink.OnHead();
    if (!answer.body.empty() && !sink.OnBody(answer.body))
      return Error(ErrorCode::kExhausted, "the rest was not wanted");
    return reply;
  }

 private:
  struct Scripted {
    int status;
    std::string body;
    int64_t retry_after_ns;
  };
  std::deque<Scripted> answers_;
  std::vector<ApiRequest> requests_;
};

}  // namespace firetower::k8s
