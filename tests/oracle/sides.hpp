// SPDX-License-Identifier: Apache-2.0
// The two sides that are compared: a real server, and the model of one.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/resp.hpp"
#include "oracle/history.hpp"
#include "redis/decide/resp.hpp"
#include "sim/model/model_server.hpp"
#include "support/redis_server.hpp"
#include "support/spawn.hpp"

namespace holdfast::test::oracle {

/// A reply, or a push.
struct Said {
  bool push = false;
  base::Reply what;
};
std::string to_string(const base::Reply& reply);
std::string to_string(const Said& said);

/// Takes bytes apart.
class Hearing {
 public:
  void add(std::string_view bytes);
  /// How many replies there are that nobody has taken.
  std::size_t replies() const { return replies_; }
  std::vector<Said> take();

 private:
  std::string bytes_;
  redis::Parser parser_{{1U << 20U, 10'000}};
  redis::ReplyBuilder builder_;
  bool push_ = false;
  std::vector<Said> said_;
  std::size_t replies_ = 0;
};

/// What a session has been told.
using Told = std::array<std::vector<Said>, kSessions>;

class Side {
 public:
  Side() = default;
  virtual ~Side() = default;
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  virtual void befall(const Step& step) = 0;
  /// Waits for the replies, one for each command that has one.
  virtual void send(Who who, const std::string& bytes, std::size_t replies) = 0;
  /// What all have been told by now.
  Told told();

 protected:
  std::array<Hearing, kSessions> hearing_;
};

class RealSide final : public Side {
 public:
  explicit RealSide(const RedisServer& server);
  void befall(const Step& step) override;
  void send(Who who, const std::string& bytes, std::size_t replies) override;

 private:
  std::array<Fd, kSessions> connections_;
};

/// Time as it passes.
class PassingTime final : public Time {
 public:
  base::TimePoint now() const override { return base::Clock::now(); }
  Id at(base::TimePoint time, Event event) override;
  bool cancel(const Id& id) override { return events_.erase(id) > 0; }
  base::Duration between(base::Duration least, base::Duration) override { return least; }
  void run_what_is_due();

 private:
  std::map<Id, Event> events_;
  std::uint64_t last_ = 0;
};

class ModelSide final : public Side {
 public:
  explicit ModelSide(const Likeness& like);
  ModelServer& server() { return server_; }
  /// This session's UNSUBSCRIBE is answered by an error, and not by pushes.
  bool refuses_to_leave(Who who) const { return ModelServer::refuses_to_leave(server_.likeness(), *sessions_[who]); }
  void befall(const Step& step) override;
  void send(Who who, const std::string& bytes, std::size_t replies) override;

 private:
  PassingTime time_;
  ModelServer server_;
  std::array<ModelServer::SessionPtr, kSessions> sessions_;
};

/// A script by its text.
std::vector<std::string> words_of(const base::Command& command);
std::string encoded(const std::vector<std::string>& words);

}  // namespace holdfast::test::oracle
