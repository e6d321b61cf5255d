#include "testing/local_server.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "base/fork_guard.hpp"
#include "testing/server_start.hpp"

namespace holdfast::private_server {
namespace {

using namespace std::chrono_literals;

constexpr auto kJoinLimit = 3s;   // How long to wait for a server that has the socket but does not answer.
constexpr auto kTurnLimit = 15s;  // Waiting for another process that is starting it.

Files place() {
  struct stat status{};
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const bool usable = runtime && *runtime == '/' && stat(runtime, &status) == 0 && S_ISDIR(status.st_mode);
  return files_in(usable ? std::string(runtime) + "/holdfast" : "/tmp/holdfast-" + std::to_string(geteuid()));
}

/// Anyone who can write to the folder could replace our server with their own, so only we may have access.
void make_private_folder(const Files& files) {
  if (mkdir(files.folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw denied(files, "cannot create the folder " + files.folder + ": " + words(errno));
  }
  // Checked through a descriptor and without following symbolic links, so that it is the folder that we use.
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
  make_private_folder(files);
  if (look(files, SteadyClock::now() + kJoinLimit) == State::answers) return files.socket;

  const Turn turn(files);
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
