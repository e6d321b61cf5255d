// SPDX-License-Identifier: Apache-2.0
#include "chaos/server_faults.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <stdexcept>
#include <sys/mount.h>
#include <system_error>
#include <utility>

#include <holdfast/holdfast.hpp>

#include "support/paths.hpp"
#include "support/raw.hpp"
#include "support/shared_clock.hpp"
#include "support/spawn.hpp"
#include "support/taker_locks.hpp"
#include "support/wait.hpp"

namespace holdfast::test::chaos {
namespace {

namespace fs = std::filesystem;

bool small_disk = false;

ServerOptions server_options(ServerOptions::Listen listen, const std::string& clock_file) {
  ServerOptions options{
      .listen = listen,
      .users = {std::string(StruckServer::kUser) + " on >" + StruckServer::kPassword + " ~* &* +@all"},
      .persistent = true,
      .config = {"enable-debug-command yes", "auto-aof-rewrite-min-size 16mb"}};
  if (!moved_clock().empty())
    options.environment = {"LD_PRELOAD=" + moved_clock(), "HOLDFAST_CLOCK_FILE=" + clock_file};
  return options;
}

}  // namespace

std::string moved_clock() {
  const std::string file = build_path("tests/libholdfast_moved_clock.so");
  return fs::exists(file) ? file : "";
}

bool use_small_disk(std::string& why) {
  static TempDir folder;
  const auto failed = [&](const char* what) {
    why = std::string(what) + ": " + std::strerror(errno);
    return false;
  };
  // The mount is of this process and its children, and ends with them.
  if (unshare(CLONE_NEWNS) != 0) return failed("unshare");
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return failed("mount");
  if (mount("none", folder.path().c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=256m") != 0) return failed("mount");
  setenv("TMPDIR", folder.path().c_str(), 1);
  return small_disk = true;
}

bool on_small_disk() { return small_disk; }

StruckServer::StruckServer(ServerOptions::Listen listen) {
  set_clock(Milliseconds(0));
  server_ = std::make_unique<RedisServer>(server_options(listen, clock_folder_.file("clock")));
}

std::vector<Fault> StruckServer::possible(std::vector<std::string>* why) {
  using enum Fault;
  std::vector<Fault> faults{server_killed, server_emptied, server_older,     server_frozen,
                            server_asleep, server_paused,  clients_killed,   scripts_flushed,
                            flushed,       memory_full,    rights_withdrawn, listening_withdrawn};
  if (!moved_clock().empty()) {
    faults.insert(faults.end(), {clock_forward, clock_back});
  } else if (why != nullptr) {
    why->emplace_back("server's clock: libholdfast_moved_clock.so is not there");
  }
  if (on_small_disk()) {
    faults.push_back(disk_full);
  } else if (why != nullptr) {
    why->emplace_back("server's disk full: no right to mount a small one");
  }
  return faults;
}

std::vector<Fault> StruckServer::faults_with_links() {
  using enum Fault;
  std::vector<Fault> faults = possible();
  faults.insert(faults.end(),
                {forced, process_killed, process_stopped, process_stopped_past_lease, links_cut, links_half_open,
                 links_slow, requests_swallowed, replies_swallowed, reply_lost, request_late});
  return faults;
}

Struck force(const std::string& url, const Planned& planned, const std::vector<Named>& names) {
  const auto& [name, kind] = names[planned.target % names.size()];
  std::vector<Client> clients;
  clients.emplace_back(Config::from_url(url));
  TakerLocks locks(std::move(clients), kind, false);
  Struck struck{.began = shared_clock(), .names = {name}};
  locks.key_lock(name).force_release();
  struck.ended = shared_clock();
  return struck;
}

Struck StruckServer::strike(const Planned& planned, const std::vector<Named>& names) {
  if (planned.fault == Fault::forced) return force(url(server_->port()), planned, names);
  Struck struck{.began = shared_clock()};
  strike(planned);
  struck.ended = shared_clock();
  return struck;
}

void StruckServer::command(const std::vector<std::string>& words) {
  const Reply reply = Raw(*server_).send(words);
  if (reply.is_error()) throw std::runtime_error(words.front() + ": " + reply.text);
}

void StruckServer::set_clock(Milliseconds offset) {
  // In place, since the server has it mapped.
  const std::string path = clock_folder_.file("clock");
  if (!fs::exists(path)) std::ofstream(path, std::ios::binary) << std::string(sizeof(std::int64_t), '\0');
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const std::int64_t number = offset.count();
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  file.write(bytes, sizeof bytes);
}

/// With `appendfsync always` a server that cannot write ends; one that syncs every second refuses writes.
void StruckServer::fill_disk(Milliseconds duration) {
  command({"CONFIG", "SET", "appendfsync", "everysec"});
  const std::string path = server_->data_folder() + "/filler";
  {
    const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const std::string block(1 << 16, 'x');
    while (write(file.get(), block.data(), block.size()) > 0) {
    }
  }
  last(duration);
  fs::remove(path);
  const auto writes_again = [this] { return Raw(*server_).info("persistence", "aof_last_write_status") == "ok"; };
  if (!eventually(writes_again)) throw std::runtime_error("the server does not write again");
  command({"CONFIG", "SET", "appendfsync", "always"});
}

void StruckServer::go_back(Milliseconds snapshot_age) {
  const fs::path copy = server_->data_folder() + ".older";
  fs::remove_all(copy);
  server_->freeze();
  fs::copy(server_->data_folder(), copy, fs::copy_options::recursive);
  server_->thaw();
  last(snapshot_age);
  server_->kill();
  fs::remove_all(server_->data_folder());
  fs::rename(copy, server_->data_folder());
  server_->restart(Data::keep);
}

/// Clients trust both authorities before the server has the certificate of the new one, as an operator would do it.
void StruckServer::renew_certificate() {
  const Certificates& its = server_->certificates();
  const fs::path last_authority = certificates_folder_.file("last.pem");
  if (!fs::exists(last_authority)) fs::copy_file(its.ca_file, last_authority);
  const Certificates next = Certificates::make(certificates_folder_.file("next"));
  const std::string both = certificates_folder_.file("both.pem");
  std::ofstream(both) << std::ifstream(last_authority).rdbuf() << std::ifstream(next.ca_file).rdbuf();
  fs::rename(both, its.ca_file);
  fs::rename(next.ca_file, last_authority);
  fs::rename(next.server_key_file, its.server_key_file);
  fs::rename(next.server_certificate_file, its.server_certificate_file);
  command({"CONFIG", "SET", "tls-cert-file", its.server_certificate_file});  // the same path: it is read again
}

void StruckServer::strike(const Planned& planned) {
  const Milliseconds duration = planned.duration;
  const std::string length = std::to_string(duration.count());
  const std::string user = kUser;
  switch (planned.fault) {
    case Fault::server_killed:
    case Fault::server_emptied:
      server_->kill();
      return server_->restart(planned.fault == Fault::server_killed ? Data::keep : Data::lose);
    case Fault::server_older:
      return go_back(Milliseconds(200 + planned.target % 1500));
    case Fault::server_frozen:
      server_->freeze();
      last(duration);
      return server_->thaw();
    case Fault::server_asleep:
      return command({"DEBUG", "SLEEP", std::to_string(static_cast<double>(duration.count()) / 1000)});
    case Fault::server_paused:
      command({"CLIENT", "PAUSE", length, planned.target % 2 == 0 ? "ALL" : "WRITE"});
      return last(duration);
    case Fault::clients_killed:
      return command({"CLIENT", "KILL", "TYPE", planned.target % 2 == 0 ? "normal" : "pubsub", "SKIPME", "yes"});
    case Fault::scripts_flushed:
      return command({"SCRIPT", "FLUSH"});
    case Fault::flushed:
      return command({"FLUSHALL"});
    case Fault::clock_forward:
    case Fault::clock_back:
      set_clock(planned.fault == Fault::clock_forward ? duration : -duration);
      last(duration);
      return set_clock(Milliseconds(0));
    case Fault::memory_full:
      command({"CONFIG", "SET", "maxmemory", "1"});
      last(duration);
      return command({"CONFIG", "SET", "maxmemory", "0"});
    case Fault::disk_full:
      return fill_disk(duration);
    case Fault::rights_withdrawn: {
      const bool keys = planned.target % 2 == 0;
      command({"ACL", "SETUSER", user, keys ? "resetkeys" : "-@all"});
      last(duration);
      return command({"ACL", "SETUSER", user, keys ? "~*" : "+@all"});
    }
    case Fault::listening_withdrawn:
      command({"ACL", "SETUSER", user, "resetchannels"});
      last(duration);
      return command({"ACL", "SETUSER", user, "&*"});
    case Fault::certificate_renewed:
      return renew_certificate();
    default:
      throw std::logic_error("no fault of one server");
  }
}

}  // namespace holdfast::test::chaos
