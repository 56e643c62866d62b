// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/clock.h"
#include "k8s/client/api_client.h"

namespace firetower::testing {

// Keeps what a real API server answers.
class TextSink : public k8s::BodySink {
 public:
  bool OnBody(std::string_view bytes) override {
    text.append(bytes);
    return true;
  }
  int64_t idle_timeout_ns() const override { return 20 * kNsPerSecond; }
  std::string text;
};

}  // namespace firetower::testing
