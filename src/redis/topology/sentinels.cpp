// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/sentinels.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include <holdfast/error.hpp>

#include "base/entropy.hpp"
#include "base/location.hpp"
#include "redis/decide/errors.hpp"

namespace holdfast::redis {

namespace {

sentinel::Answer answer_of(const Result& result) {
  sentinel::Answer answer;
  if (result.delivery == Delivery::answered) {
    answer = sentinel::decode(result.replies);
    answer.problem = explain(answer.problem);
  } else {
    answer.problem = result.cause.empty() ? result.error.message() : result.cause;
  }
  return answer;
}

}  // namespace

SentinelLink::SentinelLink(timing::Schedule& schedule, const Config& config, NodeAddress address,
                           std::weak_ptr<Sentinels> sentinels)
    : schedule_(schedule),
      limit_(config.timing.connect_timeout),
      name_(std::get<SentinelConfig>(config.server).primary),
      address_(std::move(address)),
      sentinels_(std::move(sentinels)),
      subscriptions_(std::make_shared<Listeners>()),
      lane_(schedule, base::at_sentinel(config, address_),
            std::make_shared<ConfiguredEndpoint>(base::at_sentinel(config, address_)), subscriptions_, *this) {
  // An unused subscription would be unsubscribed.
  subscriptions_.listeners()->begin_use(std::string(sentinel::kSwitchChannel), [](Busy) {});
}

void SentinelLink::disconnected(const std::string&) {
  // Pending questions get the cause first.
  boost::asio::post(schedule_.executor(), [link = shared_from_this()] { link->close(); });
  if (const auto sentinels = sentinels_.lock()) sentinels->on_link_ended(address_);
}

void SentinelLink::to_be_flushed(std::size_t bytes) {
  if (const auto sentinels = sentinels_.lock()) sentinels->to_be_flushed(bytes);
}

void SentinelLink::said(const std::string& channel, const std::string& text) {
  const auto sentinels = sentinels_.lock();
  if (channel != sentinel::kSwitchChannel || !sentinels) return;
  if (const auto primary = sentinel::switched_to(text, name_)) sentinels->on_switched(address_, *primary);
}

void SentinelLink::start(std::shared_ptr<void> client) {
  client_ = std::move(client);
  lane_.start(weak_from_this());
}

void SentinelLink::ask(std::function<void(const sentinel::Answer&)> handler) {
  lane_.send(Request{sentinel::questions(name_), limit_, {std::string(sentinel::kSwitchChannel)}},
             [handler = std::move(handler)](const Result& result) { handler(answer_of(result)); });
}

void SentinelLink::close() {
  sentinels_.reset();
  lane_.close();
  const std::shared_ptr<void> client = std::exchange(client_, {});
}

void SentinelLink::drop_all() {
  sentinels_.reset();
  lane_.drop_all();
  const std::shared_ptr<void> client = std::exchange(client_, {});
}

using base::Clock;
using sentinel::Answer;
using sentinel::Discovery;

Sentinels::Sentinels(timing::Schedule& schedule, const Config& config, ServerEvents& events, Shard& shard)
    : schedule_(schedule),
      config_(config),
      events_(events),
      shard_(shard),
      known_(std::get<SentinelConfig>(config.server).addresses),
      round_alarm_(schedule, [this] { on_round_alarm(); }),
      look_alarm_(schedule, [this] { on_look_alarm(); }),
      random_(base::entropy()) {}

/// For alarms.
std::shared_ptr<Sentinels> Sentinels::self() {
  const std::shared_ptr<void> owner = owner_.lock();
  return owner ? std::shared_ptr<Sentinels>(owner, this) : shared_from_this();
}

// --- links ---

SentinelLink& Sentinels::link_to(const NodeAddress& address) {
  const auto found =
      std::ranges::find(links_, address, [](const auto& each) -> const NodeAddress& { return each.first; });
  if (found != links_.end()) return *found->second;
  const auto link = std::make_shared<SentinelLink>(schedule_, config_, address, weak_from_this());
  links_.emplace_back(address, link);
  link->start(owner_.lock());
  return *link;
}

/// The next question makes a new link.
void Sentinels::on_link_ended(const NodeAddress& address) {
  std::erase_if(links_, [&](const auto& each) { return each.first == address; });
}

void Sentinels::flush() {
  for (const auto& [address, link] : links_) link->flush();
}

void Sentinels::close_links() {
  for (const auto& [address, link] : std::exchange(links_, {})) link->close();
}

void Sentinels::recover() {
  round_.reset();
  close_links();
}

void Sentinels::close() {
  closed_ = true;
  round_.reset();
  round_alarm_.cancel();
  look_alarm_.cancel();
  close_links();
}

void Sentinels::drop_all() {
  closed_ = true;
  round_.reset();
  for (const auto& [address, link] : std::exchange(links_, {})) link->drop_all();
}

// --- the question ---

void Sentinels::begin() {
  if (round_ || closed_) return;
  ++number_;
  round_.emplace(known_.order(), config_.timing.connect_timeout);
  take(round_->start(Clock::now()));
}

void Sentinels::forget() {
  if (std::ranges::any_of(sources_, &SentinelSource::waits)) return;
  round_.reset();
  round_alarm_.cancel();
}

void Sentinels::take(const Discovery::Step& step) {
  round_alarm_.cancel();
  if (step.lost) return finish({}, round_->problem());
  if (step.look) round_alarm_.set(*step.look);
  if (step.ask) ask(*step.ask);
}

void Sentinels::on_round_alarm() {
  const std::shared_ptr<Sentinels> keep = self();
  if (round_) take(round_->on_time(Clock::now()));
}

void Sentinels::ask(std::size_t index) {
  const NodeAddress from = round_->sentinel(index);
  try {
    link_to(from).ask([weak = weak_from_this(), round = number_, index, from](const Answer& answer) {
      if (const auto me = weak.lock()) me->on_answer(round, index, from, answer);
    });
  } catch (const Error& error) {
    on_answer(number_, index, from, {.primary = {}, .sentinels = {}, .problem = error.cause()});
  }
}

void Sentinels::on_answer(std::uint64_t round, std::size_t index, const NodeAddress& from, const Answer& answer) {
  if (!round_ || round != number_) return;
  if (!answer.primary) {
    known_.failed(from);
    return take(round_->on_failure(index, answer.problem, Clock::now()));
  }
  for (const NodeAddress& silent : round_->silent()) {
    if (silent != from) known_.failed(silent);
  }
  known_.worked(from);
  known_.heard_of(answer.sentinels);
  count(answer);
  told_.emplace(from, *answer.primary);
  if (!look_alarm_.is_set()) look_in(kFirstLook);
  finish(answer.primary, {});
}

void Sentinels::finish(const std::optional<NodeAddress>& primary, const std::string& problem) {
  round_.reset();
  round_alarm_.cancel();
  for (SentinelSource* source : std::vector(sources_)) {
    if (source->waits()) source->answer(primary, problem);
  }
}

void Sentinels::doubt(const NodeAddress& primary) {
  if (!told_ || told_->second != primary) return;
  known_.failed(told_->first);
  told_.reset();
}

// --- announcements, and those that were missed ---

void Sentinels::look_in(base::Duration pause) noexcept {
  look_alarm_.set_after(
      std::chrono::duration_cast<base::Duration>(pause * (0.75 + std::generate_canonical<double, 32>(random_) / 2)));
}

void Sentinels::on_look_alarm() {
  const std::shared_ptr<Sentinels> keep = self();
  look_in(kLookEvery);
  if (!round_) look();
}

/// Any of them may lead an election, so the largest number on record counts. A smaller one counts once a check has
/// shown it.
void Sentinels::count(const Answer& answer) {
  if (!answer.replicas) return;
  looked_replicas_ = std::max(looked_replicas_, *answer.replicas);
  replicas_ = std::max(replicas_, *answer.replicas);
  shard_.set_configured_replicas(replicas_);
}

void Sentinels::look() {
  if (said_.size() >= std::min<std::size_t>(2, known_.order().size())) replicas_ = looked_replicas_;
  looked_replicas_ = 0;
  said_.clear();
  std::vector<NodeAddress> watched = known_.order();
  if (watched.size() > kWatched) watched.resize(kWatched);
  for (const auto& [address, link] : std::vector(links_)) {
    if (std::ranges::find(watched, address) != watched.end()) continue;
    on_link_ended(address);
    link->close();
  }
  for (const NodeAddress& each : watched) {
    try {
      link_to(each).ask([weak = weak_from_this(), each](const Answer& answer) {
        if (const auto me = weak.lock()) me->on_looked(each, answer);
      });
    } catch (const Error&) {
      known_.failed(each);
    }
  }
}

void Sentinels::on_looked(const NodeAddress& from, const Answer& answer) {
  if (closed_) return;
  if (!answer.primary) return known_.failed(from);
  known_.heard_of(answer.sentinels);
  count(answer);
  said_.emplace_back(from, *answer.primary);
  const auto agree = std::ranges::count(said_, *answer.primary, [](const auto& each) { return each.second; });
  if (static_cast<std::size_t>(agree) < std::min<std::size_t>(2, known_.order().size())) return;
  const auto differs = [&](const SentinelSource* each) {
    return each->address() && *each->address() != *answer.primary;
  };
  if (std::ranges::none_of(sources_, differs)) return disputed_.reset();
  // Only once: it may be another name of the same server.
  if (disputed_ == answer.primary) return;
  disputed_ = answer.primary;
  move_to(*answer.primary, "the Sentinels say that the primary is " + sentinel::in_words(*answer.primary));
}

void Sentinels::on_switched(const NodeAddress& from, const NodeAddress& primary) {
  known_.worked(from);
  move_to(primary, "the Sentinels have made " + sentinel::in_words(primary) + " the primary");
}

void Sentinels::move_to(const NodeAddress& primary, const std::string& why) {
  told_.reset();
  for (SentinelSource* source : std::vector(sources_)) source->move_to(primary, why);
}

// --- one lane ---

SentinelSource::SentinelSource(std::shared_ptr<Sentinels> sentinels) : sentinels_(std::move(sentinels)) {
  sentinels_->add(*this);
}

SentinelSource::~SentinelSource() { sentinels_->remove(*this); }

void SentinelSource::find(Found found) {
  address_.reset();
  found_ = std::move(found);
  sentinels_->begin();
}

void SentinelSource::forget() {
  found_ = {};
  sentinels_->forget();
}

Prospect SentinelSource::on_end(bool served) {
  if (!address_) return Prospect::same;
  if (!served) sentinels_->doubt(*address_);
  return Prospect::changes;
}

void SentinelSource::answer(const std::optional<NodeAddress>& primary, const std::string& problem) {
  const Found found = std::exchange(found_, {});
  address_ = primary;
  if (!primary) return found({}, problem);
  found(ServerAddress{primary->host, primary->port, {}}, {});
}

/// Reports the move once; its next request asks the Sentinels again.
void SentinelSource::move_to(const NodeAddress& primary, const std::string& why) {
  if (!address_ || *address_ == primary) return;
  address_ = primary;
  if (moved_) moved_(why);
}

}  // namespace holdfast::redis
