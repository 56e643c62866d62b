// SPDX-License-Identifier: Apache-2.0
// The documents are the examples of the Amazon S3 and STS API references, shortened.
#include "store/s3/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace firetower::store::s3 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kList = R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
    <Name>quotes</Name>
    <Prefix>E</Prefix>
    <StartAfter>ExampleGuide.pdf</StartAfter>
    <KeyCount>1</KeyCount>
    <MaxKeys>3</MaxKeys>
    <IsTruncated>true</IsTruncated>
    <NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>
    <Contents>
        <Key>ExampleObject.txt</Key>
        <LastModified>2013-09-17T18:07:53.000Z</LastModified>
        <ETag>&quot;599bab3ed2c697f1d26842727561fd94&quot;</ETag>
        <Size>857</Size>
        <StorageClass>REDUCED_REDUNDANCY</StorageClass>
    </Contents>
    <CommonPrefixes>
        <Prefix>photos/</Prefix>
    </CommonPrefixes>
</ListBucketResult>)";

constexpr std::string_view kUploads = R"(<?xml version="1.0" encoding="UTF-8"?>
<ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Bucket>bucket</Bucket>
  <NextKeyMarker>my-movie.m2ts</NextKeyMarker>
  <NextUploadIdMarker>YW55IGlkZWEgd2h5IGVsdmluZydzIHVwbG9hZCBmYWlsZWQ</NextUploadIdMarker>
  <MaxUploads>3</MaxUploads>
  <IsTruncated>true</IsTruncated>
  <Upload>
    <Key>my-divisor</Key>
    <UploadId>XMgbGlrZSBlbHZpbmcncyBub3QgaGF2aW5nIG11Y2ggbHVjaw</UploadId>
    <StorageClass>STANDARD</StorageClass>
    <Initiated>2010-11-10T20:48:33.000Z</Initiated>
  </Upload>
</ListMultipartUploadsResult>)";

constexpr std::string_view kRole = R"(
<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult>
    <Credentials>
      <SessionToken>AQoDYXdzEE0a8ANXXXXXXXXNO1ewxE5TijQyp+IEXAMPLE</SessionToken>
      <SecretAccessKey>wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY</SecretAccessKey>
      <Expiration>2014-10-24T23:00:23Z</Expiration>
      <AccessKeyId>ASgeIAIOSFODNN7EXAMPLE</AccessKeyId>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>)";

constexpr std::string_view kError = R"(<?xml version="1.0" encoding="UTF-8"?>
<Error>
  <Code>AuthorizationHeaderMalformed</Code>
  <Message>The authorization header is malformed; the region 'us-east-1' is wrong; expecting
 'eu-west-1'</Message>
  <Region>eu-west-1</Region>
  <RequestId>4442587FB7D0A2F9</RequestId>
</Error>)";

TEST(S3Messages, ReadsAListing) {
  const auto page = ParseListPage(kList);
  ASSERT_TRUE(page);
  ASSERT_THAT(page->objects, SizeIs(1));
  EXPECT_EQ(page->objects[0].key, "ExampleObject.txt");
  EXPECT_EQ(page->objects[0].size, 857u);
  EXPECT_THAT(page->prefixes, ElementsAre("photos/"));
  EXPECT_TRUE(page->truncated);
  EXPECT_EQ(page->continuation, "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=");
  EXPECT_FALSE(page->is_version_1);
}

TEST(S3Messages, ReadsErrors) {
  const ErrorBody error = ParseError(kError);
  EXPECT_EQ(error.code, "AuthorizationHeaderMalformed");
  EXPECT_EQ(error.region, "eu-west-1");
  EXPECT_THAT(error.message, HasSubstr("expecting  'eu-west-1'"));  // on one line
  EXPECT_TRUE(IsErrorBody(kError));
  EXPECT_FALSE(IsErrorBody(kList));
  EXPECT_TRUE(IsErrorBody("<!-- late --><Error ><Code>SlowDown</Code></Error>"));
  EXPECT_FALSE(IsErrorBody("<ListBucketResult><Error/></ListBucketResult>"));
  EXPECT_FALSE(IsErrorBody("<Errors/>"));
  const ErrorBody sts = ParseError(
      "<ErrorResponse><Error><Type>Sender</Type><Code>InvalidIdentityToken</Code>"
      "<Message>No</Message></Error></ErrorResponse>");
  EXPECT_EQ(sts.code, "InvalidIdentityToken");
  for (const char* other : {"", "502 Bad Gateway", "<html><body>502</body></html>", "<Error>"}) {
    EXPECT_EQ(ParseError(other).code, "") << other;
  }
}

TEST(S3Messages, KeepsErrorsToAPrintableLine) {
  const std::string xml =
      "<Error><Code>A&#10;B</Code><Message>" + std::string(5000, 'x') + "</Message></Error>";
  EXPECT_EQ(ParseError(xml).code, "A B");
  EXPECT_THAT(ParseError(xml).message, SizeIs(300));
}

TEST(S3Messages, ReadsTheRest) {
  EXPECT_EQ(*ParseUploadId("<InitiateMultipartUploadResult><UploadId>VXBs</UploadId>"
                           "</InitiateMultipartUploadResult>"),
            "VXBs");
  EXPECT_TRUE(ParseCompleted("<?xml version=\"1.0\"?>\n\n   <CompleteMultipartUploadResult/>"));
  EXPECT_FALSE(ParseCompleted(kError));
  const auto uploads = ParsePendingUploads(kUploads);
  ASSERT_TRUE(uploads);
  ASSERT_THAT(uploads->uploads, SizeIs(1));
  EXPECT_EQ(uploads->uploads[0].key, "my-divisor");
  EXPECT_EQ(uploads->uploads[0].initiated_s, 1289422113);  // date -d 2010-11-10T20:48:33Z +%s
  EXPECT_TRUE(uploads->truncated);
  EXPECT_EQ(uploads->next_key, "my-movie.m2ts");
  const auto role = ParseAssumedRole(kRole);
  ASSERT_TRUE(role);
  EXPECT_EQ(role->access_key_id, "ASgeIAIOSFODNN7EXAMPLE");
  EXPECT_EQ(role->expiration, "2014-10-24T23:00:23Z");
}

// From the API reference of DeleteObjects.
constexpr std::string_view kDeleted =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
    "<DeleteResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    "<Deleted><Key>sample1.txt</Key></Deleted><Error><Key>sample2.txt</Key>"
    "<Code>AccessDenied</Code><Message>Access Denied</Message></Error></DeleteResult>";

TEST(S3Messages, ReadsWhatCameOfDeletions) {
  const auto answer = ParseDeleteAnswer(kDeleted);
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->deleted, ElementsAre("sample1.txt"));
  ASSERT_THAT(answer->failed, SizeIs(1));
  EXPECT_EQ(answer->failed[0].key, "sample2.txt");
  EXPECT_EQ(answer->failed[0].code, "AccessDenied");
  const auto odd = ParseDeleteAnswer(
      "<DeleteResult><Error><Key>a</Key><Code>the key is SECRET/VALUE</Code></Error>"
      "<Error><Key>b</Key></Error></DeleteResult>");
  ASSERT_TRUE(odd);
  for (const auto& failure : odd->failed) EXPECT_EQ(failure.code, "InternalError");
  for (const char* bad : {"<DeleteResult><Deleted/></DeleteResult>", "<Deleted/>", "",
                          "<DeleteResult><Error><Code>X</Code></Error></DeleteResult>"}) {
    EXPECT_FALSE(ParseDeleteAnswer(bad)) << bad;
  }
  for (size_t length = 0; length < kDeleted.size(); ++length) {
    EXPECT_FALSE(ParseDeleteAnswer(kDeleted.substr(0, length))) << length;
    std::string damaged(kDeleted);
    damaged[length] ^= 0x14;
    (void)ParseDeleteAnswer(damaged);
  }
}

TEST(S3Messages, WritesDeletions) {
  EXPECT_EQ(DeleteBody({"a/b.zip", "c<&>\"'d"}),
            "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            "<Object><Key>a/b.zip</Key></Object><Object><Key>c&lt;&amp;&gt;\"'d</Key></Object>"
            "</Delete>");
}

TEST(S3Messages, WritesACompletion) {
  EXPECT_EQ(CompleteBody({{.etag = "\"a&<b\""}, {.etag = "x", .crc32c = "4waSgw=="}}),
            "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            "<Part><PartNumber>1</PartNumber><ETag>\"a&amp;&lt;b\"</ETag></Part>"
            "<Part><PartNumber>2</PartNumber><ETag>x</ETag>"
            "<ChecksumCRC32C>4waSgw==</ChecksumCRC32C></Part></CompleteMultipartUpload>");
}

TEST(S3Messages, RefusesWhatIsIncomplete) {
  for (const char* entry :
       {"<Contents><Size>1</Size></Contents>", "<Contents><Key>a</Key></Contents>",
        "<Contents><Key>a</Key><Size>-1</Size></Contents>",
        "<Contents><Key>a</Key><Size>99999999999999999999</Size></Contents>",
        "<EncodingType>url</EncodingType><Contents><Key>%</Key><Size>1</Size></Contents>"}) {
    EXPECT_FALSE(ParseListPage("<ListBucketResult>" + std::string(entry) + "</ListBucketResult>"))
        << entry;
  }
  EXPECT_FALSE(ParseUploadId("<InitiateMultipartUploadResult/>"));
}

// Every prefix of each document, and each with one byte turned: an answer or an error, and of a
// truncated document never an answer.
TEST(S3Messages, EndsOnEveryTruncatedOrDamagedInput) {
  for (const std::string_view whole : {kList, kUploads, kRole, kError}) {
    for (size_t length = 0; length < whole.size(); ++length) {
      const std::string_view part = whole.substr(0, length);
      EXPECT_FALSE(ParseListPage(part));
      EXPECT_FALSE(ParsePendingUploads(part));
      EXPECT_FALSE(ParseAssumedRole(part));
      EXPECT_THAT(ParseError(part).code, IsEmpty());
      std::string damaged(whole);
      damaged[length] ^= 0x14;
      (void)ParseListPage(damaged);
      (void)ParsePendingUploads(damaged);
      (void)ParseAssumedRole(damaged);
      (void)ParseError(damaged);
    }
  }
}

TEST(S3Messages, GrowsByNoEntity) {
  std::string xml = "<!DOCTYPE x [<!ENTITY a0 \"ha\">";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "&a" + std::to_string(i - 1) + ";";
    xml += "<!ENTITY a" + std::to_string(i) + " \"" + before + before + "\">";
  }
  xml += "]><Error><Code>&a29;</Code></Error>";
  EXPECT_EQ(ParseError(xml).code, "&a29;");
}

TEST(S3Messages, StandsAnyDepth) {
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "<a>";
  EXPECT_FALSE(ParseListPage(deep));
  for (int i = 0; i < 1'000'000; ++i) deep += "</a>";
  EXPECT_FALSE(ParseListPage(deep));
}

}  // namespace
}  // namespace firetower::store::s3
