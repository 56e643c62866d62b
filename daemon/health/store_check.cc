// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/store_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/clock.h"
#include "base/units.h"
#include "store/access/clock_skew.h"

namespace firetower::daemon {
namespace {

constexpr size_t kMostDamagedNamed = 3;
// Older drops are reported only by the metric.
constexpr int64_t kTellDropSeconds = 3600;

Check Ok(std::string message) { return {"store", CheckStatus::kOk, std::move(message), ""}; }
Check Warn(std::string message, std::string fix) {
  return {"store", CheckStatus::kWarn, std::move(message), std::move(fix)};
}
Check Fail(std::string message, std::string fix) {
  return {"store", CheckStatus::kFail, std::move(message), std::move(fix)};
}

std::string Ago(int64_t seconds) { return FormatDuration(seconds * kNsPerSecond) + " ago"; }

// Fix for an error, chosen by the first word of the list that the error contains.
struct Remedy {
  std::string_view word;
  std::string_view fix;
};
constexpr std::string_view kKeys =
    "give the daemon keys of the bucket: both parts of one pair, not expired";
constexpr std::string_view kRights =
    "allow the daemon's keys s3:PutObject and s3:AbortMultipartUpload on the bucket's prefix, and "
    "s3:ListBucket on the bucket; docs/reference/object-store.md has all actions";
constexpr Remedy kRemedies[] = {
    {"AccessDenied", kRights},
    {"NoSuchBucket", "create the bucket, or correct its name in --store"},
    {"InvalidBucketName", "correct the bucket's name in --store"},
    {"SignatureDoesNotMatch", kKeys},
    {"InvalidAccessKeyId", kKeys},
    {"XAdminUserNotFound", kKeys},
    {"ExpiredToken", kKeys},
    {"InvalidToken", kKeys},
    {"credentials", "give the daemon keys in one of the ways of docs/reference/object-store.md"},
    {"RequestTimeTooSkewed", "set this machine's clock, and run a time service"},
    {"AuthorizationHeaderMalformed", "set the option region to the bucket's"},
    {"PermanentRedirect", "set the options region and endpoint to the bucket's"},
    {"proxy", "check the option proxy, or https_proxy, http_proxy and no_proxy"},
    {"certificate", "set the option ca-file to the file of the server's certificate authority"},
    {"SSL", "check the option endpoint: https:// for a server with TLS, http:// for one without"},
    {"TLS", "check the option endpoint: https:// for a server with TLS, http:// for one without"},
    {"HTTPS", "check the option endpoint: https:// for a server with TLS, http:// for one without"},
    {"resolve", "correct the host in the option endpoint, or its DNS record"},
    {" 413", "raise the limit for request bodies in the proxy before the store"},
};

std::string BucketFix(const Error& error) {
  // Only keys and certificates are read from files on the way to a bucket.
  if (error.sys_errno() != 0) {
    return "let the daemon read the file of the message, or correct the options access-key-file, "
           "secret-key-file, session-token-file, credentials-file and ca-file";
  }
  // Behind the names of bucket and key, which may hold any word.
  const size_t behind = std::min(error.message().find(": "), error.message().size());
  for (const Remedy& remedy : kRemedies) {
    if (error.message().find(remedy.word, behind) != std::string::npos)
      return std::string(remedy.fix);
  }
  switch (error.code()) {
    case ErrorCode::kPermission:
      return std::string(kRights);
    case ErrorCode::kExhausted:
      return "make room in the store, or raise its quota";
    case ErrorCode::kUnavailable:
      return "check that the option endpoint has the server's scheme, host and port, that the "
             "server runs, and that egress rules and proxies let the daemon reach it";
    default:
      return "correct the URL of --store and its options: docs/reference/object-store.md";
  }
}

std::string FolderFix(const Error& error, std::string_view folder) {
  const int number = error.sys_errno();
  if (error.code() == ErrorCode::kExhausted || number == ENOSPC || number == EDQUOT)
    return fmt::format("free space on the disk of {}", folder);
  if (error.code() == ErrorCode::kPermission || number == EROFS)
    return fmt::format("give the daemon the right to write to {}", folder);
  return fmt::format("check that {} is a writable folder on a working disk with free space",
                     folder);
}

std::string Damage(const StoreFacts& facts) {
  std::string names;
  for (size_t i = 0; i < facts.damaged.size() && i < kMostDamagedNamed; ++i) {
    names += (i == 0 ? "" : ", ") + facts.damaged[i];
  }
  if (facts.damaged.size() > kMostDamagedNamed) {
    names += fmt::format(" and {} more", facts.damaged.size() - kMostDamagedNamed);
  }
  return fmt::format("{}: {} damaged and not served: {}", facts.url, facts.damaged.size(), names);
}

std::string LastUpload(const TriesFacts& puts) {
  if (puts.succeeded_ago_s) return "the last upload succeeded " + Ago(*puts.succeeded_ago_s);
  return "nothing was uploaded since the start, so it is unknown whether uploads work";
}

Check FolderCheck(const StoreFacts& facts) {
  if (facts.error) {
    return Fail(fmt::format("{} cannot be written: {}", facts.url, facts.error->message()),
                FolderFix(*facts.error, facts.url));
  }
  if (facts.puts.error) {
    return Fail(fmt::format("{} refused the profiles that were written last: {}", facts.url,
                            facts.puts.error->message()),
                FolderFix(*facts.puts.error, facts.url));
  }
  if (facts.damaged.empty()) return Ok(facts.url + " is writable, no object is damaged");
  return Warn(Damage(facts), "delete them if they are not needed; retention deletes them later");
}

Check BucketCheck(const StoreFacts& facts) {
  const TriesFacts& puts = facts.puts;
  if (facts.spooled.error) {
    return Fail(fmt::format("the spool {} accepts no profiles: {}", facts.spool,
                            facts.spooled.error->message()),
                FolderFix(*facts.spooled.error, facts.spool));
  }
  if (puts.error) {
    std::string message = fmt::format("{}: the last upload failed {}: {}", facts.url,
                                      Ago(puts.failed_ago_s.value_or(0)), puts.error->message());
    message += puts.succeeded_ago_s
                   ? fmt::format("; the last success was {}", Ago(*puts.succeeded_ago_s))
                   : "; none has succeeded since the start";
    if (!facts.error) message += "; it can be listed";
    return Fail(std::move(message), BucketFix(*puts.error));
  }
  if (facts.error) {
    std::string message = fmt::format("{} cannot be listed: {}; {}", facts.url,
                                      facts.error->message(), LastUpload(puts));
    // Profiles arrive all the same, as of keys that may only write.
    if (puts.succeeded_ago_s) return Warn(std::move(message), BucketFix(*facts.error));
    return Fail(std::move(message), BucketFix(*facts.error));
  }
  if (std::abs(facts.skew_s) > store::kTellSkewSeconds) {
    return Warn(
        fmt::format("{}: its clock is {} s {} this machine's, which names the profiles", facts.url,
                    std::abs(facts.skew_s), facts.skew_s > 0 ? "ahead of" : "behind"),
        "set the wrong clock, and run a time service");
  }
  return Ok(fmt::format("{} can be listed; {}; its objects are not read here", facts.url,
                        LastUpload(puts)));
}

std::string DropFix(const Error& reason, const std::string& spool) {
  const int number = reason.sys_errno();
  if (number == ENOSPC || number == EDQUOT)
    return FolderFix(reason, spool) + ", or set another one with --spool";
  if (reason.code() == ErrorCode::kExhausted)
    return "make the store accept profiles again, or raise --spool-bytes";
  if (reason.code() == ErrorCode::kCorrupt)
    return fmt::format("check the disk of {} and other programs that write to it", spool);
  return BucketFix(reason);
}

// Lost profiles are reported with every result.
Check WithDrops(Check check, const StoreFacts& facts) {
  const DropFacts& dropped = facts.dropped;
  if (!dropped.reason || dropped.ago_s > kTellDropSeconds) return check;
  check.message +=
      fmt::format("; the spool {} dropped {} profiles since the start, the last {}: {}",
                  facts.spool, dropped.profiles, Ago(dropped.ago_s), dropped.reason->message());
  if (check.status != CheckStatus::kOk) return check;
  check.status = CheckStatus::kWarn;
  check.fix = DropFix(*dropped.reason, facts.spool);
  return check;
}

}  // namespace

Check StoreCheck(const StoreFacts& facts) {
  return WithDrops(facts.folder ? FolderCheck(facts) : BucketCheck(facts), facts);
}

}  // namespace firetower::daemon
