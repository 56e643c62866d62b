// SPDX-License-Identifier: Apache-2.0
// upload_contender URL FILE…: puts each file into the store under its name, one after the other,
// and prints `<requests> <peak RSS in KiB>`. Credentials come from the environment.
#include <fmt/core.h>
#include <sys/resource.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/file.h"
#include "store/access/file_source.h"
#include "store/s3/s3_store.h"

namespace {

// The peak of this program alone. getrusage would include the process before exec, a Python of 24
// MB.
long PeakRssKib() {
  const auto status = firetower::ReadFile("/proc/self/status");
  CHECK(status);
  constexpr std::string_view kName = "VmHWM:";
  const size_t at = status->find(kName);
  CHECK(at != std::string::npos);
  return std::atol(status->c_str() + at + kName.size());
}

}  // namespace

int main(int argc, char** argv) {
  using firetower::store::FileSource;
  if (argc < 3) {
    fmt::print(stderr, "usage: upload_contender URL FILE…\n");
    return 2;
  }
  auto store =
      firetower::store::s3::S3Store::Open(argv[1], firetower::store::s3::SystemEnvironment());
  if (!store) {
    fmt::print(stderr, "{}\n", store.error().message());
    return 1;
  }
  for (int i = 2; i < argc; ++i) {
    const std::string path = argv[i];
    const auto source = FileSource::Open(path);
    CHECK(source);
    const firetower::Status put = (*store)->PutFrom(path.substr(path.rfind('/') + 1), *source);
    if (!put) {
      fmt::print(stderr, "{}\n", put.error().message());
      return 1;
    }
  }
  fmt::print("{} {}\n", (*store)->counts().requests, PeakRssKib());
  return 0;
}
