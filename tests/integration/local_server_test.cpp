// `local:`: the private server of this user is started once, joined afterwards, and never put into unsafe places.
#include "testing/local_server.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>

#include "support/process.hpp"
#include "support/raw.hpp"
#include "support/spawn.hpp"
#include "support/temp_dir.hpp"
#include "support/wait.hpp"

namespace holdfast::test::local_server_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();  // which bears a process in /proc that ends meanwhile; an iterator would throw
  return out.str();
}

/// What a call came to: the socket's path, or `<error code's message> | <text>`.
std::string outcome() {
  try {
    return private_server::ensure_local_server();
  } catch (const Error& error) {
    return error.code().message() + " | " + error.what();
  }
}

/// A call in a child process, which may change its environment before.
class Child {
 public:
  explicit Child(const std::function<void()>& before = {}) {
    auto [from, to] = make_pipe();
    pid_ = fork();
    if (pid_ == 0) {
      if (before) before();
      const std::string text = outcome();
      const bool written = write(to.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
      _exit(written ? 0 : 1);
    }
    result_ = std::move(from);
  }
  Child(Child&&) = delete;
  ~Child() {
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }
  std::string result() {
    std::string text;
    char buffer[1024];
    for (ssize_t got = 0; (got = read(result_.get(), buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  pid_t pid_ = -1;
  Fd result_;
};

class LocalServer : public testing::Test {
 protected:
  LocalServer() { use_runtime_dir(dir_.path().string()); }
  ~LocalServer() override {
    for (const pid_t pid : servers()) kill(pid, SIGKILL);
    EXPECT_TRUE(eventually([&] { return servers().empty(); }));
    if (saved_) {
      setenv("XDG_RUNTIME_DIR", saved_->c_str(), 1);
    } else {
      unsetenv("XDG_RUNTIME_DIR");
    }
  }

  void use_runtime_dir(const std::string& path) { setenv("XDG_RUNTIME_DIR", path.c_str(), 1); }
  fs::path folder() const { return dir_.path() / "holdfast"; }
  std::string socket() const { return (folder() / "redis.sock").string(); }
  Raw raw() const { return Raw(Endpoint{.socket_path = socket()}); }
  /// The pid of the server that answers on the socket.
  pid_t answering() const { return std::stoi(raw().info("server", "process_id")); }

  /// All processes that name this test's folder in their command line or run in it: whatever `local:` has started.
  std::vector<pid_t> servers() const {
    std::vector<pid_t> found;
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::error_code gone;
      const std::string traces =
          contents(entry.path() / "cmdline") + fs::read_symlink(entry.path() / "cwd", gone).string();
      if (traces.find(dir_.path().string()) != std::string::npos) found.push_back(std::stoi(name));
    }
    return found;
  }

  /// A folder for PATH with a program of this name in it, made by a shell script.
  std::string path_with(const std::string& program, const std::string& script) {
    const fs::path bin = dir_.path() / "bin";
    fs::create_directories(bin);
    std::ofstream(bin / program) << "#!/bin/sh\n" << script << '\n';
    fs::permissions(bin / program, fs::perms::owner_all);
    return bin.string();
  }

  TempDir dir_;

 private:
  std::optional<std::string> saved_ =
      std::getenv("XDG_RUNTIME_DIR") ? std::optional<std::string>(std::getenv("XDG_RUNTIME_DIR")) : std::nullopt;
};

// --- Start and join ---

TEST_F(LocalServer, IsStartedWhenNoneRuns) {
  EXPECT_EQ(private_server::ensure_local_server(), socket());
  EXPECT_EQ(raw().command("PING").text, "PONG");
  EXPECT_THAT(servers(), ElementsAre(answering()));
  EXPECT_EQ(contents(folder() / "redis.pid"), std::to_string(answering()) + "\n");
}

TEST_F(LocalServer, IsForItsUserOnlyAndWritesNoData) {
  private_server::ensure_local_server();
  EXPECT_EQ(fs::status(folder()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(socket()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(raw().command("CONFIG", "GET", "port").elements.at(1).text, "0");
  EXPECT_EQ(raw().command("CONFIG", "GET", "save").elements.at(1).text, "");
  EXPECT_EQ(raw().command("CONFIG", "GET", "appendonly").elements.at(1).text, "no");
  EXPECT_EQ(raw().command("CONFIG", "GET", "dir").elements.at(1).text, fs::canonical(folder()).string());
}

TEST_F(LocalServer, IsJoinedByASecondCall) {
  private_server::ensure_local_server();
  const pid_t first = answering();
  EXPECT_EQ(private_server::ensure_local_server(), socket());
  EXPECT_EQ(Child().result(), socket());
  EXPECT_EQ(answering(), first);
  EXPECT_THAT(servers(), ElementsAre(first));
}

TEST_F(LocalServer, IsJoinedEvenWhenItAnswersWithAnError) {
  private_server::ensure_local_server();
  const pid_t first = answering();
  Raw connection = raw();
  connection.command("CONFIG", "SET", "requirepass", "s3cret");
  EXPECT_EQ(private_server::ensure_local_server(), socket());
  EXPECT_THAT(servers(), ElementsAre(first));
}

TEST_F(LocalServer, IsStartedOnceByManyProcessesAtOnce) {
  auto [gate_out, gate_in] = make_pipe();
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(std::make_unique<Child>([&] {
      gate_in.reset();
      char byte = 0;
      while (read(gate_out.get(), &byte, 1) > 0) {
      }
    }));
  }
  gate_in.reset();  // All of them go at once, when the last one that could write has closed the gate.
  for (const auto& child : children) EXPECT_EQ(child->result(), socket());
  EXPECT_THAT(servers(), ElementsAre(answering()));
}

TEST_F(LocalServer, IsStartedOnceByManyThreadsAtOnce) {
  std::vector<std::string> results(8);
  std::vector<std::thread> threads;
  for (std::string& result : results) threads.emplace_back([&result] { result = outcome(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(results, Each(socket()));
  EXPECT_THAT(servers(), ElementsAre(answering()));
}

TEST_F(LocalServer, IsStartedAgainAfterItWasKilled) {
  private_server::ensure_local_server();
  const pid_t first = answering();
  kill(first, SIGKILL);
  ASSERT_TRUE(eventually([&] { return servers().empty(); }));
  ASSERT_TRUE(fs::exists(socket())) << "the dead server's socket file is what this is about";
  EXPECT_EQ(private_server::ensure_local_server(), socket());
  EXPECT_NE(answering(), first);
}

TEST_F(LocalServer, LivesInAFolderWithOddCharacters) {
  const fs::path odd = dir_.path() / "my \"run\" 'dir' #1 \xc3\xbc";
  fs::create_directory(odd);
  use_runtime_dir(odd.string());
  EXPECT_EQ(outcome(), (odd / "holdfast" / "redis.sock").string());
  EXPECT_EQ(outcome(), (odd / "holdfast" / "redis.sock").string());
  EXPECT_EQ(servers().size(), 1U);
}

TEST_F(LocalServer, LivesInTheFolderForTemporaryFilesWithoutARuntimeFolder) {
  // No program is found, so nothing is started for real; a server that this user has there already is just joined.
  const fs::path fallback = "/tmp/holdfast-" + std::to_string(geteuid());
  const bool existed = fs::exists(fallback);
  for (const std::string& unusable : {std::string("relative/dir"), std::string(), dir_.file("missing")}) {
    Child child([&] {
      setenv("PATH", "", 1);
      use_runtime_dir(unusable);
    });
    EXPECT_THAT(child.result(), HasSubstr((fallback / "redis.sock").string()));
  }
  if (!existed) fs::remove_all(fallback);
}

// --- What the server inherits ---

TEST_F(LocalServer, OutlivesTheProcessThatStartedItAndHasNothingOfIt) {
  auto [from, to] = make_pipe();
  Child child([&] {
    fcntl(to.get(), F_SETFD, 0);  // Left open for programs that are started.
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    signal(SIGUSR2, SIG_IGN);
  });
  EXPECT_EQ(child.result(), socket());
  to.reset();
  char byte = 0;
  fcntl(from.get(), F_SETFL, O_NONBLOCK);
  EXPECT_TRUE(eventually([&] { return read(from.get(), &byte, 1) == 0; }, std::chrono::seconds(5)))
      << "the server has the pipe open";

  const pid_t pid = answering();
  EXPECT_EQ(getsid(pid), pid);
  const std::string status = contents("/proc/" + std::to_string(pid) + "/status");
  EXPECT_THAT(status, HasSubstr("SigBlk:\t0000000000000000"));
  const std::size_t ignored = status.find("SigIgn:\t");
  ASSERT_NE(ignored, std::string::npos);
  const unsigned long long mask = std::stoull(status.substr(ignored + 8, 16), nullptr, 16);
  EXPECT_EQ(mask & (1ULL << (SIGUSR2 - 1)), 0U);
}

TEST_F(LocalServer, LeavesNoZombie) {
  private_server::ensure_local_server();
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(LocalServer, IsStartedByAProgramThatDoesNotCollectItsChildren) {
  Child child([] { signal(SIGCHLD, SIG_IGN); });
  EXPECT_EQ(child.result(), socket());
}

// --- Unsafe folders ---

TEST_F(LocalServer, RefusesAFolderThatOthersMayEnter) {
  fs::create_directory(folder());
  for (const mode_t mode : {0701U, 0710U, 0740U, 0770U, 0777U}) {
    ASSERT_EQ(chmod(folder().c_str(), mode), 0);
    EXPECT_THAT(outcome(), AllOf(StartsWith("the server refuses access | " + socket()), HasSubstr(folder().string()),
                                 HasSubstr("open to other users"), HasSubstr("0700")));
  }
  EXPECT_THAT(servers(), IsEmpty());
}

TEST_F(LocalServer, RefusesAFolderOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder to somebody else";
  fs::create_directory(folder());
  ASSERT_EQ(chmod(folder().c_str(), 0700), 0);
  ASSERT_EQ(chown(folder().c_str(), 65534, 65534), 0);
  EXPECT_THAT(outcome(), AllOf(StartsWith("the server refuses access"), HasSubstr("belongs to another user")));
}

TEST_F(LocalServer, RefusesALinkInPlaceOfItsFolder) {
  fs::create_directory(dir_.path() / "elsewhere");
  ASSERT_EQ(chmod((dir_.path() / "elsewhere").c_str(), 0700), 0);
  fs::create_directory_symlink(dir_.path() / "elsewhere", folder());
  EXPECT_THAT(outcome(), AllOf(StartsWith("the server refuses access"), HasSubstr("is not a folder")));
}

TEST_F(LocalServer, RefusesAFileInPlaceOfItsFolder) {
  std::ofstream(folder()) << "x";
  EXPECT_THAT(outcome(), AllOf(StartsWith("the server refuses access"), HasSubstr("is not a folder")));
}

TEST_F(LocalServer, RefusesAPathThatIsTooLongForASocket) {
  const fs::path deep = dir_.path() / std::string(100, 'x');
  fs::create_directory(deep);
  use_runtime_dir(deep.string());
  EXPECT_THAT(outcome(), AllOf(StartsWith("cannot reach the server"), HasSubstr("too long for a socket")));
}

// --- Programs that are missing or are no server ---

TEST_F(LocalServer, NamesBothProgramsWhenNoneIsOnThePath) {
  for (const std::string path : {"", ":", ".", "/nonexistent"}) {
    Child child([&] { setenv("PATH", path.c_str(), 1); });
    EXPECT_THAT(child.result(), AllOf(StartsWith("cannot reach the server | " + socket()),
                                      HasSubstr("neither redis-server nor valkey-server is on PATH")));
  }
}

TEST_F(LocalServer, IsNotAProgramThatLiesInTheCurrentFolder) {
  const std::string bin = path_with("redis-server", "touch \"" + dir_.file("ran") + "\"");
  Child child([&] {
    setenv("PATH", ":.", 1);
    if (chdir(bin.c_str()) != 0) _exit(2);
  });
  EXPECT_THAT(child.result(), HasSubstr("neither redis-server nor valkey-server"));
  EXPECT_FALSE(fs::exists(dir_.file("ran")));
}

TEST_F(LocalServer, CanBeAValkeyServer) {
  // The real server, whichever it is, under the second of the names and in a folder without the first.
  const std::string found = run_checked("/bin/sh", {"-c", "command -v redis-server || command -v valkey-server"});
  const std::string bin = path_with("valkey-server", "exec " + found.substr(0, found.find('\n')) + " \"$@\"");
  Child child([&] { setenv("PATH", bin.c_str(), 1); });
  EXPECT_EQ(child.result(), socket());
}

TEST_F(LocalServer, PassesOnTheLastWordsOfAProgramThatEndsAtOnce) {
  const std::string bin = path_with("redis-server", "echo first\necho 'no such option: --save' >&2\nexit 3");
  Child child([&] { setenv("PATH", bin.c_str(), 1); });
  EXPECT_THAT(child.result(),
              AllOf(StartsWith("cannot reach the server"), HasSubstr(bin + "/redis-server ended at once"),
                    HasSubstr("its last words: no such option: --save"), Not(HasSubstr("first"))));
}

TEST_F(LocalServer, GivesUpOnAProgramThatNeverAnswersAndEndsIt) {
  const std::string log = dir_.file("empty");  // In the program's command line, where servers() finds it.
  const std::string bin = path_with("redis-server", "echo thinking\n: > " + log + "\nexec tail -f " + log);
  Child child([&] { setenv("PATH", (bin + ":/usr/bin:/bin").c_str(), 1); });
  EXPECT_THAT(child.result(), AllOf(HasSubstr("does not answer"), HasSubstr("its last words: thinking")));
  EXPECT_THAT(servers(), IsEmpty());
}

// --- Somebody else on the socket ---

TEST_F(LocalServer, IsNotReplacedWhenItIsFrozen) {
  private_server::ensure_local_server();
  const pid_t first = answering();
  kill(first, SIGSTOP);
  const std::string result = outcome();
  kill(first, SIGCONT);
  EXPECT_THAT(result, AllOf(StartsWith("cannot reach the server"), HasSubstr("does not answer")));
  EXPECT_EQ(answering(), first);
  EXPECT_THAT(servers(), ElementsAre(first));
}

TEST_F(LocalServer, IsNotWhateverElseListensThere) {
  fs::create_directory(folder());
  ASSERT_EQ(chmod(folder().c_str(), 0700), 0);
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket().copy(std::data(address.sun_path), sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener.get(), 8), 0);
  std::thread stranger([&] {
    const Fd caller(accept(listener.get(), nullptr, nullptr));
    EXPECT_EQ(send(caller.get(), "220 mail\r\n", 10, MSG_NOSIGNAL), 10);
    char buffer[64];
    while (recv(caller.get(), buffer, sizeof buffer, 0) > 0) {
    }
  });
  EXPECT_THAT(outcome(), AllOf(StartsWith("cannot reach the server"), HasSubstr("not a Redis server")));
  stranger.join();
}

}  // namespace
}  // namespace holdfast::test::local_server_test
