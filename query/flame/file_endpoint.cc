// SPDX-License-Identifier: Apache-2.0
#include "query/flame/file_endpoint.h"

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "diagnosis/domain.h"
#include "profile/flame/flame.h"
#include "profile/flame/levels_json.h"
#include "profile/format.h"
#include "query/http/errors.h"
#include "query/http/params.h"
#include "query/question.h"

namespace firetower::query {
namespace {

constexpr std::string_view kParams[] = {"name", "base-name", "base-bytes", "max-nodes"};
constexpr int64_t kDefaultNodes = 8192;
constexpr int64_t kMaxNodes = 1 << 20;
// A file unpacks to several times its size, and a profile of text is smaller than the text.
constexpr size_t kUnpacked = 4;

Result<profile::Profile> Decode(std::string_view bytes, std::string_view name,
                                const ApiParts& parts) {
  profile::DecodeOptions options;
  options.limits.max_bytes = parts.max_file_bytes * kUnpacked;
  options.limits.max_profile_bytes = parts.max_file_bytes * kUnpacked;
  options.perf_script.times = false;
  auto read = profile::DecodeProfile(bytes, name, options);
  if (read) return read;
  // The question was well formed; the file is not, or is none that can be read.
  return Error(ErrorCode::kUnsupported,
               fmt::format("{}: {}", name.empty() ? "the file" : name, read.error().message()));
}

// Returns the value that both have, by default the one that tools show.
Result<uint32_t> ValueIn(const profile::Profile& profile, const std::string& type) {
  if (const auto index = profile::ValueIndexOf(profile.meta(), type)) return *index;
  return Error(ErrorCode::kUnsupported,
               fmt::format("the two files have no value in common: one has no '{}'", type));
}

Result<net::HttpResponse> Answer(const net::HttpRequest& request, const ApiParts& parts) {
  ASSIGN_OR_RETURN(const Params params, Params::Read(request, kParams));
  ASSIGN_OR_RETURN(const int64_t nodes, params.GetInt("max-nodes", kDefaultNodes, 1, kMaxNodes));
  const auto size = static_cast<int64_t>(request.body.size());
  ASSIGN_OR_RETURN(const int64_t base_bytes, params.GetInt("base-bytes", 0, 0, size));
  const std::string_view body = request.body;
  const auto split = static_cast<size_t>(base_bytes);
  ASSIGN_OR_RETURN(const profile::Profile after,
                   Decode(body.substr(split), params.Get("name"), parts));
  const std::optional<uint32_t> shown = profile::ValueIndexOf(after.meta(), "");
  if (!shown) return Error(ErrorCode::kUnsupported, "the file has no values");
  const profile::ValueType value = after.meta().sample_types[*shown];

  profile::FlameTreeBuilder builder(profile::NameDetail::kFull);
  builder.NameDomains(diagnosis::DomainLetterOf);
  profile::Flame flame;
  flame.info.value = value;
  std::optional<profile::Profile> base;
  if (split > 0) {
    ASSIGN_OR_RETURN(base, Decode(body.substr(0, split), params.Get("base-name"), parts));
  }
  do {
    RETURN_IF_ERROR(builder.Add(after, *shown));
    if (!base) continue;
    ASSIGN_OR_RETURN(const uint32_t index, ValueIn(*base, value.type));
    builder.Clear(profile::FlameTreeBuilder::Side::kLeft);
    RETURN_IF_ERROR(builder.Add(*base, index, profile::FlameTreeBuilder::Side::kLeft));
  } while (builder.Recount());
  profile::FlameOptions options;
  options.max_bars = static_cast<uint32_t>(nodes);
  flame.levels = profile::LayOutWithin(std::move(builder), options);
  flame.info.title = params.Get("name");
  const auto seconds = [](const profile::Profile& profile) {
    return static_cast<double>(profile.meta().duration_nanos) / kNsPerSecond;
  };
  flame.info.from_ms = after.meta().time_nanos / kNsPerMs;
  flame.info.to_ms = (after.meta().time_nanos + after.meta().duration_nanos) / kNsPerMs;
  flame.info.observed_seconds = seconds(after);
  if (base) flame.info.base = {.observed_seconds = seconds(*base), .profiles = 1};
  return JsonResponse(profile::FlameLevelsJson(flame, ""), {});
}

}  // namespace

std::shared_ptr<net::LargeBodies> FilesOf(size_t each_bytes) {
  auto files = std::make_shared<net::LargeBodies>();
  files->path = kFilePath;
  files->each_bytes = each_bytes;
  files->all_bytes = 2 * each_bytes;
  return files;
}

net::HttpResponse ServeFile(const net::HttpRequest& request, const ApiParts& parts) {
  if (request.method != "POST") {
    net::HttpResponse response;
    response.content_type = "application/json";
    response.body = fmt::format("{{\"version\":1,\"max_bytes\":{}}}\n", parts.max_file_bytes);
    return response;
  }
  if (parts.max_file_bytes == 0) {
    return JsonError(501,
                     "this server takes no files, so that they do not use a node's memory: "
                     "open it at the hub, or with firetower view FILE");
  }
  // A page of a browser may send other types to any address without being asked.
  if (!request.content_type.starts_with("application/octet-stream"))
    return JsonError(415, "the Content-Type must be application/octet-stream");
  Result<net::HttpResponse> response = Answer(request, parts);
  return response ? *std::move(response) : ErrorResponse(response.error());
}

}  // namespace firetower::query
