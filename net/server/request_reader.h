// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "net/message.h"

namespace firetower::net {

// Bodies that may be larger than others: of one path, and all of them together bounded, because
// they lie in memory before anybody knows who sends them.
struct LargeBodies {
  std::string path;       // of requests other than GET and HEAD
  size_t each_bytes = 0;  // of one of them; it has to state its Content-Length
  size_t all_bytes = 0;
  size_t held_bytes = 0;  // kept by the readers, which belong to one thread
};

struct RequestLimits {
  size_t head_bytes = 16 << 10;  // request line and headers
  size_t body_bytes = 1 << 20;
  std::shared_ptr<LargeBodies> large = nullptr;
};

// A request that arrived whole, and how it is to be answered.
struct ReadRequest {
  HttpRequest http;             // without remote_address and gone
  std::string accept_encoding;  // of every method, unlike HttpRequest::accept_encoding
  bool keep_alive = true;       // what the peer wants
  bool is_http10 = false;
};

// Parser of one connection's requests. Boost.Beast decides where a request ends and what it says;
// this class adds the limits, and refuses requests that another server could read differently. Does
// no I/O, belongs to one thread. Holds at most one request.
class RequestReader {
 public:
  enum class State { kNeedMore, kComplete, kRefused };

  explicit RequestReader(RequestLimits limits);
  ~RequestReader();

  // Consumes bytes from the front of `in` until one request is whole; the rest is left for the next
  // call. After kComplete Take() is due, after kRefused nothing.
  State Feed(std::string& in);

  // Returns the request after kComplete, and makes ready for the next one.
  ReadRequest Take();

  // Returns the status (400, 411, 413, 414 or 431) and the reason, after kRefused.
  int refused_status() const { return status_; }
  const std::string& refused_why() const { return why_; }

  // Returns whether a part of a request has been consumed.
  bool has_begun() const { return parser_ != nullptr; }

 private:
  struct Parser;
  State Parse(std::string& in);
  State ReadHead();
  // Decides whether a body may be as large as it is going to be. kNeedMore where it may.
  State AllowBody();
  void Release();
  State Refuse(int status, std::string_view why);

  const RequestLimits limits_;
  std::unique_ptr<Parser> parser_;  // none between requests
  size_t reserved_bytes_ = 0;       // of limits_.large
  size_t body_limit_ = 0;           // of the request in hand
  ReadRequest request_;
  int status_ = 0;
  std::string why_;
};

}  // namespace firetower::net
