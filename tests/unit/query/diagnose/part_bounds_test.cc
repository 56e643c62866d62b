// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "query/diagnose/growth.h"

namespace firetower::query {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

store::CatalogRow Row(int64_t start_ns, int64_t end_ns) {
  store::CatalogRow row;
  row.start_ns = start_ns;
  row.duration_ns = end_ns - start_ns;
  return row;
}

TEST(PartBounds, LieWhereNoProfileGoesOn) {
  // Two containers; the second one began in the first one's first window.
  const std::vector<store::CatalogRow> rows = {Row(0, 60), Row(60, 120), Row(40, 60), Row(60, 120),
                                               Row(120, 180)};
  EXPECT_THAT(PartBounds(rows, 8), ElementsAre(0, 60, 120, 180));
  // The windows of two nodes that are not alike have no moment between them but one.
  EXPECT_THAT(PartBounds(std::vector{Row(0, 60), Row(60, 120), Row(30, 90), Row(120, 180)}, 8),
              ElementsAre(0, 120, 180));
}

TEST(PartBounds, AreAtMostSoManyAndEven) {
  std::vector<store::CatalogRow> rows;
  for (int64_t i = 0; i < 100; ++i) rows.push_back(Row(10 * i, 10 * (i + 1)));
  EXPECT_THAT(PartBounds(rows, 4), ElementsAre(0, 250, 500, 750, 1000));
  EXPECT_THAT(PartBounds(std::vector{Row(7, 7)}, 4), ElementsAre(7, 8));
  EXPECT_THAT(PartBounds({}, 4), IsEmpty());
}

}  // namespace
}  // namespace firetower::query
