// The connection below a lane, session after session: login, reconnection, health, and why there is none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <boost/asio/ssl/context.hpp>

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

#include "base/clock.hpp"
#include "base/resp.hpp"
#include "redis/connection/attempts.hpp"
#include "redis/connection/causes.hpp"
#include "redis/connection/credential_source.hpp"
#include "redis/connection/credential_watch.hpp"
#include "redis/connection/endpoint_source.hpp"
#include "redis/connection/health_watch.hpp"
#include "redis/connection/lane_events.hpp"
#include "redis/connection/lifeline.hpp"
#include "redis/connection/login.hpp"
#include "redis/connection/session.hpp"
#include "redis/connection/tls.hpp"
#include "redis/connection/traffic.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// Why there is no connection, or why the latest one ended.
struct Down {
  std::error_code error = Errc::unreachable;
  std::string cause{};
};

/// On the loop. (resting ->) down -> connecting -> ready (-> leaving) -> down ..., and closed from any of them.
class Connection final : public Session::Owner {
 public:
  using Replies = std::vector<base::Reply>;

  /// The references outlive it.
  Connection(timing::Schedule& schedule, const Config& config, std::shared_ptr<EndpointSource> source,
             const LaneEvents& events, const Lifeline& lifeline, Traffic& traffic);

  void connect();
  /// Instead: not before somebody waits.
  void rest() {
    state_ = State::resting;
    needed_ = false;
  }
  /// See Lane.
  void set_needed(bool needed);
  bool at_rest() const { return state_ == State::resting; }
  void begin_anew();  // at rest: the server is another one from now on
  /// Whoever waits is told why there is no connection.
  void refuse_waiting(std::error_code error, std::string cause);
  /// Somebody waits: where there was little hope, a fresh attempt is due soon.
  void hurry();
  void on_login(const Replies& replies);
  /// The reply to an AUTH on a connection that stands.
  void on_authenticated(const Replies& replies);
  /// A server that takes no writes any more has a successor, whose address may be another one: if these replies tell
  /// so, the session ends once all that was sent on it is answered, and the next one asks for the address again.
  void leave_if_demoted(const Replies& replies);
  /// The server that is wanted is somewhere else.
  void on_moved(const std::string& why);
  /// Whatever was sent has been answered.
  void on_idle();
  /// Ends the session; the next one follows after a pause.
  void fail(std::error_code error, std::string cause);
  /// A handler has thrown, perhaps half way through: begins anew.
  void recover();
  void close();
  /// The loop is gone: closed, without a word.
  void drop();
  /// Nothing is posted to the loop by name look-ups, and by who gives credentials, any more. From any thread.
  void leave_threads() {
    resolver_.leave();
    credentials_.leave();
  }

  /// The login is through, and more may be sent.
  bool ready() const { return state_ == State::ready; }
  /// The login is through.
  bool stands() const { return state_ == State::ready || state_ == State::leaving; }
  bool closed() const { return state_ == State::closed; }
  /// What is appended here is sent by the next flush(). Only while a session stands, or logs in.
  std::string& out() { return session_->out(); }
  void flush() {
    if (session_) session_->flush();
  }
  /// How many bytes the system has not taken yet.
  std::size_t unsent() const { return session_ ? session_->unsent() : 0; }
  /// What replies come in on, or -1.
  int socket() const { return session_ ? session_->socket() : -1; }

  /// The server that it is connected to, or was lately; empty: not known.
  std::string server() const { return session_ ? session_->server() : std::string(); }
  /// The same as an address; null: not known.
  const Endpoint* endpoint() const { return session_ && session_->endpoint() ? &*session_->endpoint() : nullptr; }
  /// Why there is no connection, or why the latest one ended.
  std::error_code error() const { return down_.error; }
  const std::string& cause() const { return down_.cause; }
  /// For who has waited for one as long as it may.
  std::string why_not_yet() const;

 private:
  /// resting: down, until somebody waits. leaving: what was sent is answered before the session ends, and no more sent.
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
  bool refused_for_good(const LoginOutcome& outcome);
  void on_ready();
  void leave(std::error_code error, std::string cause, base::Duration limit);
  void end_leaving();

  timing::Schedule& schedule_;
  const Config& config_;
  const std::shared_ptr<EndpointSource> source_;
  const LaneEvents& events_;
  const Lifeline& lifeline_;
  Traffic& traffic_;
  std::optional<boost::asio::ssl::context> tls_;
  Resolver resolver_;
  CredentialSource credentials_;
  std::shared_ptr<Session> session_;  // the latest
  timing::Alarm alarm_;               // for the next attempt, or the end of a state that must not last
  HealthWatch health_;
  CredentialWatch credential_watch_;
  Attempts attempts_;

  State state_ = State::down;
  bool needed_ = true;
  bool login_pointless_ = false;     // the login was refused for good
  bool ask_again_ = false;           // for other credentials
  bool failing_ = false;             // `down_` is set already
  bool demoted_ = false;             // the latest connection was left because the server takes no writes
  bool moved_ = false;               // the latest connection was left because the server is somewhere else
  std::optional<Endpoint> useless_;  // the address of the latest connection, if it served nobody
  Down down_;
  Causes causes_;
  std::optional<base::TimePoint> refused_since_;  // the login, with credentials that change
  std::optional<Login> login_;                    // of the latest session that was opened
  CredentialSource::Given given_;                 // for it
  std::int64_t client_ = 0;                       // the latest connection's client id, also after its end
};

}  // namespace holdfast::redis
