// SPDX-License-Identifier: Apache-2.0
#include "store/s3/listing.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/s3/scripted_client.h"

namespace firetower::store::s3 {
namespace {

using ::firetower::testing::ErrorXml;
using ::firetower::testing::FakeHttpClient;
using ::firetower::testing::FixedCredentials;
using ::firetower::testing::Script;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::string Page(const std::vector<std::string>& keys, const std::string& more = "<KeyCount/>") {
  std::string xml = "<ListBucketResult>" + more;
  for (const std::string& key : keys) {
    xml += "<Contents><Key>" + key + "</Key><Size>3</Size></Contents>";
  }
  return xml + "</ListBucketResult>";
}
std::string More(const std::string& token) {
  return "<KeyCount/><IsTruncated>true</IsTruncated><NextContinuationToken>" + token +
         "</NextContinuationToken>";
}

class ListingTest : public ::testing::Test {
 protected:
  ListingTest()
      : client_([this] {
          Client::Parts parts{
              .config = {
                  .bucket = "bucket", .prefix = "p/", .endpoint = "http://s3", .path_style = true}};
          parts.transport = std::make_unique<FakeHttpClient>(script_);
          parts.credentials = std::make_unique<FixedCredentials>();
          return parts;
        }()),
        listing_(client_) {}

  std::vector<std::string> Keys(std::string_view prefix, std::string_view after = "",
                                size_t limit = 1000) {
    auto listed = listing_.Objects(prefix, after, limit, {});
    EXPECT_TRUE(listed) << listed.error().message();
    std::vector<std::string> keys;
    if (!listed) return keys;
    for (const ObjectInfo& info : *listed) keys.push_back(info.key);
    return keys;
  }

  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  Client client_;
  Listing listing_;
};

TEST_F(ListingTest, AsksForOnePageAndCutsThePrefixOff) {
  script_->Then(200, Page({"p/v1/a", "p/v1/b"}));
  EXPECT_THAT(Keys("v1/", "v1/0"), ElementsAre("v1/a", "v1/b"));
  EXPECT_THAT(
      script_->sent[0].url,
      AllOf(HasSubstr("http://s3/bucket?"), HasSubstr("list-type=2"), HasSubstr("prefix=p%2Fv1%2F"),
            HasSubstr("start-after=p%2Fv1%2F0"), HasSubstr("max-keys=1000")));
}

TEST_F(ListingTest, FollowsPagesUntilItHasEnough) {
  // A server may give less than it was asked for.
  script_->Then(200, Page({"p/a"}, More("t1"))).Then(200, Page({}, More("t2")));
  script_->Then(200, Page({"p/b", "p/c"}, More("t3")));
  EXPECT_THAT(Keys("", "", 3), ElementsAre("a", "b", "c"));
  EXPECT_THAT(script_->sent[1].url, HasSubstr("continuation-token=t1"));
  EXPECT_THAT(script_->sent[2].url,
              AllOf(HasSubstr("continuation-token=t2"), HasSubstr("max-keys=2")));
}

TEST_F(ListingTest, GoesOnBehindTheLastKeyWithoutAToken) {
  script_->Then(200, Page({"p/a"}, "<KeyCount/><IsTruncated>true</IsTruncated>"));
  script_->Then(200, Page({"p/b"}));
  EXPECT_THAT(Keys(""), ElementsAre("a", "b"));
  EXPECT_THAT(script_->sent[1].url, HasSubstr("start-after=p%2Fa"));
}

TEST_F(ListingTest, FallsBackToTheFirstVersion) {
  for (const auto& [status, body] :
       {std::pair(501, ErrorXml("NotImplemented")), std::pair(400, ErrorXml("InvalidArgument")),
        // It did not know list-type and start-after, and so begins at the beginning.
        std::pair(200, Page({"p/a", "p/b"}, "<Marker/>"))}) {
    Listing listing(client_);
    script_->sent.clear();
    script_->Then(status, body);
    script_->Then(200, Page({"p/c"}, "<Marker>p/b</Marker><IsTruncated>true</IsTruncated>"));
    script_->Then(200, Page({"p/d"}, "<Marker>p/c</Marker>"));
    auto listed = listing.Objects("", "b", 1000, {});
    ASSERT_TRUE(listed) << listed.error().message();
    ASSERT_THAT(*listed, SizeIs(2));
    EXPECT_EQ((*listed)[1].key, "d");
    EXPECT_THAT(script_->sent[1].url,
                AllOf(HasSubstr("marker=p%2Fb"), Not(HasSubstr("list-type"))));
    EXPECT_THAT(script_->sent[2].url, HasSubstr("marker=p%2Fc"));
    // It remembers.
    script_->Then(200, Page({}, "<Marker/>"));
    EXPECT_TRUE(listing.Objects("", "", 1, {}));
    EXPECT_THAT(script_->sent, SizeIs(4));
  }
}

TEST_F(ListingTest, ReadsKeysThatXmlCannotHold) {
  script_->Then(200, Page({"p/a%00+%2B%C3%A4"}, "<KeyCount/><EncodingType>url</EncodingType>"));
  EXPECT_THAT(Keys(""), ElementsAre(std::string("a\0 +\xC3\xA4", 6)));
  // Not encoded, where the server does not say so.
  script_->Then(200, Page({"p/a%00+&amp;"}));
  EXPECT_THAT(Keys(""), ElementsAre("a%00+&"));
}

TEST_F(ListingTest, PassesOverWhatConsolesMakeForFolders) {
  script_->Then(200,
                "<ListBucketResult><KeyCount/><Contents><Key>p/v1/</Key><Size>0</Size></Contents>"
                "<Contents><Key>p/v1/a</Key><Size>7</Size></Contents></ListBucketResult>");
  EXPECT_THAT(Keys(""), ElementsAre("v1/a"));
}

TEST_F(ListingTest, RefusesAnOrderThatIsNone) {
  script_->Then(200, Page({"p/b", "p/a"}));
  EXPECT_EQ(listing_.Objects("", "", 10, {}).error().code(), ErrorCode::kUnsupported);
  script_->Then(200, Page({"q/a"}));
  EXPECT_EQ(listing_.Objects("", "", 10, {}).error().code(), ErrorCode::kUnsupported);
}

TEST_F(ListingTest, EndsOnAServerThatDoesNot) {
  script_->on_send = [&] { script_->Then(200, Page({"p/a"}, More("again"))); };
  script_->Then(200, Page({"p/a"}, More("again")));
  EXPECT_EQ(listing_.Objects("", "", 10, {}).error().code(), ErrorCode::kUnsupported);
  script_->answers.clear();
  script_->on_send = [&] { script_->Then(200, Page({}, More("other"))); };
  script_->Then(200, Page({}, More("again")));
  EXPECT_EQ(listing_.Objects("", "", 10, {}).error().code(), ErrorCode::kUnsupported);
  script_->answers.clear();
  script_->Then(200, Page({}, More("again")));
  EXPECT_EQ(listing_.Folders("", {}).error().code(), ErrorCode::kUnsupported);
}

TEST_F(ListingTest, FindsFolders) {
  const std::string first = "<KeyCount/><CommonPrefixes><Prefix>p/v1/a/</Prefix></CommonPrefixes>";
  script_->Then(200, "<ListBucketResult>" + first + More("t") + "</ListBucketResult>");
  script_->Then(200,
                "<ListBucketResult><KeyCount/><CommonPrefixes><Prefix>p/v1/b/</Prefix>"
                "</CommonPrefixes></ListBucketResult>");
  EXPECT_THAT(*listing_.Folders("v1/", {}), ElementsAre("a", "b"));
  EXPECT_THAT(script_->sent[0].url,
              AllOf(HasSubstr("delimiter=%2F"), HasSubstr("prefix=p%2Fv1%2F")));
}

TEST_F(ListingTest, FindsFoldersInTheFirstVersion) {
  script_->Then(501, ErrorXml("NotImplemented"));
  script_->Then(200,
                "<ListBucketResult><Marker/><IsTruncated>true</IsTruncated>"
                "<NextMarker>p/v1/a/</NextMarker><CommonPrefixes><Prefix>p/v1/a/</Prefix>"
                "</CommonPrefixes></ListBucketResult>");
  script_->Then(200,
                "<ListBucketResult><Marker>p/v1/a/</Marker><CommonPrefixes><Prefix>p/v1/b/</Prefix>"
                "</CommonPrefixes></ListBucketResult>");
  EXPECT_THAT(*listing_.Folders("v1/", {}), ElementsAre("a", "b"));
  EXPECT_THAT(script_->sent[2].url, HasSubstr("marker=p%2Fv1%2Fa%2F"));
}

TEST_F(ListingTest, SaysWhyItWasRefused) {
  script_->Then(403, ErrorXml("AccessDenied"));
  EXPECT_EQ(listing_.Objects("", "", 10, {}).error().code(), ErrorCode::kPermission);
  script_->Then(404, ErrorXml("NoSuchBucket"));
  EXPECT_EQ(listing_.Objects("", "", 10, {}).error().code(), ErrorCode::kInvalid);
  script_->Then(400, ErrorXml("InvalidBucketName"));
  EXPECT_EQ(listing_.Objects("", "", 10, {}).error().code(), ErrorCode::kInvalid);
  script_->Then(200, "<html>welcome</html>");
  EXPECT_EQ(listing_.Objects("", "", 10, {}).error().code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace firetower::store::s3
