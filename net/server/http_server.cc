// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_server.h"

#include <utility>

#include "base/thread.h"
#include "net/server/connection_loop.h"
#include "net/server/listener.h"

namespace firetower::net {
namespace {

std::string UrlOf(std::string address, bool tls) {
  if (address.starts_with("0.0.0.0:")) address.replace(0, 7, "127.0.0.1");
  if (address.starts_with("[::]:")) address.replace(0, 4, "[::1]");
  return (tls ? "https://" : "http://") + address;
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(HttpServerOptions options, HttpHandler handler, Listener listener,
       std::optional<TlsCertificate> certificate)
      : options_(std::move(options)),
        handler_(std::move(handler)),
        address_(listener.address),
        loop_(options_, handler_, std::move(listener), std::move(certificate)),
        thread_("http-loop", [this](const std::stop_token& stop, WakeFd&) { loop_.Run(stop); }) {}

  void Stop() {
    thread_.RequestStop();
    thread_.Join();
  }
  const std::string& address() const { return address_; }
  bool has_tls() const { return options_.tls.has_value(); }

 private:
  HttpServerOptions options_;
  HttpHandler handler_;
  std::string address_;
  ConnectionLoop loop_;
  NamedThread thread_;
};

Result<std::unique_ptr<HttpServer>> HttpServer::Start(HttpServerOptions options,
                                                      HttpHandler handler) {
  if (options.worker_threads < 1 || options.max_connections < 1) {
    return Error(ErrorCode::kInvalid, "an HTTP server needs at least one worker and connection");
  }
  std::optional<TlsCertificate> certificate;
  if (options.tls) {
    ASSIGN_OR_RETURN(certificate, TlsCertificate::Load(*options.tls));
    if (options.on_certificate) options.on_certificate(certificate->state());
  }
  ASSIGN_OR_RETURN(Listener listener, Listen(options.listen));
  if (options.host_rule) {
    handler =
        HostGuard::Around(std::move(handler), *options.host_rule, listener.address,
                          UrlOf(listener.address, options.tls.has_value()), options.error_format);
  }
  auto impl = std::make_unique<Impl>(std::move(options), std::move(handler), std::move(listener),
                                     std::move(certificate));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { Stop(); }

void HttpServer::Stop() { impl_->Stop(); }

const std::string& HttpServer::address() const { return impl_->address(); }

std::string HttpServer::url() const { return UrlOf(impl_->address(), impl_->has_tls()); }

}  // namespace firetower::net
