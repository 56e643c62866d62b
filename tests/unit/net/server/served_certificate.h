// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "net/server/tls_certificate.h"
#include "tests/support/k8s/certificates.h"

namespace firetower::net {

// A certificate in files of its own, replaced as Kubernetes does it: `..data` is a symbolic link to
// a folder, tls.crt and tls.key are links into it.
class ServedCertificate {
 public:
  explicit ServedCertificate(const std::string& name) {
    std::string pattern = std::filesystem::temp_directory_path() / "served-certificate-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    for (const char* file : {"tls.crt", "tls.key"})
      std::filesystem::create_symlink(std::string("..data/") + file, folder_ / file);
    Renew(name);
  }
  ~ServedCertificate() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ServedCertificate(const ServedCertificate&) = delete;
  ServedCertificate& operator=(const ServedCertificate&) = delete;

  TlsFiles files() const { return {folder_ / "tls.crt", folder_ / "tls.key"}; }

  // A new pair by that name, signed by an authority of its own.
  void Renew(const std::string& name) {
    const k8s::TestCertificate made =
        k8s::MakeCertificate(k8s::MakeAuthority("authority"), name, "IP:127.0.0.1,DNS:localhost");
    Replace(made.certificate_pem, made.key_pem);
  }
  void Replace(const std::string& certificate, const std::string& key) {
    const std::string name = "..data-" + std::to_string(++count_);
    std::filesystem::create_directory(folder_ / name);
    std::ofstream(folder_ / name / "tls.crt") << certificate;
    std::ofstream(folder_ / name / "tls.key") << key;
    std::filesystem::create_symlink(name, folder_ / "..data-next");
    std::filesystem::rename(folder_ / "..data-next", folder_ / "..data");
  }

 private:
  std::filesystem::path folder_;
  int count_ = 0;
};

}  // namespace firetower::net
