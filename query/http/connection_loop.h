// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/thread.h"
#include "base/unique_fd.h"
#include "query/http/http_server.h"
#include "query/http/worker_pool.h"

namespace firetower::query {

// All sockets of the server, on one thread. A connection is read until one request is whole, is
// then a worker's business, then is written to until the peer has all of it.
class ConnectionLoop {
 public:
  ConnectionLoop(const HttpServerOptions& options, UniqueFd listener, WorkerPool& workers,
                 WakeFd& done);

  // Until `stop`, which is noticed on `wake`; then drains for at most kDrainNs.
  void Run(const std::stop_token& stop, WakeFd& wake) noexcept;

 private:
  // kLingering: answered for the last time; what still arrives is dropped until the peer closes,
  // because closing with unread input would reset the connection and lose the answer.
  enum class State { kReading, kWorking, kWriting, kLingering };
  struct Connection {
    UniqueFd fd;
    std::string remote_address;
    State state = State::kReading;
    std::string in;
    size_t scanned = 0;  // of `in`, by FrameRequest, in search of the head's end
    size_t needed = 0;   // bytes of the request, once its head is there
    std::string out;
    size_t written = 0;
    bool close_after = false;
    std::stop_source gone;  // of the request that is kWorking
    int requests = 0;
    int64_t deadline_ns = 0;  // none while kWorking
  };
  using Connections = std::map<uint64_t, Connection>;

  static short EventsOf(State state);
  void PollOnce(WakeFd& wake);
  void Accept();
  void TakeReplies();
  void CloseLate();
  bool CloseLeastUseful();
  // These return false when the connection is to be closed.
  bool OnReady(uint64_t id, Connection& connection, short events);
  bool Read(uint64_t id, Connection& connection);
  bool Advance(uint64_t id, Connection& connection);
  bool Refuse(Connection& connection, int status, const char* reason);
  bool Write(uint64_t id, Connection& connection);
  void BeginWriting(Connection& connection, std::string bytes, bool close_after);
  void Close(Connections::iterator at);
  bool draining() const { return !listener_; }

  const HttpServerOptions& options_;
  UniqueFd listener_;
  WorkerPool& workers_;
  WakeFd& done_;
  Connections connections_;  // at most options_.max_connections
  uint64_t next_id_ = 1;
  size_t pending_bytes_ = 0;
  int64_t accept_again_ns_ = 0;  // after running out of descriptors
  int64_t now_ns_ = 0;
  std::vector<pollfd> polled_;
  std::vector<uint64_t> polled_ids_;
};

}  // namespace firetower::query
