#include "redis/local/local_server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include <holdfast/error.hpp>

namespace holdfast::redis {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Deadline = SteadyClock::time_point;
using namespace std::chrono_literals;

constexpr auto kJoinLimit = 3s;    // A server that has the socket but does not answer for this long is given up.
constexpr auto kStartLimit = 10s;  // From the start of the program to its first answer.
constexpr auto kTurnLimit = 15s;   // Waiting for another process that is starting it.
constexpr auto kPause = 10ms;

struct Files {
  std::string folder, socket, turn, log, pid;
};

std::string words(int error) { return std::generic_category().message(error); }

Error unreachable(const Files& files, const std::string& cause) { return {Errc::unreachable, "", files.socket, cause}; }
Error denied(const Files& files, const std::string& cause) { return {Errc::denied, "", files.socket, cause}; }

class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int get() const noexcept { return number_; }
  bool ok() const noexcept { return number_ >= 0; }

 private:
  int number_;
};

Files place() {
  struct stat status{};
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const bool usable = runtime && *runtime == '/' && stat(runtime, &status) == 0 && S_ISDIR(status.st_mode);
  const std::string folder = usable ? std::string(runtime) + "/holdfast" : "/tmp/holdfast-" + std::to_string(geteuid());
  return {folder, folder + "/redis.sock", folder + "/start.lock", folder + "/redis.log", folder + "/redis.pid"};
}

/// Whoever can write to the folder can put a server of their own in our server's place, so it must be ours alone.
void make_private_folder(const Files& files) {
  if (mkdir(files.folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw denied(files, "cannot create the folder " + files.folder + ": " + words(errno));
  }
  // Looked at through a descriptor, and not through a symbolic link: what is checked is what is there.
  const Descriptor folder(open(files.folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!folder.ok() || fstat(folder.get(), &status) != 0) {
    const int error = errno;
    const bool no_folder = error == ENOTDIR || error == ELOOP;
    throw denied(files, files.folder + (no_folder ? " is not a folder" : ": " + words(error)));
  }
  if (status.st_uid != geteuid()) throw denied(files, "the folder " + files.folder + " belongs to another user");
  if ((status.st_mode & 077U) != 0) {
    throw denied(files,
                 "the folder " + files.folder + " is open to other users; only its owner may have access (0700)");
  }
}

enum class Probe { answers, absent, silent };

/// One connection, one PING. A server that answers with an error (busy, password wanted) is there too; the client will
/// hear that error itself. `silent`: somebody has the socket, and no answer came before the deadline.
Probe probe_once(const Files& files, Deadline deadline) {
  const Descriptor link(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  files.socket.copy(std::data(address.sun_path), sizeof(address.sun_path) - 1);
  if (!link.ok()) throw unreachable(files, words(errno));
  if (connect(link.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED) return Probe::absent;
    if (errno == EAGAIN) return Probe::silent;  // Its queue of connections is full.
    throw unreachable(files, words(errno));
  }
  constexpr std::string_view kPing = "PING\r\n";
  if (send(link.get(), kPing.data(), kPing.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(kPing.size())) {
    return Probe::silent;
  }
  std::string reply;
  while (reply.find('\n') == std::string::npos) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (left <= 0ms) return Probe::silent;
    pollfd readable{link.get(), POLLIN, 0};
    if (poll(&readable, 1, static_cast<int>(left.count())) <= 0) continue;
    std::array<char, 512> buffer{};
    const ssize_t got = recv(link.get(), buffer.data(), buffer.size(), 0);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return Probe::silent;  // It is going down.
    if (got > 0) reply.append(buffer.data(), static_cast<std::size_t>(got));
    if (reply.front() != '+' && reply.front() != '-')
      throw unreachable(files, "what listens there is not a Redis server");
  }
  return Probe::answers;
}

Probe probe(const Files& files, Deadline deadline) {
  for (;;) {
    const Probe found = probe_once(files, deadline);
    if (found != Probe::silent || SteadyClock::now() >= deadline) return found;
    std::this_thread::sleep_for(kPause);
  }
}

/// The right to start the server, held by one process (and one thread) of this user at a time.
class Turn {
 public:
  explicit Turn(const Files& files) : file_(open(files.turn.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) {
    if (!file_.ok()) throw unreachable(files, "cannot open " + files.turn + ": " + words(errno));
    const Deadline deadline = SteadyClock::now() + kTurnLimit;
    while (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) throw unreachable(files, files.turn + ": " + words(errno));
      if (SteadyClock::now() >= deadline) {
        throw unreachable(files,
                          "another process has " + files.turn + " locked and does not finish starting the server");
      }
      std::this_thread::sleep_for(kPause);
    }
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  // Unlocked by hand: a child that another thread has just forked has the descriptor too, and may keep it for long.
  ~Turn() { flock(file_.get(), LOCK_UN); }

 private:
  Descriptor file_;
};

/// The first of the names that PATH leads to. Empty parts of PATH (the current folder) are left out: what lies there by
/// chance is not to be run.
std::optional<std::string> find_program(std::initializer_list<std::string_view> names) {
  const char* variable = std::getenv("PATH");
  const std::string_view path = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (const std::string_view name : names) {
    for (std::size_t begin = 0, end = 0; begin <= path.size(); begin = end + 1) {
      end = std::min(path.find(':', begin), path.size());
      const std::string file = std::string(path.substr(begin, end - begin)).append("/").append(name);
      struct stat status{};
      if (file.front() == '/' && end > begin && stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
          access(file.c_str(), X_OK) == 0) {
        return file;
      }
    }
  }
  return std::nullopt;
}

std::string last_line(const std::string& file) {
  std::ifstream in(file);
  std::string line, last;
  while (std::getline(in, line)) {
    if (!line.empty()) last = line;
  }
  return last;
}

/// Starts the program in a session of its own, with no descriptor of ours, no blocked and no ignored signal.
/// posix_spawn, since fork() in a process with threads runs their fork handlers and copies its page tables.
pid_t spawn(const Files& files, const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, files.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  pid_t child = 0;
  const int error = posix_spawn(&child, argv.front(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw unreachable(files, "cannot start " + arguments.front() + ": " + words(error));
  return child;
}

/// The process that we started: it leaves the server behind and ends at once. It is always collected, so that no zombie
/// stays; one that does not end in time is no Redis server and is killed.
class Starter {
 public:
  explicit Starter(pid_t pid) noexcept : pid_(pid) {}
  Starter(const Starter&) = delete;
  Starter& operator=(const Starter&) = delete;
  ~Starter() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  bool ended() const noexcept { return pid_ == 0; }
  /// True if it has ended and says that it failed. The program's own SIGCHLD handler may have collected it first; then
  /// nothing is known.
  bool failed() {
    int status = 0;
    const pid_t got = pid_ == 0 ? 0 : waitpid(pid_, &status, WNOHANG);
    if (got > 0 || (got < 0 && errno == ECHILD)) pid_ = 0;
    return got > 0 && status != 0;
  }

 private:
  pid_t pid_;
};

void start(const Files& files) {
  const std::optional<std::string> program = find_program({"redis-server", "valkey-server"});
  if (!program) {
    throw unreachable(files,
                      "no server runs there, and neither redis-server nor valkey-server is on PATH to start one");
  }
  const Deadline deadline = SteadyClock::now() + kStartLimit;
  Starter starter(spawn(files, {*program, "--port", "0", "--unixsocket", files.socket, "--unixsocketperm", "700",
                                "--daemonize", "yes", "--dir", files.folder, "--logfile", files.log, "--pidfile",
                                files.pid, "--save", "", "--appendonly", "no"}));
  for (;;) {
    const bool failed = starter.failed();
    if (starter.ended() && !failed && probe_once(files, deadline) == Probe::answers) return;
    const bool late = SteadyClock::now() >= deadline;
    if (failed || late) {
      const std::string line = last_line(files.log);
      throw unreachable(files, *program + (failed ? " ended at once" : " does not answer") +
                                   (line.empty() ? std::string() : "; its last words: " + line));
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

std::string ensure_local_server() {
  const Files files = place();
  if (files.socket.size() >= sizeof(sockaddr_un::sun_path)) {
    throw unreachable(files, "this path is too long for a socket");
  }
  make_private_folder(files);
  if (probe_once(files, SteadyClock::now() + kJoinLimit) == Probe::answers) return files.socket;

  const Turn turn(files);
  switch (probe(files, SteadyClock::now() + kJoinLimit)) {
    case Probe::answers:
      break;
    case Probe::absent:
      start(files);
      break;
    case Probe::silent:
      // Starting another would take the socket away from it, and its locks would be forgotten.
      throw unreachable(files, "a server has the socket but does not answer");
  }
  return files.socket;
}

}  // namespace holdfast::redis
