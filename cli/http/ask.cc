// SPDX-License-Identifier: Apache-2.0
#include "cli/http/ask.h"

#include <utility>

namespace firetower::cli {
namespace {

// The whole body of one answer.
class Collected : public net::BodySink {
 public:
  explicit Collected(const HttpQuestion& question) : question_(question) {}
  void OnHead() override { begun = true; }
  bool OnBody(std::string_view bytes) override {
    too_large = body.size() + bytes.size() > question_.max_reply_bytes;
    if (too_large) return false;
    body += bytes;
    if (question_.progress != nullptr) question_.progress->Step(body.size());
    return true;
  }
  int64_t idle_timeout_ns() const override { return question_.timeout_ns; }

  std::string body;
  bool begun = false;
  bool too_large = false;

 private:
  const HttpQuestion& question_;
};

}  // namespace

HttpAnswer Ask(net::HttpClient& client, const HttpQuestion& question) {
  Collected sink(question);
  net::ClientRequest request;
  request.url = question.url;
  if (!question.bearer_token.empty())
    request.headers = {{"Authorization", "Bearer " + question.bearer_token}};
  request.sink = &sink;
  request.head_timeout_ns = question.timeout_ns;
  Result<net::HttpResponse> response = client.Send(request, {});
  if (response && response->ok()) response->body = std::move(sink.body);
  const bool begun = sink.begun || response.has_value();
  return {std::move(response), sink.too_large, begun};
}

}  // namespace firetower::cli
