// SPDX-License-Identifier: Apache-2.0
#include "store/profiles/entry_reader.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>

#include "tests/support/stored_profiles.h"
#include "tests/unit/store/profiles/held_store.h"

namespace firetower::store {
namespace {

using ::firetower::testing::BundleKeyAt;
using ::firetower::testing::HeldStore;
using ::firetower::testing::kFirstWindow;
using ::firetower::testing::Row;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class EntryReaderTest : public ::testing::Test {
 protected:
  // A bundle with so many entries of so many bytes.
  void Put(int entries, size_t bytes) {
    BundleWriter writer(kFirstWindow * kNsPerSecond);
    for (int i = 0; i < entries; ++i) {
      const CatalogRow row = Row("shop", fmt::format("cart-{:02}", i), "web", kFirstWindow);
      ASSERT_TRUE(writer.Add(row, std::string(bytes, static_cast<char>('a' + i % 26))));
    }
    ASSERT_TRUE(store_.Put(key_, *std::move(writer).Finish()));
    Result<BundleIndex> index =
        ReadBundleIndex(store_.objects[key_].size(), [&](uint64_t offset, uint64_t length) {
          return store_.MemoryStore::GetRange(key_, offset, length);
        });
    ASSERT_TRUE(index) << index.error().message();
    index_ = *std::move(index);
  }
  Status AddAll(EntryReader& reader) const {
    for (const BundleEntry& entry : index_.entries)
      RETURN_IF_ERROR(reader.Add({.key = &key_, .entry = &entry, .row = &entry.row}));
    return reader.Finish();
  }
  // By one reader, into visited_.
  Status ReadAll(const QueryLimits& limits = {}) {
    EntryReader reader(store_, limits, counted_, visit_, clock_);
    return AddAll(reader);
  }
  // The first `slow` reads take as long. Only what reads one after another asks the clock.
  void BeSlow(size_t slow, int64_t ns) {
    store_.may_answer = [this, slow, ns](const std::string&) {
      if (store_.begun <= slow && store_.answered.size() + 1 == store_.begun) clock_.Advance(ns);
      return true;
    };
  }
  std::vector<std::string> Asked() const {
    std::vector<std::string> names;
    for (const BundleEntry& entry : index_.entries) names.push_back(entry.name);
    return names;
  }

  const std::string key_ = BundleKeyAt(kFirstWindow);
  HeldStore store_;
  FakeClock clock_{kNsPerSecond, kFirstWindow* kNsPerSecond};
  BundleIndex index_;
  const Query query_;
  const CountedPart counted_{query_};
  std::vector<std::string> visited_;
  const EntryReader::Visit visit_ = [this](StoredEntry&& read) {
    visited_.push_back(read.pprof_gz ? read.entry.name : read.pprof_gz.error().message());
    return OkStatus();
  };
};

TEST_F(EntryReaderTest, ReadsOneAfterAnotherWhereThatIsFast) {
  Put(20, 100);
  BeSlow(20, EntryReader::kSlowNs - 1);
  ASSERT_TRUE(ReadAll());
  EXPECT_EQ(store_.most_at_once, 1u);
  EXPECT_THAT(visited_, ElementsAreArray(Asked()));
}

TEST_F(EntryReaderTest, TakesNoSingleDelayForSlowness) {
  Put(20, 100);
  store_.may_answer = [this](const std::string&) {
    if (store_.begun % 2 == 0) clock_.Advance(EntryReader::kSlowNs);
    return true;
  };
  ASSERT_TRUE(ReadAll());
  EXPECT_EQ(store_.most_at_once, 1u);
  EXPECT_THAT(visited_, ElementsAreArray(Asked()));
}

TEST_F(EntryReaderTest, ReadsEightAtOnceWhereTheStoreIsSlow) {
  Put(40, 100);
  store_.may_answer = [this](const std::string&) {
    if (store_.begun > EntryReader::kSlowReads) return store_.most_at_once >= kAtOnceInOrder;
    clock_.Advance(EntryReader::kSlowNs);
    return true;
  };
  store_.must_not_be = [this] { return store_.most_at_once > kAtOnceInOrder; };
  ASSERT_TRUE(ReadAll());
  EXPECT_FALSE(store_.timed_out) << "one waits for the other";
  EXPECT_EQ(store_.most_at_once, kAtOnceInOrder);
  EXPECT_THAT(visited_, ElementsAreArray(Asked())) << "in the order in which they were found";
  EXPECT_EQ(store_.begun, 40u) << "each once";
}

TEST_F(EntryReaderTest, HoldsNoMoreBytesThanItMay) {
  Put(10, EntryReader::kMaxHeldBytes / 3);
  // Three of a third fit.
  store_.may_answer = [this](const std::string&) {
    if (store_.begun > EntryReader::kSlowReads) return store_.most_at_once >= 3;
    clock_.Advance(EntryReader::kSlowNs);
    return true;
  };
  store_.must_not_be = [this] { return store_.most_at_once > 3; };
  ASSERT_TRUE(ReadAll());
  EXPECT_FALSE(store_.timed_out);
  EXPECT_EQ(store_.most_at_once, 3u);
  EXPECT_THAT(visited_, ElementsAreArray(Asked()));
}

TEST_F(EntryReaderTest, ReadsALargerOneByItself) {
  Put(5, EntryReader::kMaxHeldBytes + 1);
  BeSlow(5, EntryReader::kSlowNs);
  ASSERT_TRUE(ReadAll());
  EXPECT_EQ(store_.most_at_once, 1u);
  EXPECT_THAT(visited_, ElementsAreArray(Asked()));
}

TEST_F(EntryReaderTest, HandsOnAnErrorInItsTurn) {
  Put(12, 100);
  std::string& bytes = store_.objects[key_];
  bytes[index_.entries[7].end_offset - 1] ^= 1;
  BeSlow(2, EntryReader::kSlowNs);
  ASSERT_TRUE(ReadAll());
  ASSERT_THAT(visited_, SizeIs(12));
  EXPECT_THAT(visited_[7], HasSubstr("CRC"));
  visited_[7] = index_.entries[7].name;
  EXPECT_THAT(visited_, ElementsAreArray(Asked()));
}

TEST_F(EntryReaderTest, RefusesMoreBytesThanAnAnswerMayRead) {
  Put(12, 100);
  const Status read = ReadAll({.max_read_bytes = 1150});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::kExhausted);
  EXPECT_THAT(read.error().message(), HasSubstr("more than 1150 bytes of profiles"));
  EXPECT_THAT(visited_, SizeIs(11));
}

TEST_F(EntryReaderTest, EndsWithTheVisit) {
  Put(40, 100);
  BeSlow(2, EntryReader::kSlowNs);
  int visits = 0;
  const auto visit = [&](StoredEntry&&) {
    return ++visits < 5 ? OkStatus() : Status(Error(ErrorCode::kExhausted, "enough"));
  };
  const QueryLimits limits;
  {
    EntryReader reader(store_, limits, counted_, visit, clock_);
    const Status read = AddAll(reader);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message(), "enough");
  }
  EXPECT_EQ(visits, 5);
  EXPECT_EQ(store_.at_once, 0u) << "nobody reads any more";
  EXPECT_LE(store_.begun, 5 + kMaxHeldInOrder);
}

TEST_F(EntryReaderTest, EndsWithWhoAsked) {
  Put(40, 100);
  std::stop_source stop;
  const QueryLimits limits{.calls = {.stop = stop.get_token()}};
  store_.may_answer = [&](const std::string&) {
    if (store_.begun == 20) stop.request_stop();
    if (store_.begun <= EntryReader::kSlowReads) clock_.Advance(EntryReader::kSlowNs);
    return true;
  };
  const Status read = ReadAll(limits);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::kUnavailable);
  EXPECT_LE(store_.begun, 20 + kAtOnceInOrder);
}

}  // namespace
}  // namespace firetower::store
