// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/domain.h"

#include <algorithm>
#include <iterator>

namespace firetower::diagnosis {
namespace {

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Programs that are interpreters and virtual machines; a version may follow, as in python3.11.
constexpr std::string_view kRuntimePrograms[] = {
    "python",  "pypy", "node",   "nodejs", "deno",     "bun", "ruby",      "php",    "php-fpm",
    "php-cgi", "perl", "luajit", "lua",    "beam.smp", "qjs", "mono-sgen", "dotnet", "java"};
// Libraries that are, by how their names begin.
constexpr std::string_view kRuntimeLibraries[] = {
    "libjvm.so",    "libpython",   "libpypy",      "libnode.so", "libruby",
    "libphp",       "libperl.so",  "libluajit",    "liblua5",    "libcoreclr.so",
    "libclrjit.so", "libmonosgen", "libmonoboehm", "libmozjs",   "libjavascriptcore",
    "libgraal",     "libv8"};

bool IsRuntime(std::string_view name) {
  const auto begins = [&](std::string_view one) { return name.starts_with(one); };
  if (std::ranges::any_of(kRuntimeLibraries, begins)) return true;
  // node_exporter is no node.
  return std::ranges::any_of(kRuntimePrograms, [&](std::string_view one) {
    return name.starts_with(one) &&
           name.find_first_not_of("0123456789.-", one.size()) == std::string_view::npos;
  });
}

// Folders whose sources come with a language, not with the program.
constexpr std::string_view kRuntimeSources[] = {"/usr/local/go/src/runtime/", "/go/src/runtime/",
                                                "src/runtime/"};
constexpr std::string_view kLibrarySources[] = {
    "/usr/local/go/src/",
    "/go/pkg/mod/",
    "/rustc/",
    "/.cargo/registry/",
    "/usr/include/",
    "/site-packages/",
    "/dist-packages/",
    "/node_modules/",
    "/usr/lib/python",
    "/lib/python3.",
    "<frozen ",
    "/vendor/",
    "/usr/share/php/",
    "/wp-includes/",
    "/usr/lib/ruby/",
    "/lib/ruby/",
    "/gems/",
    "<internal:",
    "/usr/lib/x86_64-linux-gnu/perl",
    "/usr/share/perl",
    "/perl5/",
};

bool Contains(std::span<const std::string_view> parts, std::string_view text) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

// The packages of Java's own classes, and others that programs bring along but did not write.
constexpr std::string_view kJavaPackages[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/"};
constexpr std::string_view kJavaLibraries[] = {"org/apache/",    "org/springframework/",
                                               "io/netty/",      "com/google/",
                                               "com/fasterxml/", "org/eclipse/",
                                               "org/hibernate/", "io/vertx/",
                                               "reactor/",       "io/grpc/",
                                               "kotlin/",        "kotlinx/",
                                               "scala/",         "org/jetbrains/"};

Domain DomainOfJava(std::string_view source) {
  const auto begins = [&](std::string_view package) { return source.starts_with(package); };
  // Stubs of the virtual machine have no source file.
  if (source.empty() || std::ranges::any_of(kJavaPackages, begins)) return Domain::kRuntime;
  return std::ranges::any_of(kJavaLibraries, begins) ? Domain::kLibrary : Domain::kApplication;
}

bool IsLibrary(std::string_view name) {
  return name.ends_with(".so") || name.find(".so.") != std::string_view::npos || name == "[vdso]" ||
         name == "linux-vdso.so.1";
}

}  // namespace

std::string_view DomainName(Domain domain) {
  constexpr std::string_view kNames[kDomains] = {"application", "runtime", "library", "kernel",
                                                 "unknown"};
  return kNames[static_cast<size_t>(domain)];
}

Domain DomainOfFile(std::string_view module, std::string_view source) {
  if (module.empty() || module == "[unknown]") return Domain::kUnknown;
  // Scripts, and code that a runtime wrote of the program's.
  if (module == "[java]") return DomainOfJava(source);
  // Built-in functions have no source file, here and in PHP.
  if (module == "[javascript]" && (source.empty() || source.starts_with("node:")))
    return Domain::kRuntime;
  if (module == "[php]" && source.empty()) return Domain::kRuntime;
  if (module == "[python]" || module == "[javascript]" || module == "[php]" || module == "[ruby]" ||
      module == "[perl]" || module == "[jit]") {
    return Contains(kLibrarySources, source) ? Domain::kLibrary : Domain::kApplication;
  }
  const std::string_view name = BaseName(module);
  if (IsRuntime(name)) return Domain::kRuntime;
  if (IsLibrary(name)) return Domain::kLibrary;
  if (Contains(kRuntimeSources, source)) return Domain::kRuntime;
  return Contains(kLibrarySources, source) ? Domain::kLibrary : Domain::kApplication;
}

char DomainLetterOf(std::string_view module, std::string_view source) {
  return DomainName(DomainOfFile(module, source)).front();
}

Domains::Domains(const profile::Profile& profile) {
  for (uint32_t i = 0; i < profile.location_count(); ++i) {
    begin_.push_back(of_.size());
    const profile::Location location = profile.location(i);
    const bool kernel = profile.IsKernel(location);
    std::string_view module;
    if (location.mapping != profile::kNoMapping)
      module = profile.string(profile.mapping(location.mapping).filename);
    for (size_t line = 0; line < std::max<size_t>(location.lines.size(), 1); ++line) {
      std::string_view source;
      if (!location.lines.empty())
        source = profile.string(profile.function(location.lines[line].function).filename);
      of_.push_back(kernel ? Domain::kKernel : DomainOfFile(module, source));
    }
  }
}

Domain Domains::Of(uint32_t location, size_t line) const { return of_[begin_[location] + line]; }

}  // namespace firetower::diagnosis
