// SPDX-License-Identifier: Apache-2.0
#include "net/server/tls_certificate.h"

#include <fmt/core.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <ctime>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"

namespace firetower::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// A chain of ten certificates with RSA keys has some 20 KB.
constexpr size_t kMaxPemBytes = 256 << 10;
// Forward secrecy and AEAD alone, which every client of the last ten years has; TLS 1.3 has no
// others.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

Error Refused(std::string_view option, const std::string& path, std::string_view why) {
  return Error(ErrorCode::kInvalid, fmt::format("{} {}: {}", option, path, why));
}

int64_t NotAfterSeconds(const SSL_CTX* context) {
  const X509* certificate = ::SSL_CTX_get0_certificate(context);
  std::tm when{};
  if (certificate == nullptr || ::ASN1_TIME_to_tm(::X509_get0_notAfter(certificate), &when) != 1)
    return 0;
  return ::timegm(&when);
}

}  // namespace

Result<TlsCertificate> TlsCertificate::Load(TlsFiles files) {
  TlsCertificate loaded(std::move(files));
  auto certificates = ReadFile(loaded.files_.certificate, kMaxPemBytes).Context("tls-cert-file");
  if (!certificates) return Error(ErrorCode::kInvalid, certificates.error().message());
  auto key = ReadFile(loaded.files_.private_key, kMaxPemBytes).Context("tls-private-key-file");
  if (!key) return Error(ErrorCode::kInvalid, key.error().message());
  RETURN_IF_ERROR(loaded.Use(*certificates, *key));
  loaded.seen_ = HashText(*certificates + *key);
  return loaded;
}

bool TlsCertificate::Reload() {
  Status used = OkStatus();
  const Result<std::string> certificates = ReadFile(files_.certificate, kMaxPemBytes);
  const Result<std::string> key = ReadFile(files_.private_key, kMaxPemBytes);
  const auto text_of = [](const Result<std::string>& read) {
    return read ? *read : read.error().message();
  };
  const uint64_t hash = HashText(text_of(certificates) + text_of(key));
  if (std::exchange(seen_, hash) == hash) return false;
  if (!certificates || !key) {
    used = certificates ? key.error() : certificates.error();
  } else {
    used = Use(*certificates, *key);
  }
  if (used) {
    LOG(kInfo, "the TLS certificate was replaced", {{"file", files_.certificate}});
  } else {
    ++state_.refused;
    LOG(kWarn, "the new TLS certificate cannot be used; the old one stays",
        {{"error", used.error().message()}});
  }
  return true;
}

Status TlsCertificate::Use(const std::string& certificates, const std::string& key) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX* const native = context->native_handle();
  ::SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  ::SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  ::SSL_CTX_set_cipher_list(native, kCiphers);
  // Peers keep their sessions as tickets; a cache here would hold up to 20,000 of them.
  ::SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  error_code error;
  // Without it OpenSSL asks the terminal.
  context->set_password_callback(
      [](size_t, asio::ssl::context::password_purpose) { return std::string(); }, error);
  context->use_certificate_chain(asio::buffer(certificates), error);
  if (error) {
    return Refused("tls-cert-file", files_.certificate,
                   "it holds no certificate as PEM (" + error.message() + ")");
  }
  context->use_private_key(asio::buffer(key), asio::ssl::context::pem, error);
  if (error) {
    return Refused("tls-private-key-file", files_.private_key,
                   fmt::format("it holds no key of the certificate in {} as PEM without a "
                               "passphrase ({})",
                               files_.certificate, error.message()));
  }
  context_ = std::move(context);
  state_.not_after_seconds = NotAfterSeconds(native);
  return OkStatus();
}

}  // namespace firetower::net
