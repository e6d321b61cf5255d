// SPDX-License-Identifier: Apache-2.0
// holdfast::testing: servers of a test's own, and `local:` URLs, which work where they are enabled.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>
#include <holdfast/testing.hpp>

#include "redis/settings/local_url.hpp"
#include "support/raw.hpp"
#include "support/temp_dir.hpp"
#include "support/wait.hpp"

namespace holdfast::test::testing_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

std::string socket_of(const TestServer& server) { return server.url().substr(std::string("unix://").size()); }

pid_t process_of(const TestServer& server) {
  Raw raw(Endpoint{.socket_path = socket_of(server)});
  return std::stoi(raw.info("server", "process_id"));
}

/// An environment variable for as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(TestServer, EachHasAServerOfItsOwn) {
  const TestServer one, another;
  Client client(one.url()), stranger(another.url());
  const Hold hold = client.lock("job").acquire();
  EXPECT_TRUE(client.lock("job").is_locked());
  EXPECT_FALSE(stranger.lock("job").is_locked());
  EXPECT_NE(process_of(one), process_of(another));
}

TEST(TestServer, IsForItsUserOnlyAndKeepsNothing) {
  const TestServer server;
  Raw raw(Endpoint{.socket_path = socket_of(server)});
  EXPECT_EQ(fs::status(fs::path(socket_of(server)).parent_path()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(raw.command("CONFIG", "GET", "port").elements.at(1).text, "0");
  EXPECT_EQ(raw.command("CONFIG", "GET", "save").elements.at(1).text, "");
  EXPECT_EQ(raw.command("CONFIG", "GET", "appendonly").elements.at(1).text, "no");
}

TEST(TestServer, EndsWithItsObjectAndLeavesNothing) {
  std::optional<TestServer> server(std::in_place);
  const pid_t process = process_of(*server);
  const fs::path folder = fs::path(socket_of(*server)).parent_path();
  server.reset();
  EXPECT_EQ(kill(process, 0), -1) << "and it was collected";
  EXPECT_FALSE(fs::exists(folder));
}

TEST(TestServer, EndsEvenIfItIsStopped) {
  std::optional<TestServer> server(std::in_place);
  const pid_t process = process_of(*server);
  kill(process, SIGSTOP);
  server.reset();
  EXPECT_EQ(kill(process, 0), -1);
}

TEST(TestServer, IsMovedWithItsServer) {
  TestServer server;
  const pid_t first = process_of(server);
  TestServer other;
  const pid_t second = process_of(other);
  server = std::move(other);
  EXPECT_EQ(process_of(server), second);
  EXPECT_EQ(kill(first, 0), -1) << "whose place was taken";
}

TEST(TestServer, OutlivesItsCopyInAForkedChild) {
  std::optional<TestServer> server(std::in_place);
  const pid_t child = fork();
  if (child == 0) {
    server.reset();
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Raw(Endpoint{.socket_path = socket_of(*server)}).command("PING").text, "PONG");
}

TEST(TestServer, LivesInAFolderWithOddCharacters) {
  const TempDir dir;
  const fs::path odd = dir.path() / "a b?c%d#e@f\xc3\xbc";
  fs::create_directory(odd);
  const Variable temporary("TMPDIR", odd.string());
  const TestServer server;
  EXPECT_THAT(server.url(), HasSubstr("a%20b%3Fc%25d%23e%40f%C3%BC"));
  EXPECT_NO_THROW(Client(server.url()).ping());
}

TEST(TestServer, SaysWhyThereIsNone) {
  const auto why = [] {
    try {
      const TestServer server;
    } catch (const Error& error) {
      return std::string(to_string(static_cast<Errc>(error.code().value()))) + ": " + error.cause();
    }
    return std::string("it runs");
  };
  const TempDir dir;
  const Variable temporary("TMPDIR", dir.path().string());
  {
    const Variable path("PATH", "/nonexistent");
    EXPECT_THAT(why(), StartsWith("unreachable: no server runs there, and neither redis-server nor"));
  }
  {
    const Variable nowhere("TMPDIR", dir.file("missing"));
    EXPECT_THAT(why(), HasSubstr("cannot create the folder " + dir.file("missing")));
  }
  std::ofstream(dir.file("redis-server")) << "#!/bin/sh\necho 'the words' >\"$TMPDIR\"/said; exit 3\n";
  fs::permissions(dir.file("redis-server"), fs::perms::owner_all);
  const Variable path("PATH", dir.path().string() + ":/bin:/usr/bin");
  EXPECT_THAT(why(), HasSubstr("ended at once"));
  EXPECT_FALSE(std::ranges::any_of(fs::directory_iterator(dir.path()), [](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with("holdfast-test-");
  })) << "nothing is left behind";
}

// --- `local:` ---

class LocalUrls : public testing::Test {
 protected:
  LocalUrls() { detail::set_local_server(nullptr); }
  ~LocalUrls() override { detail::set_local_server(nullptr); }

  const TempDir dir_;
  const Variable runtime_{"XDG_RUNTIME_DIR", dir_.path().string()};
};

TEST_F(LocalUrls, AreRefusedWithOneLineThatSaysWhatIsMissing) {
  try {
    const Client client("local:");
    FAIL() << "nobody serves it";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("a local: URL needs holdfast::testing: link it, and call "
                                        "holdfast::enable_local_urls() first"));
  }
  EXPECT_FALSE(fs::exists(dir_.path() / "holdfast"));
}

TEST_F(LocalUrls, LeadToTheServerOfThisUserOnceTheyAreEnabled) {
  enable_local_urls();
  enable_local_urls();
  const std::string socket = dir_.file("holdfast/redis.sock");
  {
    Client one("local:"), another("local:");
    const Hold hold = one.lock("job").acquire();
    EXPECT_TRUE(another.lock("job").is_locked()) << "it is the same server";
    EXPECT_EQ(Raw(Endpoint{.socket_path = socket}).command("EXISTS", "job").integer, 1);
  }
  Raw raw(Endpoint{.socket_path = socket});
  const pid_t process = std::stoi(raw.info("server", "process_id"));
  kill(process, SIGKILL);
  EXPECT_TRUE(eventually([&] { return kill(process, 0) != 0; }));
}

}  // namespace
}  // namespace holdfast::test::testing_test
