// SPDX-License-Identifier: Apache-2.0
#include "daemon/push/pusher.h"

#include <malloc.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "daemon/push/credentials.h"

namespace firetower::daemon {
namespace {

constexpr uint64_t kMaxAnswerBytes = 64 << 10;

store::BundleIndex IndexOf(const std::string& bundle) {
  Result<store::BundleIndex> index = store::ReadBundleIndex(bundle.size(), store::ReaderOf(bundle));
  if (index) return *std::move(index);
  LOG(kError, "window not pushed", {{"error", index.error().message()}});
  return {};
}

}  // namespace

Pusher::Pusher(PushTarget target, std::unique_ptr<PushProtocol> protocol,
               std::unique_ptr<net::HttpClient> transport, MetricsRegistry& registry,
               const Clock& clock, store::s3::Pause& pause, const PusherOptions& options)
    : target_(std::move(target)),
      protocol_(std::move(protocol)),
      transport_(std::move(transport)),
      registry_(registry),
      clock_(clock),
      pause_(pause),
      options_(options),
      random_(std::random_device{}()) {
  for (const char* result : {"sent", "dropped", "refused"})
    registry_.Declare(MetricId::kPushProfiles, {target_.name, result});
  for (const char* result : {"ok", "failed", "refused"})
    registry_.Declare(MetricId::kPushRequests, {target_.name, result});
  registry_.Set(MetricId::kPushQueueBytes, 0, {target_.name});
}

Pusher::~Pusher() {
  RequestStop();
  Finish(clock_.MonotonicNs());
}

void Pusher::Start() {
  running_ = true;
  thread_ = NamedThread("push", [this](std::stop_token stop, WakeFd& wake) { Run(stop, wake); });
}

void Pusher::Finish(int64_t until_ns) {
  if (!std::exchange(running_, false)) return;
  const int64_t left_ms = std::max<int64_t>((until_ns - clock_.MonotonicNs()) / kNsPerMs, 0);
  if (!done_.Wait(static_cast<int>(left_ms))) abort_.request_stop();
  thread_.Join();
}

void Pusher::Run(std::stop_token stop, WakeFd& wake) {
  const auto part_of = [&](int64_t ns) {
    return std::uniform_int_distribution<int64_t>(0, std::max<int64_t>(ns, 0))(random_);
  };
  bool was_empty = true;
  while (!stop.stop_requested()) {
    if (IsEmpty()) {
      // Profiles that were unpacked and packed again: most nodes need that room elsewhere.
      if (!was_empty) ::malloc_trim(0);
      was_empty = true;
      wake.Wait(-1);
    } else if (std::exchange(was_empty, false)) {
      pause_.For(part_of(options_.spread_ns), {.stop = stop});
    } else if (const int64_t wait_ns = SendNext(); wait_ns > 0) {
      pause_.For(wait_ns, {.stop = stop});
    }
  }
  while (!IsEmpty() && !abort_.stop_requested()) {
    if (SendNext() > 0) break;
  }
  std::vector<Queued> left;
  {
    std::lock_guard lock(mutex_);
    TakeOldest(0, left);
  }
  Drop(left, "the daemon ends and the server does not take it");
  done_.Notify();
}

bool Pusher::IsEmpty() const {
  std::lock_guard lock(mutex_);
  return queue_.empty();
}

void Pusher::Offer(std::shared_ptr<const std::string> bundle) {
  std::vector<Queued> dropped;
  {
    std::lock_guard lock(mutex_);
    queue_bytes_ += bundle->size();
    queue_.push_back({.bundle = std::move(bundle)});
    TakeOldest(options_.max_queue_bytes, dropped);
  }
  Drop(dropped, "the server does not take it in time");
  ShowQueue();
  thread_.Notify();
}

std::optional<Pusher::Queued> Pusher::Begin() {
  std::lock_guard lock(mutex_);
  if (queue_.empty()) return std::nullopt;
  Queued first = std::move(queue_.front());
  queue_.pop_front();
  return first;
}

void Pusher::End(Queued queued, size_t profiles_in_bundle) {
  std::vector<Queued> dropped;
  {
    std::lock_guard lock(mutex_);
    if (queued.next < profiles_in_bundle) {
      queue_.push_front(std::move(queued));
      TakeOldest(options_.max_queue_bytes, dropped);
    } else {
      queue_bytes_ -= queued.bundle->size();
    }
  }
  Drop(dropped, "the server does not take it in time");
  ShowQueue();
}

void Pusher::TakeOldest(size_t most_bytes, std::vector<Queued>& dropped) {
  while (queue_bytes_ > most_bytes && !queue_.empty()) {
    queue_bytes_ -= queue_.front().bundle->size();
    dropped.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
}

void Pusher::Drop(const std::vector<Queued>& dropped, std::string_view why) {
  for (const Queued& queued : dropped) {
    const size_t entries = IndexOf(*queued.bundle).entries.size();
    const size_t profiles = entries - std::min(entries, queued.next);
    LOG(kError, "window not pushed",
        {{"server", target_.name}, {"profiles", profiles}, {"why", why}});
    Count("dropped", profiles);
  }
}

void Pusher::Count(std::string_view result, size_t profiles) {
  if (profiles == 0) return;
  registry_.Add(MetricId::kPushProfiles, static_cast<double>(profiles), {target_.name, result});
}

void Pusher::ShowQueue() {
  std::lock_guard lock(mutex_);
  registry_.Set(MetricId::kPushQueueBytes, static_cast<double>(queue_bytes_), {target_.name});
}

int64_t Pusher::SendNext() {
  std::optional<Queued> queued = Begin();
  if (!queued) return 0;
  const store::BundleIndex index = IndexOf(*queued->bundle);
  const Request request = MakeRequest(*queued, index);
  int64_t wait_ns = 0;
  if (request.profiles == 0) {
    queued->next = request.end;
  } else {
    ++queued->tries;
    wait_ns = Conclude(Send(request, queued->tries), request, *queued);
  }
  End(*std::move(queued), index.entries.size());
  return wait_ns;
}

bool Pusher::AddToRequest(const Queued& queued, const store::BundleEntry& entry, bool is_new) {
  const Result<std::string> pprof = store::ReadBundleEntry(entry, store::ReaderOf(*queued.bundle));
  const Status added = pprof ? protocol_->Add(entry.row, *pprof) : Status(pprof.error());
  if (added) return true;
  if (is_new) {
    LOG(kError, "profile not pushed", {{"entry", entry.name}, {"error", added.error().message()}});
    Count("dropped", 1);
  }
  return false;
}

Pusher::Request Pusher::MakeRequest(Queued& queued, const store::BundleIndex& index) {
  Request request{.body = {}, .end = queued.next, .profiles = 0};
  while (request.end < index.entries.size()) {
    const bool is_new = request.end >= queued.looked;
    if (AddToRequest(queued, index.entries[request.end++], is_new)) ++request.profiles;
    const bool single = request.end <= queued.singles;
    if (request.profiles > 0 && (single || protocol_->bytes() >= options_.request_bytes)) break;
  }
  queued.looked = std::max(queued.looked, request.end);
  if (request.profiles > 0) request.body = protocol_->TakeBody();
  return request;
}

PushAnswer Pusher::Send(const Request& request, int tries) {
  Result<net::NamedValues> headers = ReadCredentials(target_);
  if (!headers) return {.verdict = PushVerdict::kLater, .reason = headers.error().message()};
  net::ClientRequest http;
  http.method = "POST";
  http.url = target_.url;
  http.headers = protocol_->headers();
  std::ranges::move(*headers, std::back_inserter(http.headers));
  http.body = request.body;
  http.max_response_bytes = kMaxAnswerBytes;
  const int64_t deadline_ns = clock_.MonotonicNs() + target_.timeout_seconds * kNsPerSecond;
  const Result<net::HttpResponse> response =
      transport_->Send(http, {.stop = abort_.get_token(), .deadline_ns = deadline_ns});
  if (!response) return {.verdict = PushVerdict::kLater, .reason = response.error().message()};
  return protocol_->Judge(*response, tries, clock_.WallNs());
}

int64_t Pusher::Conclude(const PushAnswer& answer, const Request& request, Queued& queued) {
  if (answer.verdict == PushVerdict::kLater) {
    registry_.Add(MetricId::kPushRequests, 1, {target_.name, "failed"});
    if (retry_ns_ == 0) {
      LOG(kWarn, "profiles not pushed, kept for the next try",
          {{"server", target_.name}, {"why", answer.reason}});
    }
    return std::max(BackoffNs(), answer.wait_ns);
  }
  const size_t first = std::exchange(queued.next, request.end);
  queued.tries = 0;
  Succeeded();
  if (answer.verdict == PushVerdict::kTaken) {
    ConcludeTaken(answer, request.profiles);
    return 0;
  }
  registry_.Add(MetricId::kPushRequests, 1, {target_.name, "refused"});
  if (answer.blames_content && request.profiles > 1) {
    // Which of them it was shows when each goes by itself.
    queued.next = first;
    queued.singles = request.end;
    return 0;
  }
  Refused(request.profiles, answer.reason);
  return 0;
}

void Pusher::ConcludeTaken(const PushAnswer& answer, size_t profiles) {
  const size_t rejected = std::min<uint64_t>(answer.rejected, profiles);
  const bool all = rejected == profiles;
  registry_.Add(MetricId::kPushRequests, 1, {target_.name, all ? "refused" : "ok"});
  Count("sent", profiles - rejected);
  if (rejected > 0) {
    Refused(rejected, answer.reason);
  } else if (!answer.reason.empty()) {
    LOG(kWarn, "profiles pushed, with a warning of the server",
        {{"server", target_.name}, {"profiles", profiles}, {"why", answer.reason}});
  }
}

void Pusher::Refused(size_t profiles, std::string_view why) {
  Count("refused", profiles);
  LOG(kError, "profiles refused", {{"server", target_.name}, {"profiles", profiles}, {"why", why}});
}

void Pusher::Succeeded() {
  if (std::exchange(retry_ns_, 0) == 0) return;
  LOG(kInfo, "the server answers again", {{"server", target_.name}});
}

int64_t Pusher::BackoffNs() {
  retry_ns_ =
      retry_ns_ == 0 ? options_.first_retry_ns : std::min(2 * retry_ns_, options_.last_retry_ns);
  return std::uniform_int_distribution<int64_t>(1, std::max<int64_t>(retry_ns_, 1))(random_);
}

}  // namespace firetower::daemon
