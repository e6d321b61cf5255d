// SPDX-License-Identifier: Apache-2.0
#include "testing/local_server.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "base/fork_guard.hpp"
#include "testing/server_start.hpp"

namespace holdfast::private_server {
namespace {

using namespace std::chrono_literals;

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
