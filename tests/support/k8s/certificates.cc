// SPDX-License-Identifier: Apache-2.0
#include "tests/support/k8s/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>

#include "base/check.h"

namespace firetower::k8s {
namespace {

struct Free {
  void operator()(BIO* bio) const { ::BIO_free(bio); }
  void operator()(X509* certificate) const { ::X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

void Extend(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  CHECK(extension != nullptr);
  ::X509_add_ext(certificate, extension, -1);
  ::X509_EXTENSION_free(extension);
}

TestCertificate Make(const TestCertificate* authority, const std::string& name,
                     const std::string& alternative_names) {
  static long serial = 0;
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  const Owned<X509> certificate(::X509_new());
  Owned<X509> issuer;
  Owned<EVP_PKEY> issuer_key;
  if (authority != nullptr) {
    const Owned<BIO> pem(::BIO_new_mem_buf(authority->certificate_pem.data(), -1));
    const Owned<BIO> key_pem(::BIO_new_mem_buf(authority->key_pem.data(), -1));
    issuer.reset(::PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr));
    issuer_key.reset(::PEM_read_bio_PrivateKey(key_pem.get(), nullptr, nullptr, nullptr));
    CHECK(issuer && issuer_key);
  }
  X509* const made = certificate.get();
  X509* const signer = issuer ? issuer.get() : made;
  ::X509_set_version(made, 2);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(made), ++serial);
  ::X509_gmtime_adj(X509_getm_notBefore(made), -60);
  ::X509_gmtime_adj(X509_getm_notAfter(made), 3600);
  ::X509_NAME_add_entry_by_txt(::X509_get_subject_name(made), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  ::X509_set_issuer_name(made, ::X509_get_subject_name(signer));
  ::X509_set_pubkey(made, key.get());
  Extend(made, signer, NID_basic_constraints, issuer ? "CA:FALSE" : "critical,CA:TRUE");
  if (!alternative_names.empty()) Extend(made, signer, NID_subject_alt_name, alternative_names);
  CHECK(::X509_sign(made, issuer_key ? issuer_key.get() : key.get(), ::EVP_sha256()) > 0);

  const Owned<BIO> out(::BIO_new(::BIO_s_mem()));
  const Owned<BIO> key_out(::BIO_new(::BIO_s_mem()));
  ::PEM_write_bio_X509(out.get(), made);
  ::PEM_write_bio_PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return {TextOf(out.get()), TextOf(key_out.get())};
}

}  // namespace

TestCertificate MakeAuthority(const std::string& name) { return Make(nullptr, name, ""); }

TestCertificate MakeCertificate(const TestCertificate& authority, const std::string& name,
                                const std::string& alternative_names) {
  return Make(&authority, name, alternative_names);
}

}  // namespace firetower::k8s
