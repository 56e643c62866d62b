// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace firetower {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Error(ErrorCode::kInvalid, "odd");
  return n / 2;
}

Result<int> Quarter(int n) {
  ASSIGN_OR_RETURN(int half, Half(n).Context("first"));
  ASSIGN_OR_RETURN(int quarter, Half(half).Context("second"));
  return quarter;
}

Status Even(int n) {
  RETURN_IF_ERROR(Half(n));
  return OkStatus();
}

TEST(Result, CarriesTheValueThroughTheMacros) {
  EXPECT_EQ(Quarter(12).value(), 3);
  EXPECT_TRUE(Even(4));
}

TEST(Result, ReturnsTheFirstErrorWithItsContext) {
  EXPECT_EQ(Quarter(3).error().message(), "first: odd");
  EXPECT_EQ(Quarter(6).error().message(), "second: odd");
  EXPECT_EQ(Even(1).error().code(), ErrorCode::kInvalid);
}

TEST(Result, MovesValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(7);
  std::unique_ptr<int> taken = *std::move(made);
  EXPECT_EQ(*taken, 7);
}

TEST(Result, ErrnoErrorNamesTheCallAndPicksTheCode) {
  Error error = ErrnoError("open /x", EACCES);
  EXPECT_EQ(error.code(), ErrorCode::kPermission);
  EXPECT_EQ(error.sys_errno(), EACCES);
  EXPECT_EQ(error.message(), "open /x: Permission denied");
}

}  // namespace
}  // namespace firetower
