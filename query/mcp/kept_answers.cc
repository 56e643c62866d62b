// SPDX-License-Identifier: Apache-2.0
#include "query/mcp/kept_answers.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/hex.h"

namespace firetower::query {
namespace {

// 128 bits.
Result<std::string> RandomName() {
  std::array<char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return Error(ErrorCode::kUnavailable, "the system has no random bytes yet");
  return ToHex(std::string_view(bytes.data(), bytes.size()));
}

}  // namespace

Result<std::string> KeptAnswers::Keep(std::shared_ptr<const std::string> text) {
  ASSIGN_OR_RETURN(std::string name, RandomName());
  std::lock_guard lock(mutex_);
  bytes_ += text->size();
  kept_.push_back({name, std::move(text)});
  while (kept_.size() > kMost || (bytes_ > kMostBytes && kept_.size() > 1)) {
    bytes_ -= kept_.front().text->size();
    kept_.pop_front();
  }
  return name;
}

std::shared_ptr<const std::string> KeptAnswers::Find(std::string_view name) const {
  std::lock_guard lock(mutex_);
  const auto kept = std::ranges::find(kept_, name, &Kept::name);
  return kept != kept_.end() ? kept->text : nullptr;
}

}  // namespace firetower::query
