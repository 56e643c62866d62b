// SPDX-License-Identifier: Apache-2.0
#include "base/container/flat_map.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace firetower {
namespace {

TEST(FlatMap, BehavesLikeTheStandardMapUnderRandomWork) {
  FlatMap<uint32_t> map;
  std::unordered_map<uint64_t, uint32_t> model;
  std::mt19937_64 random(7);
  for (uint32_t step = 0; step < 200'000; ++step) {
    uint64_t key = random() % 700;  // Dense keys collide with their neighbours.
    if (random() % 3 == 0) {
      EXPECT_EQ(map.Erase(key), model.erase(key) == 1);
    } else {
      bool inserted = false;
      map.Insert(key, &inserted) = step;
      EXPECT_EQ(inserted, model.count(key) == 0);
      model[key] = step;
    }
    ASSERT_EQ(map.size(), model.size());
  }
  for (uint64_t key = 0; key < 700; ++key) {
    auto expected = model.find(key);
    const uint32_t* found = map.Find(key);
    ASSERT_EQ(found != nullptr, expected != model.end());
    if (found == nullptr) continue;
    EXPECT_EQ(*found, expected->second);
  }
}

TEST(FindOrInsert, TellsThingsWithOneHashApart) {
  FlatMap<uint32_t> map;
  std::vector<std::string> list;
  auto place = [&](const std::string& item, uint64_t hash) {
    bool inserted = false;
    uint32_t& at = FindOrInsert(
        map, hash, [&](uint32_t i) { return list[i] == item; }, &inserted);
    if (inserted) {
      at = static_cast<uint32_t>(list.size());
      list.push_back(item);
    }
    return at;
  };
  EXPECT_EQ(place("a", 7), 0u);
  EXPECT_EQ(place("b", 7), 1u);
  EXPECT_EQ(place("c", 8), 2u) << "its hash is taken by b";
  EXPECT_EQ(place("a", 7), 0u);
  EXPECT_EQ(place("b", 7), 1u);
  EXPECT_EQ(place("c", 8), 2u);
}

TEST(FlatMap, ClearForgetsAllAndKeepsWorking) {
  FlatMap<int> map;
  bool inserted = false;
  map.Insert(1, &inserted) = 5;
  map.Clear();
  EXPECT_EQ(map.Find(1), nullptr);
  EXPECT_EQ(map.Insert(1, &inserted), 0);
  EXPECT_TRUE(inserted);
}

}  // namespace
}  // namespace firetower
