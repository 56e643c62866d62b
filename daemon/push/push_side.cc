// SPDX-License-Identifier: Apache-2.0
#include "daemon/push/push_side.h"

#include <algorithm>
#include <utility>

#include "net/client/curl_client.h"

namespace firetower::daemon {
namespace {

// Profiles are looked at while they are young: a whole window, as for uploads, is too long.
constexpr int64_t kMaxSpreadNs = 10 * kNsPerSecond;

std::unique_ptr<PushProtocol> ProtocolOf(PushKind kind, const std::string& cluster) {
  switch (kind) {
    case PushKind::kPyroscope:
      return NewPyroscopeProtocol(cluster);
    case PushKind::kOtlp:
      return NewOtlpProtocol(cluster);
  }
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<PushSide>> PushSide::Open(const PushOptions& options,
                                                 MetricsRegistry& registry, const Clock& clock) {
  std::unique_ptr<PushSide> side(new PushSide(clock));
  PusherOptions pusher;
  pusher.max_queue_bytes = options.max_queue_bytes;
  pusher.spread_ns = std::min(options.window_ns / 2, kMaxSpreadNs);
  for (const std::string& url : options.urls) {
    ASSIGN_OR_RETURN(PushTarget target, ParsePushTarget(url));
    ASSIGN_OR_RETURN(std::unique_ptr<net::CurlClient> transport,
                     net::CurlClient::Create(target.transport).Context(target.name));
    std::unique_ptr<PushProtocol> protocol = ProtocolOf(target.kind, options.cluster);
    side->pushers_.push_back(std::make_unique<Pusher>(std::move(target), std::move(protocol),
                                                      std::move(transport), registry, clock,
                                                      store::s3::Pause::System(), pusher));
  }
  return side;
}

ObjectSink& PushSide::ForwardTo(ObjectSink& next) {
  next_ = &next;
  for (const auto& pusher : pushers_) pusher->Start();
  return *this;
}

void PushSide::Send(Outgoing object) {
  if (!pushers_.empty() && !object.IsCapture()) {
    const auto bundle = std::make_shared<const std::string>(object.bytes);
    for (const auto& pusher : pushers_) pusher->Offer(bundle);
  }
  next_->Send(std::move(object));
}

void PushSide::Finish() {
  const int64_t until_ns = clock_.MonotonicNs() + kFinishNs;
  for (const auto& pusher : pushers_) pusher->RequestStop();
  for (const auto& pusher : pushers_) pusher->Finish(until_ns);
}

}  // namespace firetower::daemon
