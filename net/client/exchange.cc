// SPDX-License-Identifier: Apache-2.0
#include "net/client/exchange.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace firetower::net {
namespace {

constexpr uint64_t kMaxReserved = 1 << 20;

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

}  // namespace

bool Exchange::SetStatus(std::string_view line) {
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return false;
  // An earlier head was an interim response's, a redirect's or a proxy's.
  response_ = {.status = 0, .content_type = ""};
  head_done_ = false;
  const std::string_view digits = line.substr(blank + 1, 3);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), response_.status);
  return error == std::errc() && end == digits.data() + digits.size();
}

bool Exchange::OnHeadLine(std::string_view line) {
  Touch();
  head_bytes_ += line.size();
  if (head_bytes_ > kMaxHeadBytes) return false;
  if (line.starts_with("HTTP/")) return SetStatus(line);
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    if (line.find_first_not_of("\r\n") != std::string_view::npos || response_.status < 200)
      return true;
    if (!head_done_ && response_.ok() && request_.sink != nullptr) request_.sink->OnHead();
    head_done_ = true;
    return true;
  }
  constexpr std::string_view kBlanks = " \t\r\n";
  std::string_view value = line.substr(colon + 1);
  value.remove_prefix(std::min(value.find_first_not_of(kBlanks), value.size()));
  value = value.substr(0, value.find_last_not_of(kBlanks) + 1);
  std::string name = Lower(line.substr(0, colon));
  if (name == "content-type") response_.content_type = value;
  response_.headers.emplace_back(std::move(name), value);
  return true;
}

uint64_t Exchange::ContentLength() const {
  uint64_t length = 0;
  const std::string_view text = response_.Header("content-length");
  std::from_chars(text.data(), text.data() + text.size(), length);
  return length;
}

bool Exchange::OnBody(std::string_view bytes) {
  Touch();
  if (bytes.empty()) return true;
  if (!response_.ok()) {
    response_.body.append(bytes.substr(0, kMaxRefusalBytes - response_.body.size()));
    return response_.body.size() < kMaxRefusalBytes;
  }
  if (request_.sink != nullptr) {
    unwanted_ = !request_.sink->OnBody(bytes);
    return !unwanted_;
  }
  std::string& body = response_.body;
  too_long_ = bytes.size() > request_.max_response_bytes - body.size();
  if (too_long_) return false;
  if (body.empty())
    body.reserve(std::min({request_.max_response_bytes, ContentLength(), kMaxReserved}));
  body.append(bytes);
  return true;
}

Result<size_t> Exchange::ReadBody(std::span<char> out) {
  Touch();
  const size_t length = std::min<uint64_t>(request_.body.size() - sent_, out.size());
  read_ = request_.body.ReadAt(sent_, std::as_writable_bytes(out.first(length)));
  if (!read_) return read_.error();
  sent_ += length;
  return length;
}

bool Exchange::OnConnected() {
  Touch();
  return ++connections_ == 1 || request_.resend || request_.max_redirects > 0;
}

int64_t Exchange::WaitLimitNs() const {
  const bool in_body = head_done_ && response_.ok() && request_.sink != nullptr;
  return in_body ? request_.sink->idle_timeout_ns() : request_.head_timeout_ns;
}

int64_t Exchange::WaitEndNs() const {
  const int64_t limit_ns = WaitLimitNs();
  return limit_ns == 0 ? INT64_MAX : active_ns_ + limit_ns;
}

Status Exchange::Unwanted() const {
  if (unwanted_) return Error(ErrorCode::kExhausted, "the rest was not wanted");
  if (too_long_) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("more than {} bytes", request_.max_response_bytes));
  }
  if (head_bytes_ > kMaxHeadBytes)
    return Error(request_.broken_response, "the response's head is too long");
  return OkStatus();
}

}  // namespace firetower::net
