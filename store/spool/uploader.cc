// SPDX-License-Identifier: Apache-2.0
#include "store/spool/uploader.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "base/log.h"
#include "store/spool/spooled_object.h"

namespace firetower::store {
namespace {

// Waits for so long, whatever is notified in between; less only when a stop is asked for.
void WaitOut(int64_t ns, const Clock& clock, const std::stop_token& stop, WakeFd& wake) {
  const int64_t until_ns = clock.MonotonicNs() + ns;
  while (!stop.stop_requested()) {
    const int64_t left_ms = (until_ns - clock.MonotonicNs()) / kNsPerMs;
    if (left_ms <= 0) return;
    wake.Wait(static_cast<int>(left_ms));
  }
}

// Deadline of the check of the store at the start.
constexpr int64_t kCheckNs = 10 * kNsPerSecond;

// How often the oldest object is tried in a row while the store cannot be reached, before others
// get a turn.
constexpr int kTries = 3;

// Returns true if the error is about the object, not about the store or a proxy (store/store.h).
bool IsInvalid(const Error& error) {
  return error.code() == ErrorCode::kInvalid || error.code() == ErrorCode::kUnsupported;
}

// Returns the message without the names before it, which the log's line has already: "PUT: 403 …".
std::string_view WordsOf(std::string_view message, const std::string& key) {
  const std::string before = key + ": ";
  const size_t at = message.find(before);
  return at == std::string_view::npos ? message : message.substr(at + before.size());
}

// Omits times, counts and text in brackets, in which equal refusals may differ.
std::string StateOf(ErrorCode code, std::string_view words) {
  std::string state(ErrorCodeName(code));
  for (const char c : words.substr(0, words.find_first_of("(;"))) {
    if (c < '0' || c > '9') state += c;
  }
  return state;
}

}  // namespace

void Uploader::Start() {
  thread_ = NamedThread("upload", [this](std::stop_token stop, WakeFd& wake) { Run(stop, wake); });
}

void Uploader::Finish() {
  thread_.RequestStop();
  thread_.Join();
}

void Uploader::Run(std::stop_token stop, WakeFd& wake) {
  std::minstd_rand random(std::random_device{}());
  const auto part_of = [&](int64_t ns) {
    return std::uniform_int_distribution<int64_t>(0, std::max<int64_t>(ns, 0))(random);
  };
  TellCheck(stop);
  int64_t retry_ns = options_.first_retry_ns;
  bool was_empty = true;
  while (!stop.stop_requested()) {
    if (!spool_.Oldest()) {
      was_empty = true;
      wake.Wait(-1);
    } else if (std::exchange(was_empty, false)) {
      WaitOut(part_of(options_.spread_ns), clock_, stop, wake);
    } else if (UploadNext({.stop = stop})) {
      retry_ns = options_.first_retry_ns;
    } else {
      WaitOut(part_of(retry_ns), clock_, stop, wake);
      retry_ns = std::min(2 * retry_ns, options_.last_retry_ns);
    }
  }
  UploadRest();
}

std::optional<std::string> Uploader::OldestNotSkipped() const {
  std::optional<std::string> key = spool_.Oldest();
  while (key && skipped_.contains(*key)) key = spool_.After(*key);
  return key;
}

bool Uploader::UploadNext(const CallLimits& limits) {
  std::optional<std::string> key = OldestNotSkipped();
  if (!key) {
    std::erase_if(invalid_, [this](const auto& one) { return !skipped_.contains(one.first); });
    std::erase_if(told_of_, [this](const auto& one) { return !skipped_.contains(one.first); });
    skipped_.clear();
    key = spool_.Oldest();
  }
  if (!key) return true;
  const Status uploaded = Upload(*key, limits);
  if (!uploaded) {
    SkipForNow(*key, uploaded.error());
    return false;
  }
  skipped_.erase(*key);
  invalid_.erase(*key);
  tries_ = 0;
  return true;
}

void Uploader::SkipForNow(const std::string& key, const Error& error) {
  // The same call may succeed later, and others not before. But not every such failure concerns the
  // whole store: other objects may be within a limit, for example of a proxy's bodies.
  if (error.code() == ErrorCode::kUnavailable && ++tries_ < kTries) return;
  tries_ = 0;
  skipped_.insert(key);
  if (!IsInvalid(error)) return;
  const auto [said, first] = invalid_.emplace(key, taken_);
  if (first || said->second == taken_) return;
  spool_.Drop(key, error);
  invalid_.erase(said);
  skipped_.erase(key);
}

Status Uploader::Upload(const std::string& key, const CallLimits& limits) {
  const Result<std::string> bytes = spool_.pending().Get(key);
  if (!bytes) {
    // Dropped in this moment, or the disk fails: another one's turn.
    LOG(kError, "spooled object not read", {{"key", key}, {"error", bytes.error().message()}});
    if (bytes.error().code() == ErrorCode::kNotFound) return spool_.Remove(key);
    return Error(ErrorCode::kUnavailable, bytes.error().message());
  }
  if (const Status sound = CheckSpooled(key, *bytes); !sound) {
    spool_.Drop(key, sound.error());
    return OkStatus();
  }
  const int64_t begin_ns = clock_.MonotonicNs();
  const Status put = store_.Limited(limits)->Put(key, *bytes);
  on_put_(put, clock_.MonotonicNs() - begin_ns);
  if (!put) {
    // A call that a stop broke off says nothing of the store.
    if (!limits.stop.stop_requested()) TellRefused(key, put.error());
    return put;
  }
  TellTaken(key);
  ++taken_;
  Status stored = spool_.Stored(key);
  if (!stored) {
    LOG(kError, "uploaded, but still spooled", {{"key", key}, {"error", stored.error().message()}});
    return Error(ErrorCode::kUnavailable, stored.error().message());
  }
  return OkStatus();
}

void Uploader::TellCheck(const std::stop_token& stop) {
  const auto limited =
      store_.Limited({.stop = stop, .deadline_ns = clock_.MonotonicNs() + kCheckNs});
  const Status listed = limited->Check();
  if (stop.stop_requested()) return;
  if (listed) {
    LOG(kInfo, "the store answers", {{"store", store_.Describe()}});
    return;
  }
  LOG(kWarn, "the store cannot be listed; refused objects wait in the spool",
      {{"store", store_.Describe()}, {"error", listed.error().message()}});
}

void Uploader::TellRefused(const std::string& key, const Error& error) {
  const std::string_view words = WordsOf(error.message(), key);
  std::string state = StateOf(error.code(), words);
  if (state == told_) return;
  std::string& of_key = told_of_[key];
  if (of_key == state) return;
  of_key = state;
  told_ = std::move(state);
  LOG(kError, "not uploaded, kept for the next try",
      {{"key", key}, {"store", store_.Describe()}, {"error", words}});
}

void Uploader::TellTaken(const std::string& key) {
  told_of_.erase(key);
  if (told_.empty()) return;
  told_.clear();
  LOG(kInfo, "the store takes uploads again", {{"key", key}, {"store", store_.Describe()}});
}

void Uploader::UploadRest() {
  const int64_t until_ns = clock_.MonotonicNs() + options_.finish_ns;
  while (spool_.Oldest() && clock_.MonotonicNs() < until_ns) {
    if (!UploadNext({.deadline_ns = until_ns})) break;
  }
  if (const SpoolFigures left = spool_.figures(); left.objects > 0)
    LOG(kWarn, "left in the spool for the next start",
        {{"objects", left.objects}, {"bytes", left.bytes}});
}

}  // namespace firetower::store
