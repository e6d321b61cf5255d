#include "sim/model_server.hpp"

#include <array>
#include <charconv>

#include "wire/scripts.hpp"

namespace holdfast::test {
namespace {

namespace scripts = wire::scripts;

constexpr std::string_view kNull = "_\r\n";
constexpr std::array<const base::Script*, 3> kScripts = {&scripts::lock_acquire, &scripts::lock_release,
                                                         &scripts::lock_renew};

std::string number(std::int64_t value) { return ":" + std::to_string(value) + "\r\n"; }
std::string text(std::string_view value) {
  return "$" + std::to_string(value.size()) + "\r\n" + std::string(value) + "\r\n";
}
std::string head(char type, std::size_t count) { return type + std::to_string(count) + "\r\n"; }
std::string error(std::string_view why) { return "-" + std::string(why) + "\r\n"; }

std::optional<std::int64_t> to_number(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// What follows `type` up to the end of the line, as a number; the position moves behind it. Empty: not all is there.
std::optional<std::int64_t> take_length(const std::string& from, std::size_t& position, char type) {
  const std::size_t end = from.find("\r\n", position);
  if (end == std::string::npos) return std::nullopt;
  if (from[position] != type) throw std::logic_error("a client has sent what is not a command: " + from);
  const auto length = to_number(std::string_view(from).substr(position + 1, end - position - 1));
  position = end + 2;
  return length;
}

}  // namespace

std::shared_ptr<ModelServer::Session> ModelServer::connect(Send send) {
  auto session = std::make_shared<Session>();
  session->id = ++last_id_;
  session->send = std::move(send);
  sessions_.emplace(session->id, session);
  return session;
}

void ModelServer::disconnect(Session& session) {
  session.connected = false;
  sessions_.erase(session.id);
}

void ModelServer::receive(const std::shared_ptr<Session>& session, std::string bytes) {
  if (!session->connected) return;
  session->unread += bytes;
  while (session->connected) {
    const std::optional<Args> command = take_command(session->unread);
    if (!command) return;
    ++commands_;
    std::string reply = execute(session, *command);
    if (!reply.empty()) session->send(std::move(reply));
  }
}

std::optional<ModelServer::Args> ModelServer::take_command(std::string& unread) {
  if (unread.empty()) return std::nullopt;
  std::size_t position = 0;
  const auto count = take_length(unread, position, '*');
  if (!count) return std::nullopt;
  Args args;
  for (std::int64_t i = 0; i < *count; ++i) {
    const auto length = take_length(unread, position, '$');
    if (!length || unread.size() < position + static_cast<std::size_t>(*length) + 2) return std::nullopt;
    args.push_back(unread.substr(position, static_cast<std::size_t>(*length)));
    position += static_cast<std::size_t>(*length) + 2;
  }
  unread.erase(0, position);
  return args;
}

std::string ModelServer::execute(const std::shared_ptr<Session>& session, const Args& command) {
  const std::string& verb = command.front();
  if (verb == "PING") return "+PONG\r\n";
  if (verb == "HELLO") {
    for (std::size_t i = 2; i + 1 < command.size(); ++i) {
      if (command[i] == "SETNAME") session->name = command[i + 1];
    }
    return head('%', 3) + text("proto") + number(3) + text("id") + number(session->id) + text("mode") +
           text("standalone");
  }
  if (verb == "CLIENT") return client(*session, command);
  if (verb == "SUBSCRIBE" || verb == "UNSUBSCRIBE") return subscribe(*session, command, verb == "SUBSCRIBE");
  if (verb == "SCRIPT" && command.size() == 3 && command[1] == "LOAD") {
    for (const base::Script* script : kScripts) {
      if (script->text != command[2]) continue;
      loaded_.emplace(script->sha1);
      return text(script->sha1);
    }
  }
  if (verb == "EVALSHA") return run_script(command);
  return error("ERR the model does not know " + verb);
}

std::string ModelServer::client(Session&, const Args& command) {
  if (command.size() != 4 || command[2] != "ID") return error("ERR the model does not know this CLIENT");
  const auto found = sessions_.find(to_number(command[3]).value_or(0));
  if (command[1] == "LIST") {
    return found == sessions_.end() ? text("") : text("id=" + command[3] + " name=" + found->second->name + " \n");
  }
  if (command[1] != "KILL") return error("ERR the model does not know this CLIENT");
  if (found == sessions_.end()) return number(0);
  disconnect(*std::shared_ptr<Session>(found->second));
  return number(1);
}

std::string ModelServer::subscribe(Session& session, const Args& command, bool on) {
  std::string confirmed;
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (on) {
      session.channels.insert(command[i]);
    } else {
      session.channels.erase(command[i]);
    }
    confirmed += head('>', 3) + text(on ? "subscribe" : "unsubscribe") + text(command[i]) +
                 number(static_cast<std::int64_t>(session.channels.size()));
  }
  return confirmed;
}

std::string ModelServer::run_script(const Args& command) {
  const std::string& sha1 = command.at(1);
  if (!loaded_.contains(sha1)) return error("NOSCRIPT No matching script.");
  const auto split = command.begin() + 3 + to_number(command.at(2)).value_or(0);
  const Args keys(command.begin() + 3, split);
  const Args args(split, command.end());
  if (sha1 == scripts::lock_acquire.sha1) return acquire(keys, args);
  if (sha1 == scripts::lock_release.sha1) return release(keys, args);
  return renew(keys, args);
}

std::string ModelServer::acquire(const Args& keys, const Args& args) {
  const std::string& owner = args.at(1);
  if (const Lock* lock = find(keys.at(0)); lock != nullptr && !lock->fields.contains(owner)) {
    if (args.size() < 3) return number(remaining(*lock));
    return head('*', 4) + number(1) + number(remaining(*lock)) + number(listeners(args[2])) +
           text(lock->fields.begin()->first);
  }
  Lock& lock = locks_[keys.at(0)];
  lock.fields[owner] = 1;
  lock.expires = world_.now() + std::chrono::milliseconds(to_number(args.at(0)).value());
  return std::string(kNull);
}

std::string ModelServer::release(const Args& keys, const Args& args) {
  Lock* const lock = find(keys.at(0));
  if (lock == nullptr || lock->fields.erase(args.at(0)) == 0) return std::string(kNull);
  if (lock->fields.empty()) locks_.erase(keys.at(0));
  return number(publish(args.at(1), "0"));
}

std::string ModelServer::renew(const Args& keys, const Args& args) {
  std::string lost;
  std::size_t count = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Lock* const lock = find(keys[i]);
    if (lock != nullptr && lock->fields.contains(args.at(i + 1))) {
      lock->expires = world_.now() + std::chrono::milliseconds(to_number(args.at(0)).value());
    } else {
      ++count;
      lost += number(static_cast<std::int64_t>(i + 1));
    }
  }
  return head('*', count) + lost;
}

ModelServer::Lock* ModelServer::find(const std::string& key) {
  const auto found = locks_.find(key);
  if (found == locks_.end()) return nullptr;
  if (found->second.expires && *found->second.expires <= world_.now()) {
    locks_.erase(found);
    return nullptr;
  }
  return &found->second;
}

std::vector<std::string> ModelServer::owners(const std::string& key) {
  std::vector<std::string> owners;
  if (const Lock* lock = find(key)) {
    for (const auto& [owner, count] : lock->fields) owners.push_back(owner);
  }
  return owners;
}

std::int64_t ModelServer::remaining(const Lock& lock) const {
  if (!lock.expires) return -1;
  return std::chrono::ceil<std::chrono::milliseconds>(*lock.expires - world_.now()).count();
}

int ModelServer::listeners(const std::string& channel) const {
  int count = 0;
  for (const auto& [id, session] : sessions_) count += session->channels.contains(channel) ? 1 : 0;
  return count;
}

/// As Redis 7: ahead of the reply to whoever has published.
int ModelServer::publish(const std::string& channel, const std::string& payload) {
  int count = 0;
  for (const auto& [id, session] : sessions_) {
    if (!session->channels.contains(channel)) continue;
    ++count;
    session->send(head('>', 3) + text("message") + text(channel) + text(payload));
  }
  return count;
}

}  // namespace holdfast::test
