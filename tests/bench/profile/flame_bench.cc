// SPDX-License-Identifier: Apache-2.0
// flame_bench FILE levels|svg|html|folded OUT: from a pprof file to what is drawn. Prints
// `<CPU ms> <of it, decoding> <bytes> <peak KiB>`. `levels` is cut to 8,192 bars as by the
// HTTP API, the others to 100,000.
#include <fmt/core.h>
#include <sys/resource.h>

#include <string>

#include "base/check.h"
#include "base/file.h"
#include "profile/export.h"
#include "profile/flame/html.h"
#include "profile/flame/levels_json.h"
#include "profile/flame/svg.h"
#include "profile/pprof.h"

namespace firetower::profile {
namespace {

double CpuMs() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

int Run(const std::string& file, const std::string& format, const std::string& path) {
  const double begin_ms = CpuMs();
  auto bytes = ReadFile(file);
  CHECK(bytes);
  auto profile = DecodePprof(*bytes);
  CHECK(profile);
  const double decoded_ms = CpuMs() - begin_ms;
  std::string out;
  if (format == "folded") {
    out = ToFolded(*profile, 0);
  } else {
    FlameOptions options;
    if (format == "levels") options.max_bars = 8192;
    Result<std::string> drawn = Error(ErrorCode::kInvalid, "no such format");
    if (format == "svg") drawn = EncodeSvg(*profile, options);
    if (format == "html") drawn = EncodeFlameHtml(*profile, options, "cpu");
    if (format == "levels") {
      auto flame = MakeFlame(*profile, options);
      CHECK(flame);
      drawn = FlameLevelsJson(*flame, "cpu");
    }
    CHECK(drawn);
    out = *std::move(drawn);
  }
  CHECK(!out.empty() && WriteFileAtomic(path, out));
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  fmt::print("{:.3f} {:.3f} {} {}\n", CpuMs() - begin_ms, decoded_ms, out.size(), usage.ru_maxrss);
  return 0;
}

}  // namespace
}  // namespace firetower::profile

int main(int argc, char** argv) {
  if (argc == 4) return firetower::profile::Run(argv[1], argv[2], argv[3]);
  fmt::print(stderr, "usage: flame_bench FILE levels|svg|html|folded OUT\n");
  return 2;
}
