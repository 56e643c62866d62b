// SPDX-License-Identifier: Apache-2.0
// Requests as they are on the wire, to a server on the loopback.
#include "daemon/push/push_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "base/file.h"
#include "profile/codec/gzip.h"
#include "tests/support/command.h"
#include "tests/support/k8s/fake_http_server.h"
#include "tests/support/push/proto_message.h"
#include "tests/support/stored_profiles.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::BundleOf;
using ::firetower::testing::kFirstWindow;
using ::firetower::testing::ProtoMessage;
using ::firetower::testing::Row;
using k8s::FakeHttpServer;
using k8s::FakePeer;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Keeps what passes on to the store.
class Kept : public ObjectSink {
 public:
  void Send(Outgoing object) override { objects.push_back(std::move(object)); }
  std::vector<Outgoing> objects;
};

// Takes every request, and says so in the way that is asked for.
class Receiver {
 public:
  explicit Receiver(std::string content_type)
      : server_([this, content_type](FakePeer& peer, const std::string& request) {
          {
            std::lock_guard lock(mutex_);
            requests_.push_back(request);
          }
          changed_.notify_all();
          return peer.Reply("200 OK", "", "Content-Type: " + content_type + "\r\n");
        }) {}

  std::string At(const std::string& scheme) const {
    return scheme + "127.0.0.1:" + std::to_string(server_.port());
  }
  std::vector<std::string> Await(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return requests_.size() >= count; });
    return requests_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> requests_;
  FakeHttpServer server_;
};

std::string BodyOf(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

Outgoing Window() {
  return {1, k8s::RetentionClass::kStandard, 10, "window",
          BundleOf({Row("shop", "cart-0", "web", kFirstWindow)})};
}

class PushSideTest : public ::testing::Test {
 protected:
  std::unique_ptr<PushSide> To(std::vector<std::string> urls) {
    // No window is so long that its requests would be spread.
    auto side = PushSide::Open({.urls = std::move(urls), .cluster = "prod", .window_ns = 0},
                               registry_, Clock::System());
    EXPECT_TRUE(side) << side.error().message();
    (*side)->ForwardTo(kept_);
    return *std::move(side);
  }

  MetricsRegistry registry_;
  Kept kept_;
  testing::ScratchFolder folder_;
};

TEST_F(PushSideTest, SendsAWindowToEachServerInItsWayAndOnToTheStore) {
  Receiver pyroscope("application/proto");
  Receiver collector("application/x-protobuf");
  const std::string token = folder_.path() + "/token";
  ASSERT_TRUE(WriteFileAtomic(token, "abc\n"));
  const auto side =
      To({pyroscope.At("pyroscope+http://") + "/base?proxy=none&tenant=team-a&token-file=" + token,
          collector.At("otlp+http://") + "?proxy=none"});
  const Outgoing window = Window();
  side->Send(window);
  const std::string push = pyroscope.Await(1)[0];
  EXPECT_THAT(push, StartsWith("POST /base/push.v1.PusherService/Push HTTP/1.1\r\n"));
  EXPECT_THAT(push, AllOf(HasSubstr("\r\nContent-Type: application/proto\r\n"),
                          HasSubstr("\r\nConnect-Protocol-Version: 1\r\n"),
                          HasSubstr("\r\nX-Scope-OrgID: team-a\r\n"),
                          HasSubstr("\r\nAuthorization: Bearer abc\r\n"),
                          Not(HasSubstr("Content-Encoding"))));
  EXPECT_THAT(ProtoMessage(BodyOf(push)).Messages(1), SizeIs(1));
  const std::string otlp = collector.Await(1)[0];
  EXPECT_THAT(otlp, StartsWith("POST /v1development/profiles HTTP/1.1\r\n"));
  EXPECT_THAT(otlp, AllOf(HasSubstr("\r\nContent-Type: application/x-protobuf\r\n"),
                          HasSubstr("\r\nContent-Encoding: gzip\r\n"),
                          Not(HasSubstr("Authorization")), Not(HasSubstr("X-Scope-OrgID"))));
  const Result<std::string> message = profile::GzipDecompress(BodyOf(otlp), 1 << 20);
  ASSERT_TRUE(message) << message.error().message();
  EXPECT_THAT(ProtoMessage(*message).Messages(1), SizeIs(1));
  side->Finish();
  ASSERT_THAT(kept_.objects, SizeIs(1));
  EXPECT_EQ(kept_.objects[0].bytes, window.bytes);
  EXPECT_EQ(kept_.objects[0].samples, window.samples);
  const std::string metrics = registry_.Render(ExpositionFormat::kText);
  EXPECT_THAT(metrics,
              HasSubstr("firetower_push_profiles_total{server=\"" +
                        pyroscope.At("pyroscope+http://") + "/base\",result=\"sent\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("firetower_push_profiles_total{server=\"" +
                                 collector.At("otlp+http://") + "\",result=\"sent\"} 1\n"));
}

TEST_F(PushSideTest, CapturesGoToTheStoreAlone) {
  Receiver collector("application/x-protobuf");
  const auto side = To({collector.At("otlp+http://") + "?proxy=none"});
  side->Send({0, k8s::RetentionClass::kStandard, 1, "capture", "c"});
  side->Send(Window());
  EXPECT_THAT(collector.Await(1), SizeIs(1));
  side->Finish();
  EXPECT_THAT(collector.Await(1), SizeIs(1));
  EXPECT_THAT(kept_.objects, SizeIs(2));
}

TEST_F(PushSideTest, AServerThatIsAwayHoldsUpNothing) {
  std::string nobody;
  {
    Receiver gone("application/proto");
    nobody = gone.At("pyroscope+http://");
  }
  const auto side = To({nobody + "?proxy=none"});
  for (int i = 0; i < 3; ++i) side->Send(Window());
  EXPECT_THAT(kept_.objects, SizeIs(3));
  side->Finish();
  EXPECT_THAT(
      registry_.Render(ExpositionFormat::kText),
      HasSubstr("firetower_push_profiles_total{server=\"" + nobody + "\",result=\"dropped\"} 3\n"));
}

TEST_F(PushSideTest, WithoutServersItOnlyPassesOn) {
  const auto side = To({});
  side->Send(Window());
  EXPECT_THAT(kept_.objects, SizeIs(1));
  EXPECT_THAT(registry_.Render(ExpositionFormat::kText),
              Not(HasSubstr("firetower_push_profiles_total{")));
}

TEST_F(PushSideTest, SaysWhyAServerCannotBePushedTo) {
  for (const char* url : {"http://host", "otlp+https://host?ca-file=/none/ca.pem"}) {
    const auto side =
        PushSide::Open({.urls = {url}, .cluster = "prod"}, registry_, Clock::System());
    ASSERT_FALSE(side) << url;
    EXPECT_NE(side.error().message(), "");
  }
}

}  // namespace
}  // namespace firetower::daemon
