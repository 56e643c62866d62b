// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "net/client/body.h"

namespace firetower::testing {

inline std::string TextOf(const net::HttpBody& body) {
  std::string text(body.size(), '\0');
  EXPECT_TRUE(body.ReadAt(0, std::as_writable_bytes(std::span(text))));
  return text;
}

}  // namespace firetower::testing
