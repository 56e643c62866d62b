// SPDX-License-Identifier: Apache-2.0
#include "tests/support/k8s/fake_http_server.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <csignal>

#include "base/check.h"

namespace firetower::k8s {
namespace {

X509* ReadCertificate(const std::string& pem) {
  BIO* bio = ::BIO_new_mem_buf(pem.data(), -1);
  X509* certificate = ::PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  ::BIO_free(bio);
  CHECK(certificate != nullptr);
  return certificate;
}

SSL_CTX* CreateContext(const FakeHttpServer::Options& options) {
  SSL_CTX* context = ::SSL_CTX_new(::TLS_server_method());
  X509* certificate = ReadCertificate(options.certificate->certificate_pem);
  BIO* bio = ::BIO_new_mem_buf(options.certificate->key_pem.data(), -1);
  EVP_PKEY* key = ::PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  CHECK(::SSL_CTX_use_certificate(context, certificate) == 1);
  CHECK(::SSL_CTX_use_PrivateKey(context, key) == 1);
  ::BIO_free(bio);
  ::X509_free(certificate);
  ::EVP_PKEY_free(key);
  if (options.client_authority != nullptr) {
    X509* authority = ReadCertificate(options.client_authority->certificate_pem);
    ::X509_STORE_add_cert(::SSL_CTX_get_cert_store(context), authority);
    ::X509_free(authority);
    ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  return context;
}

}  // namespace

FakePeer::FakePeer(UniqueFd socket, ssl_st* tls) : socket_(std::move(socket)), tls_(tls) {}

FakePeer::~FakePeer() {
  if (tls_ == nullptr) return;
  ::SSL_shutdown(tls_);
  ::SSL_free(tls_);
}

std::string FakePeer::ReadSome() {
  std::array<char, 4096> buffer;
  const int n = tls_ != nullptr
                    ? ::SSL_read(tls_, buffer.data(), static_cast<int>(buffer.size()))
                    : static_cast<int>(::recv(socket_.get(), buffer.data(), buffer.size(), 0));
  return n <= 0 ? "" : std::string(buffer.data(), static_cast<size_t>(n));
}

std::string FakePeer::ReadRequest() {
  std::string request;
  size_t wanted = 0;
  while (wanted == 0 || request.size() < wanted) {
    const std::string piece = ReadSome();
    if (piece.empty()) return "";
    request += piece;
    const size_t head = request.find("\r\n\r\n");
    if (wanted != 0 || head == std::string::npos) continue;
    const size_t length = request.find("Content-Length: ");
    wanted = head + 4 + (length < head ? std::stoul(request.substr(length + 16)) : 0);
  }
  return request;
}

bool FakePeer::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const int n =
        tls_ != nullptr
            ? ::SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()))
            : static_cast<int>(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool FakePeer::Reply(std::string_view status, std::string_view body, std::string_view headers) {
  return Write(fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n{}\r\n{}", status, body.size(),
                           headers, body));
}

void FakePeer::AwaitClose() {
  while (!ReadRequest().empty()) {
  }
}

bool FakePeer::AwaitCloseFor(int timeout_ms) {
  pollfd polled{.fd = socket_.get(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&polled, 1, timeout_ms) > 0;
}

void FakePeer::ResetOnClose() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  CHECK(::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0);
}

std::string FakePeer::ClientName() const {
  X509* certificate = tls_ == nullptr ? nullptr : ::SSL_get1_peer_certificate(tls_);
  if (certificate == nullptr) return "";
  std::array<char, 256> name{};
  ::X509_NAME_get_text_by_NID(::X509_get_subject_name(certificate), NID_commonName, name.data(),
                              static_cast<int>(name.size()));
  ::X509_free(certificate);
  return name.data();
}

FakeHttpServer::FakeHttpServer(Options options, Handler handler)
    : handler_(std::move(handler)),
      concurrent_(options.concurrent),
      listener_(::socket(options.ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  (void)std::signal(SIGPIPE, SIG_IGN);  // as the programs do
  if (options.certificate != nullptr) context_ = CreateContext(options);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_addr = in6addr_loopback;
  const sockaddr* where =
      options.ipv6 ? reinterpret_cast<sockaddr*>(&v6) : reinterpret_cast<sockaddr*>(&v4);
  CHECK(::bind(listener_.get(), where, options.ipv6 ? sizeof(v6) : sizeof(v4)) == 0);
  CHECK(::listen(listener_.get(), 16) == 0);
  socklen_t size = sizeof(v6);
  CHECK(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&v6), &size) == 0);
  port_ = ntohs(v6.sin6_port);  // in the same place in both
  thread_ = std::thread([this] { Run(); });
}

FakeHttpServer::~FakeHttpServer() {
  ::shutdown(listener_.get(), SHUT_RDWR);
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  thread_.join();
  for (std::thread& other : others_) other.join();
  if (context_ != nullptr) ::SSL_CTX_free(context_);
}

void FakeHttpServer::Run() {
  for (;;) {
    UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) return;
    if (concurrent_) {
      others_.emplace_back(
          [this, taken = std::move(socket)]() mutable { Serve(std::move(taken)); });
    } else {
      Serve(std::move(socket));
    }
  }
}

void FakeHttpServer::Serve(UniqueFd socket) {
  const int fd = socket.get();
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return;
    open_.insert(fd);
  }
  SSL* tls = context_ == nullptr ? nullptr : ::SSL_new(context_);
  if (tls != nullptr) ::SSL_set_fd(tls, fd);
  if (tls != nullptr && ::SSL_accept(tls) != 1) {
    ::SSL_free(tls);
    return Forget(fd);
  }
  ++connections_;
  FakePeer peer(std::move(socket), tls);
  for (;;) {
    const std::string request = peer.ReadRequest();
    if (request.empty() || !handler_(peer, request)) break;
  }
  Forget(fd);
}

void FakeHttpServer::Forget(int fd) {
  std::lock_guard lock(mutex_);
  open_.erase(fd);
}

}  // namespace firetower::k8s
