// SPDX-License-Identifier: Apache-2.0
#include "redis/connection/link.hpp"

#include <algorithm>
#include <string_view>

#include <boost/asio/error.hpp>

#include "base/entropy.hpp"
#include "base/text.hpp"
#include "redis/connection/session.hpp"
#include "redis/decide/errors.hpp"

namespace holdfast::redis {

namespace asio = boost::asio;
using base::Clock;
using base::TimePoint;

namespace {

using Asked = Aside<LoginCredentials::Given>;

constinit AsideCount calls_in_process(LoginCredentials::kMostInProcess);

Asked::Reply call(const CredentialsProvider& provider) {
  Asked::Reply reply;
  reply.answer.asked_at = Clock::now();
  reply.problem = thrown_by("the credentials' provider", [&] { reply.answer.credentials = provider(); });
  const auto& valid_for = reply.answer.credentials.valid_for;
  if (reply.problem.empty() && valid_for && Clock::now() - reply.answer.asked_at >= *valid_for) {
    reply.problem = "the credentials' provider gave what has ended already";
  }
  return reply;
}

/// When to replace credentials that were requested at that time: early enough to retry if that fails.
TimePoint due(TimePoint asked_at, base::Duration valid_for) {
  constexpr std::chrono::milliseconds kSoonest{50};  // a lower bound, so that the server is not flooded
  return asked_at + std::max<base::Duration>(valid_for / 4 * 3, kSoonest);
}

/// How long to wait for pending replies before leaving a server that takes no writes.
constexpr std::chrono::seconds kLeaving{1};
/// The same if the server was reported as replaced: it may be gone.
constexpr std::chrono::milliseconds kLeavingMoved{100};

/// How long credentials from a provider may be refused before the callers of a client that was never connected get the
/// error; and a certificate, before those of one that was.
constexpr std::chrono::seconds kChangeOfSecrets{1};

/// The limit for one address: several addresses share the time.
base::Duration connect_limit(const Config& config, const EndpointSource& source) {
  return config.timing.connect_timeout / static_cast<base::Duration::rep>(source.addresses());
}

std::string since(const std::string& cause, const std::string& missing, base::Duration time, const char* suspicion) {
  const std::string now = "no " + missing + " after " + milliseconds(time) + " ms" + suspicion;
  return cause.empty() ? now : cause + "; since then " + now;
}

bool tells_of_demotion(const base::Reply& reply) { return reply.is_error() && is_demoted(reply.text); }

}  // namespace

// --- credentials ---

LoginCredentials::LoginCredentials(timing::Schedule& schedule, Link& link)
    : link_(link),
      asked_(schedule.executor(), calls_in_process, "calls of credentials' providers"),
      alarm_(schedule, [this] { on_alarm(); }),
      pauses_(link.config.timing.reconnect_min, link.config.timing.reconnect_max) {}

bool LoginCredentials::changes() const { return static_cast<bool>(link_.config.credentials); }

void LoginCredentials::ask(Found found) {
  const Config& config = link_.config;
  if (!changes()) return found({{config.username, config.password}, Clock::now()}, {});
  asking_ = true;
  asked_.ask([provider = config.credentials] { return call(provider); },
             [this, found = std::move(found)](const Given& given, const std::string& problem) {
               asking_ = false;
               if (const std::shared_ptr<Link> keep = link_.keep()) found(given, problem);
             });
}

void LoginCredentials::forget() {
  if (std::exchange(asking_, false)) asked_.forget();
}

void LoginCredentials::on_accepted(const Given& given) {
  problem_.clear();
  pauses_.reset();
  const auto& valid_for = given.credentials.valid_for;
  constexpr std::chrono::hours kLongest{24 * 365};  // credentials that are valid for longer are also replaced then
  if (valid_for) alarm_.set(due(given.asked_at, std::min<std::chrono::milliseconds>(*valid_for, kLongest)));
}

void LoginCredentials::stop() {
  alarm_.cancel();
  forget();
}

void LoginCredentials::on_alarm() {
  const std::shared_ptr<Link> keep = link_.keep();
  const base::Duration limit = link_.config.timing.connect_timeout;
  if (asking_) {
    forget();
    return fail("no answer of the credentials' provider within " + milliseconds(limit) + " ms");
  }
  alarm_.set_after(limit);
  ask([this](const Given& given, const std::string& problem) { on_given(given, problem); });
}

void LoginCredentials::on_given(const Given& given, const std::string& problem) {
  if (!problem.empty()) return fail(problem);
  alarm_.cancel();  // if the server does not answer, the check of the connection's health notices
  given_ = given;
  link_.connection.authenticate(given.credentials);
}

void LoginCredentials::on_reply(const std::vector<base::Reply>& replies) {
  const Given given = std::exchange(given_, {});
  if (replies.size() < 2) return fail(explain(kWrongPassword));
  if (replies.front().is_error()) return fail(explain(replies.front().text));
  on_accepted(given);
}

/// After a refusal the server keeps the connection as it was, so there is time to retry.
void LoginCredentials::fail(std::string problem) {
  problem_ = std::move(problem);
  alarm_.set_after(pauses_.next(base::random_share()));
}

// --- the connection ---

Connection::Connection(timing::Schedule& schedule, Link& link, std::shared_ptr<EndpointSource> source,
                       LaneEvents& events)
    : schedule_(schedule),
      link_(link),
      config_(link.config),
      pipeline_(link.pipeline),
      source_(std::move(source)),
      events_(events),
      tls_(schedule_.executor(), config_),
      resolver_(schedule_.executor()),
      credentials_(schedule_, link),
      alarm_(schedule_, [this] { on_alarm(); }),
      health_alarm_(schedule_, [this] { check_health(); }),
      attempts_(config_) {
  source_->watch([this](const std::string& why) { on_moved(why); });
}

std::string& Connection::out() { return session_->out(); }

// --- connecting ---

void Connection::connect() {
  if (state_ == State::closed) return;
  state_ = State::down;
  alarm_.set(Clock::now() + config_.timing.reconnect_min);  // in case the rest fails for lack of memory
  attempts_.on_begin(Clock::now());
  pipeline_.on_begin();
  session_ = std::make_shared<Session>(schedule_, link_, tls_, *source_, resolver_, useless_, secrets_);
  state_ = State::connecting;
  // Earlier than the time limit of any address source, so that this one is reported.
  alarm_.set(Clock::now() + connect_limit(config_, *source_));
  try {
    session_->open();
  } catch (...) {
    recover();
  }
}

void Connection::on_alarm() {
  const std::shared_ptr<Link> keep = link_.keep();
  if (state_ == State::down) return connect();
  if (state_ == State::connecting) return on_connect_timeout();
  if (state_ == State::leaving) end_leaving();
}

void Connection::set_needed(bool needed) {
  needed_ = needed;
  if (needed || state_ != State::ready) return;
  leave(Errc::unreachable, kNotNeeded, kLeaving);
  if (pipeline_.idle()) end_leaving();
}

void Connection::begin_anew() {
  attempts_.start_over();
  down_ = {};
  causes_.clear();
  client_ = 0;
}

void Connection::refuse_waiting(std::error_code error, std::string cause) {
  down_ = {error, std::move(cause)};
  pipeline_.give_up();
}

void Connection::hurry() {
  if (state_ == State::resting) return connect();
  if (state_ != State::down) return;
  if (const auto when = attempts_.hurried(Clock::now())) alarm_.set(*when);
}

void Connection::on_connect_timeout() {
  session_->end(
      asio::error::timed_out,
      "no " + missing() + " within " + milliseconds(connect_limit(config_, *source_)) + " ms" + session_->suspicion());
}

std::string Connection::why_not_yet() const {
  if (state_ != State::connecting) return down_.cause;
  return since(down_.cause, missing(), attempts_.under_way(Clock::now()), session_->suspicion());
}

/// What it waits for; a text to follow "no".
std::string Connection::missing() const {
  return credentials_.asking() ? "answer of the credentials' provider" : session_->missing();
}

void Connection::on_open() {
  credentials_.ask([this](const LoginCredentials::Given& given, const std::string& problem) {
    if (!problem.empty()) return fail(Errc::unreachable, problem);
    log_in(given);
  });
}

void Connection::log_in(const LoginCredentials::Given& given) {
  given_ = given;
  secrets_.add(given_.credentials.password);
  login_.emplace(config_, EarlierConnection{client_, attempts_.since_ready(Clock::now())});
  pipeline_.send_login(login_->first(given_.credentials));
}

void Connection::on_login(const Replies& replies) {
  const std::vector<base::Command> more = login_->next(replies);
  const LoginOutcome& outcome = login_->outcome();
  if (outcome.error) {
    const bool for_good = outcome.pointless && stays_refused(outcome);
    fail(outcome.error, secrets_.hidden_in(outcome.cause));
    down_.refused = for_good;
  } else if (!more.empty()) {
    pipeline_.send_login(more);
  } else {
    on_ready();
  }
}

/// New credentials may work the next time: the server may not know them yet, or they were requested just before a
/// change.
bool Connection::stays_refused(const LoginOutcome& outcome) {
  if (!credentials_.changes() || outcome.error != Errc::denied) return true;
  const TimePoint now = Clock::now();
  if (!refused_since_) refused_since_ = now;
  ask_again_ = attempts_.ever_ready() || now - *refused_since_ < kChangeOfSecrets;
  return !ask_again_;
}

/// The server's certificate and our files may be changed one after the other.
bool Connection::is_change_of_certificates(const Meaning& meaning) {
  if (meaning.code != Errc::tls || !attempts_.ever_ready()) return false;
  const TimePoint now = Clock::now();
  if (!refused_since_) refused_since_ = now;
  return now - *refused_since_ < kChangeOfSecrets;
}

void Connection::authenticate(const Credentials& credentials) {
  secrets_.add(credentials.password);
  pipeline_.send_auth(auth(credentials));
}

void Connection::on_ready() {
  alarm_.cancel();
  refused_since_.reset();
  client_ = login_->outcome().client;
  causes_.clear();
  state_ = State::ready;
  attempts_.on_ready(Clock::now());
  session_->logged_in();
  health_alarm_.set_after(Health::interval(config_.lease));
  credentials_.on_accepted(given_);
  given_ = {};
  pipeline_.on_login(login_->outcome());
  events_.connected();
  pipeline_.open_gate();
}

void Connection::check_health() {
  const std::shared_ptr<Link> keep = link_.keep();
  const base::Duration interval = Health::interval(config_.lease);
  const Health::Verdict verdict = health_.judge(session_->heard(!pipeline_.idle()));
  if (verdict == Health::Verdict::dead) {
    return fail(Errc::unreachable, "the server has not answered for " + milliseconds(interval * 2) + " ms");
  }
  if (verdict == Health::Verdict::ping) pipeline_.ping();
  health_alarm_.set_after(interval);
}

/// A PING, or an AUTH, of an earlier session would be the next one's first word, and its reply that to the login.
void Connection::stop_watching() {
  health_alarm_.cancel();
  credentials_.stop();
}

// --- the end of a session ---

void Connection::fail(std::error_code error, std::string cause) {
  if (failing_) return;
  failing_ = true;
  down_ = {error, std::move(cause)};
  session_->end(asio::error::operation_aborted);
}

void Connection::leave_if_demoted(const Replies& replies) {
  const auto tells = std::ranges::find_if(replies, tells_of_demotion);
  if (state_ != State::ready || tells == replies.end()) return;
  demoted_ = true;
  leave(Errc::read_only, tells->text, kLeaving);
}

/// Pending replies are awaited before the session ends, for `limit` at most.
void Connection::leave(std::error_code error, std::string cause, base::Duration limit) {
  state_ = State::leaving;
  down_ = {error, std::move(cause)};
  stop_watching();
  alarm_.set_after(limit);
}

void Connection::on_moved(const std::string& why) {
  if (state_ == State::closed) return;
  attempts_.start_over();
  if (state_ == State::down) return alarm_.set(Clock::now());
  moved_ = true;
  if (state_ == State::connecting) return session_->end(asio::error::operation_aborted, why);
  leave(Errc::read_only, why, kLeavingMoved);
  if (pipeline_.idle()) end_leaving();
}

void Connection::on_idle() {
  if (state_ == State::leaving) end_leaving();
}

void Connection::end_leaving() {
  if (pipeline_.idle()) client_ = 0;  // no bytes are under way that a later session would have to stop
  fail(down_.error, down_.cause);
}

void Connection::on_end(const Ending& ending) {
  alarm_.cancel();
  stop_watching();
  if (!failing_ && state_ != State::closed) {
    const Meaning meaning = classify(ending.stage, ending.error);
    down_.error = meaning.code;
    down_.refused = meaning.for_good() && !is_change_of_certificates(meaning);
    down_.cause = ending.problem;
  }
  const bool stood = stands();
  if (const std::string& problem = credentials_.problem(); stood && !problem.empty()) {
    down_.cause += "; before that, credentials were not renewed: " + problem;
  }
  down_.cause = base::for_log(causes_.blame(config_, session_->server(), std::move(down_.cause)));
  const Prospect prospect = moved_ ? Prospect::changes : source_->on_end(stood && !demoted_);
  useless_ = stood && !demoted_ && !moved_ ? std::nullopt : session_->endpoint();
  attempts_.on_end(Clock::now(), stood, demoted_);
  demoted_ = moved_ = failing_ = false;
  if (state_ != State::closed)
    state_ = State::down;  // requests made by the handlers below wait for the next connection
  pipeline_.on_cut();
  if (state_ == State::closed) return;
  events_.disconnected(down_.cause);
  if (state_ == State::closed) return;
  if (!stood) down_.cause = causes_.gather(std::move(down_.cause), prospect == Prospect::another);
  const bool asks_again = std::exchange(ask_again_, false);
  if (prospect == Prospect::another) return alarm_.set(Clock::now());
  // Waiting does not help if the login was refused, or, unless told otherwise, if the server was never reachable.
  const bool may_help = config_.wait_for_server || attempts_.ever_ready() || prospect != Prospect::same || asks_again;
  const bool pointless = down_.refused || !may_help;
  if (pointless) pipeline_.give_up();
  if (!needed_ && !pipeline_.waited_for()) {
    state_ = State::resting;
    return;
  }
  alarm_.set(attempts_.next(pointless));
}

void Connection::recover() {
  if (state_ == State::resting) return;
  if (!session_) return alarm_.set(Clock::now() + config_.timing.reconnect_min);
  session_->abandon();
  failing_ = true;
  down_ = {Errc::exhausted, {}};
  on_end({Stage::ready, asio::error::operation_aborted, {}});
}

void Connection::close() {
  state_ = State::closed;
  down_ = {Errc::closed, {}};
  pipeline_.give_up();
  alarm_.cancel();
  stop_watching();
  leave_threads();
  constexpr auto kAborted = asio::error::operation_aborted;
  if (session_ && !session_->try_to_end(kAborted)) on_end({Stage::ready, kAborted, {}});
}

void Connection::drop() {
  state_ = State::closed;
  leave_threads();
  session_.reset();
}

}  // namespace holdfast::redis
