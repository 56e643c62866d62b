// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/tls_stream.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string>
#include <utility>

#include "k8s/client/tls.h"

namespace firetower::k8s {
namespace {

struct Free {
  void operator()(SSL* session) const { ::SSL_free(session); }
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
};

class TlsStream final : public ByteStream {
 public:
  explicit TlsStream(std::unique_ptr<ByteStream> below) : below_(std::move(below)) {}

  Status Open(int64_t timeout_ns) {
    const std::unique_ptr<SSL_CTX, Free> context(::SSL_CTX_new(::TLS_client_method()));
    if (!context) return Failed();
    ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    session_.reset(::SSL_new(context.get()));
    if (!session_) return Failed();
    in_ = ::BIO_new(::BIO_s_mem());
    out_ = ::BIO_new(::BIO_s_mem());
    ::SSL_set_bio(session_.get(), in_, out_);  // which owns them from now on
    ASSIGN_OR_RETURN(const int opened,
                     Step([this] { return ::SSL_connect(session_.get()); }, timeout_ns));
    return opened > 0 ? OkStatus()
                      : Status(Error(ErrorCode::kUnavailable, "the pod ends the TLS handshake"));
  }

  Result<size_t> Read(char* out, size_t size, int64_t timeout_ns) override {
    const int most = static_cast<int>(std::min<size_t>(size, INT_MAX));
    ASSIGN_OR_RETURN(const int read,
                     Step([&] { return ::SSL_read(session_.get(), out, most); }, timeout_ns));
    return static_cast<size_t>(read);
  }

  Status Write(std::string_view data, int64_t timeout_ns) override {
    if (data.empty()) return OkStatus();
    const int size = static_cast<int>(std::min<size_t>(data.size(), INT_MAX));
    ASSIGN_OR_RETURN(
        const int written,
        Step([&] { return ::SSL_write(session_.get(), data.data(), size); }, timeout_ns));
    if (written == 0) return Error(ErrorCode::kUnavailable, "the pod has closed the connection");
    return Write(data.substr(static_cast<size_t>(written)), timeout_ns);
  }

 private:
  static Error Failed() {
    return Error(ErrorCode::kUnavailable, "TLS with the pod fails: " + TakeTlsReason());
  }

  // Repeats a call of OpenSSL until it is done, with what it sends and waits for carried below.
  // Returns its result, 0 at the end of the stream.
  template <typename Call>
  Result<int> Step(Call call, int64_t timeout_ns) {
    for (;;) {
      ::ERR_clear_error();  // of other sessions
      const int done = call();
      const int error = ::SSL_get_error(session_.get(), done);
      RETURN_IF_ERROR(Flush(timeout_ns));
      if (done > 0) return done;
      if (error == SSL_ERROR_ZERO_RETURN) return 0;
      if (error != SSL_ERROR_WANT_READ) return Failed();
      std::array<char, 16 << 10> buffer;
      ASSIGN_OR_RETURN(const size_t size, below_->Read(buffer.data(), buffer.size(), timeout_ns));
      if (size == 0) return 0;
      ::BIO_write(in_, buffer.data(), static_cast<int>(size));
    }
  }

  Status Flush(int64_t timeout_ns) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(out_, &data);
    if (size <= 0) return OkStatus();
    RETURN_IF_ERROR(below_->Write({data, static_cast<size_t>(size)}, timeout_ns));
    (void)BIO_reset(out_);
    return OkStatus();
  }

  const std::unique_ptr<ByteStream> below_;
  std::unique_ptr<SSL, Free> session_;
  BIO* in_ = nullptr;  // what has come from below
  BIO* out_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<ByteStream>> OpenTlsStream(std::unique_ptr<ByteStream> below,
                                                  int64_t timeout_ns) {
  auto stream = std::make_unique<TlsStream>(std::move(below));
  RETURN_IF_ERROR(stream->Open(timeout_ns));
  return std::unique_ptr<ByteStream>(std::move(stream));
}

}  // namespace firetower::k8s
