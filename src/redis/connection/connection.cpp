#include "redis/connection/connection.hpp"

#include <algorithm>

#include <boost/asio/error.hpp>

#include "base/entropy.hpp"
#include "redis/connection/op.hpp"
#include "redis/failures/errors.hpp"

namespace holdfast::redis {

namespace asio = boost::asio;
using base::Clock;
using base::TimePoint;

namespace {

/// How often callers can cause an attempt to connect at most.
constexpr std::chrono::milliseconds kQuickest{50};
/// How long a server that takes no writes may take to answer what was sent before it is left.
constexpr std::chrono::seconds kLeaving{1};
/// The same where others say that it was replaced: it may be gone.
constexpr std::chrono::milliseconds kLeavingMoved{100};

/// None of several addresses may use up the time of all.
base::Duration connect_limit(const Config& config, const EndpointSource& source) {
  return config.connect_timeout / static_cast<base::Duration::rep>(source.addresses());
}

}  // namespace

Connection::Connection(asio::any_io_executor executor, const Config& config, std::shared_ptr<EndpointSource> source,
                       const LaneEvents& events, const Lifeline& lifeline, Traffic& traffic)
    : executor_(std::move(executor)),
      config_(config),
      source_(std::move(source)),
      events_(events),
      lifeline_(lifeline),
      traffic_(traffic),
      tls_(make_tls_context(config)),
      resolver_(executor_),
      connect_timer_(executor_),
      health_timer_(executor_),
      backoff_(config.reconnect_min, config.reconnect_max),
      random_(base::entropy()) {
  source_->watch([this](const std::string& why) { on_moved(why); });
}

// --- from nothing to a connection that serves ---

void Connection::connect() {
  if (state_ == State::closed) return;
  state_ = State::connecting;
  connecting_since_ = Clock::now();
  traffic_.on_begin();
  session_ = std::make_shared<Session>(executor_, config_, tls_, *source_, resolver_, useless_, *this, traffic_);
  connect_timer_.expires_after(connect_limit(config_, *source_));
  connect_timer_.async_wait([self = self()](ErrorCode error) {
    if (!error && self->state_ == State::connecting) self->on_connect_timeout();
  });
  session_->open();
}

void Connection::connect_at(TimePoint time) {
  connect_timer_.expires_at(time);
  connect_timer_.async_wait([self = self()](ErrorCode error) {
    if (!error && self->state_ == State::down) self->connect();
  });
}

/// Whoever asks while there is little hope gets an answer from a fresh attempt, not from the end of a long pause.
void Connection::hurry() {
  if (state_ == State::down && hopeless_)
    connect_at(std::max(Clock::now(), last_attempt_ + std::min(config_.reconnect_min, kQuickest)));
}

void Connection::on_connect_timeout() {
  session_->end(asio::error::timed_out,
                "no " + session_->missing() + " within " + milliseconds(connect_limit(config_, *source_)) + " ms");
}

std::string Connection::why_not_yet() const {
  if (state_ != State::connecting) return down_cause_;
  const std::string now =
      "no " + session_->missing() + " after " + milliseconds(Clock::now() - connecting_since_) + " ms";
  return down_cause_.empty() ? now : down_cause_ + "; since then " + now;
}

void Connection::on_open() {
  login_.emplace(config_, client_);
  traffic_.send_login(login_->first());
}

void Connection::on_login(const Replies& replies) {
  const std::vector<base::Command> more = login_->next(replies);
  const LoginOutcome& outcome = login_->outcome();
  if (outcome.error) {
    login_pointless_ = outcome.pointless;
    fail(outcome.error, outcome.cause);
  } else if (!more.empty()) {
    traffic_.send_login(more);
  } else {
    on_ready();
  }
}

void Connection::on_ready() {
  connect_timer_.cancel();
  client_ = login_->outcome().client;
  causes_.clear();
  state_ = State::ready;
  ready_since_ = Clock::now();
  ever_connected_ = true;
  session_->logged_in();
  arm_health_check();
  traffic_.on_login(login_->outcome().clustered);
  events_.connected();
  traffic_.open_gate();
}

// --- the end of a session ---

void Connection::fail(std::error_code error, std::string cause) {
  if (failing_) return;
  failing_ = true;
  down_error_ = error;
  down_cause_ = std::move(cause);
  session_->end(asio::error::operation_aborted);
}

void Connection::leave_if_demoted(const Replies& replies) {
  if (state_ != State::ready) return;
  const auto tells = std::ranges::find_if(
      replies, [](const base::Reply& reply) { return reply.is_error() && is_demoted(reply.text); });
  if (tells == replies.end()) return;
  demoted_ = true;
  leave(Errc::read_only, tells->text, kLeaving);
}

/// What was sent is answered before the session ends, if that does not take too long.
void Connection::leave(std::error_code error, std::string cause, base::Duration limit) {
  state_ = State::leaving;
  down_error_ = error;
  down_cause_ = std::move(cause);
  health_timer_.cancel();
  connect_timer_.expires_after(limit);
  connect_timer_.async_wait([self = self()](ErrorCode error_of_wait) {
    if (!error_of_wait && self->state_ == State::leaving) self->end_leaving();
  });
}

void Connection::on_moved(const std::string& why) {
  if (state_ == State::closed) return;
  backoff_.reset();
  if (state_ == State::down) return connect_at(Clock::now());
  moved_ = true;
  if (state_ == State::connecting) return session_->end(asio::error::operation_aborted, why);
  leave(Errc::read_only, why, kLeavingMoved);
  if (traffic_.idle()) end_leaving();
}

void Connection::on_idle() {
  if (state_ == State::leaving) end_leaving();
}

void Connection::end_leaving() {
  if (traffic_.idle()) client_ = 0;  // nothing is under way that a later session would have to stop
  fail(down_error_, down_cause_);
}

void Connection::learn_why(const Session::Ending& ending) {
  const Meaning meaning = classify(ending.stage, ending.error);
  down_error_ = meaning.code;
  login_pointless_ = meaning.for_good();
  down_cause_ = ending.problem;
}

void Connection::on_end(const Session::Ending& ending) {
  connect_timer_.cancel();
  health_timer_.cancel();
  if (!failing_ && state_ != State::closed) learn_why(ending);
  const bool stood = stands();
  down_cause_ = causes_.blame(config_, session_->server(), std::move(down_cause_));
  const Prospect prospect = moved_ ? Prospect::changes : source_->on_end(stood && !demoted_);
  useless_ = stood && !demoted_ && !moved_ ? std::nullopt : session_->endpoint();
  // A server that takes no writes can be logged in to each time: it is not a success.
  if (stood && (!demoted_ || Clock::now() - ready_since_ >= config_.reconnect_max)) backoff_.reset();
  demoted_ = moved_ = false;
  failing_ = false;
  if (state_ != State::closed) state_ = State::down;  // what the cut ones ask for next waits for the next connection
  traffic_.on_cut();
  if (state_ == State::closed) return;
  events_.disconnected(down_cause_);
  if (state_ == State::closed) return;
  if (!stood) down_cause_ = causes_.gather(std::move(down_cause_), prospect == Prospect::another);
  last_attempt_ = Clock::now();
  const bool refused = std::exchange(login_pointless_, false);
  if (prospect == Prospect::another) return connect_at(last_attempt_);
  // A refusal, or a server that was never there, will not go away while the callers wait.
  const bool pointless = refused || (!ever_connected_ && prospect == Prospect::same);
  if (pointless) traffic_.give_up();
  hopeless_ = pointless;
  connect_at(last_attempt_ + backoff_.next(std::generate_canonical<double, 32>(random_)));
}

void Connection::recover() {
  if (!session_) {
    state_ = State::down;
    return connect_at(Clock::now() + config_.reconnect_min);
  }
  session_->abandon();
  failing_ = true;
  down_error_ = Errc::exhausted;
  down_cause_.clear();
  on_end({Stage::ready, asio::error::operation_aborted, {}});
}

void Connection::close() {
  state_ = State::closed;
  down_error_ = Errc::closed;
  down_cause_.clear();
  traffic_.give_up();
  connect_timer_.cancel();
  health_timer_.cancel();
  if (session_) session_->end(asio::error::operation_aborted);
  resolver_.leave();
}

void Connection::drop() {
  state_ = State::closed;
  resolver_.leave();
  session_.reset();
}

// --- while it serves ---

void Connection::flush() {
  if (session_) session_->flush();
}

void Connection::arm_health_check() {
  health_timer_.expires_after(Health::interval(config_.lease));
  health_timer_.async_wait([self = self()](ErrorCode error) {
    if (!error && self->state_ == State::ready) self->check_health();
  });
}

void Connection::check_health() {
  const Health::Verdict verdict = health_.judge(session_->heard());
  if (verdict == Health::Verdict::dead) {
    return fail(Errc::unreachable,
                "nothing was heard of the server for " + milliseconds(Health::interval(config_.lease) * 2) + " ms");
  }
  if (verdict == Health::Verdict::ping) traffic_.ping();
  arm_health_check();
}

}  // namespace holdfast::redis
