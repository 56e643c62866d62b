// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "store/s3/client.h"
#include "store/store.h"

namespace firetower::store::s3 {

// Larger objects go up in parts: a part that fails is sent again alone.
inline constexpr uint64_t kMultipartAboveBytes = 16 << 20;
inline constexpr uint64_t kMaxParts = 10'000;

// Parts of config().part_bytes, or larger where there would be more than kMaxParts; the last may be
// smaller.
uint64_t PartBytes(uint64_t object_bytes, uint64_t configured_bytes);

// Uploads and completes, one part after the other. When it fails the upload is aborted, for which a
// few seconds are taken even after `limits` are over, so that its parts are not paid for.
Status PutInParts(Client& client, std::string_view key, const net::HttpBody& object,
                  const CallLimits& limits);

// Aborts uploads as ObjectStore::AbortUploads does; `prefix` is below the store's own.
Result<uint64_t> AbortUploads(Client& client, std::string_view prefix, int64_t before_s,
                              const CallLimits& limits);

// Headers of a PUT and of the start of an upload: server-side encryption.
net::NamedValues WriteHeaders(const Config& config);

}  // namespace firetower::store::s3
