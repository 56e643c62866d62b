// SPDX-License-Identifier: Apache-2.0
#include "cli/term/progress.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace firetower::cli {
namespace {

TEST(ProgressLine, CountsThingsWithABarOnATerminal) {
  const ProgressState state{"merging", "files", 40};
  EXPECT_EQ(ProgressLine(state, 10, 3 * kNsPerSecond + 1, true),
            "merging [#####               ] 10 of 40 files, 3s");
  EXPECT_EQ(ProgressLine(state, 10, 3 * kNsPerSecond, false), "merging 10 of 40 files, 3s");
  EXPECT_EQ(ProgressLine(state, 40, kNsPerSecond, true),
            "merging [####################] 40 of 40 files, 1s");
}

TEST(ProgressLine, TellsTheTimeAndBytesOfWhatHasNoKnownEnd) {
  const ProgressState state{"asking http://127.0.0.1:7070", "", 0};
  EXPECT_EQ(ProgressLine(state, 0, 2 * kNsPerSecond, true), "asking http://127.0.0.1:7070, 2s");
  EXPECT_EQ(ProgressLine(state, size_t{3} << 20, 2 * kNsPerSecond, true),
            "asking http://127.0.0.1:7070: 3.0 MiB, 2s");
}

}  // namespace
}  // namespace firetower::cli
