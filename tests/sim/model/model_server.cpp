// SPDX-License-Identifier: Apache-2.0
#include "sim/model/model_server.hpp"

#include <algorithm>
#include <utility>

#include "sim/model/verb.hpp"

namespace holdfast::test {

ModelServer::ModelServer(Time& time, ServerSettings settings)
    : ModelNode(time, settings),
      settings_(std::move(settings)),
      keyspace_([this](std::string_view key) { on_changed(key); }) {}

ModelServer::~ModelServer() = default;

Keyspace::Millis ModelServer::millis() const {
  return std::chrono::floor<std::chrono::milliseconds>((time().now() + skew_).time_since_epoch()).count();
}

Keyspace& ModelServer::keyspace_now() {
  keyspace_.set_now(millis());
  return keyspace_;
}

std::vector<std::string> ModelServer::owners(std::string_view key) {
  std::vector<std::string> owners;
  const Keyspace::Value* const value = keyspace_now().find(key);
  if (value == nullptr) return owners;
  if (value->type == Keyspace::Type::string) owners.push_back(value->text);
  for (const auto& [owner, count] : value->fields) owners.push_back(owner);
  return owners;
}

std::vector<std::string> ModelServer::waiting(std::string_view key) {
  const Keyspace::Value* const value = keyspace_now().find(key);
  return value == nullptr ? std::vector<std::string>() : value->elements;
}

// ---- a command ----

/// Throws Refused if it is none, or is not for this server.
const ModelServer::Verb& ModelServer::verb_of(const Session& session, Args command) {
  const auto found = verbs().find(command.front());
  if (found == verbs().end()) throw Refused("ERR unknown command '" + std::string(command.front()) + "'");
  const Verb& verb = found->second;
  if (verb.sharded && !settings_.likeness.has_sharded_channels()) {
    throw Refused("ERR unknown command '" + std::string(command.front()) + "'");
  }
  if (command.size() < verb.least) {
    throw Refused("ERR wrong number of arguments for '" + std::string(command.front()) + "' command");
  }
  keyspace_.set_now(millis());
  const Args keys = keys_of(verb, command);
  if (gate_ != nullptr && !keys.empty()) check_keys(session, verb, keys);
  return verb;
}

void ModelServer::check_to_queue(Session& session, Args command) {
  if (command.front() != "CLIENT") verb_of(session, command);
  if (!likeness().queues_when_full()) keyspace_.check_growth();  // what is queued takes memory, whatever it is
}

void ModelServer::execute(Session& session, Args command, std::string& out) {
  const Verb& verb = verb_of(session, command);
  const Args keys = keys_of(verb, command);
  try {
    (this->*verb.run)(session, command, out);
  } catch (const Refused&) {
    if (verb.reads && session.tracking) remember(session, keys);
    throw;
  }
  if (verb.reads && session.tracking) remember(session, keys);
}

Args ModelServer::keys_of(const Verb& verb, Args command) const {
  if (verb.scripted) {
    const auto count = to_number(command[2]);
    if (!count || *count < 0) throw Refused("ERR value is not an integer or out of range");
    if (command.size() < 3 + static_cast<std::size_t>(*count)) {
      throw Refused("ERR Number of keys can't be greater than number of args");
    }
    return command.subspan(3, static_cast<std::size_t>(*count));
  }
  if (verb.keys == Verb::Keys::none) return {};
  return verb.keys == Verb::Keys::one ? command.subspan(1, 1) : command.subspan(1);
}

void ModelServer::check_channels(const Session& session, Args channels) {
  if (gate_ != nullptr) gate_->check(channels, session.asking, {});
}

void ModelServer::check_keys(const Session& session, const Verb& verb, Args keys) {
  if (verb.sharded) return check_channels(session, keys);
  gate_->check(keys, session.asking, [this](std::string_view key) { return keyspace_.find(key) != nullptr; });
}

bool ModelServer::has_all(Args keys) {
  if (gate_ == nullptr) return true;
  try {
    gate_->check(keys, true, [this](std::string_view key) { return keyspace_.find(key) != nullptr; });
    return true;
  } catch (const Refused&) {
    return false;
  }
}

void ModelServer::on_command_done(Session& session) {
  tell_trackers();
  spread_changes();
  session.written = offset_;
}

void ModelServer::on_session_ended(Session& session) {
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto each = next++;
    if (each->session.get() != &session) continue;
    if (each->limited) time().cancel(each->limit);
    waiting_.erase(each);
  }
}

// ---- what has changed ----

void ModelServer::on_changed(std::string_view key) {
  if (!trackers_.empty()) changed_.emplace_back(key);
  if (written_.empty() || written_.back() != key) written_.emplace_back(key);
}

/// What this session has read: when it changes, it is told once. Also when it ends, a little later.
void ModelServer::remember(Session& session, Args keys) {
  for (const std::string_view key : keys) {
    auto found = trackers_.find(key);
    if (found == trackers_.end()) found = trackers_.try_emplace(std::string(key)).first;
    if (std::ranges::find(found->second, session.id) != found->second.end()) continue;
    found->second.push_back(session.id);
    const Keyspace::Millis remaining = keyspace_.remaining(key);
    if (remaining < 0) continue;
    const base::Duration late = time().between(std::chrono::milliseconds(1), std::chrono::milliseconds(100));
    time().after(std::chrono::milliseconds(remaining) + late, [this, name = std::string(key), now = life()] {
      if (now != life() || frozen()) return;
      keyspace_now().find(name);
      tell_trackers();
      spread_changes();
      flush();
    });
  }
}

void ModelServer::tell_trackers() {
  std::string bytes;
  for (const std::string& key : changed_) {
    const auto found = trackers_.find(key);
    if (found == trackers_.end()) continue;
    bytes.clear();
    put_head(bytes, '>', 2);
    put_text(bytes, "invalidate");
    put_head(bytes, '*', 1);
    put_text(bytes, key);
    for (const std::int64_t id : found->second) {
      if (const SessionPtr session = find_session(id); session && session->tracking) push(*session, bytes);
    }
    trackers_.erase(found);
  }
  changed_.clear();
  if (!std::exchange(all_changed_, false)) return;
  bytes.clear();
  put_head(bytes, '>', 2);
  put_text(bytes, "invalidate");
  put_null(bytes);
  for (const auto& [id, session] : all_sessions()) {
    if (session->tracking) push(*session, bytes);
  }
  trackers_.clear();
}

void ModelServer::spread_changes() {
  if (written_.empty() && told_.empty() && !all_gone_) return;
  ++offset_;
  if (!replicas_.empty()) {
    auto changes = std::make_shared<Changes>();
    changes->offset = offset_;
    changes->all_gone = all_gone_;
    for (std::string& key : written_) {
      const auto found = keyspace_.all().find(key);
      std::optional<Keyspace::Value> value;
      if (found != keyspace_.all().end()) value = found->second;
      changes->keys.push_back({std::move(key), std::move(value)});
    }
    changes->messages = std::move(told_);
    for (const Replica& replica : replicas_) replica.tell(changes);
  }
  written_.clear();
  told_.clear();
  all_gone_ = false;
}

// ---- what can happen to it ----

void ModelServer::save() { saved_.copy(keyspace_now()); }

void ModelServer::die() {
  kill();
  waiting_.clear();
  trackers_.clear();
  if (process_changed_) process_changed_();
}

void ModelServer::restart(Restored data) {
  if (up()) die();
  loaded_.clear();
  offset_ = on_disk_ = 0;
  to_be_written_ = false;
  if (data == Restored::lost) keyspace_.clear();
  if (data == Restored::older) keyspace_.copy(saved_);
  come_up();
  if (process_changed_) process_changed_();
}

void ModelServer::lose_all() {
  keyspace_.clear();
  all_changed_ = all_gone_ = true;
  tell_trackers();
  spread_changes();
  flush();
}

void ModelServer::fill_memory(bool full) {
  keyspace_.refuse_growth(full ? "OOM command not allowed when used memory > 'maxmemory'." : "");
}

void ModelServer::refuse_writes(const std::string& error) {
  if (is_primary()) keyspace_.refuse_writes(error);
}

// ---- replication ----

void ModelServer::follow(const Place& primary) {
  const bool led = is_primary();
  primary_ = primary;
  keyspace_.refuse_writes("READONLY You can't write against a read only replica.");
  keyspace_.keep_ended(true);
  if (led) refuse_waits();
}

void ModelServer::lead() {
  primary_.reset();
  keyspace_.refuse_writes("");
  keyspace_.keep_ended(false);
}

void ModelServer::apply(const Changes& changes) {
  if (changes.all_gone) {
    keyspace_.clear();
    all_changed_ = true;
  }
  for (const Changes::Key& key : changes.keys) keyspace_.apply(key.name, key.value);
  for (const Changes::Message& message : changes.messages) tell(message.kind, message.channel, message.text);
  tell_trackers();
  written_.clear();
  offset_ = changes.offset;
  flush();
}

void ModelServer::copy_from(const ModelServer& primary) {
  keyspace_.copy(primary.keyspace_);
  offset_ = primary.offset_;
  all_changed_ = true;
  tell_trackers();
  written_.clear();
  flush();
}

void ModelServer::on_ack(ReplicaId replica, std::uint64_t offset) {
  replica->acked = std::max(replica->acked, offset);
  end_waits([this](const Waiting& waiting) { return answered(waiting); });
}

void ModelServer::change(const std::function<void(Keyspace&)>& how) {
  how(keyspace_now());
  tell_trackers();
  spread_changes();
  flush();
}

std::int64_t ModelServer::hear(Channel kind, std::string_view channel, std::string_view text) {
  const std::int64_t heard = tell(kind, channel, text);
  flush();
  return heard;
}

void ModelServer::give_away(const std::function<bool(std::string_view channel)>& moves) {
  std::vector<std::string> going;
  for_each_sharded_channel([&](const std::string& channel) {
    if (moves(channel)) going.push_back(channel);
  });
  for (const std::string& channel : going) take_away(channel);
  flush();
}

}  // namespace holdfast::test
