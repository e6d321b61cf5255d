// SPDX-License-Identifier: Apache-2.0
#include "sim/model/node.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::test {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool listens(const ModelNode::Session& session) {
  return std::ranges::any_of(session.channels, [](const auto& channels) { return !channels.empty(); });
}

}  // namespace

std::string to_string(const Place& place) { return place.host + ":" + std::to_string(place.port); }

ModelNode::ModelNode(Time& time, NodeSettings settings) : time_(time), settings_(std::move(settings)) { come_up(); }
ModelNode::~ModelNode() = default;

void ModelNode::come_up() {
  up_ = true;
  frozen_ = false;
  last_id_ = 2;
  ++life_;
  run_id_.clear();
  for (int i = 0; i < 40; ++i) run_id_ += "0123456789abcdef"[time_.digit()];
}

// ---- connections ----

ModelNode::SessionPtr ModelNode::connect(Send send, Closed closed) {
  if (!up_) return nullptr;
  auto session = std::make_shared<Session>();
  session->id = ++last_id_;
  session->send = std::move(send);
  session->closed = std::move(closed);
  session->since = time_.now();
  session->authenticated = settings_.password.empty();
  sessions_.emplace(session->id, session);
  return session;
}

void ModelNode::disconnect(Session& session) {
  if (!session.connected) return;
  session.connected = false;
  for (const Channel kind : {Channel::plain, Channel::sharded}) {
    while (!session.channels[static_cast<std::size_t>(kind)].empty()) {
      leave(session, kind, std::string(*session.channels[static_cast<std::size_t>(kind)].begin()));
    }
  }
  on_session_ended(session);
  const SessionPtr keep = find_session(session.id);
  sessions_.erase(session.id);
}

void ModelNode::close(Session& session) {
  if (!session.connected) return;
  if (!session.unsent.empty()) session.send(std::exchange(session.unsent, {}));
  const Closed closed = session.closed;
  disconnect(session);
  if (closed) closed();
}

void ModelNode::close_all() {
  while (!sessions_.empty()) close(*SessionPtr(sessions_.begin()->second));
}

void ModelNode::kill() {
  up_ = false;
  ++life_;
  close_all();
}

void ModelNode::thaw() {
  frozen_ = false;
  const std::map<std::int64_t, SessionPtr> waiting = sessions_;
  for (const auto& [id, session] : waiting) proceed(session);
}

ModelNode::SessionPtr ModelNode::find_session(std::int64_t id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second;
}

void ModelNode::receive(const SessionPtr& session, std::string_view bytes) {
  if (!session->connected) return;
  session->unread += bytes;
  proceed(session);
}

void ModelNode::proceed(const SessionPtr& session) {
  std::vector<std::string_view> command;
  std::size_t position = 0;
  while (session->connected && !session->blocked && !frozen_ && !session->due && position < session->unread.size()) {
    std::size_t behind = position;
    if (!take_command(session->unread, behind, command)) break;
    if (latency_ > base::Duration::zero() && !std::exchange(session->ready, false)) {
      run_later(session);
      break;
    }
    position = behind;
    run(*session, command);
  }
  session->unread.erase(0, position);
  flush();
}

/// One thread does everything, and each command takes its time.
void ModelNode::run_later(const SessionPtr& session) {
  busy_until_ = std::max(busy_until_, time_.now()) + latency_;
  session->due = true;
  time_.at(busy_until_, [this, session, life = life_] {
    if (life != life_) return;
    session->due = false;
    session->ready = true;
    proceed(session);
  });
}

void ModelNode::run(Session& session, Args command) {
  ++commands_;
  reply_.clear();
  running_ = &session;
  try {
    check(session, command);
    if (!in_transaction(session, command, reply_)) perform(session, command, reply_);
  } catch (const Refused& refused) {
    reply_.clear();
    put_error(reply_, refused.text());
    session.spoilt = session.queued.has_value();
  }
  running_ = nullptr;
  if (!reply_.empty()) push(session, reply_);
  on_command_done(session);
  if (!session.behind.empty()) push(session, std::exchange(session.behind, {}));
  if (command.front() != "ASKING") session.asking = false;
  if (session.closing) close(session);
}

void ModelNode::perform(Session& session, Args command, std::string& out) {
  if (!execute_common(session, command, out)) execute(session, command, out);
}

void ModelNode::flush() {
  for (std::size_t i = 0; i < unflushed_.size(); ++i) {
    const SessionPtr session = unflushed_[i];
    if (session && session->connected && !session->unsent.empty()) session->send(std::exchange(session->unsent, {}));
  }
  unflushed_.clear();
}

void ModelNode::push(Session& session, std::string_view bytes) {
  if (&session == running_ && settings_.likeness.pushes_behind_replies()) {
    session.behind += bytes;
    return;
  }
  if (session.unsent.empty()) unflushed_.push_back(find_session(session.id));
  if (session.resp3) {
    session.unsent += bytes;
  } else {
    session.unsent += in_resp2(bytes);
  }
}

void ModelNode::unblock(const SessionPtr& session, std::string_view reply) {
  if (!session->connected) return;
  session->blocked = false;
  push(*session, reply);
  proceed(session);
}

// ---- commands that every node knows ----

void ModelNode::check(Session& session, Args command) const {
  const std::string_view verb = command.front();
  if (verb == "HELLO" || verb == "AUTH") return;
  if (!session.authenticated) throw Refused("NOAUTH Authentication required.");
  if (!forbidden_.empty() && forbidden(lower(verb))) {
    throw Refused("NOPERM User default has no permissions to run the '" + lower(verb) + "' command");
  }
  if (!answer_.empty() && verb != "PING") throw Refused(answer_);
}

bool ModelNode::execute_common(Session& session, Args command, std::string& out) {
  const std::string_view verb = command.front();
  if (verb == "PING" && !session.resp3 && listens(session)) {
    put_head(out, '*', 2);
    put_text(out, "pong");
    put_text(out, "");
  } else if (verb == "PING") {
    put_word(out, "PONG");
  } else if (verb == "HELLO") {
    hello(session, command, out);
  } else if (verb == "AUTH") {
    log_in(session, command.size() > 2 ? command[1] : "default", command.back());
    put_word(out, "OK");
  } else if (verb == "CLIENT") {
    client(session, command, out);
  } else if (verb == "SUBSCRIBE") {
    subscribe(session, command, Channel::plain, out);
  } else if (verb == "UNSUBSCRIBE") {
    unsubscribe(session, command, Channel::plain, out);
  } else if (verb == "PUBSUB") {
    pubsub(command, out);
  } else if (verb == "SSUBSCRIBE" && settings_.likeness.has_sharded_channels() && mode() != "sentinel") {
    subscribe(session, command, Channel::sharded, out);
  } else if (verb == "SUNSUBSCRIBE" && settings_.likeness.has_sharded_channels() && mode() != "sentinel") {
    unsubscribe(session, command, Channel::sharded, out);
  } else {
    return false;
  }
  return true;
}

void ModelNode::log_in(Session& session, std::string_view user, std::string_view password) const {
  if (settings_.password.empty() ? user != "default" : user != "default" || password != settings_.password) {
    throw Refused("WRONGPASS invalid username-password pair or user is disabled.");
  }
  session.authenticated = true;
}

void ModelNode::hello(Session& session, Args command, std::string& out) {
  if (command.size() > 1 && command[1] != "3") throw Refused("NOPROTO unsupported protocol version");
  std::string_view name;
  for (std::size_t i = 2; i < command.size(); ++i) {
    if (command[i] == "AUTH" && i + 2 < command.size()) {
      log_in(session, command[i + 1], command[i + 2]);
      i += 2;
    } else if (command[i] == "SETNAME" && i + 1 < command.size()) {
      name = command[++i];
    } else {
      throw Refused("ERR Syntax error in HELLO option '" + std::string(command[i]) + "'");
    }
  }
  if (!session.authenticated) {
    throw Refused(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> "
        "AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol "
        "version at the same time");
  }
  if (!name.empty()) session.name = name;
  session.resp3 = true;
  const bool sentinel = mode() == "sentinel";
  put_head(out, '%', sentinel ? 6 : 7);
  const Likeness& like = settings_.likeness;
  put_text(out, "server");
  put_text(out, like.valkey ? "valkey" : "redis");
  put_text(out, "version");
  put_text(out, std::to_string(like.major) + "." + std::to_string(like.minor) + ".0");
  put_text(out, "proto");
  put_number(out, 3);
  put_text(out, "id");
  put_number(out, session.id);
  put_text(out, "mode");
  put_text(out, mode());
  if (!sentinel) {
    put_text(out, "role");
    put_text(out, role());
  }
  put_text(out, "modules");
  put_head(out, '*', 0);
}

void ModelNode::client(Session& session, Args command, std::string& out) {
  const std::string_view what = command.size() > 1 ? command[1] : "";
  if (forbidden("client|" + lower(what))) {
    throw Refused("NOPERM User default has no permissions to run the 'client|" + lower(what) + "' command");
  }
  if (what == "LIST") return client_list(command, out);
  if (what == "KILL") return client_kill(session, command, out);
  if (what == "ID") return put_number(out, session.id);
  if (what == "SETNAME" && command.size() == 3) {
    session.name = command[2];
  } else if (what == "TRACKING" && command.size() == 3 && mode() != "sentinel") {
    session.tracking = command[2] == "ON";
  } else if (what == "CAPA" && settings_.likeness.valkey) {
  } else {
    throw Refused("ERR unknown subcommand '" + std::string(what) + "'. Try CLIENT HELP.");
  }
  put_word(out, "OK");
}

void ModelNode::client_list(Args command, std::string& out) const {
  const bool one = command.size() == 4 && command[2] == "ID";
  std::string lines;
  for (const auto& [id, session] : sessions_) {
    if (one && to_number(command[3]) != id) continue;
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(time_.now() - session->since).count();
    lines += "id=" + std::to_string(id) + " addr=10.1.0.1:" + std::to_string(20000 + id) + " name=" + session->name +
             " age=" + std::to_string(age) + " flags=N\n";
  }
  put_text(out, lines);
}

void ModelNode::client_kill(Session& session, Args command, std::string& out) {
  if (command.size() != 4 || command[2] != "ID") throw Refused("ERR syntax error");
  const SessionPtr found = find_session(to_number(command[3]).value_or(0));
  put_number(out, found ? 1 : 0);
  if (found.get() == &session) {
    session.closing = true;
  } else if (found) {
    close(*found);
  }
}

// ---- channels ----

void ModelNode::subscribe(Session& session, Args command, Channel kind, std::string& out) {
  if (kind == Channel::sharded) check_channels(session, command.subspan(1));
  const auto index = static_cast<std::size_t>(kind);
  for (const std::string_view channel : command.subspan(1)) {
    if (session.channels[index].emplace(channel).second) {
      auto found = listeners_[index].find(channel);
      if (found == listeners_[index].end()) found = listeners_[index].try_emplace(std::string(channel)).first;
      found->second.push_back(&session);
    }
    put_head(out, '>', 3);
    put_text(out, kind == Channel::plain ? "subscribe" : "ssubscribe");
    put_text(out, channel);
    put_number(out, static_cast<std::int64_t>(session.channels[index].size()));
  }
}

bool ModelNode::refuses_to_leave(const Likeness& like, const Session& session) {
  return like.refuses_to_leave_nothing && !listens(session);
}

void ModelNode::unsubscribe(Session& session, Args command, Channel kind, std::string& out) {
  if (refuses_to_leave(likeness(), session)) throw Refused("NOSUB executed not in subscribed mode");
  if (kind == Channel::sharded) check_channels(session, command.subspan(1));
  put_unsubscribed(session, command.subspan(1), kind, out);
}

void ModelNode::put_unsubscribed(Session& session, Args channels, Channel kind, std::string& out) {
  for (const std::string_view channel : channels) {
    leave(session, kind, channel);
    put_head(out, '>', 3);
    put_text(out, kind == Channel::plain ? "unsubscribe" : "sunsubscribe");
    put_text(out, channel);
    put_number(out, static_cast<std::int64_t>(session.channels[static_cast<std::size_t>(kind)].size()));
  }
}

bool ModelNode::leave(Session& session, Channel kind, std::string_view channel) {
  const auto index = static_cast<std::size_t>(kind);
  const auto own = session.channels[index].find(channel);
  if (own == session.channels[index].end()) return false;
  const auto found = listeners_[index].find(channel);
  std::erase(found->second, &session);
  if (found->second.empty()) listeners_[index].erase(found);
  session.channels[index].erase(own);
  return true;
}

void ModelNode::take_away(std::string_view channel) {
  const auto found = listeners_[1].find(channel);
  if (found == listeners_[1].end()) return;
  const std::vector<Session*> listening = found->second;
  for (Session* const session : listening) {
    std::string out;
    put_unsubscribed(*session, {&channel, 1}, Channel::sharded, out);
    push(*session, out);
  }
}

std::int64_t ModelNode::tell(Channel kind, std::string_view channel, std::string_view text) {
  const auto found = listeners_[static_cast<std::size_t>(kind)].find(channel);
  if (found == listeners_[static_cast<std::size_t>(kind)].end()) return 0;
  std::string bytes;
  put_push(bytes, kind == Channel::plain ? "message" : "smessage", channel, text);
  for (Session* const session : found->second) push(*session, bytes);
  return static_cast<std::int64_t>(found->second.size());
}

std::int64_t ModelNode::count_listeners(Channel kind, std::string_view channel) const {
  const auto found = listeners_[static_cast<std::size_t>(kind)].find(channel);
  return found == listeners_[static_cast<std::size_t>(kind)].end() ? 0
                                                                   : static_cast<std::int64_t>(found->second.size());
}

void ModelNode::pubsub(Args command, std::string& out) const {
  const std::string_view what = command.size() > 1 ? command[1] : "";
  const bool sharded = what == "SHARDNUMSUB" && settings_.likeness.has_sharded_channels();
  if (what != "NUMSUB" && !sharded) {
    throw Refused("ERR Unknown PUBSUB subcommand or wrong number of arguments for '" + std::string(what) + "'");
  }
  const Args channels = command.subspan(2);
  put_head(out, '*', 2 * channels.size());
  for (const std::string_view channel : channels) {
    put_text(out, channel);
    put_number(out, count_listeners(sharded ? Channel::sharded : Channel::plain, channel));
  }
}

}  // namespace holdfast::test
