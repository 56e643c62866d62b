// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "store/access/file_source.h"
#include "store/s3/multipart.h"
#include "store/s3/s3_store.h"
#include "tests/support/command.h"
#include "tests/support/s3/scripted_client.h"

namespace firetower::store::s3 {
namespace {

using ::firetower::testing::ErrorXml;
using ::firetower::testing::FakeHttpClient;
using ::firetower::testing::FakePause;
using ::firetower::testing::FixedCredentials;
using ::firetower::testing::ScratchFolder;
using ::firetower::testing::Script;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class S3StoreTest : public ::testing::Test {
 protected:
  S3Store& store() {
    if (store_ == nullptr) {
      Client::Parts parts{.config = config_};
      parts.transport = std::make_unique<FakeHttpClient>(script_);
      parts.credentials = std::make_unique<FixedCredentials>();
      parts.clock = &clock_;
      parts.pause = &pause_;
      store_ = std::make_unique<S3Store>(std::move(parts));
    }
    return *store_;
  }
  net::NamedValue Range(const std::string& value) { return {"content-range", value}; }

  // Lets an upload in `parts` parts begin and its parts arrive.
  void ScriptParts(size_t parts) {
    script_->Then(200,
                  "<InitiateMultipartUploadResult><UploadId>ID&amp;1</UploadId>"
                  "</InitiateMultipartUploadResult>");
    for (size_t i = 1; i <= parts; ++i) {
      script_->Then(200, "", {{"etag", "\"etag-" + std::to_string(i) + "\""}});
    }
  }

  Config config_{.bucket = "bucket", .prefix = "p/", .endpoint = "http://s3", .path_style = true};
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  FakeClock clock_{0, 1'763'700'000 * kNsPerSecond};
  FakePause pause_{clock_};

 private:
  std::unique_ptr<S3Store> store_;
};

TEST_F(S3StoreTest, PutsWithEncryptionHeaders) {
  config_.sse = "aws:kms";
  config_.sse_kms_key_id = "key";
  script_->Then(200, "", {{"etag", "\"not the md5\""}});
  ASSERT_TRUE(store().Put("a/b", "bytes"));
  EXPECT_EQ(script_->sent[0].body, "bytes");
  EXPECT_EQ(script_->sent[0].url, "http://s3/bucket/p/a/b");
  EXPECT_EQ(script_->sent[0].Header("x-amz-server-side-encryption"), "aws:kms");
  EXPECT_EQ(script_->sent[0].Header("x-amz-server-side-encryption-aws-kms-key-id"), "key");
}

TEST_F(S3StoreTest, RefusesKeysThatAreNone) {
  for (const char* key : {"", "/a", "a//b", "../a", "a b"}) {
    EXPECT_EQ(store().Put(key, "x").error().code(), ErrorCode::kInvalid) << key;
    EXPECT_EQ(store().Get(key).error().code(), ErrorCode::kInvalid) << key;
    EXPECT_EQ(store().Delete(key).error().code(), ErrorCode::kInvalid) << key;
  }
  EXPECT_THAT(script_->sent, SizeIs(0));
}

TEST_F(S3StoreTest, ReadsRanges) {
  script_->Then(206, "ell", {Range("bytes 1-3/5")});
  EXPECT_EQ(*store().GetRange("k", 1, 3), "ell");
  EXPECT_EQ(script_->sent[0].Header("Range"), "bytes=1-3");
  EXPECT_THAT(script_->sent[0].Header("Authorization"), HasSubstr(";range;"));
  script_->Then(206, "lo", {Range("bytes 3-4/5")});
  EXPECT_EQ(store().GetRange("k", 3, 3).error().code(), ErrorCode::kCorrupt);
  script_->Then(416, ErrorXml("InvalidRange"));
  EXPECT_EQ(store().GetRange("k", 9, 1).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(store().GetRange("k", UINT64_MAX, 2).error().code(), ErrorCode::kCorrupt);
  script_->Then(404, ErrorXml("NoSuchKey"));
  EXPECT_EQ(store().GetRange("k", 0, 1).error().code(), ErrorCode::kNotFound);
}

TEST_F(S3StoreTest, NeverTakesOtherBytesThanItAskedFor) {
  // A server that ignores Range, one that answers another, and one whose numbers do not fit.
  script_->Then(200, "hello");
  EXPECT_EQ(store().GetRange("k", 1, 5).error().code(), ErrorCode::kUnsupported);
  script_->Then(206, "hel", {Range("bytes 0-2/5")});
  EXPECT_EQ(store().GetRange("k", 1, 3).error().code(), ErrorCode::kUnsupported);
  for (const char* range :
       {"", "bytes 1-3", "bytes 1-3/*", "bytes 3-1/5", "bytes 1-5/5", "x 1-3/5"}) {
    script_->Then(206, "ell", {Range(range)});
    EXPECT_EQ(store().GetRange("k", 1, 3).error().code(), ErrorCode::kUnsupported) << range;
  }
  script_->Then(200, "hello");  // all of it, from its beginning
  EXPECT_EQ(*store().GetRange("k", 0, 5), "hello");
}

TEST_F(S3StoreTest, ReadsTailsInOneRequest) {
  script_->Then(206, "llo", {Range("bytes 2-4/5")});
  auto tail = store().GetTail("k", 3);
  ASSERT_TRUE(tail);
  EXPECT_EQ(tail->bytes, "llo");
  EXPECT_EQ(tail->object_size, 5u);
  EXPECT_EQ(script_->sent[0].Header("Range"), "bytes=-3");
  // Shorter than the tail: some servers answer 206, some 200.
  script_->Then(206, "hello", {Range("bytes 0-4/5")}).Then(200, "hello");
  for (int i = 0; i < 2; ++i) {
    tail = store().GetTail("k", 9);
    ASSERT_TRUE(tail);
    EXPECT_EQ(tail->bytes, "hello");
    EXPECT_EQ(tail->object_size, 5u);
  }
  script_->Then(206, "hel", {Range("bytes 0-2/5")});
  EXPECT_EQ(store().GetTail("k", 3).error().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(script_->sent, SizeIs(4));
  // An empty object has no range, of which servers make different things.
  script_->Then(416, ErrorXml("InvalidRange")).Then(200, "", {{"content-length", "0"}});
  script_->Then(206, "", {Range("bytes 0--1/0")}).Then(200, "", {{"content-length", "0"}});
  for (int i = 0; i < 2; ++i) {
    tail = store().GetTail("k", 9);
    ASSERT_TRUE(tail) << tail.error().message();
    EXPECT_EQ(tail->object_size, 0u);
  }
  script_->Then(206, "", {Range("bytes 0--1/0")}).Then(200, "", {{"content-length", "5"}});
  EXPECT_EQ(store().GetTail("k", 9).error().code(), ErrorCode::kUnsupported);
}

TEST_F(S3StoreTest, TellsSizes) {
  script_->Then(200, "", {{"content-length", "18446744073709551615"}});
  EXPECT_EQ(*store().Size("k"), UINT64_MAX);
  script_->Then(404).Then(200);
  EXPECT_EQ(store().Size("k").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store().Size("k").error().code(), ErrorCode::kUnsupported);
}

TEST_F(S3StoreTest, IsFineWithDeletingWhatIsNotThere) {
  script_->Then(204).Then(404, ErrorXml("NoSuchKey")).Then(404, ErrorXml("NoSuchBucket"));
  EXPECT_TRUE(store().Delete("k"));
  EXPECT_TRUE(store().Delete("k"));
  EXPECT_EQ(store().Delete("k").error().code(), ErrorCode::kInvalid);
}

TEST_F(S3StoreTest, SaysHowToMendItsBucket) {
  script_->Then(404, ErrorXml("NoSuchBucket"));
  EXPECT_THAT(
      store().Check().error().message(),
      AllOf(HasSubstr("s3://bucket/"), HasSubstr("NoSuchBucket"), HasSubstr("create the bucket")));
  EXPECT_THAT(script_->sent[0].url, HasSubstr("max-keys=1"));
  EXPECT_EQ(store().Describe(), "s3://bucket/p/ at http://s3");
}

TEST_F(S3StoreTest, UploadsLargeObjectsInParts) {
  std::string bytes((16 << 20) + 1, 'x');
  bytes.back() = 'y';
  ScriptParts(3);
  script_->Then(200, "\n<CompleteMultipartUploadResult/>");
  ASSERT_TRUE(store().Put("k", bytes));
  ASSERT_THAT(script_->sent, SizeIs(5));
  EXPECT_EQ(script_->sent[0].url, "http://s3/bucket/p/k?uploads=");
  EXPECT_EQ(script_->sent[1].url, "http://s3/bucket/p/k?partNumber=1&uploadId=ID%261");
  EXPECT_EQ(script_->sent[1].body.size(), size_t{8} << 20);
  EXPECT_EQ(script_->sent[3].body, "y");
  EXPECT_EQ(script_->sent[4].method, "POST");
  EXPECT_THAT(script_->sent[4].body,
              AllOf(HasSubstr("<PartNumber>1</PartNumber><ETag>\"etag-1\"</ETag>"),
                    HasSubstr("<PartNumber>3</PartNumber><ETag>\"etag-3\"</ETag>")));
  script_->sent.clear();
  script_->Then(200);
  bytes.pop_back();
  ASSERT_TRUE(store().Put("k", bytes));  // 16 MiB go up whole
  EXPECT_THAT(script_->sent, SizeIs(1));
}

TEST_F(S3StoreTest, AbortsWhatItCannotComplete) {
  const std::string bytes((16 << 20) + 1, 'x');
  ScriptParts(1);
  script_->Then(403, ErrorXml("AccessDenied")).Then(204);
  EXPECT_EQ(store().Put("k", bytes).error().code(), ErrorCode::kPermission);
  EXPECT_EQ(script_->sent.back().method, "DELETE");
  EXPECT_EQ(script_->sent.back().url, "http://s3/bucket/p/k?uploadId=ID%261");
  // 200, and an error all the same; also with an ETag that is not what was stored.
  ScriptParts(3);
  script_->Then(200, ErrorXml("InvalidPart")).Then(204);
  EXPECT_EQ(store().Put("k", bytes).error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(script_->sent.back().method, "DELETE");
  // Without any ETag.
  script_->Then(200,
                "<InitiateMultipartUploadResult><UploadId>I</UploadId>"
                "</InitiateMultipartUploadResult>");
  script_->Then(200).Then(204);
  EXPECT_EQ(store().Put("k", bytes).error().code(), ErrorCode::kUnsupported);
}

TEST_F(S3StoreTest, KnowsACompletionWhoseAnswerWasLost) {
  const std::string bytes((16 << 20) + 1, 'x');
  ScriptParts(3);
  script_->ThenFails(ErrorCode::kUnavailable).Then(404, ErrorXml("NoSuchUpload"));
  script_->Then(200, "", {{"content-length", std::to_string(bytes.size())}});
  EXPECT_TRUE(store().Put("k", bytes));
  // Another size: it is not ours.
  ScriptParts(3);
  script_->Then(404, ErrorXml("NoSuchUpload")).Then(200, "", {{"content-length", "3"}}).Then(204);
  EXPECT_EQ(store().Put("k", bytes).error().code(), ErrorCode::kUnavailable);
}

TEST_F(S3StoreTest, AbortsAlsoWhenNobodyWaits) {
  const std::string bytes((16 << 20) + 1, 'x');
  std::stop_source stop;
  ScriptParts(1);
  script_->Then(204);
  script_->on_send = [&] {
    if (script_->sent.size() == 2) stop.request_stop();
  };
  // The transport ends a running call; a scripted one is asked before the next.
  const auto limited = store().Limited({.stop = stop.get_token()});
  script_->answers[1] = Error(ErrorCode::kUnavailable, "cancelled");
  const Status put = limited->Put("k", bytes);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(script_->sent.back().method, "DELETE");
}

TEST_F(S3StoreTest, PutsFromAFilePartByPart) {
  ScratchFolder folder;
  const std::string path = folder.path() + "/f";
  std::string bytes(20 << 20, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761u >> 13);
  std::ofstream(path, std::ios::binary) << bytes;
  const auto source = FileSource::Open(path);
  ASSERT_TRUE(source);
  ScriptParts(3);
  script_->Then(200, "<CompleteMultipartUploadResult/>");
  ASSERT_TRUE(store().PutFrom("k", *source));
  std::string sent;
  for (size_t i = 1; i <= 3; ++i) sent += script_->sent[i].body;
  EXPECT_TRUE(sent == bytes);
}

TEST(PartBytes, KeepsBelowTenThousandParts) {
  constexpr uint64_t kMiB = 1 << 20;
  EXPECT_EQ(PartBytes(17 * kMiB, 8 * kMiB), 8 * kMiB);
  EXPECT_EQ(PartBytes(80'000 * kMiB, 8 * kMiB), 8 * kMiB);
  EXPECT_EQ(PartBytes(80'000 * kMiB + 1, 8 * kMiB), 9 * kMiB);
  EXPECT_EQ(PartBytes(kMiB * kMiB * 5, 8 * kMiB), 525 * kMiB);  // S3's largest object
}

TEST_F(S3StoreTest, AbortsItsOwnOldUploads) {
  auto entry = [&](std::string key, std::string id, std::string time) {
    return "<Upload><Key>" + key + "</Key><UploadId>" + id + "</UploadId><Initiated>" + time +
           "</Initiated></Upload>";
  };
  script_->Then(200,
                "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>p/b"
                "</NextKeyMarker><NextUploadIdMarker>2</NextUploadIdMarker>" +
                    entry("p/mine", "1", "2025-11-20T00:00:00.000Z") +
                    entry("p/others", "2", "2025-11-20T00:00:00.000Z") +
                    "</ListMultipartUploadsResult>");
  script_->Then(204);
  script_->Then(200, "<ListMultipartUploadsResult>" +
                         entry("p/mine", "3", "2025-11-21T04:39:00.000Z") +  // a minute old
                         entry("mine", "4", "2025-11-20T00:00:00.000Z") +
                         "</ListMultipartUploadsResult>");
  const auto aborted = store().AbortUploads("mi", 1'763'700'000 - 3600);
  ASSERT_TRUE(aborted) << aborted.error().message();
  EXPECT_EQ(*aborted, 1u);
  EXPECT_THAT(script_->sent[0].url, HasSubstr("prefix=p%2Fmi"));
  EXPECT_EQ(script_->sent[1].url, "http://s3/bucket/p/mine?uploadId=1");
  EXPECT_THAT(script_->sent[2].url,
              AllOf(HasSubstr("key-marker=p%2Fb"), HasSubstr("upload-id-marker=2")));
}

// Which is another matter than a server that lists none.
TEST_F(S3StoreTest, AListingOfUploadsThatDoesNotGoOnIsCorrupt) {
  const std::string page =
      "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>p/b"
      "</NextKeyMarker><NextUploadIdMarker>2</NextUploadIdMarker></ListMultipartUploadsResult>";
  script_->Then(200, page);
  script_->Then(200, page);
  const auto aborted = store().AbortUploads("mi", 1'763'700'000);
  ASSERT_FALSE(aborted);
  EXPECT_EQ(aborted.error().code(), ErrorCode::kCorrupt);
  EXPECT_THAT(aborted.error().message(), HasSubstr("does not go on"));
}

}  // namespace
}  // namespace firetower::store::s3
