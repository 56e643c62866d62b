// SPDX-License-Identifier: Apache-2.0
#include "store/s3/sign/sigv4.h"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <utility>

#include "base/text/hex.h"

namespace firetower::store::s3 {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

// Blanks at the ends cut off, blanks in a row one.
std::string Trimmed(std::string_view value) {
  std::string out;
  for (const char c : value) {
    const bool blank = c == ' ' || c == '\t';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

// Sorted by name; the values of one name stay in their order, joined by commas.
std::map<std::string, std::string> CanonicalHeaders(std::span<const net::NamedValue> headers) {
  std::map<std::string, std::string> sorted;
  for (const net::NamedValue& header : headers) {
    std::string name = header.first;
    std::ranges::transform(name, name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    auto [at, is_new] = sorted.try_emplace(std::move(name));
    if (!is_new) at->second += ',';
    at->second += Trimmed(header.second);
  }
  return sorted;
}

std::string SignedHeaders(const std::map<std::string, std::string>& headers) {
  std::string names;
  for (const auto& [name, value] : headers) {
    if (!names.empty()) names += ';';
    names += name;
  }
  return names;
}

std::string Scope(const SigningKey& key, std::string_view amz_date) {
  return fmt::format("{}/{}/{}/aws4_request", amz_date.substr(0, 8), key.region, key.service);
}

}  // namespace

std::string AmzDate(int64_t unix_s) {
  std::tm utc{};
  const auto at = static_cast<time_t>(unix_s);
  ::gmtime_r(&at, &utc);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string CanonicalRequest(const SigningRequest& request) {
  const std::map<std::string, std::string> headers = CanonicalHeaders(request.headers);
  std::string out = fmt::format("{}\n{}\n{}\n", request.method, request.encoded_path,
                                CanonicalQuery(request.query));
  for (const auto& [name, value] : headers) out += fmt::format("{}:{}\n", name, value);
  out += fmt::format("\n{}\n{}", SignedHeaders(headers), request.payload_sha256);
  return out;
}

std::string StringToSign(const SigningRequest& request, const SigningKey& key,
                         std::string_view amz_date) {
  return fmt::format("{}\n{}\n{}\n{}", kAlgorithm, amz_date, Scope(key, amz_date),
                     Sha256Hex(CanonicalRequest(request)));
}

Sha256Digest Signer::DerivedKey(const SigningKey& key, std::string_view amz_date) {
  std::string of =
      fmt::format("{}\n{}\n{}", Scope(key, amz_date), key.access_key_id, key.secret_access_key);
  const std::lock_guard lock(mutex_);
  if (of == of_) return derived_;
  derived_ = HmacSha256(fmt::format("AWS4{}", key.secret_access_key), amz_date.substr(0, 8));
  for (const std::string_view part : {key.region, key.service, std::string_view("aws4_request")}) {
    derived_ = HmacSha256(AsText(derived_), part);
  }
  of_ = std::move(of);
  return derived_;
}

std::string Signer::Authorization(const SigningRequest& request, const SigningKey& key,
                                  std::string_view amz_date) {
  const Sha256Digest derived = DerivedKey(key, amz_date);
  const Sha256Digest signature = HmacSha256(AsText(derived), StringToSign(request, key, amz_date));
  return fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm,
                     key.access_key_id, Scope(key, amz_date),
                     SignedHeaders(CanonicalHeaders(request.headers)), ToHex(AsText(signature)));
}

}  // namespace firetower::store::s3
