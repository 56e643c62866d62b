// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/message.h"

namespace firetower::net {

// An http or https URL of a server, taken apart.
struct Url {
  bool tls = true;
  std::string host = {};  // a name or an address; an IPv6 one without brackets
  uint16_t port = 443;
  std::string path = {};  // "" or "/k8s/clusters/x": no slash at the end, percent-encoded

  // "host:port", with an IPv6 address in brackets.
  std::string Authority() const;
  // "https://host:port/path".
  std::string Text() const;
  // Whether it is this machine: localhost, 127.0.0.0/8 or ::1.
  bool IsLoopback() const;
};

struct DefaultPorts {
  uint16_t http = 80;
  uint16_t https = 443;
};

// http:// or https://, a host (IPv6 in brackets), maybe a port and a path; nothing else. kInvalid
// says what is wrong and repeats nothing of the text, which may hold a password.
Result<Url> ParseUrl(std::string_view text, const DefaultPorts& ports = {});

// Whether `host` is a name or an address that may stand in a URL; an IPv6 one without brackets.
bool IsHost(const std::string& host);

// The query part of a request target ("a=1&q=%7Bx%3D%22y%22%7D"), decoded. A value goes up to the
// next '&', so that an unencoded selector (`q={a="b"}`) arrives whole; '+' is a space. kInvalid on
// a broken percent escape and beyond 64 parameters.
Result<NamedValues> DecodeQuery(std::string_view query);

// Returns "?a=1&q=…", or "" for no parameters. Escapes everything but RFC 3986's unreserved
// characters.
std::string EncodeQuery(const NamedValues& params);

}  // namespace firetower::net
