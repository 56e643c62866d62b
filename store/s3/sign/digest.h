// SPDX-License-Identifier: Apache-2.0
// The digests that S3 asks for.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/client/body.h"

namespace firetower::store::s3 {

using Sha256Digest = std::array<unsigned char, 32>;

Sha256Digest Sha256(std::string_view bytes);
Sha256Digest HmacSha256(std::string_view key, std::string_view bytes);
std::string_view AsText(const Sha256Digest& digest);  // its 32 bytes, as a key of the next HMAC

std::string Sha256Hex(std::string_view bytes);  // lower-case

// Header values: Content-MD5 (RFC 1864) and x-amz-checksum-crc32c (big-endian), in Base64.
std::string Md5Base64(std::string_view bytes);
std::string Crc32cBase64(std::string_view bytes);

// The same of what a request sends, which is read once for it. Errors: the body's.
Result<std::string> BodySha256Hex(const net::HttpBody& body);
Result<std::string> BodyMd5Base64(const net::HttpBody& body);
Result<std::string> BodyCrc32cBase64(const net::HttpBody& body);

// RFC 3720's CRC, polynomial 0x1EDC6F41.
uint32_t Crc32c(std::string_view bytes);

}  // namespace firetower::store::s3
