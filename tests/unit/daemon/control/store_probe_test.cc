// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/store_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/command.h"
#include "tests/support/memory_store.h"
#include "tests/support/s3/dated_server.h"
#include "tests/unit/daemon/control/dated_side.h"

namespace firetower::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Full disk: the name of a file finds room, its bytes do not.
class FullStore : public testing::MemoryStore {
 public:
  Status Put(std::string_view key, std::string_view bytes) override {
    if (bytes.size() > room) return Error(ErrorCode::kExhausted, "No space left on device");
    return MemoryStore::Put(key, bytes);
  }
  size_t room = 4096;
};

// A bucket whose keys may list and nothing else.
class ReadOnlyBucket : public testing::EmptyBucket {
 public:
  ReadOnlyBucket()
      : EmptyBucket([](k8s::FakePeer& peer, const std::string& request) {
          if (!request.starts_with("PUT")) return peer.Reply("200 OK", kListing);
          return peer.Reply("403 Forbidden",
                            "<Error><Code>AccessDenied</Code><Message>not with these "
                            "keys</Message></Error>");
        }) {}
};

std::unique_ptr<StoreSide> OpenBucket(const ReadOnlyBucket& bucket,
                                      const testing::ScratchFolder& folder) {
  StoreSideOptions options;
  options.url = bucket.url();
  options.spool_folder = folder.path() + "/spool";
  options.spool_bytes = 1 << 20;
  return *StoreSide::Open(options, Clock::System());
}

class Nobody : public StoreObserver {
 public:
  void OnStoreOperation(std::string_view, const Status&, int64_t) override {}
};

// Until it is stored or refused.
void SendOne(StoreSide& side, const std::string& key) {
  Nobody observer;
  ObjectSink& sink = side.Connect(observer);
  side.Start();
  sink.Send({1, k8s::RetentionClass::kStandard, 7, key, "bytes"});
  side.Finish();
}

TEST(ProbeStore, AFullStoreFailsThoughItTakesAnEmptyObject) {
  FullStore store;
  ASSERT_TRUE(store.Put("v1/empty", ""));
  const Check check = StoreCheck(ProbeStore(store));
  EXPECT_EQ(check.status, CheckStatus::kFail);
  EXPECT_THAT(check.message, HasSubstr("cannot be written: No space left on device"));
  EXPECT_THAT(check.fix, HasSubstr("free space"));
  store.room = kStoreProbeBytes;
  EXPECT_FALSE(ProbeStore(store).error);
}

TEST(ProbeStore, LeavesNothingBehind) {
  testing::MemoryStore store;
  EXPECT_FALSE(ProbeStore(store).error);
  EXPECT_EQ(store.puts, 1);
  EXPECT_TRUE(store.objects.empty());
}

TEST(ProbeStore, ProfilesThatWereRefusedCountMoreThanTheProbe) {
  const testing::ScratchFolder folder;
  const std::string root = folder.path() + "/store";
  StoreSideOptions options;
  options.url = "file://" + root;
  const auto side = *StoreSide::Open(options, Clock::System());
  SendOne(*side, std::string(1000, 'k'));  // no file can be called so
  const StoreFacts facts = ProbeStore(*side, Clock::System());
  EXPECT_FALSE(facts.error) << "the probe itself is taken";
  const Check check = StoreCheck(facts);
  EXPECT_EQ(check.status, CheckStatus::kFail);
  EXPECT_THAT(check.message, HasSubstr("refused the profiles that were written last: "));
}

TEST(ProbeStore, OfABucketNothingIsKnownOfWritingBeforeAnUpload) {
  const ReadOnlyBucket bucket;
  const testing::ScratchFolder folder;
  const auto side = OpenBucket(bucket, folder);
  const Check check = StoreCheck(ProbeStore(*side, Clock::System()));
  EXPECT_EQ(check.status, CheckStatus::kOk);
  EXPECT_THAT(check.message, HasSubstr("can be listed"));
  EXPECT_THAT(check.message, HasSubstr("it is unknown whether uploads work"));
  EXPECT_THAT(check.message, Not(HasSubstr("writable")));
  EXPECT_THAT(check.message, Not(HasSubstr("no object is damaged")));
}

TEST(ProbeStore, TellsInTheBucketsWordsWhyTheLastUploadFailed) {
  const ReadOnlyBucket bucket;
  const testing::ScratchFolder folder;
  const auto side = OpenBucket(bucket, folder);
  SendOne(*side, "v1/anything");
  const Check check = StoreCheck(ProbeStore(*side, Clock::System()));
  EXPECT_EQ(check.status, CheckStatus::kFail);
  EXPECT_THAT(check.message, HasSubstr("403 AccessDenied: not with these keys"));
  EXPECT_THAT(check.message, HasSubstr("none has succeeded since the start; it can be listed"));
  EXPECT_THAT(check.fix, HasSubstr("s3:PutObject"));
}

TEST(ProbeStore, TellsOfAClockThatIsNotTheStores) {
  testing::DatedSide dated;
  const StoreFacts facts = ProbeStore(dated.side(), Clock::System());
  EXPECT_FALSE(facts.error);
  const int64_t behind_s =
      Clock::System().WallNs() / kNsPerSecond - (testing::DatedSide::kServerS + 1);
  EXPECT_NEAR(static_cast<double>(facts.skew_s), static_cast<double>(-behind_s), 10);
  const Check check = StoreCheck(facts);
  EXPECT_EQ(check.status, CheckStatus::kWarn);
  EXPECT_THAT(check.message, HasSubstr(" s behind this machine's"));
  StoreFacts near = facts;
  near.skew_s = -60;
  EXPECT_EQ(StoreCheck(near).status, CheckStatus::kOk);
}

}  // namespace
}  // namespace firetower::daemon
