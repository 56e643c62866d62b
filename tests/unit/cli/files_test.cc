// SPDX-License-Identifier: Apache-2.0
// The real binary on files: merge, diff, convert. No server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/args/spec.h"
#include "profile/codec/gzip.h"
#include "profile/diff.h"
#include "profile/export.h"
#include "profile/format.h"
#include "profile/pprof.h"
#include "tests/support/command.h"
#include "tests/support/sample_profiles.h"
#include "tests/unit/cli/program.h"

namespace firetower::cli {
namespace {

using ::firetower::testing::ScratchFolder;
using ::firetower::testing::StackBuilder;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class FilesTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string Write(const std::string& name, std::string_view bytes) const {
    EXPECT_TRUE(WriteFileAtomic(Path(name), bytes));
    return Path(name);
  }
  std::string WritePprof(const std::string& name, const profile::Profile& profile) const {
    return Write(name, profile::EncodePprof(profile));
  }
  profile::Profile Read(const std::string& path) const {
    auto bytes = ReadFile(path);
    EXPECT_TRUE(bytes) << bytes.error().message();
    auto profile = profile::DecodeProfile(*bytes, path);
    EXPECT_TRUE(profile) << profile.error().message();
    return *std::move(profile);
  }
  size_t FileCount() const { return ListDirectory(folder_.path()).value().size(); }

  // 100 samples and 100: a goes from 60 to 40, b from 40 to 45, c comes in with 15.
  std::string Before() const {
    return WritePprof("before.pb.gz",
                      StackBuilder().Add({"main", "a"}, 60).Add({"main", "b"}, 40).Build());
  }
  std::string After() const {
    return WritePprof("after.pb.gz", StackBuilder()
                                         .Add({"main", "a"}, 40)
                                         .Add({"main", "b"}, 45)
                                         .Add({"main", "c"}, 15)
                                         .Build());
  }

  ScratchFolder folder_;
};

// Another format would mend none of these.
TEST_F(FilesTest, SaysWhatMendsAFileThatCannotBeRead) {
  const std::string packed = profile::GzipCompress("main;a 1\n", 1);
  for (const std::string& bytes :
       {std::string(), std::string(" \n"), packed.substr(0, packed.size() - 3),
        std::string("\x28\xb5\x2f\xfd\x04"), std::string("PK\x05\x06"),
        "PK\x05\x06" + std::string(18, '\0')}) {
    const Ran ran = RunFiretower({"convert", Write("bad", bytes), "-o", "folded"});
    EXPECT_THAT(ran.err, HasSubstr("\n  fix: get or copy the file again\n"));
  }
  const Ran ran =
      RunFiretower({"convert", Write("lz4", std::string("\x04\x22\x4d\x18")), "-o", "folded"});
  EXPECT_THAT(ran.err, HasSubstr("lz4: run `lz4 -d FILE`"));
  EXPECT_THAT(ran.err,
              HasSubstr("\n  fix: run `lz4 -d " + Path("lz4") + "` and give what comes out\n"));
}

// The line says what the reason says to do, and nothing else.
TEST_F(FilesTest, TheFixIsACommandOnTheFile) {
  const std::string perf_data("PERFILE2h\0\0\0\0\0\0\0", 16);
  const std::string sample =
      "web     101    10.000001:    1000000 cpu-clock: \n\t          401136 main (/a)\n\n";
  struct {
    std::string bytes;
    std::string fix;
  } rows[] = {
      {perf_data, "run `perf script -i X > X.perf` and give that"},
      {profile::GzipCompress(perf_data, 1),
       "unpack it first with `gzip -d < X > OUT`, then run `perf script -i OUT > OUT.perf` and "
       "give that"},
      {std::string("\xca\xfe\xba\xbe", 4) + std::string(40, '\0'),
       "give a file of pprof, folded stacks, "},
      {"main;a 3\rmain;b 4\n", "where all lines end in one, run `tr '\\r' '\\n' < X`"},
      {sample + "Warning:\n",
       "leave out perf's own messages, which 2>&1 mixes in, or run perf script without"},
      {"12345    10.000001:    1000000 cycles: \n\t          401136 main (/a)\n\n",
       "use -F +comm,+pid,+tid"},
  };
  for (const auto& row : rows) {
    const std::string file = Write("bad", row.bytes);
    std::string fix = row.fix;
    for (size_t at = fix.find('X'); at != fix.npos; at = fix.find('X', at + file.size()))
      fix.replace(at, 1, file);
    EXPECT_THAT(RunFiretower({"convert", file, "-o", "folded"}).err, HasSubstr("\n  fix: " + fix));
  }
  // A name that a shell would take apart is not put into a command.
  const std::string odd = Write("a b", perf_data);
  EXPECT_THAT(RunFiretower({"convert", odd}).err,
              HasSubstr("\n  fix: run `perf script -i FILE > FILE.perf`"));
}

TEST_F(FilesTest, MergeAddsUpFilesOfAnyFormat) {
  const std::string folded = Write("a.folded", "main;a 3\nmain;b 4\n");
  const std::string packed = Write("b.gz", profile::GzipCompress("main;a 10\n", 1));
  Ran ran = RunFiretower({"merge", folded, packed, "-o", Path("sum.pb.gz")});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, StartsWith("wrote " + Path("sum.pb.gz")));
  EXPECT_EQ(profile::ToFolded(Read(Path("sum.pb.gz")), 0), "main;a 13\nmain;b 4\n");
  Ran text = RunFiretower({"merge", Path("sum.pb.gz"), folded, "--format", "folded"});
  EXPECT_EQ(text.out, "main;a 16\nmain;b 8\n");
}

// Made by Python's zipfile: a.folded is "main;a 3" and "main;b 4", b.folded "main;c 5".
TEST_F(FilesTest, AFileOfAZipIsNamed) {
  const std::string zip = FIRETOWER_SOURCE_DIR "/tests/fuzz/profile/corpus/packed/zipoftwo";
  EXPECT_EQ(RunFiretower({"merge", zip, "--format", "folded"}).out,
            "main;a 3\nmain;b 4\nmain;c 5\n");
  EXPECT_EQ(RunFiretower({"merge", zip, zip, "--entry", "b*", "--format", "folded"}).out,
            "main;c 10\n");
  EXPECT_EQ(RunFiretower({"convert", zip, "--entry", "b.folded", "-o", "folded"}).out,
            "main;c 5\n");
  const Ran none = RunFiretower({"convert", zip, "-o", "folded"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.err, "firetower: " + zip +
                          " cannot be read as a profile\n"
                          "  why: it is a ZIP of 2 files: a.folded, b.folded\n"
                          "  fix: name a file of a ZIP with --entry, and leave the flag out "
                          "otherwise\n");
}

TEST_F(FilesTest, DropFramesAreLeftOutOfWhatIsShownAlone) {
  StackBuilder stacks;
  stacks.builder().meta().drop_frames = "malloc";
  const profile::Profile whole = stacks.Add({"main", "malloc", "sbrk"}, 3).Build();
  const std::string file = WritePprof("heap.pb.gz", whole);
  const Ran copy = RunFiretower({"convert", file, Path("copy.pb.gz")});
  EXPECT_EQ(copy.exit_code, 0) << copy.err;
  EXPECT_EQ(Read(Path("copy.pb.gz")).meta().drop_frames, "malloc");
  EXPECT_EQ(profile::ToFolded(Read(Path("copy.pb.gz")), 0), "main;malloc;sbrk 3\n");
  const Ran picture = RunFiretower({"convert", file, "-", "-o", "svg"});
  EXPECT_EQ(picture.exit_code, 0) << picture.err;
  EXPECT_THAT(picture.out, Not(HasSubstr("sbrk")));
  EXPECT_THAT(picture.err, HasSubstr("drop_frames of the file leaves out the ends of 1 stacks"));
  const Ran diff = RunFiretower({"diff", file, Before()});
  EXPECT_THAT(diff.out, Not(HasSubstr("sbrk")));
}

// 0xff is not UTF-8, and profile.proto has no field 99.
TEST_F(FilesTest, WhatAProfileHasNoPlaceForIsToldOf) {
  const std::string text = Write("a.folded", "main;\xff 3\n");
  const Ran folded = RunFiretower({"convert", text, "-o", "folded"});
  EXPECT_EQ(folded.out, "main;\xEF\xBF\xBD 3\n");
  EXPECT_THAT(folded.err, HasSubstr("warning: " + text + ": it is not all UTF-8"));
  const std::string pprof =
      Write("a.pb", profile::EncodePprof(StackBuilder().Add({"main"}, 1).Build(), {.gzip = false}) +
                        "\x98\x06\x01");
  for (const std::string command : {"convert", "merge"}) {
    const Ran ran = RunFiretower({command, pprof, "--format", "folded"});
    EXPECT_THAT(ran.err, HasSubstr("warning: " + pprof + ": 1 fields that profile.proto"));
  }
}

TEST_F(FilesTest, WhatATargetHasNoPlaceForIsToldOf) {
  StackBuilder stacks;
  stacks.Add({"main", "a"}, 3, {{"thread", "io"}, {"pod", "web"}}).Add({"main", "idle"}, 0);
  profile::Meta& meta = stacks.builder().meta();
  meta.comments = {"one", "two"};
  meta.drop_frames = "malloc";
  meta.doc_url = "https://example.org";
  const std::string file = WritePprof("rich.pb.gz", stacks.Build());
  const auto told = [&](const std::string& format) {
    const Ran ran = RunFiretower({"convert", file, "--format", format, "--sample-type", "samples"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_LE(std::count(ran.err.begin(), ran.err.end(), '\n'), 1);
    return ran.err;
  };
  const std::string most = "labels (thread, pod), comments (2), ";
  const std::string end = ", and leaves them out: write pprof to keep them\n";
  for (const std::string format : {"folded", "speedscope"}) {
    EXPECT_EQ(told(format), "firetower: note: " + format + " has no place for " + most +
                                "drop_frames, doc_url, stacks whose values are 0 (1)" + end);
  }
  for (const std::string format : {"svg", "html"}) {
    EXPECT_EQ(told(format),
              "firetower: note: " + format + " has no place for " + most + "doc_url" + end);
  }
  EXPECT_EQ(told("json"), "firetower: note: json has no place for drop_frames, doc_url" + end);
  EXPECT_EQ(told("pprof"), "");
  EXPECT_THAT(RunFiretower({"merge", file, "--format", "folded"}).err,
              HasSubstr("note: folded has no place for labels"));
}

TEST_F(FilesTest, MergeTellsOfFilesWithOneBuildIdAndTwoNames) {
  const auto write = [&](const std::string& name, const std::string& path) {
    profile::ProfileBuilder builder(profile::CpuMeta(100, 0, 1));
    profile::Mapping mapping{.memory_limit = 0x1000, .flags = profile::Mapping::kHasFunctions};
    mapping.filename = builder.AddString(path);
    mapping.build_id = builder.AddString("b1d");
    const uint32_t file = builder.AddMapping(mapping);
    const profile::Line line{.function = builder.AddFunction("main", "main", "")};
    const uint32_t leaf = builder.AddLocation(file, 0x42, {&line, 1});
    const int64_t values[] = {1, 10};
    EXPECT_TRUE(builder.AddSample({&leaf, 1}, values));
    return WritePprof(name, std::move(builder).Build());
  };
  const std::string a = write("a.pb.gz", "/a/app");
  const std::string b = write("b.pb.gz", "/b/app");
  const Ran ran = RunFiretower({"merge", a, b, b});
  EXPECT_EQ(
      ran.err,
      "firetower: note: one build id stands for files of several names in 1 cases: the sum has the "
      "first of each, /a/app and not /b/app\n");
  EXPECT_EQ(RunFiretower({"merge", a, a}).err, "");
}

TEST_F(FilesTest, MergeTellsInWhatFilesDiffer) {
  StackBuilder stacks;
  stacks.builder().meta().drop_frames = "malloc";
  const std::string file = WritePprof("heap.pb.gz", stacks.Add({"main"}, 3).Build());
  const Ran ran = RunFiretower({"merge", file, Before(), "-o", Path("sum.pb.gz")});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("warning: the files differ in drop_frames: the sum has none\n"));
}

TEST_F(FilesTest, PerfDataIsToldByItsName) {
  const std::string file = Write("perf.data", std::string("PERFILE2h\0\0\0\0\0\0\0", 16));
  for (const std::string command : {"view", "convert", "merge"}) {
    const Ran ran = RunFiretower({command, file});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.err, HasSubstr("perf.data): run `perf script -i FILE > FILE.perf`"));
  }
  EXPECT_THAT(RunFiretower({"diff", file, file}).err, HasSubstr("run `perf script"));
}

TEST_F(FilesTest, PerfScriptThatEndsInsideASampleIsToldOf) {
  const std::string first = "app 7 1.5: 1 cycles: \n\t1a leaf+0x1 (/a)\n\t2b main (/a)\n\n";
  const std::string second = "app 7 1.6: 1 cycles: \n\t1a leaf+0x1 (/a)\n\t2b main (/a)\n";
  const std::string flat = "app 7 1.5: 1 cycles: 1a leaf (/a)\n";
  auto warns = [&](const std::string& text) {
    const std::string file = Write("x.perf", text);
    const Ran ran = RunFiretower({"convert", file, "--format", "folded"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    const Ran sum = RunFiretower({"merge", file, "--format", "folded"});
    EXPECT_EQ(sum.err, ran.err);
    EXPECT_EQ(sum.out, ran.out);
    const bool is_warned = ran.err.find("warning") != std::string::npos;
    if (is_warned) {
      EXPECT_THAT(ran.err, HasSubstr("firetower: warning: " + file + " ends inside a sample"));
    }
    return is_warned;
  };
  for (const std::string& whole :
       {first, first + second + "\n", flat, flat + flat, "# head\n#\n" + first,
        first + "app 7 1.7: PERF_RECORD_EXIT(7:7):(1:1)\n", first + "# end\n"}) {
    EXPECT_FALSE(warns(whole)) << whole;
  }
  // Behind a frame, within one, behind the first line of a sample, within a line without stacks.
  for (const std::string& cut :
       {first + second, first + second.substr(0, second.size() - 5),
        first + second.substr(0, second.find('\n') + 1), flat + flat.substr(0, flat.size() - 1)}) {
    EXPECT_TRUE(warns(cut)) << cut;
  }
}

TEST_F(FilesTest, PerfScriptThatIsCutIsToldOfInPackedFilesToo) {
  const std::string cut = "app 7 1.5: 1 cycles: \n\t1a leaf+0x1 (/a)\n\t2b main (/a)\n";
  for (const std::string& bytes :
       {profile::GzipCompress(cut, 1), profile::GzipCompress(profile::GzipCompress(cut, 1), 1)}) {
    const std::string file = Write("x.perf.gz", bytes);
    for (const std::string command : {"convert", "merge"}) {
      EXPECT_THAT(RunFiretower({command, file, "--format", "folded"}).err,
                  HasSubstr("firetower: warning: " + file +
                            " ends inside a sample of perf script, without"))
          << command;
    }
  }
}

TEST_F(FilesTest, MergeNamesTheFileThatIsWrong) {
  const std::string good = Write("a.folded", "main;a 3\n");
  const std::string bad = Write("b.folded", "main;a 3\nmain;b\n");
  Ran ran = RunFiretower({"merge", good, bad, "-o", Path("sum.pb.gz")});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("firetower: " + bad + " cannot be read as a profile\n"));
  EXPECT_THAT(ran.err, HasSubstr("folded line 2"));
  Ran missing = RunFiretower({"merge", good, Path("none"), "-o", Path("sum.pb.gz")});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("cannot read " + Path("none")));
  Ran types = RunFiretower({"merge", good, Before(), "-o", Path("sum.pb.gz")});
  EXPECT_EQ(types.exit_code, 1);
  EXPECT_THAT(types.err, StartsWith("firetower: " + Path("before.pb.gz") +
                                    " cannot be added to the others\n  why: "));
  EXPECT_THAT(types.err, HasSubstr("samples/count and samples/count cpu/nanoseconds"));
  EXPECT_THAT(types.err, HasSubstr("\n  fix: merge files that count the same; "));
  // The advice works.
  ASSERT_EQ(RunFiretower(
                {"convert", Path("before.pb.gz"), Path("one.folded"), "--sample-type", "samples"})
                .exit_code,
            0);
  EXPECT_EQ(RunFiretower({"merge", good, Path("one.folded"), "--format", "folded"}).out,
            "main;a 63\nmain;b 40\n");
  std::filesystem::remove(Path("one.folded"));
  EXPECT_EQ(FileCount(), 3u);  // no output, not even half of one
}

TEST_F(FilesTest, NothingIsOverwrittenUnlessForced) {
  const std::string in = Write("a.folded", "main;a 3\n");
  const std::string out = Write("b.folded", "precious\n");
  for (const std::vector<std::string>& line : {std::vector<std::string>{"convert", in, out},
                                               {"merge", in, "-o", out},
                                               {"diff", in, in, "-f", out}}) {
    Ran ran = RunFiretower(line);
    EXPECT_EQ(ran.exit_code, 1) << line[0];
    EXPECT_THAT(ran.err, HasSubstr("--force")) << line[0];
    EXPECT_EQ(ReadFile(out).value(), "precious\n");
  }
  EXPECT_EQ(RunFiretower({"convert", in, out, "--force"}).exit_code, 0);
  EXPECT_EQ(ReadFile(out).value(), "main;a 3\n");
}

TEST_F(FilesTest, ConvertGoesByNamesContentAndFlags) {
  const std::string in = Before();
  for (const char* name : {"x.folded", "x.speedscope.json", "x.json", "x.pb.gz"}) {
    Ran ran = RunFiretower({"convert", in, Path(name)});
    EXPECT_EQ(ran.exit_code, 0) << name << ran.err;
  }
  EXPECT_EQ(ReadFile(Path("x.folded")).value(), "main;a 600000000\nmain;b 400000000\n");
  EXPECT_EQ(ReadFile(Path("x.json")).value(), profile::ToJson(Read(in)));
  Ran back = RunFiretower(
      {"convert", Path("x.speedscope.json"), "--format", "folded", "--sample-type", "samples"});
  EXPECT_EQ(back.out, "main;a 60\nmain;b 40\n");
  RunOptions from_stdin;
  from_stdin.stdin_file = Path("x.speedscope.json");
  EXPECT_EQ(RunFiretower({"convert", "-", "-", "--format", "folded"}, from_stdin).out,
            ReadFile(Path("x.folded")).value());
  const std::string perf = Write(
      "p.txt", "app 1 1.0: 7 cycles: \n\t 1 f+0x1 (/a)\n\napp 1 1.1: 7 cycles: \n\t 1 f (/a)\n");
  ASSERT_EQ(RunFiretower({"convert", perf, Path("timed.pb.gz")}).exit_code, 0);
  EXPECT_EQ(Read(Path("timed.pb.gz")).sample_count(), 2u);
  ASSERT_EQ(RunFiretower({"convert", perf, Path("untimed.pb.gz"), "--untimed"}).exit_code, 0);
  EXPECT_EQ(Read(Path("untimed.pb.gz")).sample_count(), 1u);
}

TEST_F(FilesTest, ConvertRefusesBinaryOnATerminalAndNamesWithoutAFormat) {
  RunOptions terminal;
  terminal.terminal_columns = 100;
  Ran tty = RunFiretower({"convert", Before()}, terminal);
  EXPECT_EQ(tty.exit_code, 2);
  EXPECT_THAT(tty.out, HasSubstr("this is a terminal"));
  Ran name = RunFiretower({"convert", Before(), Path("x.xyz")});
  EXPECT_EQ(name.exit_code, 2);
  EXPECT_THAT(name.err, HasSubstr("--format pprof, folded, speedscope, svg, html or json"));
  Ran pipe = RunFiretower({"convert", Before()});
  EXPECT_EQ(pipe.exit_code, 0);
  EXPECT_TRUE(profile::DecodePprof(pipe.out));
}

TEST_F(FilesTest, ConvertToFoldedTellsWhatItLeavesOut) {
  const std::string two = Write("two.folded", "main;a 3 5\n");
  const Ran ran = RunFiretower({"convert", two, Path("one.folded")});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err,
              HasSubstr("note: folded holds only one value, after, and omits before: choose one "
                        "with --sample-type, or write pprof\n"));
  const Ran asked = RunFiretower({"convert", two, Path("b.folded"), "--sample-type", "before"});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_THAT(asked.err, Not(HasSubstr("note")));
  // A profile with one value needs no note.
  EXPECT_THAT(RunFiretower({"convert", Path("one.folded"), Path("c.folded")}).err,
              Not(HasSubstr("note")));
}

// A CPU profile has samples (count) and cpu (nanoseconds).
TEST_F(FilesTest, WhoWritesOneValueTellsWhich) {
  const std::string chosen = "holds only one value, cpu, and omits samples: choose one with --";
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"merge", Before(), "--format", "folded"},
        {"convert", Before(), "-o", "folded"},
        {"convert", Before(), "-o", "svg"}}) {
    EXPECT_THAT(RunFiretower(line).err, HasSubstr(chosen + "sample-type")) << line[0];
    std::vector<std::string> asking = line;
    asking.insert(asking.end(), {"--sample-type", "samples"});
    const Ran asked = RunFiretower(asking);
    EXPECT_EQ(asked.exit_code, 0);
    EXPECT_EQ(asked.err, "") << line[0];
  }
  // 60 of 100 samples are a's.
  EXPECT_EQ(RunFiretower({"merge", Before(), "--format", "folded", "--sample-type", "samples"}).out,
            "main;a 60\nmain;b 40\n");
  EXPECT_EQ(RunFiretower({"merge", Before()}).err, "");
  const Ran all = RunFiretower({"merge", Before(), "--sample-type", "samples"});
  EXPECT_EQ(all.exit_code, ExitCode::kUsage);
  EXPECT_THAT(all.err, HasSubstr("--sample-type picks one value: pprof has all of them"));
}

TEST_F(FilesTest, ConvertDrawsPictures) {
  const std::string in = Before();
  Ran html = RunFiretower({"convert", in, Path("x.html")});
  EXPECT_EQ(html.exit_code, 0) << html.err;
  EXPECT_THAT(html.err, HasSubstr("\nwrote " + Path("x.html")));
  const std::string page = ReadFile(Path("x.html")).value();
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("<title>before.pb.gz</title>"));
  EXPECT_THAT(page, HasSubstr("\"main\""));
  EXPECT_EQ(RunFiretower({"convert", in, Path("x.html")}).exit_code, 1);  // not overwritten
  // 60 of 100 samples are a's, 0.6 s at 100 Hz.
  const Ran svg = RunFiretower({"convert", in, "-o", "svg", "--title", "t"});
  EXPECT_THAT(svg.out, HasSubstr("<title>a"));
  EXPECT_THAT(svg.out, HasSubstr("600.0ms"));
  const Ran samples = RunFiretower({"convert", in, "-o", "svg", "--sample-type", "samples"});
  EXPECT_THAT(samples.out, HasSubstr(": 60, 60.00%</title>"));
  // The flag goes before the name.
  EXPECT_EQ(RunFiretower({"convert", in, Path("y.html"), "-o", "folded"}).exit_code, 0);
  EXPECT_EQ(ReadFile(Path("y.html")).value(), "main;a 600000000\nmain;b 400000000\n");
  // Pictures are made of every format that is read.
  const Ran folded = RunFiretower({"convert", Write("a.folded", "main;a 3\n"), "-o", "svg"});
  EXPECT_THAT(folded.out, HasSubstr("<title>main: 3, 100.00%</title>"));
  RunOptions terminal;
  terminal.terminal_columns = 100;
  EXPECT_EQ(RunFiretower({"convert", in, "-o", "html"}, terminal).exit_code, ExitCode::kUsage);
  EXPECT_EQ(RunFiretower({"convert", in, Path("z.svg"), "--max-nodes", "x"}).exit_code,
            ExitCode::kUsage);
  EXPECT_EQ(RunFiretower({"convert", in, Path("z.svg"), "--sample-type", "cpo"}).exit_code,
            ExitCode::kUsage);
}

TEST_F(FilesTest, DiffShowsWhatChanged) {
  const std::vector<std::string> line = {"diff", Before(), After()};
  Ran table = RunFiretower(line);
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_EQ(table.err, "");
  ExpectGolden("diff.txt", table.out);
  std::vector<std::string> coarse = line;
  coarse.insert(coarse.end(), {"--threshold", "10%", "--sample-type", "samples", "--no-headers"});
  ExpectGolden("diff-threshold.txt", RunFiretower(coarse).out);

  std::vector<std::string> json_line = line;
  json_line.insert(json_line.end(), {"-o", "json", "--sample-type", "samples"});
  auto json = nlohmann::json::parse(RunFiretower(json_line).out);
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["value_type"]["type"], "samples");
  EXPECT_EQ(json["before"], 100);
  EXPECT_EQ(json["after"], 100);
  ASSERT_EQ(json["rows"].size(), 4u);
  EXPECT_EQ(json["rows"][0]["function"], "a");
  EXPECT_EQ(json["rows"][0]["before_self"], 60);
  EXPECT_EQ(json["rows"][0]["after_self"], 40);
  EXPECT_EQ(json["rows"][0]["share"], -20.0);
}

TEST_F(FilesTest, DiffWritesProfilesOfTheDifference) {
  ASSERT_EQ(RunFiretower({"diff", Before(), After(), "-f", Path("d.pb.gz")}).exit_code, 0);
  profile::Profile diff = Read(Path("d.pb.gz"));
  EXPECT_TRUE(profile::IsDiff(diff));
  EXPECT_EQ(profile::ToFolded(diff, 0), "main;a -20\nmain;b 5\nmain;c 15\n");
  Ran folded =
      RunFiretower({"diff", Before(), After(), "-o", "folded", "--sample-type", "samples"});
  EXPECT_EQ(folded.out, "main;a 60 40\nmain;b 40 45\nmain;c 0 15\n");
  // A difference that was stored is one still.
  EXPECT_EQ(
      RunFiretower({"convert", Path("d.pb.gz"), "--format", "folded", "--sample-type", "samples"})
          .out,
      folded.out);
  Ran speedscope = RunFiretower({"convert", Path("d.pb.gz"), Path("d.speedscope.json")});
  EXPECT_EQ(speedscope.exit_code, 1);
  EXPECT_THAT(speedscope.err, HasSubstr("no negative values"));
  EXPECT_THAT(speedscope.err, HasSubstr("\n  fix: write it as pprof, folded or json\n"));
  EXPECT_EQ(RunFiretower({"convert", Path("d.pb.gz"), Path("d.json")}).exit_code, 0);
}

TEST_F(FilesTest, DiffSaysWhichValueItComparesWhereTheMainOnesDiffer) {
  const auto write = [&](const std::string& name, const char* main_value) {
    profile::ProfileBuilder builder(
        profile::Meta{.sample_types = {{"samples", "count"}, {"cpu", "nanoseconds"}},
                      .default_sample_type = main_value});
    const profile::Line line{.function = builder.AddFunction("main", "main", "")};
    const uint32_t location = builder.AddLocation(profile::kNoMapping, 0, {&line, 1});
    const int64_t values[] = {3, 3'000'000'000};
    EXPECT_TRUE(builder.AddSample({&location, 1}, values));
    return WritePprof(name, std::move(builder).Build());
  };
  const std::string count = write("count.pb.gz", "samples");
  const std::string time = write("time.pb.gz", "cpu");
  const Ran ran = RunFiretower({"diff", count, time});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("note: the main value of A is samples/count and of B "
                                 "cpu/nanoseconds: cpu/nanoseconds of both is compared; choose "
                                 "with --sample-type\n"));
  EXPECT_THAT(ran.out, HasSubstr("3.0s"));
  EXPECT_THAT(RunFiretower({"diff", time, count}).err, HasSubstr("samples/count of both is"));
  EXPECT_EQ(RunFiretower({"diff", count, time, "--sample-type", "cpu"}).err, "");
  EXPECT_EQ(RunFiretower({"diff", count, count}).err, "");
}

TEST_F(FilesTest, DiffSaysHowToCompareWhatCannotBe) {
  const std::string before = Before();
  const std::string after = After();
  const std::string counts = Write("counts.folded", "main;a 3\n");
  const Ran types = RunFiretower({"diff", counts, before});
  EXPECT_EQ(types.exit_code, ExitCode::kFailure);
  EXPECT_THAT(types.err, HasSubstr("sample types samples/count and samples/count cpu/nanoseconds"));
  EXPECT_THAT(types.err, HasSubstr("fix: compare what both count, samples/count: 'convert IN "
                                   "OUT.folded --sample-type samples' makes a file of it alone"));
  const std::string bytes = Write(
      "bytes.speedscope.json", R"({"shared":{"frames":[{"name":"f"}]},)"
                               R"("profiles":[{"type":"sampled","name":"p","unit":"bytes",)"
                               R"("startValue":0,"endValue":7,"samples":[[0]],"weights":[7]}]})");
  EXPECT_THAT(RunFiretower({"diff", counts, bytes}).err,
              HasSubstr("fix: compare profiles that count the same; 'convert IN "));
  const std::string one = Path("one.folded");
  EXPECT_EQ(RunFiretower({"convert", before, one, "--sample-type", "samples"}).exit_code, 0);
  EXPECT_EQ(RunFiretower({"diff", counts, one}).exit_code, 0);

  const std::string difference = Path("d.pb.gz");
  ASSERT_EQ(RunFiretower({"diff", before, after, "-f", difference}).exit_code, 0);
  EXPECT_THAT(RunFiretower({"diff", before, difference}).err,
              HasSubstr("\n  fix: give the two profiles that it was made of\n"));

  const std::string negative =
      WritePprof("negative.pb.gz", StackBuilder().Add({"main", "a"}, -5).Build());
  EXPECT_THAT(RunFiretower({"diff", negative, after, "--normalize"}).err,
              HasSubstr("\n  fix: leave --normalize out\n"));
  EXPECT_EQ(RunFiretower({"diff", negative, after}).exit_code, 0);

  const std::string most = Write("most.folded", "main;a 9223372036854775807\n");
  EXPECT_THAT(RunFiretower({"diff", most, counts}).err,
              HasSubstr("\n  fix: compare profiles of a shorter time\n"));
}

TEST_F(FilesTest, WhatCannotBeDrawnOrWrittenIsToldWithWhatToDo) {
  const std::string difference = Path("d.pb.gz");
  ASSERT_EQ(RunFiretower({"diff", Before(), After(), "-f", difference}).exit_code, 0);
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"view", difference, "--no-browser"},
        {"convert", difference, "-o", "svg"}}) {
    const Ran ran = RunFiretower(line);
    EXPECT_EQ(ran.exit_code, ExitCode::kFailure) << line[0];
    EXPECT_THAT(ran.err, HasSubstr("\n  fix: 'diff A B' shows a difference")) << line[0];
  }
  const std::string convert =
      FIRETOWER_BINARY_DIR "/bin/firetower convert --sample-type cpu " + Before();
  const std::string closed = testing::RunCommand("{ " + convert + " -o folded 2>&1 >&-; }").output;
  EXPECT_THAT(closed, StartsWith("firetower: cannot write\n  why: "));
  EXPECT_THAT(closed, HasSubstr("\n  fix: check the destination of standard output"));
}

TEST_F(FilesTest, DiffGoesByTheFilesExtension) {
  const std::vector<std::string> line = {"diff", Before(), After(), "--sample-type", "samples"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), line.begin(), line.end());
    return RunFiretower(more);
  };
  const std::string folded = "main;a 60 40\nmain;b 40 45\nmain;c 0 15\n";
  for (const char* name : {"d.folded", "d.txt"}) {
    EXPECT_EQ(with({"-f", Path(name)}).exit_code, 0) << name;
    EXPECT_EQ(ReadFile(Path(name)).value(), folded) << name;
  }
  EXPECT_EQ(with({"-f", Path("d.json")}).exit_code, 0);
  EXPECT_TRUE(nlohmann::json::accept(ReadFile(Path("d.json")).value()));
  EXPECT_EQ(with({"-f", Path("t.txt"), "-o", "table"}).exit_code, 0);
  EXPECT_THAT(ReadFile(Path("t.txt")).value(), HasSubstr("FUNCTION"));
  EXPECT_EQ(with({"-f", "-"}).out, with({}).out);
  for (const char* name : {"d.xyz", "d.html", "d"}) {
    const Ran ran = with({"-f", Path(name)});
    EXPECT_EQ(ran.exit_code, ExitCode::kUsage) << name;
    EXPECT_THAT(ran.err, HasSubstr("give -o table, wide, json, folded or pprof, or end it in"));
  }
}

// Three samples of ten instead of one may well be chance, 300 of 1,000 instead of 100 are not.
TEST_F(FilesTest, DiffFailsOnlyOfWhatIsBeyondChance) {
  const auto file = [&](const char* name, int64_t times, int64_t of_b) {
    return WritePprof(name, StackBuilder()
                                .Add({"main", "a"}, times * (10 - of_b))
                                .Add({"main", "b"}, times * of_b)
                                .Build());
  };
  const auto run = [&](const std::string& before, const std::string& after) {
    return RunFiretower(
        {"diff", before, after, "--fail-over", "5%", "--false-alarms", "1%", "-f", "-"});
  };
  EXPECT_EQ(run(file("few.pb.gz", 1, 1), file("few-more.pb.gz", 1, 3)).exit_code, 0);
  const Ran grown = run(file("many.pb.gz", 100, 1), file("many-more.pb.gz", 100, 3));
  EXPECT_EQ(grown.exit_code, ExitCode::kThreshold);
  EXPECT_THAT(grown.err, HasSubstr("b grew by 20.00%"));
  profile::ProfileBuilder heap(profile::Meta{.sample_types = {{"inuse_space", "bytes"}}});
  const profile::Line line{.function = heap.AddFunction("grow", "grow", "")};
  const uint32_t stack[] = {heap.AddLocation(profile::kNoMapping, 1, {&line, 1})};
  const int64_t bytes[] = {4096};
  heap.AddSample(stack, bytes, {});
  const std::string other = WritePprof("heap.pb.gz", std::move(heap).Build());
  EXPECT_THAT(run(other, other).err, HasSubstr("samples/count"));
}

TEST_F(FilesTest, DiffFailsOverALimit) {
  const std::string before = Before();
  const std::string after = After();
  Ran over = RunFiretower({"diff", before, after, "--fail-over", "5%", "-o", "json"});
  EXPECT_EQ(over.exit_code, ExitCode::kThreshold);
  EXPECT_TRUE(nlohmann::json::accept(over.out));  // the answer is there all the same
  EXPECT_THAT(over.err, HasSubstr("c grew by 15.00%"));
  EXPECT_THAT(over.err, HasSubstr("more than the 5% of --fail-over: 1\n"));
  EXPECT_EQ(RunFiretower({"diff", before, after, "--fail-over", "15%"}).exit_code, 0);
  EXPECT_EQ(RunFiretower({"diff", before, after, "--fail-over", "14.9"}).exit_code, 3);
  // All shares as they were: no function took more of the whole.
  const std::string twice = WritePprof(
      "twice.pb.gz", StackBuilder().Add({"main", "a"}, 120).Add({"main", "b"}, 80).Build());
  EXPECT_EQ(RunFiretower({"diff", before, twice, "--fail-over", "1%"}).exit_code, 3);
  EXPECT_EQ(RunFiretower({"diff", before, twice, "--normalize", "--fail-over", "0.01%"}).exit_code,
            0);
}

TEST_F(FilesTest, WhatCannotBeReadIsToldWithWhatToDo) {
  const std::string in = Before();
  for (const std::vector<std::string>& line : {std::vector<std::string>{"convert", Path("none")},
                                               {"merge", in, Path("none"), "--format", "folded"},
                                               {"diff", in, Path("none")},
                                               {"view", Path("none")}}) {
    const Ran ran = RunFiretower(line);
    EXPECT_EQ(ran.exit_code, ExitCode::kFailure) << line[0];
    EXPECT_THAT(ran.err, HasSubstr("firetower: cannot read " + Path("none") + "\n  why: "));
    EXPECT_THAT(ran.err, HasSubstr("\n  fix: correct the name; - reads standard input\n"));
  }
  EXPECT_THAT(RunFiretower({"convert", folder_.path()}).err, HasSubstr("fix: name a file in it\n"));
}

TEST_F(FilesTest, AWrongNameOfAValueIsAUsageErrorThatNamesTheKnownOnes) {
  const std::string in = Before();
  for (const auto& [flag, line] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"--value", {"view", in, "--no-browser"}},
           {"--sample-type", {"convert", in, "-o", "folded"}},
           {"--sample-type", {"convert", in, "-o", "svg"}},
           {"--sample-type", {"diff", in, in}}}) {
    std::vector<std::string> arguments = line;
    arguments.insert(arguments.end(), {flag, "cpo"});
    const Ran ran = RunFiretower(arguments);
    EXPECT_EQ(ran.exit_code, ExitCode::kUsage) << line[0];
    EXPECT_EQ(ran.out, "") << line[0];
    EXPECT_EQ(ran.err, "firetower: the command line is wrong\n  why: " + flag +
                           " is 'cpo', which the profile does not have; did you mean 'cpu'?\n"
                           "  fix: set " +
                           flag + " to one of its values: samples, cpu\n");
  }
}

TEST_F(FilesTest, ViewTellsAWrongAddressFromOneThatCannotBeHad) {
  const std::string in = Before();
  for (const char* address : {"nope", "127.0.0.1:70000"}) {
    const Ran ran = RunFiretower({"view", in, "--no-browser", "--listen", address});
    EXPECT_EQ(ran.exit_code, ExitCode::kUsage) << address;
    EXPECT_THAT(ran.err, HasSubstr("why: --listen: ")) << address;
    EXPECT_THAT(ran.err, HasSubstr("write HOST:PORT")) << address;
  }
  // TEST-NET-1, RFC 5737: no machine has it.
  EXPECT_EQ(RunFiretower({"view", in, "--no-browser", "--listen", "192.0.2.1:0"}).exit_code,
            ExitCode::kFailure);
}

TEST_F(FilesTest, BlankLinesAreNoProfile) {
  for (const char* text : {"", "\n\n  \n"}) {
    const Ran ran = RunFiretower({"convert", Write("a.folded", text), "-o", "folded"});
    EXPECT_EQ(ran.exit_code, ExitCode::kFailure);
    EXPECT_THAT(ran.err, HasSubstr("a.folded cannot be read as a profile\n"));
  }
}

TEST_F(FilesTest, NoDataIsExitCode4) {
  const std::string empty = WritePprof("empty.pb.gz", StackBuilder().Build());
  Ran ran = RunFiretower({"diff", empty, empty});
  EXPECT_EQ(ran.exit_code, ExitCode::kNoData);
  EXPECT_THAT(ran.err, HasSubstr("firetower: no data\n"));
  EXPECT_THAT(ran.err, HasSubstr("\n  fix: name profiles that have some"));
}

TEST_F(FilesTest, UsageErrorsAreExitCode2InThreeLines) {
  const std::string in = Before();
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"merge"},
        {"merge", "-", "-"},
        {"merge", in, "-o", Path("x.perf")},
        {"convert"},
        {"convert", in, "a", "b"},
        {"convert", in, "--format", "svgz"},
        {"convert", in, "--format", "folded", "--sample-type", "cpo"},
        {"diff", in},
        {"diff", "-", "-"},
        {"diff", in, "{pod=\"web\"}@yesterday"},
        {"diff", in, in, "--fail-over", "five"},
        {"diff", in, in, "--threshold", "-1"},
        {"diff", in, in, "--fail-over", "nan"},
        {"diff", in, in, "--false-alarms", "1%"},
        {"diff", in, in, "--fail-over", "5%", "--false-alarms", "0"},
        {"diff", in, in, "--fail-over", "5%", "--false-alarms", "100%"},
        // Options that would change nothing are refused.
        {"convert", in, "--annotate"},
        {"convert", in, "-o", "speedscope", "--annotate"},
        {"convert", in, "-o", "svg", "--annotate"},
        {"convert", in, "-o", "folded", "--orientation", "flame"},
        {"convert", in, "-o", "json", "--title", "t"},
        {"diff", in, in, "-n", "shop"},
        {"diff", in, in, "-c", "web"},
        {"diff", in, in, "--context", "prod"}}) {
    Ran ran = RunFiretower(line);
    EXPECT_EQ(ran.exit_code, 2) << line[0] << " " << line.back() << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 3) << ran.err;
  }
}

}  // namespace
}  // namespace firetower::cli
