// SPDX-License-Identifier: Apache-2.0
#include "k8s/watch/watch_thread.h"

#include <gtest/gtest.h>

#include <future>

#include "k8s/watch/object_store.h"
#include "tests/support/k8s/fake_http_server.h"

namespace firetower::k8s {
namespace {

class NoMetrics : public ReflectorMetrics {
 public:
  void OnRequest(std::string_view, std::string_view, int) override {}
  void OnRestart(std::string_view, std::string_view, bool) override {}
  void OnSkipped(std::string_view, std::string_view) override {}
};

class FirstUpsert : public ObjectListener<std::string> {
 public:
  void OnUpsert(const std::string& key, const std::shared_ptr<const std::string>&) override {
    if (!std::exchange(done_, true)) key_.set_value(key);
  }
  void OnDelete(const std::string&, const std::shared_ptr<const std::string>&) override {}
  std::string Await() { return key_.get_future().get(); }

 private:
  std::promise<std::string> key_;
  bool done_ = false;
};

TEST(WatchThread, ReadsOverRealSocketsAndEndsWithinItsWatch) {
  FakeHttpServer server([](FakePeer& peer, const std::string& request) {
    if (request.find("watch=1") == std::string::npos)
      return peer.Reply("200 OK", R"({"metadata":{"resourceVersion":"1"},"items":[]})");
    peer.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    peer.Write("14\r\n{\"type\":\"ADDED\",\"obj\r\n");
    peer.Write("3a\r\nect\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"2\"}}}     \r\n");
    peer.AwaitClose();
    return false;
  });
  ClientConfig config;
  config.server = {false, "127.0.0.1", server.port(), ""};
  ApiClient client(config, "test", Clock::System());
  FirstUpsert first;
  ObjectStore<std::string> store([](const Node&) -> Result<std::string> { return std::string(); },
                                 10, &first);
  NoMetrics metrics;
  Reflector reflector(client, {"pods", "/api/v1/pods", "", "", {}}, store, metrics, Clock::System(),
                      1, {.watch_list = false});
  int64_t stopping_ns = 0;
  {
    const NamedThread thread = WatchOnThread("watch-pods", reflector, client);
    EXPECT_EQ(first.Await(), "/a");
    stopping_ns = Clock::System().MonotonicNs();
  }
  // Milliseconds on a quiet machine; the watch itself was asked for five minutes.
  EXPECT_LT(Clock::System().MonotonicNs() - stopping_ns, kNsPerSecond);
}

}  // namespace
}  // namespace firetower::k8s
