// SPDX-License-Identifier: Apache-2.0
// An S3 server on the loopback with one empty bucket.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>

#include "tests/support/k8s/fake_http_server.h"

namespace firetower::testing {

class EmptyBucket {
 public:
  // The body of the answer to a listing.
  static constexpr const char* kListing =
      "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";

  // The keys that the server is asked with are in the environment.
  explicit EmptyBucket(k8s::FakeHttpServer::Handler answer) : server_(std::move(answer)) {
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

// One whose clock stands where a test says.
class DatedServer : public EmptyBucket {
 public:
  // `date`: as HTTP has it.
  explicit DatedServer(const std::string& date)
      : EmptyBucket([date](k8s::FakePeer& peer, const std::string&) {
          return peer.Reply("200 OK", kListing, "Date: " + date + "\r\n");
        }) {}
};

}  // namespace firetower::testing
