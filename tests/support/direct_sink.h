// SPDX-License-Identifier: Apache-2.0
// A sink that puts what is sent into a store at once, on the sender's thread.
#pragma once

#include <functional>
#include <utility>

#include "daemon/outbox/outbox.h"

namespace firetower::testing {

class DirectSink : public daemon::ObjectSink {
 public:
  explicit DirectSink(store::ObjectStore& store) : store_(store) {}
  void Send(daemon::Outgoing object) override {
    if (store_.Put(object.key, object.bytes) && released) released(object);
  }

  std::function<void(const daemon::Outgoing&)> released;

 private:
  store::ObjectStore& store_;
};

}  // namespace firetower::testing
