// SPDX-License-Identifier: Apache-2.0
// An S3 server on the loopback with one empty bucket, whose clock stands where a test says.
#pragma once

#include <cstdlib>
#include <string>

#include "tests/support/k8s/fake_http_server.h"

namespace firetower::testing {

class DatedServer {
 public:
  // `date`: as HTTP has it. The keys that the server is asked with are in the environment.
  explicit DatedServer(const std::string& date)
      : server_([date](k8s::FakePeer& peer, const std::string&) {
          return peer.Reply("200 OK",
                            "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>",
                            "Date: " + date + "\r\n");
        }) {
    ::setenv("AWS_ACCESS_KEY_ID", "nobody", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "nothing", 1);
  }
  std::string url() const {
    return "s3://bucket?region=us-east-1&proxy=none&endpoint=http://127.0.0.1:" +
           std::to_string(server_.port());
  }

 private:
  k8s::FakeHttpServer server_;
};

}  // namespace firetower::testing
