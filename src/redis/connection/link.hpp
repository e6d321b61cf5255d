// SPDX-License-Identifier: Apache-2.0
// The inside of a lane: its connection over successive sessions, the credentials for it, and the requests on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/intrusive/set.hpp>

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

#include "base/clock.hpp"
#include "base/resp.hpp"
#include "loop/alarm.hpp"
#include "redis/connection/aside.hpp"
#include "redis/connection/endpoint_source.hpp"
#include "redis/connection/health.hpp"
#include "redis/connection/login.hpp"
#include "redis/connection/op.hpp"
#include "redis/connection/request.hpp"
#include "redis/connection/resolver.hpp"
#include "redis/connection/stage.hpp"
#include "redis/connection/subscriptions.hpp"
#include "redis/connection/tls.hpp"
#include "redis/decide/resp.hpp"

namespace holdfast::redis {

class Connection;
class Pipeline;
class Session;
struct Link;

// --- credentials ---

/// The credentials for the logins on a link, from the configuration or from the user's code; in the latter case they
/// are replaced before they expire. On the loop.
class LoginCredentials {
 public:
  /// The most calls of the user's code that run in the process at the same time.
  static constexpr int kMostInProcess = 256;

  struct Given {
    Credentials credentials{};
    base::TimePoint asked_at{};
  };
  /// The credentials, or why there are none, as text.
  using Found = std::function<void(const Given& given, const std::string& problem)>;

  LoginCredentials(timing::Schedule& schedule, Link& link);

  /// True if the user's code provides them; otherwise they never change.
  bool changes() const;
  /// Calls `found` once, possibly at once, unless the next ask(), stop() or leave() comes first. Has no time limit: the
  /// caller calls stop().
  void ask(Found found);
  bool asking() const { return asking_; }
  /// The server has accepted these: from now on they are replaced in time, by AUTH.
  void on_accepted(const Given& given);
  /// The reply to that AUTH, and the one that marks the end; the first is missing if it was refused in silence.
  void on_reply(const std::vector<base::Reply>& replies);
  /// The connection is gone.
  void stop();
  /// Why the latest replacement failed; empty: it did not.
  const std::string& problem() const { return problem_; }
  /// From now on nothing is posted to the loop. From any thread.
  void leave() { asked_.leave(); }

 private:
  void forget();
  void on_alarm();
  void on_given(const Given& given, const std::string& problem);
  void fail(std::string problem);

  Link& link_;
  Aside<Given> asked_;
  bool asking_ = false;
  timing::Alarm alarm_;  // for the replacement, or its time limit
  Given given_;          // sent last, by AUTH
  Backoff pauses_;
  std::string problem_;
};

// --- the connection ---

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

/// Why there is no connection, or why the latest one has ended.
struct Down {
  std::error_code error = Errc::unreachable;
  std::string cause{};
  bool refused = false;  ///< The login, for good.
};

/// On the loop. (resting ->) down -> connecting -> ready (-> leaving) -> down ..., and closed from any of them.
class Connection {
 public:
  using Replies = std::vector<base::Reply>;

  /// The references outlive it.
  Connection(timing::Schedule& schedule, Link& link, std::shared_ptr<EndpointSource> source, LaneEvents& events);

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
  /// Ends the session; the next one follows after a pause.
  void fail(std::error_code error, std::string cause);
  /// A handler has thrown, perhaps half way through: starts with a new session.
  void recover();
  void close();
  /// The loop is gone: closes without calling anybody.
  void drop();
  /// From now on name look-ups, reads of files and credentials' providers post nothing to the loop. From any thread.
  void leave_threads() {
    resolver_.leave();
    tls_.leave();
    credentials_.leave();
  }

  // For the session.
  void on_open();
  /// It has ended, or was never made. Never called from within a call of ours.
  void on_end(const Ending& ending);

  // For the credentials.
  /// Sends AUTH; the reply goes to on_authenticated().
  void authenticate(const Credentials& credentials);

  // For the pipeline.
  /// A request waits: if success seemed unlikely, the next attempt is made soon.
  void hurry();
  void on_login(const Replies& replies);
  /// The reply to an AUTH after the login.
  void on_authenticated(const Replies& replies) { credentials_.on_reply(replies); }
  /// A server that takes no writes any more has a successor, possibly at another address: if these replies say so, the
  /// session ends when everything sent on it is answered, and the next one asks for the address again.
  void leave_if_demoted(const Replies& replies);
  /// Everything that was sent has been answered.
  void on_idle();

  /// The login has succeeded, and requests may be sent.
  bool ready() const { return state_ == State::ready; }
  /// The login has succeeded.
  bool stands() const { return state_ == State::ready || state_ == State::leaving; }
  bool closed() const { return state_ == State::closed; }
  /// The latest session with a login.
  bool speaks_resp2() const { return login_ && login_->outcome().resp2; }
  /// A command without effect, always answered, whose reply shows where those to others before it end: no ACL forbids
  /// HELLO, and a subscribed connection over RESP2 may only send PING.
  const char* end_mark() const { return speaks_resp2() ? "PING" : "HELLO"; }
  /// Text appended here is sent by the next flush(). Only while a session is logged in, or logs in.
  std::string& out();
  /// The latest; null: there was none yet.
  Session* session() const { return session_.get(); }
  /// Why there is no connection, or why the latest one has ended.
  const Down& down() const { return down_; }
  /// For a request that has waited for a connection until its time limit.
  std::string why_not_yet() const;

 private:
  /// resting: down until there is a request. leaving: sends nothing more, and ends the session when everything is
  /// answered.
  enum class State { resting, down, connecting, ready, leaving, closed };

  void on_alarm();
  void on_connect_timeout();
  void log_in(const LoginCredentials::Given& given);
  std::string missing() const;
  bool stays_refused(const LoginOutcome& outcome);
  bool is_change_of_certificates(const Meaning& meaning);
  void on_ready();
  void on_moved(const std::string& why);
  void check_health();
  void stop_watching();
  void leave(std::error_code error, std::string cause, base::Duration limit);
  void end_leaving();

  timing::Schedule& schedule_;
  Link& link_;
  const Config& config_;
  Pipeline& pipeline_;
  const std::shared_ptr<EndpointSource> source_;
  LaneEvents& events_;
  TlsContext tls_;
  Resolver resolver_;
  LoginCredentials credentials_;
  SentSecrets secrets_;
  std::shared_ptr<Session> session_;  // the latest
  timing::Alarm alarm_;               // for the next attempt, or the time limit of a state
  Health health_;
  timing::Alarm health_alarm_;
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
  std::optional<base::TimePoint> refused_since_;  // a login with credentials that change, or a handshake
  std::optional<Login> login_;                    // of the latest session that was opened
  LoginCredentials::Given given_;                 // for it
  std::int64_t client_ = 0;                       // the latest connection's client id, also after its end
};

// --- the requests: at the gate, in flight, answered, timed out ---

/// Which scripts were loaded in one session. A script is loaded before its first use in a session: after a NOSCRIPT,
/// later commands would overtake the resent one.
class LoadedScripts {
 public:
  /// For a new session.
  void clear() { loaded_.clear(); }

  /// Writes commands that load the missing scripts. Returns how many replies they get.
  std::size_t load(const std::vector<base::Command>& commands, std::string& out) {
    std::size_t loads = 0;
    for (const base::Command& command : commands) {
      if (command.script == nullptr || !loaded_.insert(command.script).second) continue;
      encode(out, "SCRIPT", {"LOAD", std::string(command.script->text)});
      ++loads;
    }
    return loads;
  }

 private:
  std::set<const base::Script*> loaded_;
};

/// SUBSCRIBE and UNSUBSCRIBE, and their sharded variants: matches their confirmations with the replies around them. A
/// refused SUBSCRIBE or UNSUBSCRIBE is answered by one plain error, a permitted one by a push for each channel; both
/// come in the order of the replies. So the request behind it counts the confirmations that must come first
/// (`Op::unconfirmed`): a reply that comes before the last of them is the refusal, not the reply to the command behind.
/// SSUBSCRIBE works the same way. But a server also sends `sunsubscribe` unasked when it gives a slot away, and then
/// refuses a pending SUNSUBSCRIBE (MOVED), so counting would go wrong. So SUNSUBSCRIBEs are not counted: they are
/// followed by a HELLO, which is never refused, and any error before its reply is the refusal of one of them. On the
/// loop.
class Interlock {
 public:
  Interlock(timing::Schedule& schedule, Link& link, Subscriptions& subscriptions, LaneEvents& events);

  void on_new_session() { unsubscribe_refused_ = false; }
  /// Writes a SUBSCRIBE before the request's commands, if it needs one and none was refused recently. In RESP2 it goes
  /// to another connection.
  void subscribe(Op& op);
  /// A push of this kind, perhaps a confirmation, has arrived while this request was the first one unanswered.
  void on_confirmed(Op& first, const std::string& kind, const std::string& channel);
  /// A reply has arrived while this request, the first one unanswered, still lacked confirmations.
  void on_refused(Op& first);
  /// A reply to a request that leaves sharded channels has arrived. False: it was the last.
  bool refused_to_leave(Op& op);
  void cancel() { idle_alarm_.cancel(); }

 private:
  void subscribe_apart(Op& op, Publish how);
  void on_unsubscribe_refused(const Op& op, const std::string& error_text);
  void on_subscribe_refused(Op& op, std::string verb, const std::string& error_text);
  void sweep_later();
  void on_idle_alarm();
  void give_back_idle();
  std::shared_ptr<Op> leave(std::vector<std::string> channels);
  std::shared_ptr<Op> leave_sharded(const Subscriptions::Idle& idle);

  timing::Schedule& schedule_;
  Link& link_;
  Connection& connection_;
  Subscriptions& subscriptions_;
  LaneEvents& events_;
  timing::Alarm idle_alarm_;
  bool unsubscribe_refused_ = false;
};

/// Everything runs on the loop. Requests in flight were sent in the connection's latest session, and their replies come
/// in that order.
class Pipeline {
 public:
  using OpPtr = std::shared_ptr<Op>;

  /// The references outlive it; the connection may be constructed later.
  Pipeline(timing::Schedule& schedule, Link& link, Subscriptions& subscriptions, LaneEvents& events);

  void submit(Request&& request, ResultHandler&& handler);
  /// The requests that wait for a connection go to `misdirected`, except those for this node only.
  void reroute() noexcept;
  /// The connection is closed for good.
  void close();
  /// The loop is gone: drops all requests without calling their handlers.
  void drop();

  // For the connection.
  /// A new session begins, perhaps with another server.
  void on_begin();
  /// Sends commands before all waiting requests; their replies go to Connection::on_login().
  void send_login(const std::vector<base::Command>& commands);
  /// The login has succeeded.
  void on_login(const LoginOutcome& outcome);
  /// From now on waiting requests are sent.
  void open_gate();
  /// Sends AUTH. Its reply goes to Connection::on_authenticated(), and the one that marks its end.
  void send_auth(const base::Command& command);
  /// Sends a PING; its reply is only a sign of life.
  void ping();
  /// Everything that was sent has been answered.
  bool idle() const { return in_flight_.empty(); }
  /// The session has ended: requests in flight will not be answered.
  void on_cut();
  /// A request waits for a connection.
  bool waited_for() const { return !gate_.empty(); }
  /// Fails all waiting requests.
  void give_up();

  // For the session.
  /// The next node of the next reply, in the order of the commands. False: no reply was expected.
  bool on_node(const Node& node);
  /// The reply is complete, and this long.
  void on_reply(const ReplyLimits& length);
  /// How long the next reply may be.
  ReplyLimits room() const;
  void on_push(const base::Reply& message);

  // For the interlock.
  /// What was just written to the connection's buffer is for this request, and gets so many replies.
  void expect(const OpPtr& op, std::size_t replies);

 private:
  void accept(const OpPtr& op);
  void leave_gate(Op& op);
  void send(const OpPtr& op) noexcept;
  void encode_request(Op& op);
  void on_done(const OpPtr& op);
  void part_with(Op& op, Result& result);
  void misdirect(const OpPtr& op, Result result) noexcept;
  void cut(const OpPtr& op) noexcept;
  void finish(const OpPtr& op, Result result) noexcept;
  Result not_connected(std::string cause, bool pointless) const;
  void limit(Op& op);
  void set_limit_alarm() noexcept;
  void on_limit_alarm();
  void on_time_over(const OpPtr& op);

  Link& link_;
  Connection& connection_;
  Subscriptions& subscriptions_;
  LaneEvents& events_;

  std::list<OpPtr> gate_;        // waiting for a login
  std::deque<OpPtr> in_flight_;  // sent, in order
  OpPtr login_;                  // the pending step of the login
  OpPtr auth_;                   // the pending AUTH after the login, and what marks its end
  LoadedScripts loaded_;
  Interlock interlock_;
  // Of all unfinished requests, with one alarm. A finished one unlinks itself.
  boost::intrusive::multiset<Op, boost::intrusive::constant_time_size<false>> limits_;
  timing::Alarm limit_alarm_;
};

// --- messages over RESP2 ---

/// The second connection of a link whose server speaks RESP2, where one that is subscribed takes no other commands. So
/// channels are subscribed here, at the same address, beside the commands and not before them; when that is confirmed,
/// their listeners run once, for what may have been published meanwhile. After a reconnect it subscribes again what is
/// still listened to. Lives as long as a session of the first connection.
class MessageLink final : public std::enable_shared_from_this<MessageLink>, private LaneEvents {
 public:
  /// The references outlive it until end().
  MessageLink(timing::Schedule& schedule, const Config& config, const ServerAddress& address,
              Subscriptions& subscriptions, LaneEvents& main);

  void start();
  void subscribe(const std::vector<std::string>& channels, Publish how);
  void flush();
  /// Closes it. It and `main` live on until the last of its handlers has run.
  void end(std::shared_ptr<void> main);
  /// The loop is gone.
  void drop();
  void leave_threads();

 private:
  void connected() override;
  void message() override { main_.message(); }
  void said(const std::string& channel, const std::string& text) override { main_.said(channel, text); }
  void taken_away(const std::string& channel) override { main_.taken_away(channel); }
  void to_be_flushed(std::size_t bytes) override { main_.to_be_flushed(bytes); }
  void refused(const std::string& error_text) override { main_.refused(error_text); }

  void send(const std::vector<std::string>& channels, Publish how);
  void forget_unused();

  static constexpr std::size_t kFewest = 64;

  Subscriptions& subscriptions_;
  LaneEvents& main_;
  std::map<std::vector<std::string>, Publish> wanted_;  // at most twice as many as are listened to, or kFewest
  std::size_t look_at_ = kFewest;                       // when there are so many, the unused ones are forgotten
  std::set<std::vector<std::string>> under_way_;
  std::shared_ptr<Link> link_;
  std::shared_ptr<void> keep_;  // after end()
};

// --- both ---

/// `messages`: in RESP2, for nothing but subscriptions and PING.
enum class Purpose : std::uint8_t { commands, messages };

/// The parts refer to each other, and live and end together.
struct Link : std::enable_shared_from_this<Link> {
  Link(timing::Schedule& schedule, const Config& its_config, std::shared_ptr<EndpointSource> source,
       Subscriptions& subscriptions, LaneEvents& events, Purpose its_purpose = Purpose::commands)
      : config(its_config),
        purpose(its_purpose),
        pipeline(schedule, *this, subscriptions, events),
        connection(schedule, *this, std::move(source), events) {}

  /// What handlers on the loop hold while they run: the owner, if one is set, which keeps the lane and so this alive;
  /// otherwise only this. Never both: this refers to parts of its owner, and must not be the last to go. Null: it is
  /// going already.
  std::shared_ptr<Link> keep() {
    const std::shared_ptr<void> its_owner = owner.lock();
    return its_owner ? std::shared_ptr<Link>(its_owner, this) : weak_from_this().lock();
  }

  /// In RESP2 a subscribed connection gets messages as arrays.
  bool for_messages() const { return purpose == Purpose::messages; }

  const Config config;
  const Purpose purpose;
  std::weak_ptr<void> owner;
  std::shared_ptr<MessageLink> messages;  // in RESP2, from the first subscription of a session on
  Pipeline pipeline;
  Connection connection;
};

}  // namespace holdfast::redis
