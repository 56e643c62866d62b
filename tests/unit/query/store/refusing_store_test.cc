// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "query/api.h"
#include "tests/support/memory_store.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A bucket that does not let us read it, or fails otherwise.
class RefusingStore : public firetower::testing::MemoryStore {
 public:
  explicit RefusingStore(Error refusal) : refusal_(std::move(refusal)) {}

  Result<std::vector<store::ObjectInfo>> List(std::string_view, std::string_view,
                                              size_t) const override {
    return Refusal();
  }
  Result<std::vector<std::string>> ListFolders(std::string_view) const override {
    return Refusal();
  }
  Result<std::string> GetRange(std::string_view, uint64_t, uint64_t) const override {
    return Refusal();
  }
  Result<store::ObjectTail> GetTail(std::string_view, uint64_t) const override { return Refusal(); }
  Result<uint64_t> Size(std::string_view) const override { return Refusal(); }

 private:
  Error Refusal() const { return refusal_; }

  const Error refusal_;
};

// Each question is answered 503, and why.
void ExpectUnavailable(const store::ObjectStore& store, const std::string& why) {
  constexpr const char* kId =
      "v1/standard/home/bundle/2026-07-01/09/1782899820-60/_/node-1-abcd1234.zip:shop/web-0/web/"
      "cpu";
  Fixture fixture({}, &store);
  const std::pair<const char*, net::NamedValues> questions[] = {
      {"profile", {}},
      {"profile", {{"id", kId}}},
      {"profiles", {}},
      {"diff", {{"base-from", "30m"}, {"base-to", "20m"}}},
      {"flame", {}},
      {"top", {}},
      {"top", {{"by", "functions"}}},
      {"series", {}},
      {"labels", {}},
      {"types", {}}};
  for (const auto& [path, params] : questions) {
    net::HttpRequest request;
    request.method = "GET";
    request.path = std::string("/api/v1/") + path;
    request.params = params;
    const net::HttpResponse response = fixture.api().Serve(request);
    EXPECT_EQ(response.status, 503) << path << ": " << response.body;
    EXPECT_THAT(response.body, AllOf(HasSubstr("the store "), HasSubstr(why))) << path;
  }
}

// 403 would mean that the caller lacks a right.
TEST(RefusingStore, IsNoFaultOfWhoeverAsks) {
  const RefusingStore store(Error(ErrorCode::kPermission, "AccessDenied: let the role read it"));
  ExpectUnavailable(store, "refuses its reader: AccessDenied");
}

// 400 and 422 would tell whoever asks that the question is wrong.
TEST(RefusingStore, WhoseBucketIsMissingIsNoFaultOfTheQuestion) {
  const RefusingStore store(Error(ErrorCode::kInvalid, "404 NoSuchBucket; create the bucket"));
  ExpectUnavailable(store, "cannot be read: 404 NoSuchBucket");
}

// A web server that is no store answers 404. "No data" would be believed.
TEST(RefusingStore, ThatIsNotFoundIsNotOneWithoutProfiles) {
  class NotThere : public RefusingStore {
   public:
    NotThere() : RefusingStore(Error(ErrorCode::kNotFound, "LIST: 404")) {}
    // Its page says more of what it is not.
    Result<store::ObjectTail> GetTail(std::string_view, uint64_t) const override {
      return Error(ErrorCode::kUnavailable, "the store cannot be read: GET: 404");
    }
  };
  ExpectUnavailable(NotThere(), "cannot be read: ");
}

}  // namespace
}  // namespace firetower::query
