// SPDX-License-Identifier: Apache-2.0
// OpenSSL's hand-written assembly: hashes, ciphers and long multiplications, each with frames that
// no compiler makes.
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "tests/programs/truth/truth.h"

static volatile unsigned sum;

FRAME static void openssl_hash(const EVP_MD *kind) {
  static unsigned char data[4096];
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  for (int i = 0; i < 20; ++i) EVP_Digest(data, sizeof(data), out, &size, kind, NULL);
  sum = sum + out[0];
}

FRAME static void openssl_cipher(const EVP_CIPHER *kind) {
  static unsigned char key[64], from[4096], to[4096 + 64];
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int size = 0;
  EVP_EncryptInit_ex(context, kind, NULL, key, key);
  for (int i = 0; i < 20; ++i) EVP_EncryptUpdate(context, to, &size, from, sizeof(from));
  EVP_CIPHER_CTX_free(context);
  sum = sum + to[0];
}

FRAME static void openssl_power(int bits) {
  BN_CTX *context = BN_CTX_new();
  BIGNUM *base = BN_new(), *power = BN_new(), *modulus = BN_new(), *result = BN_new();
  BN_rand(modulus, bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ODD);
  BN_rand(base, bits - 1, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY);
  BN_rand(power, 64, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY);
  BN_mod_exp_mont(result, base, power, modulus, context, NULL);
  BN_mod_exp_mont_consttime(result, base, power, modulus, context, NULL);
  BN_free(base);
  BN_free(power);
  BN_free(modulus);
  BN_free(result);
  BN_CTX_free(context);
}

FRAME static void openssl_run(void) {
  openssl_hash(EVP_sha1());
  openssl_hash(EVP_sha256());
  openssl_hash(EVP_sha512());
  openssl_hash(EVP_sha3_256());
  openssl_hash(EVP_md5());
  openssl_cipher(EVP_aes_128_cbc());
  openssl_cipher(EVP_aes_256_gcm());
  openssl_cipher(EVP_chacha20());
  openssl_power(512);
  openssl_power(1024);
  openssl_power(1600);
  sum = sum + 1;
}
static void openssl_state(void) {
  STATE("openssl_run openssl_hash *");
  STATE("openssl_run openssl_cipher *");
  STATE("openssl_run openssl_power *");
  STATE("openssl_run *");
}
const struct Shape kOpenssl = {"openssl", openssl_state, openssl_run};
