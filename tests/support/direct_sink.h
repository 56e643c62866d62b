// SPDX-License-Identifier: Apache-2.0
// A sink that puts what is sent into a store at once, on the sender's thread, and keeps what the
// store refuses.
#pragma once

#include <utility>
#include <vector>

#include "daemon/outbox/outbox.h"

namespace firetower::testing {

class DirectSink : public daemon::ObjectSink {
 public:
  explicit DirectSink(store::ObjectStore& store) : store_(store) {}
  void Send(daemon::Outgoing object) override {
    if (!store_.Put(object.key, object.bytes)) refused_.push_back(std::move(object));
  }

 private:
  store::ObjectStore& store_;
  std::vector<daemon::Outgoing> refused_;
};

}  // namespace firetower::testing
