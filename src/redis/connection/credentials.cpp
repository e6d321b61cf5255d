#include "redis/connection/credentials.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "base/entropy.hpp"
#include "base/text.hpp"
#include "redis/connection/login.hpp"
#include "redis/connection/op.hpp"
#include "redis/failures/errors.hpp"

namespace holdfast::redis {
namespace {

using Asked = Aside<CredentialSource::Given>;

constinit AsideCount calls_in_process(CredentialSource::kMostInProcess);

/// The user's text, cut to what fits into an error.
std::string in_words(std::string_view what) {
  constexpr std::size_t kMost = 200;
  return base::printable(what.substr(0, kMost));
}

Asked::Reply call(const CredentialsProvider& provider) {
  Asked::Reply reply;
  reply.answer.asked_at = base::Clock::now();
  try {
    reply.answer.credentials = provider();
  } catch (const std::exception& error) {
    reply.problem = "the credentials' provider threw: " + in_words(error.what());
  } catch (...) {
    reply.problem = "the credentials' provider threw something that is no std::exception";
  }
  const auto& valid_for = reply.answer.credentials.valid_for;
  if (reply.problem.empty() && valid_for && base::Clock::now() - reply.answer.asked_at >= *valid_for) {
    reply.problem = "the credentials' provider gave what has ended already";
  }
  return reply;
}

}  // namespace

CredentialSource::CredentialSource(const boost::asio::any_io_executor& executor, const Config& config)
    : config_(config), asked_(executor, calls_in_process, "calls of credentials' providers") {}

void CredentialSource::ask(Found found) {
  if (!changes()) return found({{config_.username, config_.password}, base::Clock::now()}, {});
  asking_ = true;
  asked_.ask([provider = config_.credentials] { return call(provider); },
             [this, found = std::move(found)](const Given& given, const std::string& problem) {
               asking_ = false;
               found(given, problem);
             });
}

void CredentialSource::forget() {
  if (std::exchange(asking_, false)) asked_.forget();
}

using base::Clock;

CredentialWatch::CredentialWatch(timing::Schedule& schedule, const Config& config, const Lifeline& lifeline,
                                 CredentialSource& source, Send send)
    : limit_(config.connect_timeout),
      lifeline_(lifeline),
      source_(source),
      send_(std::move(send)),
      alarm_(schedule, [this] { on_alarm(); }),
      pauses_(config.reconnect_min, config.reconnect_max) {}

base::TimePoint CredentialWatch::due(base::TimePoint asked_at, base::Duration valid_for) {
  constexpr std::chrono::milliseconds kSoonest{50};  // a lower bound, so that the server is not flooded
  return asked_at + std::max<base::Duration>(valid_for / 4 * 3, kSoonest);
}

void CredentialWatch::start(const CredentialSource::Given& given) {
  problem_.clear();
  pauses_.reset();
  const auto& valid_for = given.credentials.valid_for;
  constexpr std::chrono::hours kLongest{24 * 365};  // credentials that are valid for longer are also renewed then
  if (valid_for) alarm_.set(due(given.asked_at, std::min<std::chrono::milliseconds>(*valid_for, kLongest)));
}

void CredentialWatch::stop() {
  alarm_.cancel();
  source_.forget();
}

void CredentialWatch::on_alarm() {
  const std::shared_ptr<void> keep = lifeline_.hold();
  if (source_.asking()) {
    source_.forget();
    return fail("no answer of the credentials' provider within " + milliseconds(limit_) + " ms");
  }
  alarm_.set_after(limit_);
  source_.ask([this, lifeline = lifeline_](const CredentialSource::Given& given, const std::string& problem) {
    if (const std::shared_ptr<void> kept = lifeline.hold()) on_given(given, problem);
  });
}

void CredentialWatch::on_given(const CredentialSource::Given& given, const std::string& problem) {
  if (!problem.empty()) return fail(problem);
  alarm_.cancel();  // if the server does not answer, the health watch notices
  given_ = given;
  send_(auth(given.credentials));
}

void CredentialWatch::on_reply(const base::Reply& reply) {
  const CredentialSource::Given given = std::exchange(given_, {});
  if (reply.is_error()) return fail(explain(reply.text));
  start(given);
}

/// After a refusal the server keeps the connection as it was, so there is time to retry.
void CredentialWatch::fail(std::string problem) {
  problem_ = std::move(problem);
  alarm_.set_after(pauses_.next(base::random_share()));
}

}  // namespace holdfast::redis
