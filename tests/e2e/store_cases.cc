// SPDX-License-Identifier: Apache-2.0
// Behaviour that all stores share. Run by store_test.py against a directory and against real S3
// servers. FIRETOWER_STORE is the store's URL.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "net/client/curl_client.h"
#include "store/access/file_source.h"
#include "store/key.h"
#include "store/retention.h"
#include "store/s3/credentials/chain.h"
#include "store/s3/multipart.h"
#include "store/s3/s3_store.h"
#include "store/store.h"
#include "tests/support/command.h"

namespace firetower::store {
namespace {

using ::firetower::testing::ScratchFolder;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::unique_ptr<ObjectStore> Open(const std::string& url) {
  auto store = OpenStore(url);
  EXPECT_TRUE(store) << store.error().message();
  return store ? *std::move(store) : nullptr;
}

// Returns the parts of a client for that store.
s3::Client::Parts Parts() {
  s3::Client::Parts parts;
  const s3::Environment environment = s3::SystemEnvironment();
  parts.config = *s3::ParseUrl(Variable("FIRETOWER_STORE"), environment);
  parts.transport = *net::CurlClient::Create(parts.config.transport);
  parts.credentials =
      *s3::ChooseSource(parts.config.credentials, environment, *parts.transport, *parts.clock);
  return parts;
}

// Bytes that no compression and no mistake in an offset leaves alike.
std::string Noise(size_t size, uint64_t seed) {
  std::string bytes(size, '\0');
  uint64_t state = seed * 2 + 1;
  for (char& c : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(state >> 56);
  }
  return bytes;
}

class Store : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(Variable("FIRETOWER_STORE"), "");
    store_ = Open(Variable("FIRETOWER_STORE"));
    ASSERT_NE(store_, nullptr);
    const Status checked = store_->Check();
    ASSERT_TRUE(checked) << checked.error().message();
  }
  void Put(const std::string& key, std::string_view bytes) {
    const Status put = store_->Put(key, bytes);
    ASSERT_TRUE(put) << key << ": " << put.error().message();
  }
  std::vector<std::string> Keys(std::string_view prefix, std::string_view after = "",
                                size_t limit = ObjectStore::kMaxListed) {
    auto listed = store_->List(prefix, after, limit);
    EXPECT_TRUE(listed) << listed.error().message();
    std::vector<std::string> keys;
    if (!listed) return keys;
    for (const ObjectInfo& info : *listed) keys.push_back(info.key);
    return keys;
  }

  std::unique_ptr<ObjectStore> store_;
};
using S3 = Store;

TEST_F(Store, GivesBackWhatWasPut) {
  const std::string bytes = Noise(100'000, 1);
  Put("basic/a.zip", bytes);
  EXPECT_TRUE(*store_->Get("basic/a.zip") == bytes);
  EXPECT_EQ(*store_->Size("basic/a.zip"), bytes.size());
  EXPECT_EQ(*store_->GetRange("basic/a.zip", 0, 1), bytes.substr(0, 1));
  EXPECT_EQ(*store_->GetRange("basic/a.zip", 99'990, 10), bytes.substr(99'990));
  EXPECT_EQ(*store_->GetRange("basic/a.zip", 500, 700), bytes.substr(500, 700));
  EXPECT_EQ(*store_->GetRange("basic/a.zip", 5, 0), "");
  Put("basic/a.zip", "again");
  EXPECT_EQ(*store_->Get("basic/a.zip"), "again");
  EXPECT_EQ(*store_->Size("basic/a.zip"), 5u);
}

TEST_F(Store, TellsWhatIsNotThere) {
  Put("absent/there", "12345");
  EXPECT_EQ(store_->Get("absent/no").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store_->Size("absent/no").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store_->GetRange("absent/no", 0, 1).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store_->GetTail("absent/no", 1).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store_->GetRange("absent/there", 3, 3).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(store_->GetRange("absent/there", 5, 1).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(store_->GetRange("absent/there", 1 << 20, 1).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(store_->Get("absent/there", 4).error().code(), ErrorCode::kExhausted);
}

TEST_F(Store, ReadsTails) {
  Put("tail/five", "12345");
  Put("tail/empty", "");
  for (const auto& [length, bytes] :
       {std::pair(2, "45"), std::pair(5, "12345"), std::pair(262'144, "12345"), std::pair(0, "")}) {
    const auto tail = store_->GetTail("tail/five", static_cast<uint64_t>(length));
    ASSERT_TRUE(tail) << length << ": " << tail.error().message();
    EXPECT_EQ(tail->bytes, bytes);
    EXPECT_EQ(tail->object_size, 5u);
  }
  const auto empty = store_->GetTail("tail/empty", 100);
  ASSERT_TRUE(empty) << empty.error().message();
  EXPECT_EQ(empty->bytes, "");
  EXPECT_EQ(empty->object_size, 0u);
  EXPECT_EQ(*store_->Get("tail/empty"), "");
}

TEST_F(Store, ListsInOrderPageByPage) {
  std::set<std::string> expected;
  for (int i = 0; i < 1'050; ++i) {
    const std::string key = fmt::format("list/{}/{}", i % 3 == 0 ? "a" : "b", i);
    Put(key, "x");
    expected.insert(key);
  }
  for (const char* key : {"list/a.b", "list/a-b", "list/a0", "list/B"}) {
    Put(key, "xy");
    expected.insert(key);
  }
  const std::vector<std::string> sorted(expected.begin(), expected.end());
  EXPECT_EQ(Keys("list/", "", 5'000), sorted);
  std::vector<std::string> paged;
  for (;;) {
    const auto page = Keys("list/", paged.empty() ? "" : paged.back(), 100);
    paged.insert(paged.end(), page.begin(), page.end());
    if (page.size() < 100) break;
  }
  EXPECT_EQ(paged, sorted);
  // Behind a key that is not there.
  const auto from = std::upper_bound(sorted.begin(), sorted.end(), "list/b/5zz");
  EXPECT_EQ(Keys("list/", "list/b/5zz", 5'000), std::vector<std::string>(from, sorted.end()));
  EXPECT_EQ(Keys("list/nothing"), std::vector<std::string>());
  EXPECT_THAT(Keys("list/a."), ElementsAre("list/a.b"));
  EXPECT_EQ(store_->List("list/a.b", "")->at(0).size, 2u);
  EXPECT_THAT(*store_->ListFolders("list/"), ElementsAre("a", "b"));
  EXPECT_THAT(*store_->ListFolders("list/a/"), ElementsAre());
}

TEST_F(Store, Deletes) {
  Put("delete/a", "1");
  Put("delete/b", "1");
  ASSERT_TRUE(store_->Delete("delete/a"));
  EXPECT_EQ(store_->Get("delete/a").error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(store_->Delete("delete/a"));
  EXPECT_THAT(Keys("delete/"), ElementsAre("delete/b"));
}

TEST_F(Store, DeletesSeveral) {
  const std::vector<std::string> gone = {"several/a", "several/b/c.zip",
                                         "several/d&e<f>g'h\"i+j%20"};
  for (const std::string& key : gone) Put(key, "1");
  Put("several/stays", "1");
  std::vector<std::string> keys = gone;
  keys.insert(keys.begin() + 1, "several/was/never/there");
  for (int round = 0; round < 2; ++round) {
    const std::vector<Status> results = store_->DeleteEach(keys);
    ASSERT_EQ(results.size(), keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      EXPECT_TRUE(results[i]) << keys[i] << ": " << results[i].error().message();
    }
    EXPECT_THAT(Keys("several/"), ElementsAre("several/stays"));
  }
}

std::string BundleAt(const char* cluster, int64_t start_s) {
  return *BuildKey(BundleKey{
      .cluster = cluster, .start_s = start_s, .seconds = 60, .node = "node-1", .run = "abcd1234"});
}

TEST_F(Store, IsSweptByAge) {
  constexpr int64_t kFirst = 1'700'000'000 / 60 * 60;
  for (int i = 0; i < 33; ++i) Put(BundleAt("swept", kFirst + 60 * i), "four");
  Put(BundleAt("others", kFirst), "four");
  // 14 days and half a minute after the end of the thirtieth: a server may tell its time a second
  // late.
  const int64_t now_s = kFirst + 60 * 30 + 30 + 14 * kSecondsPerDay;
  SweepFigures figures;
  const Status swept =
      SweepByAge(*store_, {}, FakeClock(1, now_s * kNsPerSecond), figures, "swept");
  ASSERT_TRUE(swept) << swept.error().message();
  EXPECT_EQ(figures.deleted_objects, 30u);
  EXPECT_EQ(figures.deleted_bytes, 120u);
  EXPECT_THAT(
      Keys("v1/standard/"),
      ElementsAre(BundleAt("others", kFirst), BundleAt("swept", kFirst + 60 * 30),
                  BundleAt("swept", kFirst + 60 * 31), BundleAt("swept", kFirst + 60 * 32)));
}

TEST_F(S3, DeletesAThousandWithARequest) {
  s3::S3Store store(Parts());
  std::vector<std::string> keys;
  for (int i = 0; i < 1'020; ++i) keys.push_back(fmt::format("thousand/{}", i));
  for (int i = 0; i < 1'020; i += 51) ASSERT_TRUE(store.Put(keys[static_cast<size_t>(i)], "x"));
  const uint64_t before = store.counts().requests;
  for (const Status& result : store.DeleteEach(keys)) {
    EXPECT_TRUE(result) << result.error().message();
  }
  EXPECT_EQ(store.counts().requests - before, 2u);
  EXPECT_THAT(Keys("thousand/"), ElementsAre());
}

TEST_F(Store, TakesEveryCharacterThatAKeyMayHold) {
  std::vector<std::string> keys;
  for (char c = '!'; c < 0x7F; ++c) {
    if (c == '/') continue;
    keys.push_back(fmt::format("characters/x{}y", c));
  }
  for (const std::string& key : keys) {
    Put(key, key);
    EXPECT_EQ(*store_->Get(key), key);
    EXPECT_EQ(*store_->Size(key), key.size());
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(Keys("characters/"), keys);
  for (const std::string& key : keys) {
    EXPECT_TRUE(store_->Delete(key)) << key;
  }
  EXPECT_THAT(Keys("characters/"), ElementsAre());
}

TEST_F(Store, TakesLongKeys) {
  std::string key = "long";
  while (key.size() < 800) key += "/" + std::string(90, 'k');
  Put(key, "1");
  EXPECT_EQ(*store_->Get(key), "1");
  EXPECT_THAT(Keys("long/"), ElementsAre(key));
}

TEST_F(Store, TakesLargeObjectsInPartsWithoutHoldingThem) {
  ScratchFolder folder;
  const std::string path = folder.path() + "/large";
  const std::string bytes = Noise(size_t{64} << 20, 7);
  std::ofstream(path, std::ios::binary) << bytes;
  const auto source = FileSource::Open(path);
  ASSERT_TRUE(source);
  const Status put = store_->PutFrom("large/object", *source);
  ASSERT_TRUE(put) << put.error().message();
  EXPECT_EQ(*store_->Size("large/object"), bytes.size());
  const auto got = store_->Get("large/object");
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_TRUE(*got == bytes);
  // Over the seam of two parts.
  const uint64_t seam = uint64_t{8} << 20;
  EXPECT_TRUE(*store_->GetRange("large/object", seam - 1000, 2000) ==
              bytes.substr(seam - 1000, 2000));
  const auto tail = store_->GetTail("large/object", 1000);
  ASSERT_TRUE(tail);
  EXPECT_TRUE(tail->bytes == bytes.substr(bytes.size() - 1000));
  EXPECT_EQ(tail->object_size, bytes.size());
  Put("large/object", "small again");
  EXPECT_EQ(*store_->Get("large/object"), "small again");
  ASSERT_TRUE(store_->Delete("large/object"));
}

TEST_F(Store, RefusesKeysThatAreNone) {
  for (const char* key : {"", "/a", "a//b", "../a", "a/./b", "a b"}) {
    EXPECT_EQ(store_->Put(key, "x").error().code(), ErrorCode::kInvalid) << key;
  }
}

// Only where there is a server.
TEST_F(S3, ListsWhatOthersPutThere) {
  s3::Client client(Parts());
  const std::string key = "foreign/\xC3\xBCml\xC3\xA4ut + %41&<\xD0\xBA\xD0\xBB/\xE6\x97\xA5";
  const auto put = client.Send({.method = "PUT", .key = key, .body = "1"}, {});
  ASSERT_TRUE(put) << put.error().message();
  Put("foreign/own", "2");
  EXPECT_THAT(Keys("foreign/"), ElementsAre("foreign/own", key));
  EXPECT_THAT(*store_->ListFolders("foreign/"),
              ElementsAre("\xC3\xBCml\xC3\xA4ut + %41&<\xD0\xBA\xD0\xBB"));
}

TEST_F(S3, SaysWhatIsWrongWithItsKeys) {
  ScratchFolder folder;
  auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() + "/" + name) << text;
    return folder.path() + "/" + name;
  };
  const std::string url = Variable("FIRETOWER_STORE");
  const std::string secret = write("secret", "not-the-secret");
  const auto wrong_secret =
      Open(url + "&access-key-file=" + write("access", Variable("AWS_ACCESS_KEY_ID")) +
           "&secret-key-file=" + secret);
  Status checked = wrong_secret->Check();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), ErrorCode::kPermission) << checked.error().message();
  EXPECT_THAT(checked.error().message(),
              AllOf(HasSubstr("SignatureDoesNotMatch"), HasSubstr(folder.path())));
  EXPECT_THAT(checked.error().message(), ::testing::Not(HasSubstr("not-the-secret")));
  const auto wrong_key = Open(url + "&access-key-file=" + write("unknown", "nobody-has-this") +
                              "&secret-key-file=" + secret);
  checked = wrong_key->Check();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), ErrorCode::kPermission) << checked.error().message();
  EXPECT_THAT(checked.error().message(),
              AnyOf(HasSubstr("InvalidAccessKeyId"), HasSubstr("XAdminUserNotFound")));
  fmt::print("{}\n", checked.error().message());
}

TEST_F(S3, SaysWhatIsWrongWithItsBucket) {
  std::string url = Variable("FIRETOWER_STORE");
  const size_t end = url.find('/', 5);
  const auto store = Open("s3://nobody-made-this" + url.substr(end));
  const Status checked = store->Check();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), ErrorCode::kInvalid) << checked.error().message();
  EXPECT_THAT(checked.error().message(),
              AllOf(HasSubstr("NoSuchBucket"), HasSubstr("create the bucket")));
  EXPECT_EQ(store->Put("a", "1").error().code(), ErrorCode::kInvalid);
  fmt::print("{}\n", checked.error().message());
}

// A server that tells its region is understood; one that does not is quoted.
TEST_F(S3, FindsOutOrSaysThatTheRegionIsWrong) {
  std::string url = Variable("FIRETOWER_STORE");
  const std::string right = "region=us-east-1";
  url.replace(url.find(right), right.size(), "region=eu-west-3");
  const Status checked = Open(url)->Check();
  if (checked) return;
  EXPECT_EQ(checked.error().code(), ErrorCode::kInvalid) << checked.error().message();
  EXPECT_THAT(checked.error().message(), HasSubstr("region"));
  fmt::print("{}\n", checked.error().message());
}

class WrongClock final : public Clock {
 public:
  explicit WrongClock(int64_t wrong_s) : wrong_ns_(wrong_s * kNsPerSecond) {}
  int64_t MonotonicNs() const override { return System().MonotonicNs(); }
  int64_t WallNs() const override { return System().WallNs() + wrong_ns_; }

 private:
  const int64_t wrong_ns_;
};

// An hour wrong, either way: the server says what the time is, and one more request is all it
// costs.
TEST_F(S3, LearnsTheTimeOfTheServer) {
  for (const int64_t wrong_s : {-3600, 3600}) {
    const WrongClock clock(wrong_s);
    s3::Client::Parts parts = Parts();
    parts.clock = &clock;
    s3::S3Store store(std::move(parts));
    const std::string key = fmt::format("skew/small{}", wrong_s);
    const Status put = store.Put(key, "hello");
    ASSERT_TRUE(put) << wrong_s << ": " << put.error().message();
    EXPECT_EQ(store.counts().requests, 2u) << wrong_s;
    EXPECT_NEAR(static_cast<double>(store.ClockSkewNs()) / 1e9, static_cast<double>(-wrong_s), 10);
    const std::string large = Noise((17 << 20) + 1, 9);
    ASSERT_TRUE(store.Put("skew/large", large)) << wrong_s;
    EXPECT_TRUE(*store.Get("skew/large") == large) << wrong_s;
    EXPECT_EQ(store.counts().retries, 0u) << wrong_s;
    EXPECT_EQ(store.counts().requests, 2u + 5u + 1u) << "start, three parts, end; and the answer";
    EXPECT_EQ(*store_->Get(key), "hello");
  }
}

TEST_F(S3, KeepsWhatIsYoungByItsTimeFromASweepByAClockThatIsAhead) {
  const int64_t now_s = Clock::System().WallNs() / kNsPerSecond;
  const std::string old = BundleAt("skewed", now_s - 20 * kSecondsPerDay);
  const std::string young = BundleAt("skewed", now_s - 10 * kSecondsPerDay);
  Put(old, "x");
  Put(young, "x");
  const WrongClock clock(30 * kSecondsPerDay);
  s3::Client::Parts parts = Parts();
  parts.clock = &clock;
  s3::S3Store store(std::move(parts));
  SweepFigures figures;
  const Status swept = SweepByAge(store, {}, clock, figures, "skewed");
  ASSERT_TRUE(swept) << swept.error().message();
  EXPECT_EQ(figures.deleted_objects, 1u);
  EXPECT_THAT(Keys("v1/standard/skewed/"), ElementsAre(young));
}

TEST_F(S3, SendsChecksumsThatTheServerAccepts) {
  const std::string bytes = Noise((17 << 20) + 5, 3);
  for (const char* checksum : {"md5", "crc32c"}) {
    const auto store = Open(Variable("FIRETOWER_STORE") + "&checksum=" + checksum);
    const Status small = store->Put("checksum/small", "hello");
    EXPECT_TRUE(small) << checksum << ": " << small.error().message();
    const Status large = store->Put("checksum/large", bytes);
    EXPECT_TRUE(large) << checksum << ": " << large.error().message();
    EXPECT_TRUE(*store->Get("checksum/large") == bytes) << checksum;
    ASSERT_TRUE(store->Delete("checksum/large"));
  }
}

TEST_F(S3, AbortsUploadsThatWereLeftBehind) {
  auto opened = s3::S3Store::Open(Variable("FIRETOWER_STORE"), s3::SystemEnvironment());
  ASSERT_TRUE(opened);
  s3::S3Store& store = **opened;
  // A source that fails after its first part, in a process that is stopped at once.
  class Broken final : public ObjectSource {
   public:
    uint64_t size() const override { return 20 << 20; }
    Status ReadAt(uint64_t offset, std::span<std::byte>) const override {
      if (offset > 0) return Error(ErrorCode::kInternal, "broken");
      return OkStatus();
    }
  };
  EXPECT_EQ(store.PutFrom("orphans/one", Broken()).error().code(), ErrorCode::kInternal);
  const int64_t soon_s = Clock::System().WallNs() / kNsPerSecond + 3600;
  // It was aborted by itself.
  const auto none = store.AbortUploads("orphans/", soon_s);
  ASSERT_TRUE(none) << none.error().message();
  EXPECT_EQ(*none, 0u);
  s3::Client client(Parts());
  for (const char* key : {"orphans/two", "orphans/three", "others/four"}) {
    ASSERT_TRUE(client.Send({.method = "POST", .key = key, .query = {{"uploads", ""}}}, {}));
  }
  EXPECT_EQ(*store.AbortUploads("orphans/", soon_s - 7200), 0u);  // too young
  // MinIO lists the uploads of a whole key only.
  const bool by_prefix = Variable("FIRETOWER_STORE_KIND") != "minio";
  EXPECT_EQ(*store.AbortUploads("orphans/two", soon_s), 1u);
  EXPECT_EQ(*store.AbortUploads("orphans/", soon_s), by_prefix ? 1u : 0u);
  EXPECT_EQ(*store.AbortUploads("orphans/", soon_s), 0u);
}

// The upload of a killed daemon (kill_test.py) is aborted, as if a day had passed.
TEST(LeftBehind, IsAborted) {
  const auto store = Open(Variable("FIRETOWER_STORE"));
  ASSERT_NE(store, nullptr);
  SweepFigures figures;
  const int64_t tomorrow_ns = Clock::System().WallNs() + (kSecondsPerDay + 60) * kNsPerSecond;
  const Status aborted = AbortOldUploads(*store, FakeClock(1, tomorrow_ns), figures, "standalone");
  ASSERT_TRUE(aborted) << aborted.error().message();
  EXPECT_EQ(figures.aborted_uploads, 1u);
}

// moto's STS and instance metadata.
TEST(StoreCredentials, ComeFromAWebIdentity) {
  const std::string moto = Variable("FIRETOWER_MOTO");
  const std::string token_file = Variable("FIRETOWER_TOKEN_FILE");
  const s3::Environment environment = [&](const char* name) -> std::string {
    const std::string_view wanted(name);
    if (wanted == "AWS_ROLE_ARN") return "arn:aws:iam::123456789012:role/profiles";
    if (wanted == "AWS_WEB_IDENTITY_TOKEN_FILE") return token_file;
    if (wanted == "AWS_ENDPOINT_URL_STS") return moto;
    return "";
  };
  const auto transport = *net::CurlClient::Create({.proxy = "none"});
  const auto source = s3::ChooseSource({}, environment, *transport, Clock::System());
  ASSERT_TRUE(source);
  const auto credentials = (*source)->Fetch({});
  ASSERT_TRUE(credentials) << credentials.error().message();
  EXPECT_NE(credentials->session_token, "");
  EXPECT_GT(credentials->expires_ns, Clock::System().WallNs());
  EXPECT_LT(credentials->refresh_ns, credentials->expires_ns);
}

TEST(StoreCredentials, ComeFromTheInstance) {
  const std::string moto = Variable("FIRETOWER_MOTO");
  const s3::Environment environment = [&](const char* name) -> std::string {
    return std::string_view(name) == "AWS_EC2_METADATA_SERVICE_ENDPOINT" ? moto : "";
  };
  const auto transport = *net::CurlClient::Create({});
  const auto source = s3::ChooseSource({}, environment, *transport, Clock::System());
  ASSERT_TRUE(source);
  const auto credentials = (*source)->Fetch({});
  ASSERT_TRUE(credentials) << credentials.error().message();
  EXPECT_NE(credentials->access_key_id, "");
  EXPECT_NE(credentials->session_token, "");
}

}  // namespace
}  // namespace firetower::store
