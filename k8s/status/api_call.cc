// SPDX-License-Identifier: Apache-2.0
#include "k8s/status/api_call.h"

#include <utility>

#include "base/clock.h"
#include "k8s/watch/object_fields.h"
#include "k8s/watch/object_meta.h"

namespace firetower::k8s {
namespace {

class Collected final : public BodySink {
 public:
  bool OnBody(std::string_view bytes) override {
    if (text.size() + bytes.size() > kMaxAnswerBytes) return false;
    text.append(bytes);
    return true;
  }
  int64_t idle_timeout_ns() const override { return 10 * kNsPerSecond; }

  std::string text;
};

// A refusal is a Status object. Anything else, for example a proxy's page, is shown as it is.
}  // namespace

Result<ApiAnswer> Call(ApiServer& server, const ApiRequest& request) {
  Collected sink;
  ASSIGN_OR_RETURN(const ApiReply reply, server.Send(request, sink));
  ApiAnswer answer;
  answer.status = reply.status;
  answer.retry_after_ns = reply.retry_after_ns;
  if (answer.ok()) {
    answer.body = std::move(sink.text);
  } else {
    answer.message = MessageOf(reply.refusal);
  }
  return answer;
}

std::string MessageOf(std::string_view refusal) {
  const Result<Node> status = ParseObject(refusal, {"message"});
  const std::string_view said = status ? TextAt(*status, {"message"}) : "";
  return std::string(said.empty() ? refusal.substr(0, std::min<size_t>(refusal.find('\n'), 200))
                                  : said);
}

std::string ResourceVersionOf(std::string_view body) {
  const Result<Node> object = ParseObject(body, {"metadata.resourceVersion"});
  return object ? std::string(TextAt(*object, {"metadata", "resourceVersion"})) : "";
}

std::string UidOf(std::string_view body) {
  const Result<Node> object = ParseObject(body, {"metadata.uid"});
  return object ? std::string(TextAt(*object, {"metadata", "uid"})) : "";
}

}  // namespace firetower::k8s
