// SPDX-License-Identifier: Apache-2.0
#include "cli/http/client.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/units.h"
#include "net/message.h"
#include "net/url.h"
#include "profile/value_text.h"
#include "query/http/errors.h"
#include "query/wire.h"

namespace firetower::cli {
namespace {

// Returns the server's message: JSON errors contain one, errors of pprof are plain text.
std::string MessageOf(const std::string& body) {
  std::string message = query::ErrorMessageFromJson(body);
  if (message.empty()) message = body.substr(0, 1000);
  while (!message.empty() && message.back() == '\n') message.pop_back();
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < ' ' && c != '\n') c = ' ';
  }
  return message;
}

Failure Refused(const std::string& server, std::string_view path, int status,
                const std::string& body, std::string_view retry_after) {
  std::string why = MessageOf(body);
  switch (status) {
    case 400:
      return {ExitCode::kUsage, "the server does not understand the question", why,
              "'--help' shows the forms of selectors, types and times"};
    case 401:
    case 403:
      return {ExitCode::kUnreachable, fmt::format("{} refuses", server), why,
              "ask for the right that is missing, narrow the question (-n NAMESPACE), or name "
              "another token (--token)"};
    case 421:
      return {ExitCode::kUnreachable, fmt::format("{} refuses its name", server), why,
              "give --server its IP address, or localhost"};
    case 404:
      if (query::ErrorCodeFromJson(body) == query::kNoStoreCode) {
        return {ExitCode::kFailure, fmt::format("{} has no profiles", server),
                "it is a hub that was told no store: it keeps the status of policies only",
                "give it one, store.url of the chart (docs/install.md), or ask an agent or a hub "
                "that has one"};
      }
      // Only the profile path answers so; on others the server is no Firetower or another version.
      if (path != "/api/v1/profile") {
        return {ExitCode::kFailure, fmt::format("{} has no {}", server, path), why,
                "check that the server is a Firetower of this version"};
      }
      return {ExitCode::kNoData, "no data", why,
              "widen the range with --since, or see 'series' and 'profiles' for what there is"};
    case 413:
      return {ExitCode::kFailure, "the answer is too large", why,
              "narrow the selector or the range"};
    case 503:
      // A busy server passes, and some say when; what else is away may be so until it is mended.
      return {ExitCode::kUnreachable, fmt::format("{} answered 503", server), why,
              retry_after.empty()
                  ? std::string("try again; if it stays so, mend what it names: 'doctor' has more")
                  : fmt::format("try again in {} s", retry_after)};
    default:
      return {ExitCode::kFailure, fmt::format("{} answered {}", server, status), why,
              status >= 500
                  ? "its log has the reason"
                  : "check that the server is a Firetower of this version, and no proxy before it"};
  }
}

}  // namespace

Failure TooSlow(std::string_view server, int64_t timeout_ns) {
  return {ExitCode::kUnreachable,
          fmt::format("{} did not answer within {}", server, FormatDuration(timeout_ns)),
          "it was reached, and is busy or the question is a large one",
          "give it more time with --timeout, or ask for a shorter range or fewer containers"};
}

Failure TooLarge(size_t max_bytes) {
  return {
      ExitCode::kFailure, "the answer is too large",
      fmt::format("it passes {}", profile::FormatValue(static_cast<double>(max_bytes), "bytes")),
      "narrow the selector or the range"};
}

Outcome<HttpReply> HttpClient::Get(std::string_view path, const net::NamedValues& params) const {
  const std::string target = std::string(path) + net::EncodeQuery(params);
  if (options_.verbose)
    std::fprintf(stderr, "%s: GET %s\n", transport_->name().c_str(), target.c_str());
  std::optional<Progress> progress;
  if (!options_.quiet) progress.emplace("asking " + transport_->name());
  Outcome<net::HttpResponse> answer = transport_->Get(target, progress ? &*progress : nullptr);
  progress.reset();
  if (!answer) return answer.failure();
  if (answer->status != 200) {
    Failure refused =
        Refused(name(), path, answer->status, answer->body, answer->Header("retry-after"));
    refused.http_status = answer->status;
    return refused;
  }
  HttpReply reply;
  reply.body = std::move(answer->body);
  const std::string_view skipped = answer->Header("x-firetower-skipped");
  std::from_chars(skipped.data(), skipped.data() + skipped.size(), reply.skipped);
  const std::string_view hidden = answer->Header("x-firetower-max-hidden");
  double share = 0;
  const auto parsed = std::from_chars(hidden.data(), hidden.data() + hidden.size(), share);
  if (parsed.ec == std::errc()) reply.max_hidden = share;
  const std::string_view observed = answer->Header("x-firetower-observed-seconds");
  std::from_chars(observed.data(), observed.data() + observed.size(), reply.observed_seconds);
  return reply;
}

}  // namespace firetower::cli
