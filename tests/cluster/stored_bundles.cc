// SPDX-License-Identifier: Apache-2.0
// stored_bundles DIR START: fills a directory store as agents would have from START (Unix seconds)
// on. Each of six minutes has 10 samples of shop/web-1/web, 5 of infra/db-0/db and 2 of the host;
// one minute of 20 days before has 10 of the first.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/support/stored_profiles.h"

namespace firetower::testing {
namespace {

constexpr int64_t kMinutes = 6;
constexpr int64_t kOldSeconds = 20 * 86'400;

int Fill(const std::string& folder, int64_t start_s) {
  const auto store = store::DirStore::Open(folder);
  if (!store) {
    std::fprintf(stderr, "stored_bundles: %s\n", store.error().message().c_str());
    return 1;
  }
  for (int64_t at = start_s; at < start_s + kMinutes * 60; at += 60) {
    CHECK((*store)->Put(BundleKeyAt(at), BundleOf({Row("shop", "web-1", "web", at, 10),
                                                   Row("infra", "db-0", "db", at, 5),
                                                   Row("-", "-", "host", at, 2)})));
  }
  const int64_t old_s = start_s - kOldSeconds;
  CHECK((*store)->Put(BundleKeyAt(old_s), BundleOf({Row("shop", "web-1", "web", old_s, 10)})));
  return 0;
}

}  // namespace
}  // namespace firetower::testing

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: stored_bundles DIR START\n", stderr);
    return 2;
  }
  return firetower::testing::Fill(argv[1], std::strtoll(argv[2], nullptr, 10));
}
