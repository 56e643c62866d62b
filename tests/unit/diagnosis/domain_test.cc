// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/domain.h"

#include <gtest/gtest.h>

#include "tests/unit/diagnosis/profiles.h"

namespace firetower::diagnosis {
namespace {

TEST(DomainOfFile, GoesByTheFileThatHasTheCode) {
  const std::pair<const char*, Domain> kCases[] = {
      {"/app/web", Domain::kApplication},
      {"/usr/sbin/nginx", Domain::kApplication},
      {"/usr/lib/x86_64-linux-gnu/libc.so.6", Domain::kLibrary},
      {"/usr/lib/libjemalloc.so.2", Domain::kLibrary},
      {"[vdso]", Domain::kLibrary},
      {"/usr/bin/python3.11", Domain::kRuntime},
      {"/opt/lib/libpython3.12.so.1.0", Domain::kRuntime},
      {"/usr/lib/jvm/lib/server/libjvm.so", Domain::kRuntime},
      {"/usr/local/bin/node", Domain::kRuntime},
      {"/usr/sbin/php-fpm8.2", Domain::kRuntime},
      {"/bin/node_exporter", Domain::kApplication},
      {"/usr/bin/perlcritic", Domain::kApplication},
      {"/opt/node-problem-detector", Domain::kApplication},
      {"[jit]", Domain::kApplication},
      {"[unknown]", Domain::kUnknown},
      {"", Domain::kUnknown},
  };
  for (const auto& [module, domain] : kCases) EXPECT_EQ(DomainOfFile(module, ""), domain) << module;
}

TEST(DomainOfFile, TellsALanguagesOwnSourcesFromTheProgramsBySourceFile) {
  EXPECT_EQ(DomainOfFile("[python]", "/srv/shop/views.py"), Domain::kApplication);
  EXPECT_EQ(DomainOfFile("[java]", "shop/Cart.java"), Domain::kApplication);
  EXPECT_EQ(DomainOfFile("[java]", "java/util/ArrayList.java"), Domain::kRuntime);
  EXPECT_EQ(DomainOfFile("[java]", "org/springframework/web/Filter.java"), Domain::kLibrary);
  EXPECT_EQ(DomainOfFile("[java]", ""), Domain::kRuntime);
  EXPECT_EQ(DomainOfFile("[javascript]", "/srv/shop/cart.js"), Domain::kApplication);
  EXPECT_EQ(DomainOfFile("[javascript]", "/srv/shop/node_modules/express/lib/router.js"),
            Domain::kLibrary);
  EXPECT_EQ(DomainOfFile("[javascript]", "node:internal/timers"), Domain::kRuntime);
  EXPECT_EQ(DomainOfFile("[javascript]", ""), Domain::kRuntime);
  EXPECT_EQ(DomainOfFile("[ruby]", "/srv/shop/cart.rb"), Domain::kApplication);
  EXPECT_EQ(DomainOfFile("[ruby]", "/var/lib/gems/3.1.0/gems/rack-2.2/lib/rack.rb"),
            Domain::kLibrary);
  EXPECT_EQ(DomainOfFile("[ruby]", "<internal:kernel>"), Domain::kLibrary);
  EXPECT_EQ(DomainOfFile("[perl]", "/srv/shop/cart.pl"), Domain::kApplication);
  EXPECT_EQ(DomainOfFile("[perl]", "/usr/share/perl5/Plack/Util.pm"), Domain::kLibrary);
  EXPECT_EQ(DomainOfFile("[php]", "/srv/shop/cart.php"), Domain::kApplication);
  EXPECT_EQ(DomainOfFile("[php]", "/srv/shop/vendor/symfony/Kernel.php"), Domain::kLibrary);
  EXPECT_EQ(DomainOfFile("[php]", ""), Domain::kRuntime);
  EXPECT_EQ(DomainOfFile("[python]", "/usr/lib/python3.11/json/encoder.py"), Domain::kLibrary);
  EXPECT_EQ(DomainOfFile("[python]", "/venv/lib/python3.11/site-packages/django/db/query.py"),
            Domain::kLibrary);
  EXPECT_EQ(DomainOfFile("/app/server", "/usr/local/go/src/runtime/mgc.go"), Domain::kRuntime);
  EXPECT_EQ(DomainOfFile("/app/server", "/usr/local/go/src/encoding/json/decode.go"),
            Domain::kLibrary);
  EXPECT_EQ(DomainOfFile("/app/server", "/build/shop/cart.go"), Domain::kApplication);
}

// Anybody may call a function of a program `do_work` or `tcp_sendmsg`.
TEST(Domains, GoByPrivilegeAndNotByNames) {
  const profile::Profile profile =
      ProfileOf().Add({{"do_syscall_64"}, {"tcp_sendmsg", kKernelModule}}, 1).Build();
  const Domains domains(profile);
  const profile::Sample sample = profile.sample(0);
  EXPECT_EQ(domains.Of(sample.locations[0], 0), Domain::kKernel);
  EXPECT_EQ(domains.Of(sample.locations[1], 0), Domain::kApplication);
}

}  // namespace
}  // namespace firetower::diagnosis
