// SPDX-License-Identifier: Apache-2.0
#include "support/spawn.hpp"

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>

namespace holdfast::test {
namespace {

/// The kernel sends the parent-death signal when the *thread* that forked ends. So all forks are made by one thread
/// that never does, and a test may start its servers from any thread.
class Spawner {
 public:
  static Spawner& instance() {
    static std::mutex mutex;
    static Spawner* current = nullptr;
    const std::lock_guard guard(mutex);
    // After a fork() the thread is the parent's, and the child needs one of its own.
    if (current == nullptr || current->maker_ != getpid()) current = new Spawner;
    return *current;
  }

  pid_t run(const std::function<pid_t()>& work) {
    const std::lock_guard one_at_a_time(callers_);
    std::packaged_task<pid_t()> task(work);
    std::future<pid_t> result = task.get_future();
    {
      const std::lock_guard guard(mutex_);
      task_ = std::move(task);
    }
    wake_.notify_one();
    return result.get();
  }

 private:
  Spawner() : maker_(getpid()) {
    std::thread([this] {
      for (;;) {
        std::unique_lock guard(mutex_);
        wake_.wait(guard, [this] { return task_.has_value(); });
        std::packaged_task<pid_t()> task = std::move(*task_);
        task_.reset();
        guard.unlock();
        task();
      }
    }).detach();
  }

  const pid_t maker_;
  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<std::packaged_task<pid_t()>> task_;  // guarded by mutex_
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// In the child, between fork and exec: only calls that are safe there. Reports errno through `failed` and ends.
[[noreturn]] void become(const SpawnRequest& request, char* const* args, char* const* env, pid_t parent, int failed) {
  const auto give_up = [&] {
    const int error = errno;
    [[maybe_unused]] const ssize_t ignored = write(failed, &error, sizeof error);
    _exit(127);
  };
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it died before the line above
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number = 1; number < 32; ++number) ::signal(number, SIG_DFL);
  if (request.own_group) setpgid(0, 0);
  for (int fd = 0; fd < 3; ++fd) {
    const int from = request.standard[static_cast<std::size_t>(fd)];
    if (from == fd) {
      fcntl(fd, F_SETFD, 0);
    } else if (dup2(from, fd) < 0) {
      give_up();
    }
  }
  if (!request.working_dir.empty() && chdir(request.working_dir.c_str()) != 0) give_up();
  execvpe(request.program.c_str(), args, env);
  give_up();
  _exit(127);
}

pid_t fork_and_exec(const SpawnRequest& request) {
  const std::vector<char*> args = pointers(request.args);
  const std::vector<char*> env = pointers(request.env);
  auto [failed_read, failed_write] = make_pipe();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) become(request, args.data(), env.data(), parent, failed_write.get());
  failed_write.reset();
  int error = 0;
  ssize_t count = 0;
  do {
    count = read(failed_read.get(), &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  if (count == sizeof error) {
    waitpid(pid, nullptr, 0);
    throw std::system_error(error, std::generic_category(), request.program);
  }
  return pid;
}

}  // namespace

std::pair<Fd, Fd> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return {Fd(ends[0]), Fd(ends[1])};
}

pid_t spawn(const SpawnRequest& request) {
  return Spawner::instance().run([&request] { return fork_and_exec(request); });
}

}  // namespace holdfast::test
