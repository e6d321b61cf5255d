// SPDX-License-Identifier: Apache-2.0
// `local:`: the private server of this user is started once, and joined afterwards.
#include "local_server.hpp"

namespace holdfast::test::local_server_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

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
  EXPECT_EQ(LocalCaller().result(), socket());
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
  std::vector<std::unique_ptr<LocalCaller>> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(std::make_unique<LocalCaller>([&] {
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
    LocalCaller child([&] {
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
  LocalCaller child([&] {
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
  LocalCaller child([] { signal(SIGCHLD, SIG_IGN); });
  EXPECT_EQ(child.result(), socket());
}

// --- Programs that are missing or are no server ---

TEST_F(LocalServer, NamesBothProgramsWhenNoneIsOnThePath) {
  for (const std::string path : {"", ":", ".", "/nonexistent"}) {
    LocalCaller child([&] { setenv("PATH", path.c_str(), 1); });
    EXPECT_THAT(child.result(), AllOf(StartsWith("cannot reach the server | " + socket()),
                                      HasSubstr("neither redis-server nor valkey-server is on PATH")));
  }
}

TEST_F(LocalServer, IsNotAProgramThatLiesInTheCurrentFolder) {
  const std::string bin = path_with("redis-server", "touch \"" + dir_.file("ran") + "\"");
  LocalCaller child([&] {
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
  LocalCaller child([&] { setenv("PATH", bin.c_str(), 1); });
  EXPECT_EQ(child.result(), socket());
}

TEST_F(LocalServer, PassesOnTheLastWordsOfAProgramThatEndsAtOnce) {
  const std::string bin = path_with("redis-server", "echo first\necho 'no such option: --save' >&2\nexit 3");
  LocalCaller child([&] { setenv("PATH", bin.c_str(), 1); });
  EXPECT_THAT(child.result(),
              AllOf(StartsWith("cannot reach the server"), HasSubstr(bin + "/redis-server ended at once"),
                    HasSubstr("its last words: no such option: --save"), Not(HasSubstr("first"))));
}

TEST_F(LocalServer, GivesUpOnAProgramThatNeverAnswersAndEndsIt) {
  const std::string log = dir_.file("empty");  // In the program's command line, where servers() finds it.
  const std::string bin = path_with("redis-server", "echo thinking\n: > " + log + "\nexec tail -f " + log);
  LocalCaller child([&] { setenv("PATH", (bin + ":/usr/bin:/bin").c_str(), 1); });
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
