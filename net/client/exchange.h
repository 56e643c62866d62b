// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "net/client/http_client.h"

namespace firetower::net {

// State of one exchange, between what libcurl reads and what the caller gets. Belongs to one
// thread.
class Exchange {
 public:
  explicit Exchange(const ClientRequest& request) : request_(request) {}

  // A line of a head, with its end. Whether the exchange goes on.
  bool OnHeadLine(std::string_view line);
  // Bytes of the body, unpacked. Whether the exchange goes on.
  bool OnBody(std::string_view bytes);
  // Fills `out` with the next bytes of the request's body; how many.
  Result<size_t> ReadBody(std::span<char> out);
  // Goes back to an offset of the request's body, for another connection.
  void Rewind(uint64_t offset) { sent_ = offset; }
  // The request goes out on a connection. Whether it may.
  bool OnConnected();

  // When the present wait has to end, INT64_MAX without such a limit, and how long it may be.
  int64_t WaitLimitNs() const;
  int64_t WaitEndNs() const;

  const ClientRequest& request() const { return request_; }
  bool head_done() const { return head_done_; }
  bool connected() const { return connections_ > 0; }
  const Status& read() const { return read_; }
  // The status of a final response that is no 2xx has come.
  bool refused() const { return head_done_ && response_.status >= 300; }
  // Why the callbacks ended the exchange; OK when they did not.
  Status Unwanted() const;
  HttpResponse TakeResponse() { return std::move(response_); }

 private:
  bool SetStatus(std::string_view line);
  uint64_t ContentLength() const;
  void Touch() { active_ns_ = Clock::System().MonotonicNs(); }

  const ClientRequest& request_;
  HttpResponse response_ = {.status = 0, .content_type = ""};
  uint64_t sent_ = 0;
  size_t head_bytes_ = 0;
  int connections_ = 0;
  int64_t active_ns_ = Clock::System().MonotonicNs();
  bool head_done_ = false;
  bool too_long_ = false;
  bool unwanted_ = false;
  Status read_ = OkStatus();  // of the request's body
};

}  // namespace firetower::net
