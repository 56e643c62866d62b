// SPDX-License-Identifier: Apache-2.0
#include "store/s3/credentials/cached.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "store/s3/credentials/token_json.h"

namespace firetower::store::s3 {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kWall = 1'763'700'000 * kNsPerSecond;
constexpr int64_t kHourNs = 3600 * kNsPerSecond;

class FakeSource : public CredentialsSource {
 public:
  Result<Credentials> Fetch(const CallLimits& limits) override {
    ++fetches;
    return on_fetch(limits);
  }
  std::string Describe() const override { return "a fake"; }

  std::atomic<int> fetches = 0;
  std::function<Result<Credentials>(const CallLimits&)> on_fetch;
};

class CachedTest : public ::testing::Test {
 protected:
  CachedTest() {
    auto source = std::make_unique<FakeSource>();
    source_ = source.get();
    cached_ = std::make_unique<CachedCredentials>(std::move(source), clock_);
    source_->on_fetch = [this](const CallLimits&) -> Result<Credentials> {
      Credentials credentials{.access_key_id = "AK" + std::to_string(source_->fetches),
                              .secret_access_key = "SK",
                              .expires_ns = clock_.WallNs() + kHourNs};
      credentials.refresh_ns = RefreshTimeNs(credentials.expires_ns, clock_.WallNs());
      return credentials;
    };
  }
  std::string Key() {
    const auto got = cached_->Get({});
    return got ? (*got)->access_key_id : got.error().message();
  }

  FakeClock clock_{0, kWall};
  FakeSource* source_ = nullptr;
  std::unique_ptr<CachedCredentials> cached_;
};

TEST_F(CachedTest, FetchesFiveMinutesBeforeTheyExpire) {
  EXPECT_EQ(Key(), "AK1");
  clock_.Advance(kHourNs - 301 * kNsPerSecond);
  EXPECT_EQ(Key(), "AK1");
  clock_.Advance(kNsPerSecond);
  EXPECT_EQ(Key(), "AK2");
}

TEST_F(CachedTest, GoesOnWithTheOldOnesWhileTheSourceIsAway) {
  EXPECT_EQ(Key(), "AK1");
  const auto works = source_->on_fetch;
  source_->on_fetch = [](const CallLimits&) -> Result<Credentials> {
    return Error(ErrorCode::kUnavailable, "away");
  };
  clock_.Advance(kHourNs - 300 * kNsPerSecond);
  EXPECT_EQ(Key(), "AK1");
  EXPECT_EQ(source_->fetches, 2);
  EXPECT_EQ(Key(), "AK1");
  EXPECT_EQ(source_->fetches, 2);  // not asked at each call
  clock_.Advance(61 * kNsPerSecond);
  EXPECT_EQ(Key(), "AK1");
  EXPECT_EQ(source_->fetches, 3);
  clock_.Advance(300 * kNsPerSecond);
  EXPECT_THAT(Key(), HasSubstr("credentials of a fake: away"));
  source_->on_fetch = works;
  EXPECT_EQ(Key(), "AK5");
}

// A missing file of keys, or profile in it, must not look like a missing
// object.
TEST_F(CachedTest, KeysThatAreNotFoundAreNoObjectThatIsNot) {
  source_->on_fetch = [](const CallLimits&) -> Result<Credentials> {
    return ErrnoError("open /nope", ENOENT);
  };
  for (int i = 0; i < 2; ++i) {
    const auto got = cached_->Get({});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code(), ErrorCode::kPermission);
    EXPECT_THAT(got.error().message(), HasSubstr("credentials of a fake: open /nope: No such"));
  }
}

TEST_F(CachedTest, FetchesOnceForAllThatWait) {
  std::binary_semaphore may_answer(0);
  const auto works = source_->on_fetch;
  source_->on_fetch = [&](const CallLimits& limits) {
    may_answer.acquire();
    return works(limits);
  };
  std::atomic<int> done = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      EXPECT_EQ(Key(), "AK1");
      ++done;
    });
  }
  while (source_->fetches == 0) std::this_thread::yield();
  EXPECT_EQ(done, 0);
  may_answer.release();
  threads.clear();
  EXPECT_EQ(done, 8);
  EXPECT_EQ(source_->fetches, 1);
}

TEST_F(CachedTest, LetsAWaiterGoThatNobodyWaitsFor) {
  std::binary_semaphore may_answer(0);
  const auto works = source_->on_fetch;
  source_->on_fetch = [&](const CallLimits& limits) {
    may_answer.acquire();
    return works(limits);
  };
  std::jthread fetching([&] { EXPECT_EQ(Key(), "AK1"); });
  while (source_->fetches == 0) std::this_thread::yield();
  std::stop_source stop;
  std::jthread waiting([&] {
    const auto got = cached_->Get({.stop = stop.get_token()});
    EXPECT_FALSE(got);
  });
  stop.request_stop();
  waiting.join();
  may_answer.release();
}

TEST_F(CachedTest, IsNotFailedByAFetchThatSomebodyElseGaveUp) {
  const auto works = source_->on_fetch;
  source_->on_fetch = [&](const CallLimits& limits) -> Result<Credentials> {
    if (!limits.stop.stop_possible()) return works(limits);
    while (!limits.stop.stop_requested()) std::this_thread::yield();
    return Error(ErrorCode::kUnavailable, "cancelled");
  };
  std::stop_source stop;
  std::jthread first([&] { EXPECT_FALSE(cached_->Get({.stop = stop.get_token()})); });
  while (source_->fetches == 0) std::this_thread::yield();
  std::jthread second([&] { EXPECT_EQ(Key(), "AK2"); });
  stop.request_stop();
}

TEST_F(CachedTest, FetchesAnewWhenAServerSaysExpired) {
  const auto first = *cached_->Get({});
  cached_->Expired(first);
  EXPECT_EQ(Key(), "AK2");
  cached_->Expired(first);  // others came meanwhile
  EXPECT_EQ(Key(), "AK2");
}

TEST_F(CachedTest, UsesWhatIsHandedOutExpired) {
  source_->on_fetch = [this](const CallLimits&) -> Result<Credentials> {
    Credentials credentials{.access_key_id = "AK" + std::to_string(source_->fetches),
                            .secret_access_key = "SK",
                            .expires_ns = clock_.WallNs() - kHourNs};
    credentials.refresh_ns = RefreshTimeNs(credentials.expires_ns, clock_.WallNs());
    return credentials;
  };
  EXPECT_EQ(Key(), "AK1");
  EXPECT_EQ(Key(), "AK1");
  clock_.Advance(61 * kNsPerSecond);
  EXPECT_EQ(Key(), "AK2");
}

TEST(TokenJson, RefusesWhatIsNone) {
  EXPECT_EQ(ParseTokenJson("", 0).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(ParseTokenJson("[]", 0).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(ParseTokenJson(R"({"Code":"AssumeRoleUnauthorizedAccess"})", 0).error().code(),
            ErrorCode::kUnavailable);
  EXPECT_EQ(ParseTokenJson(R"({"AccessKeyId":"A","Expiration":"soon"})", 0).error().code(),
            ErrorCode::kCorrupt);
  const std::string whole =
      R"({"AccessKeyId":"A","SecretAccessKey":"S","Expiration":"2025-11-21T05:40:00Z"})";
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(ParseTokenJson(whole.substr(0, length), 0)) << length;
  }
  EXPECT_TRUE(ParseTokenJson(whole, 0));
}

}  // namespace
}  // namespace firetower::store::s3
