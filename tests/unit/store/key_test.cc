// SPDX-License-Identifier: Apache-2.0
#include "store/key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::store {
namespace {

using ::testing::HasSubstr;

BundleKey Bundle() {
  return {.retention = RetentionClass::kStandard,
          .cluster = "home",
          .start_s = 1'763'700'000,
          .seconds = 60,
          .scope = "_",
          .node = "ip-10-0-0-1.internal",
          .run = "a1b2c3d4"};
}
CaptureKey Capture() {
  return {.retention = RetentionClass::kLong,
          .cluster = "home",
          .namespace_name = "shop",
          .pod = "checkout-7d9f-x2",
          .start_s = 1'763'700'000,
          .seconds = 30,
          .container = "side-car",
          .type = "event.page_faults",
          .id = "0123456789ab"};
}

CatalogKey Catalog() {
  CatalogKey key;
  key.retention = RetentionClass::kShort;
  key.cluster = "home";
  key.start_s = 1'763'700'000;
  key.seconds = 300;
  key.shard = 3;
  key.shards = 16;
  key.hash = "0123456789abcdef";
  return key;
}

TEST(Key, OfCatalogsHasTheDocumentedLayout) {
  const std::string folder = "v1/short/home/catalog/2025-11-21/04/1763700000-300/";
  CatalogKey key = Catalog();
  EXPECT_EQ(*BuildKey(key), folder + "3of16-0123456789abcdef.ndjson.gz");
  key.part = CatalogPart::kLateRows;
  EXPECT_EQ(*BuildKey(key), folder + "late-3of16-0123456789abcdef.ndjson.gz");
  key.part = CatalogPart::kBundles;
  EXPECT_EQ(*BuildKey(key), folder + "bundles-0123456789abcdef.gz");
}

TEST(Key, OfCatalogsComesBackTheSame) {
  for (const CatalogPart part : {CatalogPart::kRows, CatalogPart::kLateRows}) {
    CatalogKey key = Catalog();
    key.part = part;
    const auto parsed = ParseCatalogKey(*BuildKey(key));
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(*parsed, key);
  }
  CatalogKey bundles = Catalog();
  bundles.part = CatalogPart::kBundles;
  bundles.shard = 0;
  bundles.shards = 1;
  EXPECT_EQ(*ParseCatalogKey(*BuildKey(bundles)), bundles);
}

TEST(Key, OfCatalogsIsRefusedInAnyOtherSpelling) {
  const std::string folder = "v1/short/home/catalog/2025-11-21/04/1763700000-300/";
  for (const char* name :
       {"3of16-0123456789abcdef.ndjson", "3of16-0123456789ABCDEF.ndjson.gz",
        "03of16-0123456789abcdef.ndjson.gz", "3of16-0123456789abcde.ndjson.gz",
        "16of16-0123456789abcdef.ndjson.gz", "0of3-0123456789abcdef.ndjson.gz",
        "0of8192-0123456789abcdef.ndjson.gz", "-1of16-0123456789abcdef.ndjson.gz",
        "4294967299of16-0123456789abcdef.ndjson.gz", "3 16-0123456789abcdef.ndjson.gz", "3o", "3of",
        "late-.gz", "bundles-.gz", ".gz", "bundles-0123456789abcdef.ndjson.gz",
        "late-bundles-0123456789abcdef.gz"}) {
    EXPECT_FALSE(ParseCatalogKey(folder + name)) << name;
  }
  const std::string name = "3of16-0123456789abcdef.ndjson.gz";
  EXPECT_TRUE(ParseCatalogKey(folder + name));
  EXPECT_FALSE(ParseCatalogKey("v1/short/home/catalog/2025-11-21/05/1763700000-300/" + name));
  EXPECT_FALSE(ParseCatalogKey("v1/short/home/catalogs/2025-11-21/04/1763700000-300/" + name));
  EXPECT_FALSE(ParseCatalogKey("v2/short/home/catalog/2025-11-21/04/1763700000-300/" + name));
}

TEST(Key, HasTheDocumentedLayout) {
  // date -u -d @1763700000: 2025-11-21 04:40:00
  EXPECT_EQ(*BuildKey(Bundle()),
            "v1/standard/home/bundle/2025-11-21/04/1763700000-60/_/"
            "ip-10-0-0-1.internal-a1b2c3d4.zip");
  EXPECT_EQ(*BuildKey(Capture()),
            "v1/long/home/capture/shop/checkout-7d9f-x2/2025-11-21/"
            "1763700000-30-side-car-event.page_faults-0123456789ab.pb.gz");
}

TEST(Key, ComesBackTheSame) {
  for (int64_t start : {int64_t{0}, int64_t{59}, int64_t{1'763'700'000}, kMaxStartSeconds}) {
    for (const char* name : {"a", "a-b", "node.with.dots", "-", "0"}) {
      BundleKey bundle = Bundle();
      bundle.start_s = start;
      bundle.node = name;
      auto parsed = ParseBundleKey(*BuildKey(bundle));
      ASSERT_TRUE(parsed) << parsed.error().message();
      EXPECT_EQ(*parsed, bundle);
      CaptureKey capture = Capture();
      capture.start_s = start;
      capture.container = name;
      capture.namespace_name = name;
      auto parsed_capture = ParseCaptureKey(*BuildKey(capture));
      ASSERT_TRUE(parsed_capture) << parsed_capture.error().message();
      EXPECT_EQ(*parsed_capture, capture);
    }
  }
}

TEST(Key, SortsInTimeOrder) {
  BundleKey early = Bundle();
  BundleKey late = Bundle();
  for (int64_t start : {int64_t{9}, int64_t{3'599}, int64_t{86'399}, int64_t{999'999'999}}) {
    early.start_s = start;
    late.start_s = start + 1;
    EXPECT_LT(*BuildKey(early), *BuildKey(late)) << start;
  }
}

TEST(Key, OfATimeHasWhatIsCommonToItsBundles) {
  constexpr int64_t kFive = 1'763'701'200;  // 2025-11-21 05:00:00 UTC
  EXPECT_EQ(CommonTimePath(kFive, kFive + 1), "2025-11-21/05/1763701200");
  EXPECT_EQ(CommonTimePath(kFive, kFive + 100), "2025-11-21/05/17637012");
  EXPECT_EQ(CommonTimePath(kFive, kFive + 3600), "2025-11-21/05/176370");
  EXPECT_EQ(CommonTimePath(kFive, kFive + 3601), "2025-11-21/0");
  EXPECT_EQ(CommonTimePath(kFive, kFive + 86'400), "2025-11-2");
  EXPECT_EQ(CommonTimePath(0, kMaxStartSeconds + 1), "");
  EXPECT_EQ(CommonTimePath(kFive, 0), "2025-11-21/05/1763701200") << "an empty time";
}

TEST(Key, RefusesWhatCannotStandInIt) {
  auto error = [](auto change) {
    BundleKey key = Bundle();
    change(key);
    auto built = BuildKey(key);
    return built ? *built : built.error().message();
  };
  EXPECT_THAT(error([](BundleKey& k) { k.node = "Upper"; }), HasSubstr("node \"Upper\" must be"));
  EXPECT_THAT(error([](BundleKey& k) { k.node = "a/b"; }), HasSubstr("must be"));
  EXPECT_THAT(error([](BundleKey& k) { k.cluster = ".."; }), HasSubstr("cluster"));
  EXPECT_THAT(error([](BundleKey& k) { k.cluster = ""; }), HasSubstr("cluster"));
  EXPECT_THAT(error([](BundleKey& k) { k.run = "short"; }), HasSubstr("must be 8"));
  EXPECT_THAT(error([](BundleKey& k) { k.start_s = -1; }), HasSubstr("start -1"));
  EXPECT_THAT(error([](BundleKey& k) { k.seconds = 3601; }), HasSubstr("at most 3600"));
  CaptureKey capture = Capture();
  capture.type = "page-faults";
  EXPECT_FALSE(BuildKey(capture));
  capture = Capture();
  capture.id = "0123456789aG";
  EXPECT_FALSE(BuildKey(capture));
}

TEST(Key, ReadsOnlyTheCanonicalSpelling) {
  std::string key = *BuildKey(Bundle());
  for (size_t length = 0; length < key.size(); ++length) {
    EXPECT_FALSE(ParseBundleKey(key.substr(0, length))) << length;
  }
  EXPECT_FALSE(
      ParseBundleKey("v1/standard/home/bundle/2025-11-22/04/1763700000-60/_/n-a1b2c3d4.zip"));
  EXPECT_FALSE(
      ParseBundleKey("v1/standard/home/bundle/2025-11-21/05/1763700000-60/_/n-a1b2c3d4.zip"));
  EXPECT_FALSE(
      ParseBundleKey("v1/standard/home/bundle/2025-11-21/04/1763700000-060/_/n-a1b2c3d4.zip"));
  EXPECT_FALSE(
      ParseBundleKey("v2/standard/home/bundle/2025-11-21/04/1763700000-60/_/n-a1b2c3d4.zip"));
  EXPECT_FALSE(ParseBundleKey(*BuildKey(Capture())));
  EXPECT_FALSE(ParseCaptureKey(key));
}

TEST(Key, MakesAComponentOfAnyText) {
  EXPECT_EQ(ToKeyComponent("NetworkManager.service"), "networkmanager.service");
  EXPECT_EQ(ToKeyComponent("user@1000.service"), "user-1000.service");
  EXPECT_EQ(ToKeyComponent(""), "-");
  for (const char* text : {"..", ".hidden", "a..b", "a/b", "\xC3\xA9", "...."}) {
    BundleKey key = Bundle();
    key.node = ToKeyComponent(text);
    EXPECT_TRUE(BuildKey(key)) << text << " -> " << key.node;
  }
}

TEST(Key, ThatIsBuiltIsOneThatAnyStoreTakes) {
  // Only a file's whole name is ever that of an unfinished file, and ours end otherwise.
  CaptureKey capture = Capture();
  for (const char* odd : {"a.tmp-b", "a.tmp-1-2", ".tmp-1-2"}) {
    capture.pod = ToKeyComponent(odd);
    capture.container = ToKeyComponent(odd);
    auto key = BuildKey(capture);
    ASSERT_TRUE(key) << odd << ": " << key.error().message();
    EXPECT_TRUE(CheckKey(*key)) << *key;
    EXPECT_EQ(*ParseCaptureKey(*key), capture);
  }
  capture = Capture();
  capture.type = "event.page.tmp-_faults";  // its '-' is what is wrong with it
  EXPECT_THAT(BuildKey(capture).error().message(), HasSubstr("must hold no '-'"));
}

TEST(Key, HasNamesThatAFileSystemTakes) {
  // NAME_MAX is 255, and the unfinished file has a longer name than the finished one.
  BundleKey bundle = Bundle();
  bundle.node = std::string(253, 'n');
  EXPECT_THAT(BuildKey(bundle).error().message(), HasSubstr("name of 266 bytes"));
  CaptureKey capture = Capture();
  capture.container = std::string(253, 'c');
  EXPECT_FALSE(BuildKey(capture));
  // A text made a component fits beside all else in a name.
  bundle.node = ToKeyComponent(std::string(1000, 'n'));
  capture.container = bundle.node;
  EXPECT_TRUE(BuildKey(bundle)) << BuildKey(bundle).error().message();
  EXPECT_TRUE(BuildKey(capture)) << BuildKey(capture).error().message();
}

TEST(Key, OfAStoreStaysInside) {
  for (const char* key : {"", "/etc/passwd", "a//b", "../x", "a/../b", "a/.", "a/", "a b", "a\nb",
                          "v1/x.zip.tmp-1-2"}) {
    EXPECT_FALSE(CheckKey(key)) << key;
  }
  EXPECT_TRUE(CheckKey("v1/a..b/..c"));
  EXPECT_TRUE(CheckKey("v1/x.tmp-1-2/y.tmp-z"));  // folders, and names that only look similar
  EXPECT_FALSE(CheckKey(std::string(1025, 'a')));
  EXPECT_FALSE(CheckKey(std::string(256, 'a')));
}

}  // namespace
}  // namespace firetower::store
