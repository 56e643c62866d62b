// SPDX-License-Identifier: Apache-2.0
// Which captures a question lists and reads, of many that are stored.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "store/access/metered_store.h"
#include "store/capture.h"
#include "store/query.h"
#include "store/retention.h"
#include "store/walk.h"
#include "tests/support/memory_store.h"
#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::kFirstWindow;
using ::firetower::testing::kSecondNs;
using ::firetower::testing::MemoryStore;
using ::firetower::testing::ProfileOf;
using ::firetower::testing::Row;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::Not;

class CaptureSearchTest : public ::testing::Test {
 protected:
  void Put(const std::string& space, const std::string& pod, const std::string& container,
           const std::string& type, int64_t start_s) {
    CatalogRow row = Row(space, pod, container, start_s);
    row.type = type;
    row.capture = "f00d";
    CaptureKey key{.cluster = "home",
                   .namespace_name = ToKeyComponent(space),
                   .pod = ToKeyComponent(pod),
                   .start_s = start_s,
                   .seconds = 60,
                   .container = ToKeyComponent(container),
                   .type = profile::ParseProfileType(type)->FileToken(),
                   .id = ProfileId(row)};
    ASSERT_TRUE(
        store_.Put(*BuildKey(key), *EncodeCapture(row, profile::EncodePprof(ProfileOf(row)))));
    rows_.push_back(std::move(row));
  }
  // Three pods in each of two namespaces, with two containers of two types, now and days ago.
  void PutMany() {
    for (const char* space : {"infra", "shop"}) {
      for (int pod = 0; pod < 3; ++pod) {
        for (const char* container : {"web", "sidecar"}) {
          for (const char* type : {"cpu", "event:page-faults"}) {
            for (const int64_t start_s : {kFirstWindow, kFirstWindow - 3 * kSecondsPerDay})
              Put(space, fmt::format("cart-{}", pod), container, type, start_s);
          }
        }
      }
    }
  }
  // "pod/container type start" of what the answer to `selector` has at kFirstWindow.
  std::vector<std::string> Ask(std::string_view selector, std::string_view type = "") {
    Query query{.selector = *profile::Selector::Parse(selector),
                .from_ns = kFirstWindow * kSecondNs,
                .to_ns = (kFirstWindow + 60) * kSecondNs};
    if (!type.empty()) query.type = *profile::ParseProfileType(type);
    const auto list = ListProfiles(metered_, query);
    EXPECT_TRUE(list) << list.error().message();
    EXPECT_EQ(list->skipped.total, 0u);
    return Named(list->rows);
  }
  std::vector<std::string> Stored(const std::function<bool(const CatalogRow& row)>& is_asked) {
    std::vector<CatalogRow> asked;
    for (const CatalogRow& row : rows_) {
      if (row.start_ns == kFirstWindow * kSecondNs && is_asked(row)) asked.push_back(row);
    }
    return Named(asked);
  }
  static std::vector<std::string> Named(const std::vector<CatalogRow>& rows) {
    std::vector<std::string> names;
    for (const CatalogRow& row : rows) {
      names.push_back(fmt::format("{}/{}/{} {} {}", row.namespace_name, row.pod, row.container,
                                  row.type, row.start_ns));
    }
    std::ranges::sort(names);
    return names;
  }
  uint64_t Calls(StoreOperation operation) const { return metered_.Count(operation).calls; }
  // One of bundles, and those of captures.
  uint64_t ListingsOfCaptures() const { return Calls(StoreOperation::kList) - 1; }

  MemoryStore store_;
  MeteredStore metered_{store_};
  std::vector<CatalogRow> rows_;
};

TEST_F(CaptureSearchTest, ReadsThoseAloneThatTheirKeysMakePossible) {
  PutMany();
  const std::vector<std::string> found =
      Ask("{namespace=\"shop\",pod=\"cart-1\",container=\"web\"}", "cpu");
  EXPECT_THAT(found, ElementsAreArray(Stored([](const CatalogRow& row) {
                return row.namespace_name == "shop" && row.pod == "cart-1" &&
                       row.container == "web" && row.type == "cpu";
              })));
  EXPECT_EQ(found.size(), 1u);
  EXPECT_EQ(Calls(StoreOperation::kGetRange), 1u);
  EXPECT_EQ(ListingsOfCaptures(), 1u);
  EXPECT_EQ(Calls(StoreOperation::kListFolders), 3u) << "one a class";
}

TEST_F(CaptureSearchTest, ReadsNoneOfAnotherType) {
  PutMany();
  const auto of_type = [](const char* type) {
    return [type](const CatalogRow& row) { return row.type == type; };
  };
  EXPECT_THAT(Ask("", "cpu"), ElementsAreArray(Stored(of_type("cpu"))));
  EXPECT_EQ(Calls(StoreOperation::kGetRange), 12u);
  EXPECT_EQ(ListingsOfCaptures(), 1u) << "of all pods";
  EXPECT_THAT(Ask("", "event:page-faults"), ElementsAreArray(Stored(of_type("event:page-faults"))));
  EXPECT_EQ(Calls(StoreOperation::kGetRange), 24u);
  EXPECT_THAT(Ask("", "lock"), IsEmpty());
  EXPECT_THAT(Ask("offcpu{}"), IsEmpty());
  EXPECT_EQ(Calls(StoreOperation::kGetRange), 24u);
}

// Rows decide where keys do not tell for certain.
TEST_F(CaptureSearchTest, LeavesOutNothingThatMayMatch) {
  PutMany();
  Put("shop", "Cart_0", "Web", "cpu", kFirstWindow);
  Put("shop", "cart-0", "Web", "cpu", kFirstWindow);
  Put("-", "-", "sshd.service", "cpu", kFirstWindow);
  const auto expect = [&](std::string_view selector,
                          const std::function<bool(const CatalogRow& row)>& is_asked) {
    EXPECT_THAT(Stored(is_asked), Not(IsEmpty())) << selector;
    EXPECT_THAT(Ask(selector), ElementsAreArray(Stored(is_asked))) << selector;
  };
  expect("", [](const CatalogRow&) { return true; });
  expect("{container=\"Web\"}", [](const CatalogRow& row) { return row.container == "Web"; });
  expect("{container=\"web\"}", [](const CatalogRow& row) { return row.container == "web"; });
  expect("{pod=\"Cart_0\"}", [](const CatalogRow& row) { return row.pod == "Cart_0"; });
  expect("{pod=\"cart-0\",namespace=\"shop\"}",
         [](const CatalogRow& row) { return row.pod == "cart-0" && row.namespace_name == "shop"; });
  expect("{pod=\"-\"}", [](const CatalogRow& row) { return row.pod == "-"; });
  expect("{namespace=~\"sho.\",container!=\"web\"}", [](const CatalogRow& row) {
    return row.namespace_name == "shop" && row.container != "web";
  });
  expect("{type=~\"event:.*\"}",
         [](const CatalogRow& row) { return row.type == "event:page-faults"; });
  expect("{type=\"event:page-faults\"}",
         [](const CatalogRow& row) { return row.type == "event:page-faults"; });
  expect("{workload=\"cart-2-workload\"}",
         [](const CatalogRow& row) { return row.pod == "cart-2"; });
}

// Far more than a page of what is before and behind the question's time; names that sort before,
// between and behind those of pods.
TEST_F(CaptureSearchTest, PassesOverWhatPodsHaveOfOtherTimes) {
  const auto fill = [&](const std::string& pod, int64_t first_s) {
    for (int i = 0; i < 2500; ++i) {
      CaptureKey key{.cluster = "home",
                     .namespace_name = "shop",
                     .pod = pod,
                     .start_s = first_s + 10 * i,
                     .seconds = 10,
                     .container = "web",
                     .type = "cpu",
                     .id = "0123456789ab"};
      ASSERT_TRUE(store_.Put(*BuildKey(key), "never read"));
    }
  };
  fill("web", kFirstWindow - 5 * kSecondsPerDay);
  fill("web-1", kFirstWindow + 3600);
  for (const char* pod : {"vault", "web", "web-0", "web-1", "web.2", "web0", "web1", "zoo"})
    Put("shop", pod, "web", "cpu", kFirstWindow);
  Put("infra", "web-1", "web", "cpu", kFirstWindow);
  const auto all = [](const CatalogRow&) { return true; };
  EXPECT_THAT(Ask("", "cpu"), ElementsAreArray(Stored(all)));
  EXPECT_EQ(Stored(all).size(), 9u);
  EXPECT_LE(ListingsOfCaptures(), 4u) << "six pages in all";
  EXPECT_EQ(Calls(StoreOperation::kGetRange), 9u);
  const uint64_t before = Calls(StoreOperation::kList);
  EXPECT_EQ(Ask("{namespace=\"shop\",pod=\"web-1\"}", "cpu").size(), 1u);
  EXPECT_EQ(Ask("{namespace=\"shop\",pod=\"web\"}", "cpu").size(), 1u);
  EXPECT_EQ(Calls(StoreOperation::kList) - before, 2u * 2) << "of bundles, and of captures";
  EXPECT_EQ(Ask("{pod=\"web-1\"}", "cpu").size(), 2u);
  EXPECT_EQ(Ask("{pod=\"web1\"}", "cpu").size(), 1u);
}

// A sweep walks like this.
TEST_F(CaptureSearchTest, AWalkFindsEachCaptureOnce) {
  PutMany();
  std::vector<std::string> walked, stored;
  ASSERT_TRUE(WalkObjects(store_, {.kinds = kAllKinds}, [&](const StoredObject& object) {
    walked.push_back(object.key);
    return OkStatus();
  }));
  for (const auto& [key, bytes] : store_.objects) stored.push_back(key);
  EXPECT_THAT(walked, ElementsAreArray(stored));
  size_t old = 0;
  const WalkRange range{.to_s = kFirstWindow, .cluster = "home", .kinds = kAllKinds};
  ASSERT_TRUE(WalkObjects(store_, range, [&](const StoredObject& object) {
    EXPECT_EQ(object.start_s, kFirstWindow - 3 * kSecondsPerDay);
    ++old;
    return OkStatus();
  }));
  EXPECT_EQ(old, 24u);
}

}  // namespace
}  // namespace firetower::store
