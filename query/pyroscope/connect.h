// SPDX-License-Identifier: Apache-2.0
// The Connect protocol's unary calls (connectrpc.com/docs/protocol): a POST of one message, binary
// or JSON, gzip'd or not, answered in the same form; errors are JSON whatever the form.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/message.h"

namespace google::protobuf {
class Descriptor;
}  // namespace google::protobuf

namespace firetower::query::pyroscope {

enum class Codec { kProto, kJson };

// From a Content-Type, parameters aside. Nothing for another one, which is answered with 415.
std::optional<Codec> CodecOf(std::string_view content_type);

// The message of a request's body in its binary form. kUnsupported for a compression that is not
// gzip, kExhausted when more than kMaxMessageBytes come out of it.
inline constexpr size_t kMaxMessageBytes = size_t{1} << 20;
Result<std::string> ReadMessage(const net::HttpRequest& request, Codec codec,
                                const google::protobuf::Descriptor& type);

// An answer of such a message, gzip'd where the peer takes that. As JSON it may have `max_bytes`.
Result<net::HttpResponse> MessageResponse(const net::HttpRequest& request, Codec codec,
                                          const google::protobuf::Descriptor& type,
                                          std::string message, size_t max_bytes);

// {"code": …, "message": …} and the status that Connect has for that code: of a status of /api/v1
// the nearest one.
net::HttpResponse ConnectError(int status, std::string_view message);
net::HttpResponse ConnectError(const Error& error);

}  // namespace firetower::query::pyroscope
