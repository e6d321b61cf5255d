// SPDX-License-Identifier: Apache-2.0
// A process that gets no more threads, as under a limit on them: what needs one says so at the start, and nothing needs
// one later.
#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.hpp"

namespace holdfast::test::no_threads_test {
namespace {

class NoThreads : public Faults {
 protected:
  NoThreads() : Faults({.listen = ServerOptions::Listen::tcp}) {}

  /// In a process of its own. True if `body` was.
  static bool in_child(const std::function<bool()>& body) {
    const pid_t child = fork();
    if (child == 0) {
      bool good = false;
      try {
        good = body();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
      _exit(good ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_FALSE(WIFSIGNALED(status)) << "ended by signal " << WTERMSIG(status);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  /// From here on there are none for this process.
  static void take_threads_away() {
    constexpr uid_t kNobody = 65534;  // the limit is not for root
    if (geteuid() == 0 && setuid(kNobody) != 0) throw std::runtime_error("setuid");
    const rlimit none{0, 0};
    setrlimit(RLIMIT_NPROC, &none);
    try {
      std::thread([] {}).join();
    } catch (const std::system_error&) {
      return;
    }
    throw std::runtime_error("there are threads all the same");
  }
};

#if !defined(__SANITIZE_THREAD__)  // which ends a child that starts a thread
TEST_F(NoThreads, AClientThatGetsNoneSaysSo) {
  EXPECT_TRUE(in_child([&] {
    take_threads_away();
    const auto error = error_of([&] {
      Client client(server.url());
      return true;
    });
    return error && error->code() == Errc::exhausted && !error->cause().empty();
  }));
}

TEST_F(NoThreads, AClientThatHasStartedNeedsNoMore) {
  EXPECT_TRUE(in_child([&] {
    Client client(config());
    client.ping();
    Raw look(server);
    take_threads_away();
    std::atomic<int> told{0};
    const Hold lost = client.lock("lost").acquire({.on_lost = [&](const LostEvent&) { ++told; }});
    std::atomic<bool> stopped{false};
    const std::stop_callback callback(lost.lost_token(), [&] { stopped = true; });
    look.command("DEL", "lost");
    if (!eventually([&] { return stopped && told == 1; })) return false;
    const Hold other = client.lock("other").acquire();
    return other.valid_for() > 0ms && log->wait_for("lost");
  }));
}
#endif

}  // namespace
}  // namespace holdfast::test::no_threads_test
