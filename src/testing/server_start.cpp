// SPDX-License-Identifier: Apache-2.0
#include "testing/server_start.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <initializer_list>
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

#include "base/fork_guard.hpp"

namespace holdfast::private_server {
namespace {

using namespace std::chrono_literals;

constexpr auto kStartLimit = 10s;  // From the start of the program to its first answer.

/// The first of the names found on PATH. Empty parts of PATH (the current folder) are skipped, so that a file lying
/// there by chance is not run.
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

/// Throws if there is something in place of our file that we did not make.
void require_own_file(const Files& files, int folder, const char* name, mode_t type) {
  struct stat status{};
  if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return;
    throw denied(files, files.folder + "/" + name + ": " + words(errno));
  }
  const std::string path = files.folder + "/" + name;
  if ((status.st_mode & S_IFMT) != type) throw denied(files, path + " is not what a server has there");
  if (status.st_uid != geteuid()) throw denied(files, path + " belongs to another user");
  if (type == S_IFREG && status.st_nlink > 1) throw denied(files, path + " has another name elsewhere");
}

/// The program has none but the first three.
void close_others(posix_spawn_file_actions_t& actions) {
#ifdef __GLIBC__
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#else
  constexpr long kMost = 65536;
  const int end = static_cast<int>(std::clamp(sysconf(_SC_OPEN_MAX), 0L, kMost));
  for (int fd = STDERR_FILENO + 1; fd < end; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) posix_spawn_file_actions_addclose(&actions, fd);
  }
#endif
}

/// Starts the program in the folder, with no descriptor of ours, no blocked and no ignored signal; in a session of its
/// own if it stays. posix_spawn, since fork() in a process with threads runs their fork handlers and copies its page
/// tables.
pid_t spawn(const Files& files, const PrivateFolder& folder, const std::vector<std::string>& arguments, Stays stays) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addfchdir_np(&actions, folder.get());
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, kLogName,
                                   O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  close_others(actions);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  const int session = stays == Stays::for_all ? POSIX_SPAWN_SETSID : 0;
  posix_spawnattr_setflags(&attributes, static_cast<short>(session | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));

  pid_t child = 0;
  const int error = posix_spawn(&child, argv.front(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw unreachable(files, "cannot start " + arguments.front() + ": " + words(error));
  return child;
}

}  // namespace

Files files_in(const std::string& folder) {
  const std::string inside = folder + "/";
  return {folder, inside + kSocketName, inside + kTurnName, inside + kLogName};
}

std::string words(int error) { return std::generic_category().message(error); }

Error unreachable(const Files& files, const std::string& cause) { return {Errc::unreachable, "", files.socket, cause}; }
Error denied(const Files& files, const std::string& cause) { return {Errc::denied, "", files.socket, cause}; }

void require_short_path(const Files& files) {
  if (files.socket.size() < sizeof(sockaddr_un::sun_path)) return;
  throw unreachable(files, "this path is too long for a socket");
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

PrivateFolder::PrivateFolder(const Files& files)
    : descriptor_(open(files.folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
  struct stat status{};
  if (!descriptor_.ok() || fstat(descriptor_.get(), &status) != 0) {
    const int error = errno;
    const bool no_folder = error == ENOTDIR || error == ELOOP;
    throw denied(files, files.folder + (no_folder ? " is not a folder" : ": " + words(error)));
  }
  if (status.st_uid != geteuid()) throw denied(files, "the folder " + files.folder + " belongs to another user");
  if ((status.st_mode & 077U) != 0) {
    throw denied(files,
                 "the folder " + files.folder + " is open to other users; only its owner may have access (0700)");
  }
  for (const char* name : {kTurnName, kLogName, kPidName}) require_own_file(files, descriptor_.get(), name, S_IFREG);
  require_own_file(files, descriptor_.get(), kSocketName, S_IFSOCK);
}

State look(const Files& files, Deadline deadline) {
  const Descriptor link(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  files.socket.copy(std::data(address.sun_path), sizeof(address.sun_path) - 1);
  if (!link.ok()) throw unreachable(files, words(errno));
  if (connect(link.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED) return State::absent;
    if (errno == EAGAIN) return State::silent;  // Its queue of connections is full.
    throw unreachable(files, words(errno));
  }
  constexpr std::string_view kPing = "PING\r\n";
  if (send(link.get(), kPing.data(), kPing.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(kPing.size())) {
    return State::silent;
  }
  std::string reply;
  while (reply.find('\n') == std::string::npos) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (left <= 0ms) return State::silent;
    pollfd readable{link.get(), POLLIN, 0};
    if (poll(&readable, 1, static_cast<int>(left.count())) <= 0) continue;
    std::array<char, 512> buffer{};
    const ssize_t got = recv(link.get(), buffer.data(), buffer.size(), 0);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return State::silent;  // It is going down.
    if (got > 0) reply.append(buffer.data(), static_cast<std::size_t>(got));
    if (reply.front() != '+' && reply.front() != '-')
      throw unreachable(files, "what listens there is not a Redis server");
  }
  return State::answers;
}

Child::~Child() {
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool Child::failed() {
  int status = 0;
  const pid_t got = pid_ == 0 ? 0 : waitpid(pid_, &status, WNOHANG);
  if (got > 0 || (got < 0 && errno == ECHILD)) pid_ = 0;
  return got > 0 && status != 0;
}

Child start(const Files& files, Stays stays) {
  const std::optional<std::string> program = find_program({"redis-server", "valkey-server"});
  if (!program) {
    throw unreachable(files,
                      "no server runs there, and neither redis-server nor valkey-server is on PATH to start one");
  }
  const PrivateFolder folder(files);
  const bool for_all = stays == Stays::for_all;
  const Deadline deadline = SteadyClock::now() + kStartLimit;
  // With `for_all`, it leaves the server behind and ends at once.
  // All paths are relative: it stays in the folder that was checked.
  Child child(spawn(files, folder,
                    {*program, "--port", "0", "--unixsocket", kSocketName, "--unixsocketperm", "700", "--daemonize",
                     for_all ? "yes" : "no", "--dir", ".", "--logfile", kLogName, "--pidfile", kPidName, "--save", "",
                     "--appendonly", "no"},
                    stays));
  for (;;) {
    const bool failed = child.failed() || (!for_all && child.ended());
    if (child.ended() == for_all && !failed && look(files, deadline) == State::answers) return child;
    const bool late = SteadyClock::now() >= deadline;
    if (failed || late) {
      const std::string line = last_line(files.log);
      throw unreachable(files, *program + (failed ? " ended at once" : " does not answer") +
                                   (line.empty() ? std::string() : "; its last words: " + line));
    }
    std::this_thread::sleep_for(kPause);
  }
}

// ---- one for all processes of a user ----

namespace {

constexpr auto kJoinLimit = 3s;   // How long to wait for a server that has the socket but does not answer.
constexpr auto kTurnLimit = 15s;  // Waiting for another process that is starting it.

/// The folder's path without links. Throws if somebody else could put another folder in the place of this one, or of
/// one that it is in: whoever can does not have to enter it to have us use a server of theirs.
std::string without_strangers(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(folder, error);
  const Files files = files_in(folder + "/holdfast");
  if (error) throw denied(files, folder + ": " + error.message());
  struct stat status{}, top{};
  if (stat("/", &top) != 0) throw denied(files, "/: " + words(errno));
  for (std::filesystem::path each = real;; each = each.parent_path()) {
    if (lstat(each.c_str(), &status) != 0) throw denied(files, each.string() + ": " + words(errno));
    // In a container root's folders may seem to be somebody else's.
    if (status.st_uid != geteuid() && status.st_uid != 0 && status.st_uid != top.st_uid) {
      throw denied(files, "the folder " + each.string() + " belongs to another user");
    }
    if ((status.st_mode & 022U) != 0 && (status.st_mode & S_ISVTX) == 0) {
      throw denied(files, "other users may write to the folder " + each.string());
    }
    if (each == each.root_path()) return real.string();
  }
}

Files place() {
  struct stat status{};
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const bool usable = runtime && *runtime == '/' && stat(runtime, &status) == 0 && S_ISDIR(status.st_mode);
  if (!usable) return files_in(without_strangers("/tmp") + "/holdfast-" + std::to_string(geteuid()));
  return files_in(without_strangers(runtime) + "/holdfast");
}

/// Anyone who can write to the folder could replace our server with their own, so only we may have access.
PrivateFolder make_private_folder(const Files& files) {
  if (mkdir(files.folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw denied(files, "cannot create the folder " + files.folder + ": " + words(errno));
  }
  return PrivateFolder(files);
}

/// Checks until a server answers or there is none.
State await(const Files& files, Deadline deadline) {
  for (;;) {
    const State found = look(files, deadline);
    if (found != State::silent || SteadyClock::now() >= deadline) return found;
    std::this_thread::sleep_for(kPause);
  }
}

/// The right to start the server, held by one process (and one thread) of this user at a time.
class Turn {
 public:
  Turn(const Files& files, const PrivateFolder& folder)
      : file_(openat(folder.get(), kTurnName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) {
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
  // Unlocked explicitly, since the lock belongs to all who have the open file.
  ~Turn() { flock(file_.get(), LOCK_UN); }

 private:
  const Descriptor file_;
  const base::NotForChildren not_for_children_{file_.get()};
};

}  // namespace

std::string ensure_local_server() {
  const Files files = place();
  require_short_path(files);
  const PrivateFolder folder = make_private_folder(files);
  if (look(files, SteadyClock::now() + kJoinLimit) == State::answers) return files.socket;

  const Turn turn(files, folder);
  switch (await(files, SteadyClock::now() + kJoinLimit)) {
    case State::answers:
      break;
    case State::absent:
      start(files, Stays::for_all);
      break;
    case State::silent:
      // Starting another would take over its socket, and its locks would be lost.
      throw unreachable(files, "a server has the socket but does not answer");
  }
  return files.socket;
}

}  // namespace holdfast::private_server
