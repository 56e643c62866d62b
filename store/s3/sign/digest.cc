// SPDX-License-Identifier: Apache-2.0
#include "store/s3/sign/digest.h"

#include <isa-l/crc.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/text/base64.h"
#include "base/text/hex.h"

namespace firetower::store::s3 {
namespace {

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { ::EVP_MD_CTX_free(context); }
};

// The bytes of the digest.
Result<std::string> BodyDigest(const net::HttpBody& body, const EVP_MD* type) {
  const std::unique_ptr<EVP_MD_CTX, FreeContext> context(::EVP_MD_CTX_new());
  CHECK(context != nullptr && ::EVP_DigestInit_ex(context.get(), type, nullptr) == 1);
  RETURN_IF_ERROR(body.ForEachPiece([&](std::string_view piece) {
    CHECK(::EVP_DigestUpdate(context.get(), piece.data(), piece.size()) == 1);
  }));
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned length = 0;
  CHECK(::EVP_DigestFinal_ex(context.get(), digest.data(), &length) == 1);
  return std::string(digest.begin(), digest.begin() + length);
}

// The register of RFC 3720's CRC after more bytes. ISA-L takes them as `unsigned char*` and an int,
// and only reads them.
constexpr uint32_t kCrcStart = 0xFFFFFFFF;
uint32_t Crc32cAfter(std::string_view bytes, uint32_t crc) {
  constexpr size_t kStep = size_t{1} << 30;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kStep))) {
    const int length = static_cast<int>(std::min(bytes.size(), kStep));
    crc = ::crc32_iscsi(const_cast<unsigned char*>(Bytes(bytes)), length, crc);
  }
  return crc;
}

}  // namespace

Sha256Digest Sha256(std::string_view bytes) {
  Sha256Digest digest;
  ::SHA256(Bytes(bytes), bytes.size(), digest.data());
  return digest;
}

Sha256Digest HmacSha256(std::string_view key, std::string_view bytes) {
  Sha256Digest digest;
  unsigned length = 0;
  const unsigned char* done = ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                     Bytes(bytes), bytes.size(), digest.data(), &length);
  CHECK(done != nullptr && length == digest.size());
  return digest;
}

std::string_view AsText(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string Sha256Hex(std::string_view bytes) { return ToHex(AsText(Sha256(bytes))); }

std::string Md5Base64(std::string_view bytes) { return *BodyMd5Base64(bytes); }
std::string Crc32cBase64(std::string_view bytes) { return *BodyCrc32cBase64(bytes); }

Result<std::string> BodySha256Hex(const net::HttpBody& body) {
  // Most requests have none.
  static const std::string of_nothing = Sha256Hex("");
  if (body.size() == 0) return of_nothing;
  ASSIGN_OR_RETURN(const std::string digest, BodyDigest(body, ::EVP_sha256()));
  return ToHex(digest);
}

Result<std::string> BodyMd5Base64(const net::HttpBody& body) {
  ASSIGN_OR_RETURN(const std::string digest, BodyDigest(body, ::EVP_md5()));
  return EncodeBase64(digest);
}

Result<std::string> BodyCrc32cBase64(const net::HttpBody& body) {
  uint32_t crc = kCrcStart;
  RETURN_IF_ERROR(
      body.ForEachPiece([&](std::string_view piece) { crc = Crc32cAfter(piece, crc); }));
  crc = ~crc;
  const std::array<char, 4> big_endian = {static_cast<char>(crc >> 24),
                                          static_cast<char>(crc >> 16), static_cast<char>(crc >> 8),
                                          static_cast<char>(crc)};
  return EncodeBase64({big_endian.data(), big_endian.size()});
}

uint32_t Crc32c(std::string_view bytes) { return ~Crc32cAfter(bytes, kCrcStart); }

}  // namespace firetower::store::s3
