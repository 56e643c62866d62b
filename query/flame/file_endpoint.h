// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "net/message.h"
#include "net/server/request_reader.h"
#include "query/api.h"

namespace firetower::query {

inline constexpr std::string_view kFilePath = "/api/v1/file";

// A server that keeps what people upload in memory takes one file at a time from strangers as well.
inline constexpr size_t kServedFileBytes = size_t{32} << 20;

// Returns what a server has to know to take files of that size.
std::shared_ptr<net::LargeBodies> FilesOf(size_t each_bytes);

// GET /api/v1/file: how large a file may be. POST: a profile of any format that profile/format.h
// reads, as a flame graph; nothing of it is kept. With `base-bytes` the body is two files, of which
// the first one, of so many bytes, is the base.
net::HttpResponse ServeFile(const net::HttpRequest& request, const ApiParts& parts);

}  // namespace firetower::query
