// SPDX-License-Identifier: Apache-2.0
// What a server says of itself, waits for, publishes, and how it runs scripts.
#include <algorithm>
#include <utility>

#include "sim/model/verb.hpp"

namespace holdfast::test {

void ModelServer::select(Session&, Args command, std::string& out) {
  const auto number = to_number(command[1]);
  if (settings_.cluster && number != 0) throw Refused("ERR SELECT is not allowed in cluster mode");
  if (!number || *number < 0 || *number >= settings_.databases) throw Refused("ERR DB index is out of range");
  put_word(out, "OK");
}

void ModelServer::info(Session&, Args command, std::string& out) {
  const std::string_view section = command.size() > 1 ? command[1] : "";
  std::string text;
  if (section == "server") {
    text = "# Server\r\nredis_version:" + std::to_string(settings_.likeness.major) + "." +
           std::to_string(settings_.likeness.minor) + ".0\r\nredis_mode:" + std::string(mode()) +
           "\r\nrun_id:" + run_id() + "\r\n";
  } else if (section == "replication") {
    text = std::string("# Replication\r\nrole:") + (is_primary() ? "master" : "slave") +
           "\r\nconnected_slaves:" + std::to_string(replicas_.size()) + "\r\n";
  } else if (section == "clients") {
    text = "# Clients\r\nconnected_clients:" + std::to_string(sessions()) + "\r\n";
  }
  put_text(out, text);
}

void ModelServer::role_of(Session&, Args, std::string& out) {
  if (primary_) {
    put_head(out, '*', 5);
    put_text(out, "slave");
    put_text(out, primary_->host);
    put_number(out, primary_->port);
    put_text(out, "connected");
    return put_number(out, static_cast<std::int64_t>(offset_));
  }
  put_head(out, '*', 3);
  put_text(out, "master");
  put_number(out, static_cast<std::int64_t>(offset_));
  put_head(out, '*', replicas_.size());
  for (const Replica& replica : replicas_) {
    put_head(out, '*', 3);
    put_text(out, replica.place.host);
    put_text(out, std::to_string(replica.place.port));
    put_text(out, std::to_string(replica.acked));
  }
}

void ModelServer::clock_of(Session&, Args, std::string& out) {
  const auto micros = std::chrono::floor<std::chrono::microseconds>((time().now() + skew_).time_since_epoch()).count();
  put_head(out, '*', 2);
  put_text(out, std::to_string(micros / 1'000'000));
  put_text(out, std::to_string(micros % 1'000'000));
}

void ModelServer::asking(Session& session, Args, std::string& out) {
  if (gate_ == nullptr) throw Refused("ERR This instance has cluster support disabled");
  session.asking = true;
  put_word(out, "OK");
}

void ModelServer::cluster(Session&, Args command, std::string& out) {
  if (gate_ == nullptr) throw Refused("ERR This instance has cluster support disabled");
  gate_->execute(command.subspan(1), out);
}

// ---- messages ----

std::int64_t ModelServer::publish(Channel kind, std::string_view channel, std::string_view text) {
  const char* const verb = kind == Channel::plain ? "publish" : "spublish";
  if (kind == Channel::sharded && !settings_.likeness.has_sharded_channels()) {
    throw Refused("ERR Unknown Redis command called from script");
  }
  if (forbidden(verb)) {
    throw Refused(std::string("NOPERM ACL failure in script: User default has no permissions to run the '") + verb +
                  "' command");
  }
  const std::int64_t heard = tell(kind, channel, text);
  if (gate_ != nullptr) gate_->spread(kind, channel, text);
  // A cluster has other ways for what is published to all.
  if (!replicas_.empty() && gate_ == nullptr) {
    told_.push_back({kind, std::string(channel), std::string(text)});
  }
  return heard;
}

std::int64_t ModelServer::listeners(Channel kind, std::string_view channel) {
  if (forbidden("pubsub")) throw Refused("NOPERM");
  if (kind == Channel::sharded && !settings_.likeness.has_sharded_channels()) throw Refused("ERR Unknown subcommand");
  return count_listeners(kind, channel);
}

void ModelServer::publish_plain(Session&, Args command, std::string& out) {
  put_number(out, publish(Channel::plain, command[1], command[2]));
}

void ModelServer::publish_sharded(Session&, Args command, std::string& out) {
  put_number(out, publish(Channel::sharded, command[1], command[2]));
}

// ---- scripts ----

void ModelServer::script(Session&, Args command, std::string& out) {
  if (command[1] == "FLUSH") {
    loaded_.clear();
    return put_word(out, "OK");
  }
  const auto known = command.size() == 3 && command[1] == "LOAD" ? script_of_text(command[2]) : std::nullopt;
  if (!known) throw Refused("ERR the model does not know this script");
  loaded_.insert(known->sha1());
  put_text(out, known->sha1());
}

void ModelServer::evalsha(Session&, Args command, std::string& out) {
  if (!loaded_.contains(command[1])) throw Refused("NOSCRIPT No matching script. Please use EVAL.");
  run_script(*script_of_sha1(command[1]), command, out);
}

void ModelServer::eval(Session&, Args command, std::string& out) {
  const auto known = script_of_text(command[1]);
  if (!known) throw Refused("ERR the model does not know this script");
  loaded_.insert(known->sha1());
  run_script(*known, command, out);
}

void ModelServer::run_script(const KnownScript& script, Args command, std::string& out) {
  const auto keys = static_cast<std::size_t>(*to_number(command[2]));
  const auto planted = planted_.find(script.script->sha1);
  const Transition carry_out = planted == planted_.end() ? script.run : planted->second;
  const Keyspace::Script whole(keyspace_);
  Args args = command.subspan(3 + keys);
  if (!script.of_first_key) return carry_out(*this, command.subspan(3, keys), args, out);
  const auto others = static_cast<std::size_t>(*to_number(args.back()));
  args = args.first(args.size() - 1);
  std::vector<std::string_view> all{command[3]};
  all.insert(all.end(), args.end() - static_cast<std::ptrdiff_t>(others), args.end());
  carry_out(*this, all, args.first(args.size() - others), out);
}

// ---- waits for acks ----

std::size_t ModelServer::acked(std::uint64_t offset) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(replicas_, [offset](const Replica& replica) { return replica.acked >= offset; }));
}

bool ModelServer::answered(const Waiting& waiting) const {
  return acked(waiting.offset) >= waiting.replicas && (!waiting.file || on_disk_ >= waiting.offset);
}

void ModelServer::wait(Session& session, Args command, std::string& out) {
  if (!is_primary()) {
    throw Refused(
        "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica "
        "is configured to be writable (which is not the default) writes to replicas are just local and are "
        "not propagated.");
  }
  const auto replicas = to_number(command[1]);
  const auto limit = to_number(command[2]);
  if (!replicas || !limit || *limit < 0) throw Refused("ERR value is not an integer or out of range");
  begin_wait(session,
             {.offset = session.written, .replicas = static_cast<std::size_t>(std::max<std::int64_t>(*replicas, 0))},
             *limit, out);
}

void ModelServer::wait_aof(Session& session, Args command, std::string& out) {
  if (!settings_.likeness.has_wait_aof()) throw Refused("ERR unknown command 'WAITAOF'");
  const auto file = to_number(command[1]);
  const auto replicas = to_number(command[2]);
  const auto limit = to_number(command[3]);
  if (!file || !replicas || !limit || *file > 1 || *limit < 0) {
    throw Refused("ERR value is not an integer or out of range");
  }
  if (!is_primary()) {
    throw Refused(
        "ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are just "
        "local and are not propagated.");
  }
  if (*file > 0 && settings_.append_only == AppendOnly::off) {
    throw Refused("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.");
  }
  begin_wait(session, {.offset = session.written, .replicas = static_cast<std::size_t>(*replicas), .file = *file > 0},
             *limit, out);
}

/// Its end may come a little late.
void ModelServer::begin_wait(Session& session, Waiting waiting, std::int64_t limit, std::string& out) {
  if (waiting.file) write_to_disk();
  if (answered(waiting)) return put_acks(waiting, out);
  waiting.session = find_session(session.id);
  waiting.limited = limit > 0;
  session.blocked = true;
  const auto added = waiting_.insert(waiting_.end(), std::move(waiting));
  if (limit == 0) return;
  const base::Duration late = time().between(base::Duration(0), std::chrono::milliseconds(100));
  added->limit = time().after(std::chrono::milliseconds(limit) + late, [this, added, now = life()] {
    if (now != life()) return;
    added->limited = false;
    end_waits([&](const Waiting& each) { return &each == &*added; });
  });
}

void ModelServer::put_acks(const Waiting& waiting, std::string& out) const {
  if (settings_.append_only != AppendOnly::off && waiting.file) {
    put_head(out, '*', 2);
    put_number(out, on_disk_ >= waiting.offset ? 1 : 0);
  }
  put_number(out, static_cast<std::int64_t>(acked(waiting.offset)));
}

void ModelServer::end_waits(const std::function<bool(const Waiting&)>& which) {
  std::vector<std::pair<SessionPtr, std::string>> ended;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto each = next++;
    if (!which(*each)) continue;
    if (each->limited) time().cancel(each->limit);
    std::string reply;
    put_acks(*each, reply);
    ended.emplace_back(each->session, std::move(reply));
    waiting_.erase(each);
  }
  for (const auto& [session, reply] : ended) unblock(session, reply);
}

void ModelServer::refuse_waits() {
  for (const Waiting& each : std::exchange(waiting_, {})) {
    if (each.limited) time().cancel(each.limit);
    each.session->closing = true;
    std::string reply;
    put_error(reply, "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)");
    push(*each.session, reply);
    flush();
    close(*each.session);
  }
}

void ModelServer::write_to_disk() {
  if (settings_.append_only == AppendOnly::always && !disk_held_) on_disk_ = offset_;
  if (on_disk_ >= offset_ || std::exchange(to_be_written_, true)) return;
  time().after(time().between(std::chrono::milliseconds(1), std::chrono::seconds(1)), [this, now = life()] {
    if (now != life()) return;
    to_be_written_ = false;
    if (!disk_held_) on_disk_ = offset_;
    end_waits([this](const Waiting& waiting) { return answered(waiting); });
    if (!waiting_.empty()) write_to_disk();
  });
}

}  // namespace holdfast::test
