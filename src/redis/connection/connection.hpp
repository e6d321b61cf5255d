// The connection of a lane, over successive sessions: login, reconnection, health, and why there is none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/asio/ssl/context.hpp>

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

#include "base/clock.hpp"
#include "base/resp.hpp"
#include "redis/connection/attempts.hpp"
#include "redis/connection/credentials.hpp"
#include "redis/connection/endpoint_source.hpp"
#include "redis/connection/health.hpp"
#include "redis/connection/lane_events.hpp"
#include "redis/connection/login.hpp"
#include "redis/connection/op.hpp"
#include "redis/connection/session.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// Why there is no connection, if the server has several addresses. Pure. Collects the causes of all addresses, since
/// the last one's cause does not explain the others'.
class Causes {
 public:
  /// If there can be several servers, adds the name of the one that failed, if known.
  static std::string blame(const Config& config, const std::string& server, std::string cause) {
    if (!must_be_primary(config) || server.empty() || cause.starts_with(server + ": ")) return cause;
    return server + ": " + cause;
  }
  /// This cause after the earlier ones. `more`: another address follows.
  std::string gather(std::string cause, bool more) {
    if (!earlier_.empty()) cause = earlier_ + "; " + cause;
    earlier_ = more ? cause : std::string();
    return cause;
  }
  void clear() { earlier_.clear(); }

 private:
  std::string earlier_;  // of the addresses tried before the latest one
};

/// The requests and replies on a connection, as the connection sees them. Gets replies and pushes directly from the
/// session. On the loop.
class Traffic : public Session::Reader {
 public:
  /// A new session begins, perhaps with another server.
  virtual void on_begin() = 0;
  /// Sends commands before all waiting requests; their replies go to Connection::on_login().
  virtual void send_login(const std::vector<base::Command>& commands) = 0;
  /// The login has succeeded.
  virtual void on_login(bool clustered) = 0;
  /// From now on waiting requests are sent.
  virtual void open_gate() = 0;
  /// Sends a command whose reply goes to Connection::on_authenticated().
  virtual void send_auth(const base::Command& command) = 0;
  /// Sends a PING; its reply is only a sign of life.
  virtual void ping() = 0;
  /// Everything that was sent has been answered.
  virtual bool idle() const = 0;
  /// The session has ended: requests in flight will not be answered.
  virtual void on_cut() = 0;
  /// A request waits for a connection.
  virtual bool waited_for() const = 0;
  /// Fails all waiting requests.
  virtual void give_up() = 0;
};

/// Why there is no connection, or why the latest one has ended.
struct Down {
  std::error_code error = Errc::unreachable;
  std::string cause{};
  bool refused = false;  ///< The login, for good.
};

/// On the loop. (resting ->) down -> connecting -> ready (-> leaving) -> down ..., and closed from any of them.
class Connection final : public Session::Owner {
 public:
  using Replies = std::vector<base::Reply>;

  /// The references outlive it.
  Connection(timing::Schedule& schedule, const Config& config, std::shared_ptr<EndpointSource> source,
             LaneEvents& events, const Lifeline& lifeline, Traffic& traffic);

  void connect();
  /// Instead of connect(): waits until there is a request.
  void rest() {
    state_ = State::resting;
    needed_ = false;
  }
  /// See Lane.
  void set_needed(bool needed);
  bool at_rest() const { return state_ == State::resting; }
  void begin_anew();  // at rest: from now on for another server
  /// Fails the waiting requests with this reason.
  void refuse_waiting(std::error_code error, std::string cause);
  /// A request waits: if success seemed unlikely, the next attempt is made soon.
  void hurry();
  void on_login(const Replies& replies);
  /// The reply to an AUTH after the login.
  void on_authenticated(const Replies& replies);
  /// A server that takes no writes any more has a successor, possibly at another address: if these replies say so, the
  /// session ends when everything sent on it is answered, and the next one asks for the address again.
  void leave_if_demoted(const Replies& replies);
  /// The server is now somewhere else.
  void on_moved(const std::string& why);
  /// Everything that was sent has been answered.
  void on_idle();
  /// Ends the session; the next one follows after a pause.
  void fail(std::error_code error, std::string cause);
  /// A handler has thrown, perhaps half way through: starts with a new session.
  void recover();
  void close();
  /// The loop is gone: closes without calling anybody.
  void drop();
  /// From now on name look-ups and credentials' providers post nothing to the loop. From any thread.
  void leave_threads() {
    resolver_.leave();
    credentials_.leave();
  }

  /// The login has succeeded, and requests may be sent.
  bool ready() const { return state_ == State::ready; }
  /// The login has succeeded.
  bool stands() const { return state_ == State::ready || state_ == State::leaving; }
  bool closed() const { return state_ == State::closed; }
  /// Text appended here is sent by the next flush(). Only while a session is logged in, or logs in.
  std::string& out() { return session_->out(); }
  void flush() {
    if (session_) session_->flush();
  }
  /// How many bytes the system has not taken yet.
  std::size_t unsent() const { return session_ ? session_->unsent() : 0; }
  /// The socket that replies arrive on, or -1.
  int socket() const { return session_ ? session_->socket() : -1; }

  /// The server that is or was last connected; empty: unknown.
  std::string server() const { return session_ ? session_->server() : std::string(); }
  /// The same as an address; null: unknown.
  const Endpoint* endpoint() const { return session_ && session_->endpoint() ? &*session_->endpoint() : nullptr; }
  /// See Down.
  std::error_code error() const { return down_.error; }
  const std::string& cause() const { return down_.cause; }
  bool refused_for_good() const { return down_.refused; }
  /// For a request that has waited for a connection until its time limit.
  std::string why_not_yet() const;

 private:
  /// resting: down until there is a request. leaving: sends nothing more, and ends the session when everything is
  /// answered.
  enum class State { resting, down, connecting, ready, leaving, closed };
  using ErrorCode = Session::ErrorCode;

  void on_open() override;
  void on_end(const Session::Ending& ending) override;
  std::shared_ptr<Session::Owner> keep() override { return self(); }
  /// For handlers.
  std::shared_ptr<Connection> self() { return {lifeline_.hold(), this}; }
  void on_alarm();
  void on_connect_timeout();
  void log_in(const CredentialSource::Given& given);
  std::string missing() const;
  bool stays_refused(const LoginOutcome& outcome);
  void on_ready();
  void leave(std::error_code error, std::string cause, base::Duration limit);
  void end_leaving();

  timing::Schedule& schedule_;
  const Config& config_;
  const std::shared_ptr<EndpointSource> source_;
  LaneEvents& events_;
  const Lifeline& lifeline_;
  Traffic& traffic_;
  std::optional<boost::asio::ssl::context> tls_;
  Resolver resolver_;
  CredentialSource credentials_;
  SentSecrets secrets_;
  std::shared_ptr<Session> session_;  // the latest
  timing::Alarm alarm_;               // for the next attempt, or the time limit of a state
  HealthWatch health_;
  CredentialWatch credential_watch_;
  Attempts attempts_;

  State state_ = State::down;
  bool needed_ = true;
  bool ask_again_ = false;           // for other credentials
  bool failing_ = false;             // `down_` is set already
  bool demoted_ = false;             // the latest connection was left because the server takes no writes
  bool moved_ = false;               // the latest connection was left because the server has moved
  std::optional<Endpoint> useless_;  // the address of the latest connection, if it was of no use
  Down down_;
  Causes causes_;
  std::optional<base::TimePoint> refused_since_;  // the login, with credentials that change
  std::optional<Login> login_;                    // of the latest session that was opened
  CredentialSource::Given given_;                 // for it
  std::int64_t client_ = 0;                       // the latest connection's client id, also after its end
};

}  // namespace holdfast::redis
