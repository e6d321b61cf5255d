// SPDX-License-Identifier: Apache-2.0
// FencedFile: whose token is lower does not replace it; and no child that is forked meanwhile keeps it locked.
#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <future>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/fence.hpp>

#include "support/spawn.hpp"
#include "support/temp_dir.hpp"
#include "support/wait.hpp"

namespace holdfast::test::fenced_file_test {
namespace {

class FencedFileTest : public testing::Test {
 protected:
  std::string text() const { return file_.read().value_or(FencedFile::Contents{}).text; }

  const TempDir folder_;
  const FencedFile file_{folder_.file("data")};
};

TEST_F(FencedFileTest, IsReplacedByTheSameTokenOrAHigherOne) {
  EXPECT_FALSE(file_.read());
  EXPECT_TRUE(file_.replace(9, "first\nline"));
  EXPECT_TRUE(file_.replace(9, "again"));
  EXPECT_TRUE(file_.replace(10, "second"));
  EXPECT_FALSE(file_.replace(9, "late"));
  EXPECT_EQ(text(), "second");
  EXPECT_EQ(file_.read()->token, 10);
  EXPECT_TRUE(file_.replace(11, ""));
  EXPECT_EQ(text(), "");
}

TEST_F(FencedFileTest, WhatHasNoTokenIsLeftAlone) {
  std::ofstream(folder_.file("data")) << "somebody's\n";
  EXPECT_THROW(static_cast<void>(file_.replace(9, "ours")), std::runtime_error);
  EXPECT_THROW(file_.read(), std::runtime_error);
  std::ofstream(folder_.file("data")) << "12";
  EXPECT_THROW(file_.read(), std::runtime_error) << "cut off";
}

TEST_F(FencedFileTest, SaysWhyItCannotBeWritten) {
  const FencedFile nowhere(folder_.file("none/data"));
  EXPECT_THROW(static_cast<void>(nowhere.replace(1, "x")), std::system_error);
  EXPECT_FALSE(nowhere.read());
}

TEST_F(FencedFileTest, NeverGoesBackUnderManyThreads) {
  std::atomic<bool> fell = false;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (int token = thread; token < 200; token += 4) {
          const bool replaced = file_.replace(token, std::to_string(token));
          const FencedFile::Contents now = file_.read().value();
          if (now.token < token || (!replaced && now.token == token) || now.text != std::to_string(now.token))
            fell = true;
        }
      });
    }
  }
  EXPECT_FALSE(fell);
  EXPECT_EQ(text(), "199");
}

// --- fork() ---

/// A child process, which is killed with this object.
class Child {
 public:
  explicit Child(const std::function<void()>& body) : pid_(fork()) {
    if (pid_ != 0) return;
    body();
    _exit(0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill(SIGKILL);
    if (!waited_) wait();
  }
  void kill(int signal) const { ::kill(pid_, signal); }
  /// Its exit code.
  int wait() {
    waited_ = true;
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  const pid_t pid_;
  bool waited_ = false;
};

/// A child that does nothing, for ever.
void live_on() {
  alarm(300);  // should this test be killed
  for (;;) pause();
}

/// The file is a pipe, so whoever replaces it waits with its lock taken, until the present contents are written here.
class FencedPipe : public testing::Test {
 protected:
  FencedPipe() { EXPECT_EQ(mkfifo(path_.c_str(), 0600), 0); }

  bool is_locked() const {
    const Fd lock(open((path_ + ".lock").c_str(), O_RDWR | O_CLOEXEC));
    return lock.valid() && flock(lock.get(), LOCK_EX | LOCK_NB) != 0;
  }
  void answer() const { std::ofstream(path_) << "1\nold"; }

  const TempDir folder_;
  const std::string path_ = folder_.file("data");
  const FencedFile file_{path_};
};

TEST_F(FencedPipe, IsNotKeptLockedByAChildThatWasForkedMeanwhile) {
  auto first = std::async(std::launch::async, [&] { return file_.replace(2, "first"); });
  ASSERT_TRUE(eventually([&] { return is_locked(); }));
  const Child child(live_on);
  answer();
  EXPECT_TRUE(first.get());
  ASSERT_TRUE(eventually([&] { return !is_locked(); })) << "the child lives, and nobody can write any more";
  EXPECT_TRUE(file_.replace(3, "second"));
}

TEST_F(FencedPipe, IsNotKeptLockedByAChildThatOutlivesItsParent) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer ends a child that starts a thread";
#endif
  auto [from, to] = make_pipe();
  Child parent([&, from = from.get(), to = to.get()] {
    const std::jthread writer([&] { static_cast<void>(file_.replace(2, "first")); });
    if (!eventually([&] { return is_locked(); })) _exit(1);
    const pid_t orphan = fork();
    if (orphan == 0) live_on();
    static_cast<void>(from);
    if (write(to, &orphan, sizeof orphan) != sizeof orphan) _exit(1);
    live_on();
  });
  pid_t orphan = 0;
  to.reset();
  ASSERT_EQ(read(from.get(), &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  EXPECT_TRUE(is_locked());
  parent.kill(SIGKILL);
  parent.wait();
  EXPECT_TRUE(eventually([&] { return !is_locked(); })) << "its writer is dead, and its child lives";
  kill(orphan, SIGKILL);
}

TEST_F(FencedFileTest, IsWrittenInAFolderThatMayBeWrittenAndNotListed) {
  ASSERT_EQ(chown(folder_.path().c_str(), geteuid() == 0 ? 65534 : geteuid(), static_cast<gid_t>(-1)), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0300), 0);
  Child writer([&] {
    // Root may list everything.
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
    try {
      _exit(file_.replace(9, "text") && !file_.replace(8, "late") ? 0 : 3);
    } catch (const std::exception&) {
      _exit(4);
    }
  });
  EXPECT_EQ(writer.wait(), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0700), 0);
  EXPECT_EQ(file_.read()->token, 9);
}

TEST_F(FencedFileTest, NothingIsChangedWhereTheFolderCannotBeOpened) {
  EXPECT_TRUE(file_.replace(1, "old"));
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const Fd lowest_free(open("/", O_RDONLY | O_CLOEXEC));
  Child writer([&] {
    // Room for the lock, and for the file that is read, and not for the folder and the new file.
    for (rlim_t room = 1; room < 4; ++room) {
      const rlimit few{static_cast<rlim_t>(lowest_free.get()) + 1 + room, limit.rlim_max};
      if (setrlimit(RLIMIT_NOFILE, &few) != 0) _exit(2);
      bool replaced = false;
      try {
        replaced = file_.replace(static_cast<std::int64_t>(room) + 1, "new");
      } catch (const std::system_error&) {
        replaced = false;
      }
      if (setrlimit(RLIMIT_NOFILE, &limit) != 0) _exit(2);
      if (replaced != (text() == "new")) _exit(3);
    }
    _exit(text() == "new" ? 0 : 4);
  });
  EXPECT_EQ(writer.wait(), 0);
}

}  // namespace
}  // namespace holdfast::test::fenced_file_test
