// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/commands/flame_look.h"
#include "cli/commands/naming.h"
#include "cli/files/input.h"
#include "cli/term/interrupt.h"
#include "net/server/http_server.h"
#include "query/app/pages.h"
#include "query/http/errors.h"

namespace firetower::cli {
namespace {

// Starts the desktop's browser, if there is a desktop, and does not wait for it.
void OpenBrowser(const std::string& url) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (int fd : {0, 1, 2}) {
    posix_spawn_file_actions_addopen(&files, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
  }
  // Our threads have the signals blocked that end us; the browser must not inherit that.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::string program = "xdg-open";
  std::string argument = url;
  char* argv[] = {program.data(), argument.data(), nullptr};
  pid_t pid = 0;
  if (posix_spawnp(&pid, program.c_str(), &files, &attributes, argv, environ) != 0) {
    std::fprintf(stderr, "open it in a browser: xdg-open cannot be started\n");
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
}

net::HttpResponse Answer(const net::HttpRequest& request, const std::string& page) {
  if (request.path != "/") return query::JsonError(404, "this server has only one page: /");
  if (request.method != "GET" && request.method != "HEAD") {
    return query::JsonError(405, "the page accepts GET and HEAD");
  }
  net::HttpResponse response;
  response.body = page;
  // The page's own policy says the rest.
  query::AddPageHeaders("frame-ancestors 'none'", response);
  return response;
}

Outcome<profile::Profile> ReadNamed(const LocalContext& context, const std::string& file) {
  Outcome<profile::Profile> profile = ReadProfileFile(context, file);
  if (!profile || !context.args.Has("symbols")) return profile;
  return NameHere(context, *profile);
}

}  // namespace

Outcome<int> RunView(const LocalContext& context) {
  const Args& args = context.args;
  if (args.positionals.empty()) {
    return BadFlag(context, Error(ErrorCode::kInvalid, "'view' needs a file"));
  }
  const std::string& file = args.positionals[0];
  Outcome<profile::FlameOptions> options =
      FlameLook(context, InputName(file.substr(file.rfind('/') + 1)));
  if (!options) return options.failure();
  Outcome<profile::Profile> profile = ReadNamed(context, file);
  if (!profile) return profile.failure();
  DropFrames(context, file, &*profile);
  Outcome<uint32_t> value_index = PickValue(context, *profile, "value");
  if (!value_index) return value_index.failure();
  TellValue(context, *profile, *value_index, "value", "the page");
  Outcome<std::string> page = DrawFlame(*profile, *options, "html");
  if (!page) return page.failure();

  InterruptGuard interrupt;
  interrupt.Hold();
  net::HttpServerOptions serving;
  serving.error_format = query::JsonError;
  serving.listen = args.Has("listen") ? args.Get("listen") : "127.0.0.1:0";
  serving.host_rule = {{}, "forward a port to it and open localhost"};
  Result<std::unique_ptr<net::HttpServer>> server = net::HttpServer::Start(
      serving, [&](const net::HttpRequest& request) { return Answer(request, *page); });
  if (!server) {
    // Else the address is one, and cannot be had.
    if (server.error().code() == ErrorCode::kInvalid) {
      return BadFlag(context, Error(server.error()).Context("--listen"));
    }
    return Failure{ExitCode::kFailure, "cannot serve the page", server.error().message(),
                   "choose another address with --listen"};
  }
  const std::string url = (*server)->url() + "/";
  Outcome<int> told = Emit(url + "\n", ExitCode::kOk);
  if (!told) return told.failure();
  std::fprintf(stderr, "%s is served there until Ctrl-C\n", InputName(file).c_str());
  if (!args.Has("no-browser")) OpenBrowser(url);
  while (!interrupt.WaitNs(3600 * kNsPerSecond)) {
  }
  (*server)->Stop();
  return interrupt.exit_code();
}

}  // namespace firetower::cli
