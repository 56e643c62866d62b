// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>

namespace firetower::k8s {
namespace {

struct Free {
  void operator()(BIO* bio) const { ::BIO_free(bio); }
  void operator()(X509* certificate) const { ::X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
  void operator()(SSL* session) const { ::SSL_free(session); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

Error Wrong(std::string_view what) {
  std::string reason = TakeTlsReason();
  return Error(ErrorCode::kInvalid, std::string(what) + (reason.empty() ? "" : ": " + reason));
}

Owned<BIO> Reader(const std::string& pem) {
  return Owned<BIO>(::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// Every certificate of the bundle: one that rotates holds the old CA and the new.
Status TrustOnly(SSL_CTX* context, const std::string& ca_pem) {
  if (ca_pem.empty()) {
    ::SSL_CTX_set_default_verify_paths(context);
    return OkStatus();
  }
  const Owned<BIO> reader = Reader(ca_pem);
  X509_STORE* store = ::SSL_CTX_get_cert_store(context);
  int count = 0;
  for (;; ++count) {
    const Owned<X509> certificate(::PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr));
    if (!certificate) break;
    ::X509_STORE_add_cert(store, certificate.get());
  }
  // The loop always ends with an error: at the end of the text that is PEM_R_NO_START_LINE.
  const unsigned long error = ::ERR_peek_last_error();
  const bool at_end =
      ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  if (count == 0 || !at_end) return Wrong("the certificate authority is no PEM certificate");
  ::ERR_clear_error();
  return OkStatus();
}

// The certificate first, then those that lead to its issuer.
Status UseClientCertificate(SSL_CTX* context, const Identity& identity) {
  if (identity.certificate_pem.empty()) return OkStatus();
  const Owned<BIO> certificates = Reader(identity.certificate_pem);
  const Owned<X509> leaf(::PEM_read_bio_X509(certificates.get(), nullptr, nullptr, nullptr));
  if (!leaf || ::SSL_CTX_use_certificate(context, leaf.get()) != 1)
    return Wrong("the client certificate is no PEM certificate");
  for (;;) {
    X509* next = ::PEM_read_bio_X509(certificates.get(), nullptr, nullptr, nullptr);
    if (next == nullptr) break;
    ::SSL_CTX_add0_chain_cert(context, next);
  }
  ::ERR_clear_error();
  const Owned<BIO> keys = Reader(identity.key_pem);
  const Owned<EVP_PKEY> key(::PEM_read_bio_PrivateKey(keys.get(), nullptr, nullptr, nullptr));
  if (!key || ::SSL_CTX_use_PrivateKey(context, key.get()) != 1)
    return Wrong("the client key is no PEM key of the client certificate");
  return OkStatus();
}

bool IsAddress(const std::string& host) {
  in6_addr parsed{};
  return ::inet_pton(AF_INET, host.c_str(), &parsed) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &parsed) == 1;
}

// RFC 6125 by OpenSSL: names against DNS names, addresses against IP addresses of the certificate.
Status ExpectHost(SSL* session, const std::string& host) {
  const bool address = IsAddress(host);
  // RFC 6066 §3: server_name carries no addresses.
  if (!address) SSL_set_tlsext_host_name(session, host.c_str());
  X509_VERIFY_PARAM* param = ::SSL_get0_param(session);
  ::X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const int done = address ? ::X509_VERIFY_PARAM_set1_ip_asc(param, host.c_str())
                           : ::X509_VERIFY_PARAM_set1_host(param, host.c_str(), host.size());
  return done == 1 ? OkStatus() : Status(Wrong("the server's name cannot be checked"));
}

}  // namespace

std::string TakeTlsReason() {
  const unsigned long error = ::ERR_peek_last_error();
  const char* reason = ::ERR_reason_error_string(error);
  ::ERR_clear_error();
  return reason == nullptr ? "" : reason;
}

Result<ssl_st*> CreateTlsSession(const ClientConfig& config, const std::string& ca_pem,
                                 const Identity& identity, int fd) {
  ::ERR_clear_error();
  const Owned<SSL_CTX> context(::SSL_CTX_new(::TLS_client_method()));
  if (!context) return Wrong("TLS cannot be set up");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  if (config.insecure_skip_tls_verify) {
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  } else {
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    RETURN_IF_ERROR(TrustOnly(context.get(), ca_pem));
  }
  RETURN_IF_ERROR(UseClientCertificate(context.get(), identity));
  Owned<SSL> session(::SSL_new(context.get()));
  if (!session || ::SSL_set_fd(session.get(), fd) != 1) return Wrong("TLS cannot be set up");
  const std::string& host =
      config.tls_server_name.empty() ? config.server.host : config.tls_server_name;
  RETURN_IF_ERROR(ExpectHost(session.get(), host));
  return session.release();
}

}  // namespace firetower::k8s
