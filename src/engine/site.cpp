#include "engine/site.hpp"

#include <algorithm>

#include <holdfast/error.hpp>

#include "base/text.hpp"
#include "engine/core.hpp"
#include "engine/release.hpp"
#include "redis/errors.hpp"

namespace holdfast::engine {
namespace {

std::vector<wire::LockNames> all_names(const Plan& plan, const std::vector<std::string>& raw_names) {
  std::vector<wire::LockNames> names;
  names.reserve(raw_names.size());
  for (const std::string& raw : raw_names) names.push_back(plan.names(raw));
  return names;
}

std::vector<std::string> all_channels(const std::vector<wire::LockNames>& names) {
  std::vector<std::string> channels;
  channels.reserve(names.size());
  for (const wire::LockNames& each : names) channels.push_back(each.channel);
  return channels;
}

/// Which of several is taken: a caller who waited in vain wants to know.
std::string blocker_text(const wire::LockNames& blocker, milliseconds busy_for) {
  std::string text = base::quote(blocker.key) + " is held by somebody else";
  if (busy_for.count() >= 0) text += ", for another " + std::to_string(busy_for.count()) + " ms unless it is renewed";
  return text;
}

/// The channels are in use as long as this lives.
struct ChannelUse {
  ChannelUse(std::shared_ptr<redis::Channels> hub, std::vector<std::string> used)
      : channels(std::move(hub)), names(std::move(used)) {}
  ~ChannelUse() {
    for (std::size_t i = 0; i < ids.size(); ++i) channels->end_use(names[i], ids[i], base::Clock::now());
  }
  ChannelUse(const ChannelUse&) = delete;
  ChannelUse& operator=(const ChannelUse&) = delete;

  const std::shared_ptr<redis::Channels> channels;
  const std::vector<std::string> names;
  std::vector<std::uint64_t> ids;
};

}  // namespace

Site::Site(std::string name, const std::vector<std::string>& raw_names, const Plan& plan,
           std::shared_ptr<redis::Channels> channels, Duration handoff)
    : Target(std::move(name), plan.announced ? handoff : Duration{}),
      plan_(plan),
      names_(all_names(plan, raw_names)),
      wake_channels_(all_channels(names_)),
      channels_(std::move(channels)) {}

std::string Site::where(const Core& core) const { return core.node(); }

Target::Use Site::begin_use() {
  return begin_use([weak = weak_from_this()] {
    if (const std::shared_ptr<Target> site = weak.lock()) site->heard();
  });
}

std::int64_t Site::others(std::int64_t told) const {
  std::int64_t subscribed = 0;
  std::int64_t waiters = 0;
  for (const std::string& channel : wake_channels_) {
    if (channels_->subscribed(channel)) ++subscribed;
    waiters = std::max<std::int64_t>(waiters, static_cast<std::int64_t>(channels_->users(channel)));
  }
  return std::max<std::int64_t>(told - subscribed, 0) + waiters;
}

Target::Use Site::begin_use(const redis::Channels::Listener& listener) {
  auto use = std::make_shared<ChannelUse>(channels_, wake_channels_);
  for (const std::string& channel : wake_channels_) use->ids.push_back(channels_->begin_use(channel, listener));
  return use;
}

void Site::attempt(Core& core, Order order, AttemptDone done) {
  redis::Request request{{plan_.acquire(names_, order.owner, order.lease)}, order.timeout, {}};
  if (order.subscribe && !deaf_) request.subscribe = wake_channels_;
  core.send(std::move(request), [self = std::static_pointer_cast<Site>(shared_from_this()),
                                 owner = std::move(order.owner), done = std::move(done)](const redis::Result& result) {
    Attempt attempt = self->judge(result);
    attempt.owner = owner;
    done(std::move(attempt));
  });
}

Attempt Site::judge(const redis::Result& result) {
  using Kind = Attempt::Kind;
  Attempt attempt;
  attempt.sent_at = result.sent_at;
  attempt.error = result.error;
  attempt.cause = result.cause;
  attempt.pointless = result.pointless;
  attempt.subscribed = result.subscribed;
  if (result.refused_channel && !plan_.announced) deaf_ = true;
  attempt.unheard = deaf_;
  if (result.delivery == redis::Delivery::not_sent) {
    attempt.kind = Kind::not_sent;
    return attempt;
  }
  if (result.delivery == redis::Delivery::unknown) {
    attempt.kind = Kind::unknown;
    return attempt;
  }
  const base::Reply& reply = result.replies.front();
  const wire::AcquireReply decoded = plan_.decode_acquire(reply);
  if (decoded.granted) {
    attempt.kind = Kind::granted;
  } else if (decoded.busy_for && decoded.blocker < names_.size()) {
    attempt.kind = Kind::busy;
    attempt.busy_for = *decoded.busy_for;
    if (names_.size() > 1) attempt.cause = blocker_text(names_[decoded.blocker], attempt.busy_for);
  } else {
    attempt.kind = redis::is_transient(reply.text) ? Kind::passing : Kind::refused;
    attempt.error = redis::classify(reply.text);
    attempt.cause = reply.is_error() ? reply.text : "a reply of an unexpected type";
  }
  return attempt;
}

void Site::release(Core& core, const wire::Owner& owner, TimePoint deadline, TimePoint give_up, ReleaseDone done) {
  start_release(core, std::static_pointer_cast<Site>(shared_from_this()), owner, ReleaseFsm(deadline, give_up),
                std::move(done));
}

void Site::renew(Core& core, const std::shared_ptr<HeldLock>& hold, RenewDone done) {
  const LeaseTerms& terms = hold->terms();
  std::vector<wire::Renewal> renewals;
  renewals.reserve(names_.size());
  for (const wire::LockNames& each : names_) renewals.push_back({each.key, hold->owner().text, terms.length});
  redis::Request request{{plan_.renew(renewals)}, renewal_timeout(terms.length, core.config().command_timeout), {}};
  core.send(std::move(request), [self = shared_from_this(), asked = names_.size(),
                                 done = std::move(done)](const redis::Result& result) {
    std::vector<bool> extended;
    if (result.delivery == redis::Delivery::answered) extended = wire::decode_renew(result.replies.front(), asked);
    if (extended.empty()) {
      const bool answered = result.delivery == redis::Delivery::answered;
      done({Renewed::Kind::unanswered, result.sent_at, answered ? result.replies.front().text : result.cause});
      return;
    }
    const bool all = std::find(extended.begin(), extended.end(), false) == extended.end();
    done({all ? Renewed::Kind::extended : Renewed::Kind::gone, result.sent_at, {}});
  });
}

}  // namespace holdfast::engine
