// SPDX-License-Identifier: Apache-2.0
#include "daemon/recorder/flight_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/pipeline/slice_builder.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kSliceSeconds = 5;

struct One {
  std::shared_ptr<const Container> container;
  std::vector<Frame> frames;
  int64_t record_seconds = 0;
  std::vector<int64_t> seconds = {};  // of its samples
  int cpu = 0;
};

class FlightRecorderTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const Container> Called(const std::string& name) {
    auto container = std::make_shared<Container>();
    container->labels.container = name;
    return container;
  }

  Slice SliceFrom(int64_t begin_s, const std::vector<One>& ones) {
    SliceBuilder builder;
    for (const One& one : ones) {
      Decision decision;
      decision.sampled = true;
      decision.record_ns = one.record_seconds * kNsPerSecond;
      uint32_t container =
          builder.AddContainer(one.container, FT_TYPE_CPU, [&] { return decision; });
      uint32_t stack = builder.AddStack(one.frames, FT_STOP_ROOT);
      TaskLabel label;
      label.cpu = one.cpu;
      for (int64_t second : one.seconds) {
        constexpr Amount kOne{.count = 1, .value = 10, .runqueue_ns = 0};
        uint32_t row = builder.AddSample(container, stack, builder.AddLabel(label), kOne);
        if (decision.record_ns > 0) {
          builder.slice().timed.push_back({second * kNsPerSecond, row, kOne});
        }
      }
    }
    Slice slice = std::move(*builder.Take(nullptr));
    slice.begin_ns = begin_s * kNsPerSecond;
    slice.end_ns = (begin_s + kSliceSeconds) * kNsPerSecond;
    return slice;
  }

  // When what is kept was sampled.
  static std::vector<int64_t> Seconds(const FlightRecorder& recorder) {
    std::vector<int64_t> seconds;
    for (const Slice& slice : recorder.slices()) {
      for (const Slice::Timed& timed : slice.timed) seconds.push_back(timed.time_ns / kNsPerSecond);
    }
    return seconds;
  }

  std::shared_ptr<const Container> web_ = Called("web");
  std::shared_ptr<const Container> db_ = Called("db");
};

TEST_F(FlightRecorderTest, KeepsTheRowsOfWhatIsRecorded) {
  FlightRecorder recorder;
  const Frame a{1, 0, 10}, b{2, 0, 20}, c{3, 0, 30};
  recorder.Take(SliceFrom(
      100, {{web_, {a}, 0, {100}}, {db_, {b, c}, 30, {101, 102}, 7}, {db_, {c}, 30, {103}, 8}}));
  ASSERT_EQ(recorder.slices().size(), 1u);
  const Slice& kept = recorder.slices().front();
  ASSERT_EQ(kept.containers.size(), 1u);
  EXPECT_EQ(kept.containers[0].container, db_);
  ASSERT_EQ(kept.timed.size(), 3u);
  const Slice::Row& first = kept.rows[kept.timed[0].row];
  const Slice::Row& last = kept.rows[kept.timed[2].row];
  EXPECT_EQ(kept.timed[0].row, kept.timed[1].row);
  EXPECT_NE(kept.timed[0].row, kept.timed[2].row);
  EXPECT_EQ(kept.labels[first.label].cpu, 7);
  EXPECT_EQ(kept.labels[last.label].cpu, 8);
  auto frames = [&](const Slice::Row& row) {
    const Slice::Stack& stack = kept.stacks[row.stack];
    return std::vector<Frame>(kept.frames.begin() + stack.begin,
                              kept.frames.begin() + stack.begin + stack.size);
  };
  EXPECT_THAT(frames(first), ElementsAre(b, c));
  EXPECT_THAT(frames(last), ElementsAre(c));
  EXPECT_EQ(kept.timed[2].time_ns, 103 * kNsPerSecond);
  EXPECT_EQ(kept.timed[2].amount.value, 10u);
}

TEST_F(FlightRecorderTest, ForgetsWhatIsOlderThanAsked) {
  FlightRecorder recorder;
  constexpr int64_t kLate = FlightRecorder::kLateNs / kNsPerSecond;
  recorder.Take(SliceFrom(100, {{web_, {}, 30, {100}}}));
  // Nothing is sampled, and time goes on.
  recorder.Take(SliceFrom(100 + 30 + kLate, {}));
  EXPECT_THAT(Seconds(recorder), ElementsAre(100));
  recorder.Take(SliceFrom(105 + 30 + kLate, {}));
  EXPECT_THAT(Seconds(recorder), ElementsAre());
  EXPECT_EQ(recorder.bytes(), 0u);
  EXPECT_EQ(recorder.dropped_samples(), 0u);
}

TEST_F(FlightRecorderTest, CountsWhatASliceHadNoRoomFor) {
  Slice slice = SliceFrom(100, {{web_, {}, 30, {100}}});
  slice.untimed = 7;
  FlightRecorder recorder;
  recorder.Take(slice);
  EXPECT_EQ(recorder.dropped_samples(), 7u);
}

TEST_F(FlightRecorderTest, DropsTheOldestBeyondItsBytesAndCounts) {
  FlightRecorder all;
  for (int64_t second = 100; second < 150; second += 5) {
    all.Take(SliceFrom(second, {{web_, {}, 300, {second, second + 1}}}));
  }
  ASSERT_EQ(all.slices().size(), 10u);
  FlightRecorder half(all.bytes() / 2);
  for (int64_t second = 100; second < 150; second += 5) {
    half.Take(SliceFrom(second, {{web_, {}, 300, {second, second + 1}}}));
  }
  EXPECT_THAT(Seconds(half), ElementsAre(125, 126, 130, 131, 135, 136, 140, 141, 145, 146));
  EXPECT_LE(half.bytes(), all.bytes() / 2);
  EXPECT_EQ(half.dropped_samples(), 10u);
}

}  // namespace
}  // namespace firetower::daemon
