// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/foreign.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "profile/codec/detect.h"

namespace firetower::profile {
namespace {

struct Kind {
  std::string_view what;
  std::string_view fix;
};

struct Magic {
  size_t offset;
  std::string_view bytes;
  Kind kind;
};

// A literal's size counts its zeros.
template <size_t N>
constexpr std::string_view Bytes(const char (&text)[N]) {
  return {text, N - 1};
}

constexpr Kind kPerfData = {"what `perf record` writes (perf.data)",
                            "run `perf script -i FILE > FILE.perf` and give that"};
constexpr Kind kPerfPipe = {"what `perf record -o -` writes (perf.data for a pipe)",
                            "run `perf script -i - < FILE > FILE.perf` and give that"};
constexpr Kind kTextOfPprof = {
    "a profile of Go, Java or gperftools as text",
    "ask Go for it without debug=1, or make a pprof file of this one with `go tool pprof -proto "
    "FILE`"};

constexpr Kind kLz4 = {"packed by lz4", "run `lz4 -d FILE` and give what comes out"};
constexpr Kind kZlib = {"packed by zlib", "run `pigz -dz < FILE` and give what comes out"};
constexpr Kind kUtf16 = {"a text in UTF-16", "run `iconv -f UTF-16 -t UTF-8 FILE` and give that"};
constexpr Kind kTar = {"a tar archive", "run `tar -xf FILE` and give a file of it"};

constexpr Magic kMagics[] = {
    // Written by Go's net/http/pprof with debug=1, by gperftools and by Google's Java profiler.
    {0, "heap profile: ", kTextOfPprof},
    {0, "goroutine profile: total ", kTextOfPprof},
    {0, "threadcreate profile: total ", kTextOfPprof},
    {0, "--- contention", kTextOfPprof},
    {0, "--- mutex:", kTextOfPprof},
    {0, "--- heapz 1 ---", kTextOfPprof},
    {0,
     Bytes("FLR\0"),
     {"a recording of Java's flight recorder (JFR)",
      "run `jfrconv -o pb.gz FILE FILE.pb.gz`, of async-profiler, and give that"}},
    {0, Bytes("\x04\x22\x4d\x18"), kLz4},
    {0, Bytes("\x02\x21\x4c\x18"), kLz4},  // lz4 -l, and the kernel's
    {0,
     Bytes("7z\xbc\xaf\x27\x1c"),
     {"an archive of 7-Zip", "run `7z x FILE` and give a file of it"}},
    {0, Bytes("Rar!\x1a\x07"), {"an archive of RAR", "run `unrar x FILE` and give a file of it"}},
    {0,
     Bytes("\x5d\0\0"),
     {"packed by lzma", "run `xz -d -F lzma < FILE` and give what comes out"}},
    {0, "\x89PNG\r\n\x1a\n", {"a picture (PNG)", "give the profile that it shows"}},
    {0, Bytes("MZ\x90\0"), {"a program of Windows (PE)", "give a profile of it"}},
    {0, "\xcf\xfa\xed\xfe", {"a program of macOS (Mach-O)", "give a profile of it"}},
    {0, Bytes("SQLite format 3\0"), {"a database of SQLite", "export a profile from it"}},
    {257, Bytes("ustar\0"), kTar},
    {257, Bytes("ustar  \0"), kTar},
};

// Two bytes that a text of one byte a character may begin with, as the name of a thread.
std::optional<Kind> ShortMagic(std::string_view bytes) {
  // The blanks and line ends of UTF-16 have zeros.
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) {
    if (bytes.substr(0, 4096).find('\0') != std::string_view::npos) return kUtf16;
  }
  if ((bytes.starts_with("x\x9c") || bytes.starts_with("x\xda")) && !IsNearlyText(bytes))
    return kZlib;
  return std::nullopt;
}

uint32_t Byte(std::string_view bytes, size_t at) { return static_cast<unsigned char>(bytes[at]); }

// The header in a pipe is 16 bytes and says so; in a file it is longer.
std::optional<Kind> PerfData(std::string_view bytes) {
  if (!bytes.starts_with("PERFILE2") && !bytes.starts_with("2ELIFREP") &&
      !bytes.starts_with("PERFFILE")) {
    return std::nullopt;
  }
  const std::string_view size = bytes.substr(8, 8);
  const bool is_pipe = size == Bytes("\x10\0\0\0\0\0\0\0") || size == Bytes("\0\0\0\0\0\0\0\x10");
  return is_pipe ? kPerfPipe : kPerfData;
}

// elf(5): the class, the byte order, and e_type behind the 16 bytes of e_ident.
std::optional<Kind> Elf(std::string_view bytes) {
  constexpr uint32_t kCore = 4;
  if (!bytes.starts_with("\x7f"
                         "ELF") ||
      bytes.size() < 18)
    return std::nullopt;
  const bool big = Byte(bytes, 5) == 2;
  const uint32_t type =
      big ? Byte(bytes, 16) << 8 | Byte(bytes, 17) : Byte(bytes, 17) << 8 | Byte(bytes, 16);
  if (type == kCore) {
    return Kind{"a core file, the memory of a program that ended",
                "look at its stacks with `gdb PROGRAM FILE`, because it has no profile"};
  }
  return Kind{"a program or a library (ELF)", "give a profile of it, which `perf record` makes"};
}

std::optional<Kind> Bzip2(std::string_view bytes) {
  // A level between, and the mark of a block.
  if (!bytes.starts_with("BZh") || bytes.substr(3).find("1AY&SY") != 1) return std::nullopt;
  return Kind{"packed by bzip2", "run `bzip2 -d FILE` and give what comes out"};
}

// The third word is 1: Java's form of gperftools' CPU profile, in either size and order of words.
std::optional<Kind> JavaCpu(std::string_view bytes) {
  constexpr std::string_view kHeads[] = {Bytes("\0\0\0\0\3\0\0\0\1\0\0\0"),
                                         Bytes("\0\0\0\0\0\0\0\3\0\0\0\1"),
                                         Bytes("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"),
                                         Bytes("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\1")};
  const auto begins = [&](std::string_view head) { return bytes.starts_with(head); };
  if (std::ranges::none_of(kHeads, begins)) return std::nullopt;
  return Kind{"a CPU profile of Java in gperftools' form",
              "run `go tool pprof -proto FILE > FILE.pb.gz` and give that"};
}

// The first key of an object of JSON.
std::string_view FirstKey(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto skip = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  };
  skip();
  if (!text.starts_with('{')) return {};
  text.remove_prefix(1);
  skip();
  if (!text.starts_with('"')) return {};
  text.remove_prefix(1);
  return text.substr(0, std::min(text.find('"'), text.size()));
}

// The order of keys is that in which the tools write them.
std::optional<Kind> Json(std::string_view text) {
  constexpr std::string_view kExport = "open it at speedscope.app, export it there and give that";
  const std::string_view key = FirstKey(text);
  if (key == "nodes") return Kind{"a CPU profile of V8 (.cpuprofile: Chrome, Node.js)", kExport};
  if (key == "head") return Kind{"a heap profile of V8 (.heapprofile: Chrome, Node.js)", kExport};
  if (key == "traceEvents") return Kind{"a trace of Chrome's", kExport};
  if (key == "resourceProfiles") {
    return Kind{"profiles of OTLP as JSON",
                "ask its writer for pprof, because they can be sent, not read"};
  }
  return std::nullopt;
}

std::optional<Kind> KindOf(std::string_view bytes) {
  for (const Magic& magic : kMagics) {
    if (bytes.size() >= magic.offset && bytes.substr(magic.offset).starts_with(magic.bytes))
      return magic.kind;
  }
  for (auto* look : {ShortMagic, PerfData, Elf, Bzip2, JavaCpu, Json}) {
    if (const std::optional<Kind> kind = look(bytes)) return kind;
  }
  return std::nullopt;
}

// Returns what to do with a file that came out of a packed one: first unpack it, unless it is of no
// use.
std::string FixOfPacked(std::string_view fix, std::string_view unpack_command) {
  constexpr std::string_view kFile = "FILE";
  constexpr std::string_view kOut = "OUT";
  std::string of_out(fix);
  if (unpack_command.empty() || fix.starts_with("give ")) return of_out;
  for (size_t at = of_out.find(kFile); at != std::string::npos; at = of_out.find(kFile, at)) {
    of_out.replace(at, kFile.size(), kOut);
  }
  return fmt::format("unpack it first with `{} > OUT`, then {}", unpack_command, of_out);
}

}  // namespace

std::optional<Error> ForeignFile(std::string_view bytes, std::string_view unpack_command) {
  const std::optional<Kind> kind = KindOf(bytes);
  if (!kind) return std::nullopt;
  return Error(ErrorCode::kUnsupported,
               fmt::format("this is {}: {}", kind->what, FixOfPacked(kind->fix, unpack_command)));
}

}  // namespace firetower::profile
