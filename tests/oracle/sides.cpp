// SPDX-License-Identifier: Apache-2.0
#include "oracle/sides.hpp"

#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include "base/text.hpp"
#include "redis/decide/resp.hpp"

namespace holdfast::test::oracle {

std::vector<std::string> words_of(const base::Command& command) {
  std::vector<std::string> words;
  if (command.script != nullptr) words = {"EVAL", std::string(command.script->text)};
  words.insert(words.end(), command.args.begin(), command.args.end());
  return words;
}

std::string encoded(const std::vector<std::string>& words) {
  std::string bytes;
  redis::encode(bytes, {words}, false);
  return bytes;
}

std::string to_string(const base::Reply& reply) {
  switch (reply.kind) {
    case base::Reply::Kind::null:
      return "null";
    case base::Reply::Kind::integer:
      return std::to_string(reply.integer);
    case base::Reply::Kind::text:
      return base::quote(reply.text);
    case base::Reply::Kind::error:
      return "error " + base::printable(reply.text);
    case base::Reply::Kind::array:
      break;
  }
  std::string out = "[";
  for (const base::Reply& each : reply.elements) out += (out.size() > 1 ? ", " : "") + to_string(each);
  return out + "]";
}

std::string to_string(const Said& said) { return (said.push ? "push " : "reply ") + to_string(said.what); }

void Hearing::add(std::string_view bytes) {
  bytes_ += bytes;
  std::size_t begin = 0;
  while (begin < bytes_.size()) {
    while (!parser_.done()) {
      const std::optional<redis::Node> node = parser_.next(std::string_view(bytes_).substr(begin));
      if (!node && !parser_.problem().empty()) throw std::runtime_error(parser_.problem());
      if (!node) return static_cast<void>(bytes_.erase(0, begin));
      push_ = push_ || (node->depth == 0 && node->type == redis::Node::Type::push);
      builder_.add(*node);
    }
    begin += parser_.parsed();
    parser_.reset();
    builder_.finish();
    const bool push = std::exchange(push_, false);
    said_.push_back({push, std::move(std::exchange(builder_, {}).replies.front())});
    if (!push) ++replies_;
  }
  bytes_.erase(0, begin);
}

std::vector<Said> Hearing::take() {
  replies_ = 0;
  return std::exchange(said_, {});
}

Told Side::told() {
  Told told;
  for (std::size_t who = 0; who < kSessions; ++who) {
    send(static_cast<Who>(who), encoded({"PING"}), 1);
    told[who] = hearing_[who].take();
  }
  return told;
}

// ---- the real one ----

RealSide::RealSide(const RedisServer& server) {
  for (Fd& connection : connections_) {
    connection = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    server.socket_path().copy(address.sun_path, sizeof address.sun_path - 1);
    if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("no connection to the server");
    }
  }
  for (std::size_t who = 0; who < kSessions; ++who) send(static_cast<Who>(who), encoded({"HELLO", "3"}), 1);
  send(looker, encoded({"FLUSHALL"}) + encoded({"SCRIPT", "FLUSH"}), 2);
  send(tracker, encoded({"CLIENT", "TRACKING", "ON"}), 1);
  told();
}

void RealSide::send(Who who, const std::string& bytes, std::size_t replies) {
  Hearing& hearing = hearing_[who];
  const std::size_t before = hearing.replies();
  const int fd = connections_[who].get();
  if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    throw std::runtime_error("the server takes nothing");
  }
  while (hearing.replies() < before + replies) {
    pollfd polled{fd, POLLIN, 0};
    if (::poll(&polled, 1, 30'000) != 1) throw std::runtime_error("the server does not answer");
    char buffer[16384];
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got <= 0) throw std::runtime_error("the server has closed the connection");
    hearing.add({buffer, static_cast<std::size_t>(got)});
  }
}

void RealSide::befall(const Step& step) {
  std::vector<std::string> words;
  switch (step.kind) {
    case Step::Kind::command:
    case Step::Kind::untold:
    case Step::Kind::brief:
      return;
    case Step::Kind::forbid:
      words = {"ACL", "SETUSER", "default", "-" + step.words.front()};
      break;
    case Step::Kind::allow:
      words = {"ACL", "SETUSER", "default", "+@all"};
      break;
    case Step::Kind::full:
      words = {"CONFIG", "SET", "maxmemory", "1"};
      break;
    case Step::Kind::roomy:
      words = {"CONFIG", "SET", "maxmemory", "0"};
      break;
    case Step::Kind::lonely:
      words = {"CONFIG", "SET", "min-replicas-to-write", "1"};
      break;
    case Step::Kind::together:
      words = {"CONFIG", "SET", "min-replicas-to-write", "0"};
      break;
    case Step::Kind::follow:
      words = {"REPLICAOF", "127.0.0.1", "1"};
      break;
    case Step::Kind::lead:
      words = {"REPLICAOF", "NO", "ONE"};
      break;
  }
  send(looker, encoded(words), 1);
  const std::vector<Said> said = hearing_[looker].take();
  if (said.back().what.is_error()) throw std::runtime_error(words.front() + ": " + said.back().what.text);
}

// ---- the model ----

PassingTime::Id PassingTime::at(base::TimePoint time, Event event) {
  return events_.emplace(Id(time, ++last_), std::move(event)).first->first;
}

void PassingTime::run_what_is_due() {
  while (!events_.empty() && events_.begin()->first.first <= now()) events_.extract(events_.begin()).mapped()();
}

ModelSide::ModelSide(const Likeness& like)
    : server_(time_, [&] {
        ServerSettings settings;
        settings.likeness = like;
        return settings;
      }()) {
  for (std::size_t who = 0; who < kSessions; ++who) {
    sessions_[who] = server_.connect([this, who](const std::string& bytes) { hearing_[who].add(bytes); });
    sessions_[who]->resp3 = true;
  }
  send(tracker, encoded({"CLIENT", "TRACKING", "ON"}), 1);
  told();
}

void ModelSide::send(Who who, const std::string& bytes, std::size_t replies) {
  time_.run_what_is_due();
  const std::size_t before = hearing_[who].replies();
  server_.receive(sessions_[who], bytes);
  if (hearing_[who].replies() != before + replies) throw std::runtime_error("the model does not answer");
}

void ModelSide::befall(const Step& step) {
  switch (step.kind) {
    case Step::Kind::command:
    case Step::Kind::untold:
    case Step::Kind::brief:
      return;
    case Step::Kind::forbid:
      return server_.forbid(step.words.front());
    case Step::Kind::allow:
      return server_.allow(step.words.front());
    case Step::Kind::full:
    case Step::Kind::roomy:
      return server_.fill_memory(step.kind == Step::Kind::full);
    case Step::Kind::lonely:
      return server_.refuse_writes("NOREPLICAS Not enough good replicas to write.");
    case Step::Kind::together:
      return server_.refuse_writes("");
    case Step::Kind::follow:
      return server_.follow({"127.0.0.1", 1});
    case Step::Kind::lead:
      return server_.lead();
  }
}

}  // namespace holdfast::test::oracle
