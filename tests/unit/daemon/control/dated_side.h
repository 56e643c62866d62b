// SPDX-License-Identifier: Apache-2.0
// A daemon's side of a store whose clock is not this machine's.
#pragma once

#include <memory>

#include "base/check.h"
#include "daemon/outbox/store_side.h"
#include "tests/support/command.h"
#include "tests/support/s3/dated_server.h"

namespace firetower::testing {

class DatedSide {
 public:
  static constexpr int64_t kServerS = 784'111'777;  // of the date below, RFC 9110 §5.6.7

  DatedSide() {
    daemon::StoreSideOptions options;
    options.url = server_.url();
    options.spool_folder = folder_.path();
    options.spool_bytes = 1 << 20;
    auto opened = daemon::StoreSide::Open(options, Clock::System());
    CHECK(opened);
    side_ = *std::move(opened);
  }
  daemon::StoreSide& side() { return *side_; }

 private:
  const DatedServer server_{"Sun, 06 Nov 1994 08:49:37 GMT"};
  const ScratchFolder folder_;
  std::unique_ptr<daemon::StoreSide> side_;
};

}  // namespace firetower::testing
