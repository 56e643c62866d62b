// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/store_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace firetower::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

StoreFacts Bucket() {
  StoreFacts facts{.url = "s3://profiles/"};
  facts.folder = false;
  facts.spool = "/var/spool";
  return facts;
}

// The check of a bucket that can be listed and answered the last upload so.
Check AfterUpload(const Error& error) {
  StoreFacts facts = Bucket();
  facts.puts.failed_ago_s = 12;
  facts.puts.error = error;
  return StoreCheck(facts);
}

TEST(StoreCheck, NamesDamagedObjectsOfAFolder) {
  EXPECT_EQ(StoreCheck({.url = "file:///s"}).status, CheckStatus::kOk);
  StoreFacts facts{.url = "file:///s"};
  facts.damaged = {"a.zip", "b.zip", "c.zip", "d.zip"};
  const Check check = StoreCheck(facts);
  EXPECT_EQ(check.status, CheckStatus::kWarn);
  EXPECT_EQ(check.message, "file:///s: 4 damaged and not served: a.zip, b.zip, c.zip and 1 more");
}

TEST(StoreCheck, TellsOfAClockThatIsOffByMoreThanAMinute) {
  StoreFacts facts = Bucket();
  for (const int64_t skew_s : {0, 60, -60}) {
    facts.skew_s = skew_s;
    EXPECT_EQ(StoreCheck(facts).status, CheckStatus::kOk) << skew_s;
  }
  facts.skew_s = 61;
  EXPECT_THAT(StoreCheck(facts).message, HasSubstr("61 s ahead of this machine's"));
  facts.skew_s = -61;
  EXPECT_THAT(StoreCheck(facts).message, HasSubstr("61 s behind this machine's"));
  EXPECT_EQ(StoreCheck(facts).status, CheckStatus::kWarn);
}

TEST(StoreCheck, OfAFolderFreesSpaceOnlyWhereThatIsMissing) {
  StoreFacts facts{.url = "file:///s"};
  facts.error = ErrnoError("write /s/x", ENOSPC);
  EXPECT_EQ(StoreCheck(facts).message,
            "file:///s cannot be written: write /s/x: No space left on device");
  EXPECT_THAT(StoreCheck(facts).fix, HasSubstr("free space"));
  facts.error = ErrnoError("write /s/x", EACCES);
  EXPECT_THAT(StoreCheck(facts).fix, HasSubstr("right to write to file:///s"));
  EXPECT_THAT(StoreCheck(facts).fix, Not(HasSubstr("space")));
  facts.error = ErrnoError("write /s/x", EROFS);
  EXPECT_THAT(StoreCheck(facts).fix, HasSubstr("right to write"));
}

TEST(StoreCheck, OfABucketClaimsNothingThatNobodyLookedAt) {
  StoreFacts facts = Bucket();
  const Check unknown = StoreCheck(facts);
  EXPECT_EQ(unknown.status, CheckStatus::kOk);
  EXPECT_EQ(unknown.message,
            "s3://profiles/ can be listed; nothing was uploaded since the start, so it is unknown "
            "whether uploads work; its objects are not read here");
  facts.puts.succeeded_ago_s = 90;
  EXPECT_THAT(StoreCheck(facts).message, HasSubstr("the last upload succeeded 1m30s ago"));
  EXPECT_EQ(StoreCheck(facts).status, CheckStatus::kOk);
}

TEST(StoreCheck, KeysThatMayNotListButWriteAreNoFailure) {
  StoreFacts facts = Bucket();
  facts.error = Error(ErrorCode::kPermission, "s3://profiles/: GET: 403 AccessDenied");
  EXPECT_EQ(StoreCheck(facts).status, CheckStatus::kFail);
  EXPECT_THAT(StoreCheck(facts).message, HasSubstr("cannot be listed: s3://profiles/: GET: 403"));
  facts.puts.succeeded_ago_s = 3;
  EXPECT_EQ(StoreCheck(facts).status, CheckStatus::kWarn);
  EXPECT_THAT(StoreCheck(facts).fix, HasSubstr("s3:ListBucket"));
}

TEST(StoreCheck, TellsWhenAnUploadSucceededBeforeTheOneThatFailed) {
  StoreFacts facts = Bucket();
  facts.puts = {.succeeded_ago_s = 3600, .failed_ago_s = 5};
  facts.puts.error = Error(ErrorCode::kUnavailable, "s3://profiles/k: PUT: 503 SlowDown");
  EXPECT_EQ(StoreCheck(facts).message,
            "s3://profiles/: the last upload failed 5s ago: s3://profiles/k: PUT: 503 SlowDown; "
            "the last success was 1h ago; it can be listed");
}

TEST(StoreCheck, WhatMendsItFitsWhatTheStoreSays) {
  const std::string key = "s3://no-credentials-proxy/v1/k.zip: PUT: ";
  const auto fix = [&](ErrorCode code, const std::string& words) {
    const Check check = AfterUpload(Error(code, key + words));
    EXPECT_EQ(check.status, CheckStatus::kFail);
    EXPECT_THAT(check.message, HasSubstr(words));
    EXPECT_THAT(check.fix, Not(HasSubstr("free space"))) << words;
    return check.fix;
  };
  EXPECT_THAT(fix(ErrorCode::kPermission, "403 AccessDenied: Access Denied."),
              HasSubstr("s3:PutObject"));
  EXPECT_THAT(fix(ErrorCode::kPermission, "403; let the file /ak do this, and check its keys"),
              HasSubstr("s3:PutObject"));
  EXPECT_THAT(fix(ErrorCode::kInvalid, "404 NoSuchBucket: no bucket"),
              HasSubstr("create the bucket"));
  EXPECT_THAT(fix(ErrorCode::kPermission, "403 SignatureDoesNotMatch: x; or a proxy changes it"),
              HasSubstr("keys of the bucket"));
  EXPECT_THAT(fix(ErrorCode::kPermission, "403 InvalidAccessKeyId: who?"),
              HasSubstr("keys of the bucket"));
  EXPECT_THAT(fix(ErrorCode::kUnavailable, "PUT http://s3.local: Could not resolve host: s3.local"),
              HasSubstr("DNS"));
  EXPECT_THAT(fix(ErrorCode::kUnavailable, "PUT http://h:9: Failed to connect to h port 9"),
              HasSubstr("option endpoint"));
  EXPECT_THAT(fix(ErrorCode::kPermission, "PUT https://h: SSL certificate problem: unable to get"),
              HasSubstr("ca-file"));
  EXPECT_THAT(fix(ErrorCode::kUnavailable, "PUT https://h: SSL routines::wrong version number"),
              HasSubstr("http://"));
  EXPECT_THAT(fix(ErrorCode::kPermission, "PUT https://h: CONNECT tunnel failed; let the proxy"),
              HasSubstr("option proxy"));
  EXPECT_THAT(fix(ErrorCode::kExhausted, "507 InsufficientStorage"), HasSubstr("in the store"));
}

TEST(StoreCheck, NamesTheOptionsOfAFileThatCannotBeRead) {
  const Check check = AfterUpload(ErrnoError("s3://profiles/k: PUT: open /keys/sk", ENOENT));
  EXPECT_THAT(check.message, HasSubstr("open /keys/sk: No such file"));
  EXPECT_THAT(check.fix, HasSubstr("secret-key-file"));
}

TEST(StoreCheck, ASpoolOnAFullDiskIsNotTheBucketsFault) {
  StoreFacts facts = Bucket();
  facts.spooled.error = ErrnoError("spool: write /var/spool/x", ENOSPC);
  const Check check = StoreCheck(facts);
  EXPECT_EQ(check.status, CheckStatus::kFail);
  EXPECT_THAT(check.message, HasSubstr("the spool /var/spool accepts no profiles: "));
  EXPECT_EQ(check.fix, "free space on the disk of /var/spool");
}

TEST(StoreCheck, TellsWhatTheSpoolDroppedAndWhatFullDiskItWas) {
  StoreFacts facts = Bucket();
  facts.puts.succeeded_ago_s = 1;
  facts.dropped = {42, 60, ErrnoError("the disk of the spool is full: write /var/spool/x", ENOSPC)};
  const Check disk = StoreCheck(facts);
  EXPECT_EQ(disk.status, CheckStatus::kWarn);
  EXPECT_THAT(disk.message, HasSubstr("the spool /var/spool dropped 42 profiles since the start, "
                                      "the last 1m ago: the disk of the spool is full: "));
  EXPECT_THAT(disk.fix, HasSubstr("free space on the disk of /var/spool"));
  facts.dropped.reason = Error(ErrorCode::kExhausted, "the spool is full");
  EXPECT_THAT(StoreCheck(facts).fix, HasSubstr("--spool-bytes"));
  facts.dropped.ago_s = 3601;
  EXPECT_EQ(StoreCheck(facts).status, CheckStatus::kOk) << "an hour ago";
}

}  // namespace
}  // namespace firetower::daemon
