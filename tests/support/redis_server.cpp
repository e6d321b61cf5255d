// SPDX-License-Identifier: Apache-2.0
#include "support/redis_server.hpp"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "kinds/owner.hpp"
#include "support/raw.hpp"
#include "support/server_program.hpp"

namespace holdfast::test {
namespace {

using Listen = ServerOptions::Listen;

/// Redis 6.0 knows no rights on channels: everybody may use all of them.
std::string without_channels(const std::string& user) {
  std::istringstream words(user);
  std::string out;
  for (std::string word; words >> word;) {
    if (!word.starts_with('&')) out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

std::string user_line(const std::string& user) {
  return "user " + (server_like_redis(6, 2) ? user : without_channels(user)) + "\n";
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The letter of the process's state in /proc; the field after the name, which is in parentheses.
char process_state(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= stat.size() ? '?' : stat[name_end + 2];
}

/// Redis 6 knows no ADDSLOTSRANGE.
std::vector<std::string> all_slots() {
  std::vector<std::string> command{"CLUSTER", "ADDSLOTS"};
  for (int slot = 0; slot < 16384; ++slot) command.push_back(std::to_string(slot));
  return command;
}

std::string percent_encoded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' || c == '~') {
      out += c;
    } else {
      out += '%';
      out += "0123456789ABCDEF"[byte >> 4U];
      out += "0123456789ABCDEF"[byte & 0xfU];
    }
  }
  return out;
}

std::string make_url(const ServerOptions& options, const Certificates& files, const std::string& login,
                     std::uint16_t port) {
  if (options.listen == Listen::tcp) return "redis://" + login + "127.0.0.1:" + std::to_string(port);
  std::string url = "rediss://" + login + "localhost:" + std::to_string(port) + "?ca_file=" + files.ca_file;
  if (options.ask_client_certificate) {
    url += "&cert_file=" + files.client_certificate_file + "&key_file=" + files.client_key_file;
  }
  return url;
}

}  // namespace

RedisServer::RedisServer(ServerOptions options)
    : options_(std::move(options)), socket_path_(folder_.file("redis.sock")), admin_password_(options_.password) {
  if (options_.cluster) options_.listen = Listen::tcp;
  const bool has_bus = options_.cluster || options_.cluster_member;
  // Before Redis 7 the bus is always 10,000 above the port.
  const bool bus_above = has_bus && !server_like_redis(7, 0);
  // And of one that listens on no port it is 10,000, for all that run.
  if (bus_above && options_.listen == Listen::unix_socket) options_.listen = Listen::tcp;
  if (options_.listen != Listen::unix_socket) port_ = std::make_unique<PortLease>(bus_above);
  if (has_bus && !bus_above) bus_port_ = std::make_unique<PortLease>();
  if (options_.listen == Listen::tls) {
    certificates_ = options_.certificates ? *options_.certificates : Certificates::make(folder_.path() / "tls");
  }
  if (!options_.users.empty()) {
    admin_user_ = "support";
    admin_password_ = wire::make_uuid();
  }
  if (options_.replica_of != nullptr && options_.replica_of->options_.listen != Listen::tcp) {
    throw std::logic_error("a replica needs a primary that listens on tcp");
  }
  write_config();
  start();
}

RedisServer::~RedisServer() = default;

void RedisServer::write_config() {
  std::ofstream file(folder_.file("redis.conf"));
  file << "dir " << data_folder() << "\nunixsocket " << socket_path_ << "\nunixsocketperm 700\n"
       << "bind 127.0.0.1\nprotected-mode no\nsave \"\"\nrepl-diskless-sync-delay 0\n"
       << "port " << (options_.listen == Listen::tcp ? port() : 0) << "\n";
  if (options_.listen == Listen::tls) {
    file << "tls-port " << port() << "\ntls-cert-file " << certificates_.server_certificate_file << "\ntls-key-file "
         << certificates_.server_key_file << "\ntls-ca-cert-file " << certificates_.ca_file << "\ntls-auth-clients "
         << (options_.ask_client_certificate ? "yes\n" : "no\n");
  }
  if (!options_.password.empty()) file << "requirepass \"" << options_.password << "\"\n";
  for (const std::string& user : options_.users) file << user_line(user);
  if (!admin_user_.empty()) file << user_line(admin_user_ + " on >" + admin_password_ + " ~* &* +@all");
  if (!options_.maxmemory.empty()) file << "maxmemory " << options_.maxmemory << "\nmaxmemory-policy noeviction\n";
  if (options_.persistent) file << "appendonly yes\nappendfsync always\n";
  if (const RedisServer* primary = options_.replica_of) {
    file << "replicaof 127.0.0.1 " << primary->port() << "\n";
    if (!primary->admin_user_.empty()) file << "masteruser " << primary->admin_user_ << "\n";
    if (!primary->admin_password_.empty()) file << "masterauth \"" << primary->admin_password_ << "\"\n";
  }
  if (options_.cluster || options_.cluster_member) file << "cluster-enabled yes\n";
  if (options_.cluster_member) file << "cluster-config-file " << folder_.file("nodes.conf") << "\n";
  if (bus_port_) file << "cluster-port " << bus_port_->port() << "\n";
  for (const auto& [command, name] : options_.renamed_commands) {
    file << "rename-command " << command << " \"" << name << "\"\n";
  }
  if (std::getenv("HOLDFAST_TEST_RESP2") != nullptr && !options_.sentinel) {
    const auto hello = [](const auto& each) { return each.first == "HELLO"; };
    if (std::ranges::none_of(options_.renamed_commands, hello)) file << "rename-command HELLO \"\"\n";
  }
  for (const std::string& line : options_.config) {
    const bool needless = line.starts_with("enable-debug-command ") && !server_like_redis(7, 0);
    if (!needless) file << line << "\n";
  }
}

void RedisServer::start() {
  std::filesystem::create_directory(data_folder());
  std::vector<std::string> args{folder_.file("redis.conf")};
  if (options_.sentinel) args.emplace_back("--sentinel");
  process_.emplace(start_server_program(args, {.env = options_.environment, .output_file = folder_.file("log")}));
  frozen_ = false;
  wait_until_ready();
}

void RedisServer::wait_until_ready() {
  bool slots_given = false;
  const auto ready = [&] {
    if (!process_->running()) throw std::runtime_error("the server does not start: " + log());
    try {
      Raw raw(Endpoint::of(*this), std::chrono::seconds(5));
      if (raw.command("PING").text != "PONG") return false;
      if (options_.replica_of != nullptr) return raw.info("replication", "master_link_status") == "up";
      if (!options_.cluster) return true;
      if (!slots_given) raw.send(all_slots());
      slots_given = true;
      return raw.command("CLUSTER", "INFO").text.starts_with("cluster_state:ok");
    } catch (const std::runtime_error&) {
      return false;  // nobody listens yet
    }
  };
  if (!eventually(ready, kBusyMachine)) throw std::runtime_error("the server does not get ready: " + log());
}

std::string RedisServer::url() const {
  return options_.listen == Listen::unix_socket ? "unix://" + socket_path_ : url_with_port(port());
}

std::string RedisServer::url(const std::string& user, const std::string& password) const {
  if (options_.listen == Listen::unix_socket) throw std::logic_error("a unix:// URL carries no login");
  return url_with_port(port(), user, password);
}

std::string RedisServer::url_with_port(std::uint16_t port, const std::string& user, const std::string& password) const {
  if (options_.listen == Listen::unix_socket) return "redis://127.0.0.1:" + std::to_string(port);
  const bool logs_in = !user.empty() || !password.empty();
  const std::string login = logs_in ? percent_encoded(user) + ":" + percent_encoded(password) + "@" : "";
  return make_url(options_, certificates_, login, port);
}

pid_t RedisServer::pid() const { return process_ ? process_->pid() : -1; }
std::string RedisServer::log() const { return read_file(folder_.file("log")); }

void RedisServer::stop() {
  if (!process_) return;
  if (frozen_) thaw();
  process_->signal(SIGTERM);
  if (!process_->wait()) throw std::runtime_error("the server does not stop: " + log());
  process_.reset();
}

void RedisServer::kill() { process_.reset(); }

void RedisServer::freeze() {
  if (!process_) throw std::logic_error("the server does not run");
  process_->signal(SIGSTOP);
  frozen_ = true;
  if (!eventually([this] { return process_state(pid()) == 'T'; })) throw std::runtime_error("SIGSTOP has no effect");
}

void RedisServer::thaw() {
  if (!process_) throw std::logic_error("the server does not run");
  process_->signal(SIGCONT);
  frozen_ = false;
}

void RedisServer::restart(Data data) {
  if (data == Data::keep && !options_.persistent) throw std::logic_error("only a persistent server can keep its data");
  stop();
  if (data == Data::lose) std::filesystem::remove_all(data_folder());
  start();
}

}  // namespace holdfast::test
