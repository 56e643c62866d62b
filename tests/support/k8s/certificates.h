// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace firetower::k8s {

struct TestCertificate {
  std::string certificate_pem;
  std::string key_pem;
};

// A certificate authority of its own, good for an hour.
TestCertificate MakeAuthority(const std::string& name);
// Signed by it. `alternative_names` as OpenSSL writes them: "DNS:api.test,IP:127.0.0.1".
TestCertificate MakeCertificate(const TestCertificate& authority, const std::string& name,
                                const std::string& alternative_names);

}  // namespace firetower::k8s
