// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/debuginfod/client.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <mutex>

#include "base/file.h"
#include "net/server/http_server.h"
#include "symbolizer/elf/build_id.h"
#include "symbolizer/load_object.h"
#include "tests/support/command.h"
#include "tests/unit/symbolizer/debuginfod/real_server.h"
#include "tests/unit/symbolizer/support/elf_builder.h"

namespace firetower::symbolizer {
namespace {

using ::firetower::testing::HaveCommand;
using ::firetower::testing::RunCommand;
using ::firetower::testing::ScratchFolder;
using ::testing::ElementsAre;

constexpr char kProgram[] = FIRETOWER_BINARY_DIR "/tests/symbols_program";

std::string ObjectOf(const std::string& build_id, size_t padding = 0) {
  ElfBuilder builder;
  builder.AddCode(0x401000, 0x100 + padding);
  builder.AddSection(".note.gnu.build-id", SHT_NOTE, MakeNote("GNU", NT_GNU_BUILD_ID, build_id));
  return builder.Build();
}

// A server with the answers that a test wants; it counts the questions, and knows the last.
class Fake {
 public:
  explicit Fake(std::function<net::HttpResponse(const net::HttpRequest&)> answer) {
    net::HttpServerOptions options;
    options.listen = "127.0.0.1:0";
    server_ = net::HttpServer::Start(options, [this, answer](const net::HttpRequest& request) {
                ++asked_;
                std::lock_guard lock(mutex_);
                last_path_ = request.path;
                return answer(request);
              }).value();
  }
  std::string url() const { return server_->url(); }
  int asked() const { return asked_; }
  std::string last_path() const {
    std::lock_guard lock(mutex_);
    return last_path_;
  }

 private:
  std::atomic<int> asked_{0};
  mutable std::mutex mutex_;
  std::string last_path_;
  std::unique_ptr<net::HttpServer> server_;
};

net::HttpResponse Answer(int status, std::string body = "") {
  net::HttpResponse response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

class DebuginfodTest : public ::testing::Test {
 protected:
  DebuginfodClient Client(std::vector<std::string> urls) {
    options_.urls = std::move(urls);
    options_.cache_folder = cache_.path() + "/made/when/needed";
    return DebuginfodClient(options_, clock_);
  }
  bool InCache(const std::string& below) const {
    return std::filesystem::exists(options_.cache_folder + "/" + below);
  }

  ScratchFolder cache_;
  DebuginfodOptions options_;
  // The cache's files have the machine's times.
  FakeClock clock_{0, Clock::System().WallNs()};
};

TEST_F(DebuginfodTest, FetchesFromARealServer) {
  if (!HaveCommand("debuginfod")) GTEST_SKIP() << "debuginfod is not installed";
  ScratchFolder served;
  auto made =
      RunCommand(fmt::format("objcopy --only-keep-debug {0} {1}/app.debug && "
                             "objcopy -S {0} {1}/app",
                             kProgram, served.path()));
  ASSERT_EQ(made.exit_code, 0) << made.output;
  testing::RealDebuginfod server(served.path());
  ASSERT_TRUE(server.ready()) << server.output();
  const std::string build_id = ReadBuildId(FileSource::Open(kProgram).value()).value();
  DebuginfodClient client = Client({server.url()});
  auto debug_file = client.DebugFile(build_id);
  ASSERT_TRUE(debug_file) << debug_file.error().message();
  EXPECT_TRUE(HasFullSymbols(ElfFile::Open(*debug_file).value()));
  auto executable = client.Executable(build_id);
  ASSERT_TRUE(executable) << executable.error().message();
  EXPECT_FALSE(HasFullSymbols(ElfFile::Open(*executable).value()));
  EXPECT_EQ(client.DebugFile("00112233").error().code(), ErrorCode::kNotFound);
  server.Stop();
  EXPECT_TRUE(client.DebugFile(build_id)) << "it is in the cache";
  // The stripped object, named through what was fetched, as the file it was made of.
  auto full = LoadElfSymbols(FileSource::Open(kProgram).value()).value();
  auto both = LoadObject(*std::move(executable), *std::move(debug_file), {}).value();
  EXPECT_EQ(both->range_count(), full->range_count());
}

TEST_F(DebuginfodTest, DoesNotAskAgainForWhatNobodyHad) {
  Fake server([](const auto&) { return Answer(404); });
  DebuginfodClient client = Client({server.url(), server.url()});
  EXPECT_EQ(client.DebugFile("abcd").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(server.asked(), 2);
  EXPECT_EQ(client.DebugFile("abcd").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Client({server.url()}).DebugFile("abcd").error().code(), ErrorCode::kNotFound)
      << "another process knows it, too";
  EXPECT_EQ(server.asked(), 2);
  clock_.Advance(options_.negative_ns + 10 * kNsPerSecond);
  EXPECT_EQ(client.DebugFile("abcd").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(server.asked(), 4);
}

TEST_F(DebuginfodTest, AsksTheNextServerAndKeepsTheFile) {
  Fake none([](const auto&) { return Answer(404); });
  Fake broken([](const auto&) { return Answer(500); });
  Fake good([](const auto&) { return Answer(200, ObjectOf("\xab\xcd")); });
  DebuginfodClient client = Client({none.url(), broken.url(), good.url()});
  EXPECT_TRUE(client.DebugFile("abcd"));
  EXPECT_EQ(good.last_path(), "/buildid/abcd/debuginfo");
  EXPECT_TRUE(InCache("abcd/debuginfo"));
  EXPECT_TRUE(client.DebugFile("abcd"));
  EXPECT_EQ(good.asked(), 1);
}

TEST_F(DebuginfodTest, AServerThatFailsDoesNotSayNo) {
  Fake none([](const auto&) { return Answer(404); });
  Fake broken([](const auto&) { return Answer(500); });
  DebuginfodClient client = Client({broken.url(), none.url()});
  EXPECT_EQ(client.DebugFile("abcd").error().code(), ErrorCode::kUnavailable);
  EXPECT_FALSE(InCache("abcd/debuginfo")) << "nothing is remembered";
  EXPECT_EQ(Client({"http://127.0.0.1:1"}).DebugFile("abcd").error().code(),
            ErrorCode::kUnavailable);
}

TEST_F(DebuginfodTest, TakesNoOtherFileThanItAskedFor) {
  Fake server([](const auto&) { return Answer(200, ObjectOf("\x01\x02")); });
  DebuginfodClient client = Client({server.url()});
  EXPECT_EQ(client.DebugFile("abcd").error().code(), ErrorCode::kCorrupt);
  EXPECT_FALSE(InCache("abcd/debuginfo"));
  for (const char* wrong : {"", "..", "../../etc/passwd", "ab/cd", "ABCD"}) {
    EXPECT_EQ(client.DebugFile(wrong).error().code(), ErrorCode::kNotFound) << wrong;
  }
  EXPECT_EQ(server.asked(), 1);
}

TEST_F(DebuginfodTest, HoldsAFileToItsSize) {
  options_.max_file_bytes = 10'000;
  Fake server([](const auto&) { return Answer(200, ObjectOf("\xab\xcd", 100'000)); });
  DebuginfodClient client = Client({server.url()});
  EXPECT_EQ(client.DebugFile("abcd").error().code(), ErrorCode::kExhausted);
  EXPECT_FALSE(InCache("abcd/debuginfo"));
}

TEST_F(DebuginfodTest, HoldsTheCacheToItsSize) {
  const size_t each = ObjectOf("\x0a\x01").size();
  options_.max_cache_bytes = 2 * each + each / 2;
  Fake server([](const net::HttpRequest& request) {
    const std::string last(1, static_cast<char>(request.path[12] - '0'));
    return Answer(200, ObjectOf("\x0a" + last));
  });
  DebuginfodClient client = Client({server.url()});
  ASSERT_TRUE(client.DebugFile("0a01"));
  ASSERT_TRUE(client.DebugFile("0a02"));
  // Makes the file look as if it had been used a minute ago, so that the other one is newer.
  std::filesystem::last_write_time(
      options_.cache_folder + "/0a01/debuginfo",
      std::filesystem::file_time_type::clock::now() - std::chrono::minutes(1));
  ASSERT_TRUE(client.DebugFile("0a03"));
  EXPECT_FALSE(InCache("0a01"));
  EXPECT_TRUE(InCache("0a02/debuginfo"));
  EXPECT_TRUE(InCache("0a03/debuginfo"));
}

TEST(ParseDebuginfodUrls, AreApartBySpacesOrCommas) {
  EXPECT_THAT(ParseDebuginfodUrls("http://a:8002/ https://b/x,http://[::1]:1").value(),
              ElementsAre("http://a:8002", "https://b/x", "http://[::1]:1"));
  EXPECT_THAT(ParseDebuginfodUrls(" ,").value(), ElementsAre());
  for (const char* wrong : {"a", "ftp://a", "http://", "http:///x", "file:///etc", "http://a?b"}) {
    EXPECT_EQ(ParseDebuginfodUrls(wrong).error().code(), ErrorCode::kInvalid) << wrong;
  }
}

}  // namespace
}  // namespace firetower::symbolizer
