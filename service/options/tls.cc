// SPDX-License-Identifier: Apache-2.0
#include "service/options/tls.h"

#include "service/options/values.h"

namespace firetower::service {
namespace {

constexpr const char* kAllowed = "a PEM file; empty for plain HTTP";

}  // namespace

void AddTlsOptions(std::string_view group, std::string& certificate, std::string& private_key,
                   std::vector<Option>& rows) {
  rows.push_back(
      {.name = "tls-cert-file",
       .group = group,
       .placeholder = "FILE",
       .help =
           "Certificate of the HTTP server and its issuers (PEM), by which it speaks TLS alone. "
           "Read again within 10 s of a change; a new pair that cannot be used leaves the old "
           "one.",
       .value = TextValue(certificate, kAllowed)});
  rows.push_back({.name = "tls-private-key-file",
                  .group = group,
                  .placeholder = "FILE",
                  .help = "Private key of that certificate (PEM, without a passphrase); may be the "
                          "same file.",
                  .value = TextValue(private_key, kAllowed)});
}

Status CheckTlsOptions(const std::string& certificate, const std::string& private_key) {
  if (certificate.empty() == private_key.empty()) return OkStatus();
  return Error(ErrorCode::kInvalid,
               "tls-cert-file and tls-private-key-file: one is given without the other, and TLS "
               "needs both; give both, or neither for plain HTTP");
}

}  // namespace firetower::service
