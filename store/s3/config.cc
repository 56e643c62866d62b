// SPDX-License-Identifier: Apache-2.0
#include "store/s3/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "base/text/url_options.h"
#include "base/units.h"
#include "net/url.h"
#include "store/key.h"

namespace firetower::store::s3 {
namespace {

constexpr std::string_view kScheme = "s3://";
constexpr int64_t kMinPartBytes = 5 << 20;  // S3's own bound
constexpr int64_t kMaxPartBytes = 64 << 20;

Error Invalid(std::string_view what, std::string_view why) {
  return {ErrorCode::kInvalid, fmt::format("store s3://: {}: {}", what, why)};
}

bool IsHostByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

Status CheckBucket(std::string_view bucket) {
  const bool fits = bucket.size() >= 3 && bucket.size() <= 63 &&
                    std::ranges::all_of(bucket, IsHostByte) && bucket.front() != '.' &&
                    bucket.front() != '-' && bucket.find("..") == std::string_view::npos;
  if (fits) return OkStatus();
  return Invalid("bucket", "allowed are 3 to 63 of a-z 0-9 - . as in s3://bucket/prefix");
}

// A server's address: scheme, host and perhaps a port. The value is not repeated: it may hold a
// password that should not be there.
Result<std::string> CheckServer(std::string_view name, std::string_view text) {
  const Result<net::Url> url = net::ParseUrl(text);
  if (!url) return Invalid(name, url.error().message());
  if (!url->path.empty())
    return Invalid(name, "must be https://HOST or https://HOST:PORT, without a path");
  while (text.ends_with('/')) text.remove_suffix(1);
  return std::string(text);
}

// One option on its way into a Config.
struct Setting {
  Config* config = nullptr;
  std::optional<bool>* path_style = nullptr;  // nothing for auto
  std::string_view name = {};
  std::string value = {};

  Error Refuse(std::string_view why) const { return Invalid(name, why); }
};

Status SetText(std::string* field, const Setting& setting) {
  *field = setting.value;
  return OkStatus();
}

Status SetPath(std::string* field, const Setting& setting) {
  if (!setting.value.starts_with('/')) return setting.Refuse("must be an absolute path");
  *field = setting.value;
  return OkStatus();
}

Status SetServer(std::string* field, const Setting& setting) {
  ASSIGN_OR_RETURN(*field, CheckServer(setting.name, setting.value));
  return OkStatus();
}

Status SetSeconds(int64_t* field, const Setting& setting) {
  constexpr int64_t kMaxSeconds = 3600;
  const Result<int64_t> ns = ParseDurationNs(setting.value);
  if (!ns || *ns < kNsPerSecond || *ns > kMaxSeconds * kNsPerSecond) {
    return setting.Refuse("must be a duration of 1s to 1h, such as 30s");
  }
  *field = *ns / kNsPerSecond;
  return OkStatus();
}

Status SetOneOf(std::string* field, const Setting& setting,
                std::initializer_list<std::string_view> allowed) {
  if (std::ranges::find(allowed, setting.value) == allowed.end()) {
    return setting.Refuse(fmt::format("allowed are {}", fmt::join(allowed, ", ")));
  }
  *field = setting.value;
  return OkStatus();
}

Status SetRegion(std::string* field, const Setting& setting) {
  const std::string& value = setting.value;
  if (value.empty() || value.size() > 64 || !std::ranges::all_of(value, IsHostByte)) {
    return setting.Refuse("must be a region's name, such as eu-west-1");
  }
  *field = value;
  return OkStatus();
}

Status SetProxy(std::string* field, const Setting& setting) {
  return setting.value == "none" ? SetText(field, setting) : SetServer(field, setting);
}

Status SetChecksum(Checksum* field, const Setting& setting) {
  std::string text;
  RETURN_IF_ERROR(SetOneOf(&text, setting, {"auto", "none", "md5", "crc32c"}));
  *field = text == "none"     ? Checksum::kNone
           : text == "md5"    ? Checksum::kMd5
           : text == "crc32c" ? Checksum::kCrc32c
                              : Checksum::kAuto;
  return OkStatus();
}

Status SetStyle(std::optional<bool>* field, const Setting& setting) {
  std::string text;
  RETURN_IF_ERROR(SetOneOf(&text, setting, {"auto", "true", "false"}));
  if (text != "auto") *field = text == "true";
  return OkStatus();
}

Status SetPartBytes(uint64_t* field, const Setting& setting) {
  const Result<int64_t> bytes = ParseBytes(setting.value);
  if (!bytes || *bytes < kMinPartBytes || *bytes > kMaxPartBytes) {
    return setting.Refuse("must be 5Mi to 64Mi");
  }
  *field = static_cast<uint64_t>(*bytes);
  return OkStatus();
}

struct Option {
  std::string_view name;
  Status (*set)(const Setting& setting);
};

constexpr Option kOptions[] = {
    {"access-key-file",
     [](const Setting& t) { return SetPath(&t.config->credentials.key_files.access_key, t); }},
    {"ca-file", [](const Setting& t) { return SetPath(&t.config->transport.ca_file, t); }},
    {"checksum", [](const Setting& t) { return SetChecksum(&t.config->checksum, t); }},
    {"connect-timeout",
     [](const Setting& t) { return SetSeconds(&t.config->transport.connect_timeout_seconds, t); }},
    {"credentials",
     [](const Setting& t) {
       return SetOneOf(&t.config->credentials.source, t,
                       {"auto", "environment", "file", "web-identity", "container", "instance"});
     }},
    {"credentials-file", [](const Setting& t) { return SetPath(&t.config->credentials.file, t); }},
    {"endpoint", [](const Setting& t) { return SetServer(&t.config->endpoint, t); }},
    {"part-size", [](const Setting& t) { return SetPartBytes(&t.config->part_bytes, t); }},
    {"path-style", [](const Setting& t) { return SetStyle(t.path_style, t); }},
    {"profile", [](const Setting& t) { return SetText(&t.config->credentials.profile, t); }},
    {"proxy", [](const Setting& t) { return SetProxy(&t.config->transport.proxy, t); }},
    {"region", [](const Setting& t) { return SetRegion(&t.config->region, t); }},
    {"secret-key-file",
     [](const Setting& t) { return SetPath(&t.config->credentials.key_files.secret_key, t); }},
    {"session-token-file",
     [](const Setting& t) { return SetPath(&t.config->credentials.key_files.session_token, t); }},
    {"sse",
     [](const Setting& t) {
       return SetOneOf(&t.config->sse, t, {"AES256", "aws:kms"});
     }},
    {"sse-kms-key-id", [](const Setting& t) { return SetText(&t.config->sse_kms_key_id, t); }},
    {"stall-timeout",
     [](const Setting& t) { return SetSeconds(&t.config->transport.stall_seconds, t); }},
    {"sts-endpoint",
     [](const Setting& t) { return SetServer(&t.config->credentials.sts_endpoint, t); }},
    {"timeout", [](const Setting& t) { return SetSeconds(&t.config->timeout_seconds, t); }},
};

Status SetOption(const Setting& setting) {
  std::string allowed;
  for (const Option& option : kOptions) {
    if (option.name == setting.name) return option.set(setting);
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", option.name);
  }
  return Invalid(fmt::format("unknown option \"{}\"", setting.name.substr(0, 40)),
                 fmt::format("allowed are {}", allowed));
}

Status SetOptions(Config* config, std::optional<bool>* path_style, std::string_view query) {
  ASSIGN_OR_RETURN(std::vector<UrlOption> options, ParseUrlOptions(query).Context("store s3://"));
  for (UrlOption& option : options) {
    RETURN_IF_ERROR(SetOption({config, path_style, option.name, std::move(option.value)}));
  }
  return OkStatus();
}

// Fields that no option set, from the environment.
Status SetFromEnvironment(Config* config, const Environment& environment) {
  auto set = [&](std::string* field, Status (*setter)(std::string*, const Setting&),
                 std::initializer_list<const char*> names) -> Status {
    for (const char* name : names) {
      const std::string value = environment(name);
      if (!field->empty() || value.empty()) continue;
      RETURN_IF_ERROR(setter(field, {.config = config, .name = name, .value = value}));
    }
    return OkStatus();
  };
  RETURN_IF_ERROR(set(&config->region, SetRegion, {"AWS_REGION", "AWS_DEFAULT_REGION"}));
  RETURN_IF_ERROR(set(&config->endpoint, SetServer, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}));
  return set(&config->transport.ca_file, SetPath, {"AWS_CA_BUNDLE"});
}

Status CheckTogether(const Config& config) {
  if (!config.sse_kms_key_id.empty() && config.sse != "aws:kms") {
    return Invalid("sse-kms-key-id", "needs sse=aws:kms");
  }
  return OkStatus();
}

}  // namespace

Result<Config> ParseUrl(std::string_view url, const Environment& environment) {
  if (!url.starts_with(kScheme)) return Invalid("URL", "must begin with s3://");
  url.remove_prefix(kScheme.size());
  if (url.find('#') != std::string_view::npos) return Invalid("URL", "holds a fragment");
  const size_t question = std::min(url.find('?'), url.size());
  const std::string_view query = url.substr(std::min(question + 1, url.size()));
  const std::string_view path = url.substr(0, question);
  const size_t slash = std::min(path.find('/'), path.size());
  Config config{.bucket = std::string(path.substr(0, slash))};
  RETURN_IF_ERROR(CheckBucket(config.bucket));
  std::string_view prefix = path.substr(std::min(slash + 1, path.size()));
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (!prefix.empty()) {
    RETURN_IF_ERROR(CheckKey(prefix).Context("store s3://: prefix"));
    config.prefix = std::string(prefix) + '/';
  }
  std::optional<bool> path_style;
  RETURN_IF_ERROR(SetOptions(&config, &path_style, query));
  RETURN_IF_ERROR(SetFromEnvironment(&config, environment));
  RETURN_IF_ERROR(CheckTogether(config));
  // A bucket's name with a dot is under no certificate of "*.s3…", and most servers that are not
  // AWS's have no name for each bucket.
  const bool dotted = config.bucket.find('.') != std::string::npos;
  config.path_style = path_style.value_or(!config.endpoint.empty() || dotted);
  config.credentials.region = config.region;
  return config;
}

}  // namespace firetower::store::s3
