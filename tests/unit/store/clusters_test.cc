// SPDX-License-Identifier: Apache-2.0
// Two clusters in one store: what is one's own, and what is not even asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "store/catalog/catalog_index.h"
#include "store/catalog/keeper/catalog_keeper.h"
#include "store/retention.h"
#include "store/walk.h"
#include "tests/support/stores/shared_store.h"

namespace firetower::store {
namespace {

using ::firetower::testing::kFirstWindow;
using ::firetower::testing::kSecondNs;
using ::firetower::testing::Row;
using ::firetower::testing::SharedStore;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Each has a window of two containers and a capture; the pod of namespace shop is called as its
// cluster.
class ClustersTest : public ::testing::Test {
 protected:
  ClustersTest() {
    for (const char* cluster : {"dev", "prod"}) {
      store_.PutProfiles(cluster, {Row("shop", cluster, "web", kFirstWindow),
                                   Row("infra", "db-0", "db", kFirstWindow)});
    }
  }
  std::vector<std::string> PodsOfShop(const CatalogIndex& index) const {
    const Query query{.selector = *profile::Selector::Parse("{namespace=\"shop\"}"),
                      .from_ns = kFirstWindow * kSecondNs,
                      .to_ns = (kFirstWindow + 60) * kSecondNs};
    const auto list = ListProfiles({store_, &index}, query);
    if (!list) return {list.error().message()};
    std::vector<std::string> pods;
    for (const CatalogRow& row : list->rows) {
      pods.push_back(row.capture.empty() ? row.pod : row.pod + "'s " + row.capture);
    }
    return pods;
  }
  void Look(RecentRows& recent, const CatalogKeeperOptions& options) {
    const FakeClock clock{kNsPerSecond, (kFirstWindow + 900) * kNsPerSecond};
    CatalogKeeper keeper(store_, recent, clock, options);
    const Status looked = keeper.Look(true);
    ASSERT_TRUE(looked) << looked.error().message();
  }

  SharedStore store_;
  RecentRows recent_;
};

TEST_F(ClustersTest, AQuestionIsAboutOne) {
  const CatalogIndex dev(store_, &recent_, {.cluster = "dev"});
  EXPECT_THAT(PodsOfShop(dev), ElementsAre("dev", "dev's c-dev"));
  EXPECT_THAT(store_.AskedBeside("dev"), IsEmpty());
  const CatalogIndex all(store_, &recent_);
  EXPECT_THAT(PodsOfShop(all), SizeIs(4));
}

TEST_F(ClustersTest, AQuestionIsAboutOneByCatalogsAndMemoryToo) {
  RecentRows of_all;
  const FakeClock clock{kNsPerSecond, (kFirstWindow + 100) * kNsPerSecond};
  ASSERT_TRUE(CatalogKeeper(store_, of_all, clock).Look(true));
  ASSERT_EQ(of_all.rows(), 4u);
  const CatalogIndex by_memory(store_, &of_all, {.cluster = "dev"});
  EXPECT_THAT(PodsOfShop(by_memory), ElementsAre("dev", "dev's c-dev"));
  Look(recent_, {});
  const CatalogIndex by_catalogs(store_, &recent_, {.max_listed_bundles = 0, .cluster = "dev"});
  EXPECT_THAT(PodsOfShop(by_catalogs), ElementsAre("dev", "dev's c-dev"));
}

TEST_F(ClustersTest, CatalogsAreKeptOfOne) {
  const size_t before = store_.KeysOf("prod").size();
  Look(recent_, {.cluster = "dev"});
  EXPECT_THAT(store_.KeysOf("dev"), Contains(HasSubstr("/catalog/")));
  EXPECT_THAT(store_.KeysOf("prod"), SizeIs(before));
  EXPECT_THAT(store_.AskedBeside("dev"), IsEmpty());
}

TEST_F(ClustersTest, CatalogsAreMadeAnewOfOne) {
  const FakeClock clock{kNsPerSecond, (kFirstWindow + 20'000) * kNsPerSecond};
  CatalogKeeper keeper(store_, recent_, clock, {.cluster = "dev"});
  ASSERT_TRUE(keeper.Rebuild(kFirstWindow - 3600, kFirstWindow + 3600));
  EXPECT_THAT(store_.KeysOf("dev"), Contains(HasSubstr("/catalog/")));
  EXPECT_THAT(store_.KeysOf("prod"), Each(Not(HasSubstr("/catalog/"))));
  EXPECT_THAT(store_.AskedBeside("dev"), IsEmpty());
}

TEST_F(ClustersTest, ASweepIsOfOne) {
  Look(recent_, {});
  store_.asked.clear();
  const std::vector<std::string> before = store_.KeysOf("prod");
  SweepFigures figures;
  ASSERT_TRUE(SweepByAge(store_, {}, FakeClock(1, (kFirstWindow + 30 * kSecondsPerDay) * kSecondNs),
                         figures, std::string("dev")));
  EXPECT_THAT(store_.KeysOf("dev"), IsEmpty());
  EXPECT_EQ(figures.deleted_objects, 4u) << "a window, a capture, and the two of a catalog";
  EXPECT_EQ(store_.KeysOf("prod"), before);
  EXPECT_THAT(store_.AskedBeside("dev"), IsEmpty());
}

TEST_F(ClustersTest, AWalkIsOfOneAndOfNoneThatIsCalledAlike) {
  store_.PutProfiles("dev-2", {Row("shop", "dev-2", "web", kFirstWindow)});
  const auto count = [&](const std::string& cluster) {
    size_t objects = 0;
    EXPECT_TRUE(WalkObjects(store_, {.cluster = cluster, .kinds = kAllKinds}, [&](const auto&) {
      ++objects;
      return OkStatus();
    }));
    return objects;
  };
  EXPECT_EQ(count("dev"), 2u);
  EXPECT_EQ(count("de"), 0u);
}

}  // namespace
}  // namespace firetower::store
