// SPDX-License-Identifier: Apache-2.0
#include "sim/judge.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "lock/decide/lease.hpp"

namespace holdfast::test::sim {
namespace {

using base::Duration;
using base::TimePoint;
using std::chrono::milliseconds;

/// What a handler, a drifting clock and whole milliseconds may take.
constexpr Duration kSlack = milliseconds(10);
constexpr Duration kDeadTurns = std::chrono::seconds(8);

std::string ms(Duration time) { return std::to_string(std::chrono::duration_cast<milliseconds>(time).count()) + " ms"; }

/// All who wait hear of each release, and know when the only lease ends, which is not cut. Of others one is skipped, or
/// a lease ends that nobody was told of: one of several, or that of whoever was next in the queue.
bool tells_all(const Plan& plan) {
  constexpr std::array kKinds = {LockKind::lock, LockKind::multi, LockKind::fenced, LockKind::semaphore,
                                 LockKind::latch};
  const auto is_cut = [](const Action& action) { return action.extended_to > milliseconds(0); };
  return std::ranges::find(kKinds, plan.kind) != kKinds.end() && std::ranges::none_of(plan.actions, is_cut);
}

}  // namespace

Judge::Judge(World& world, const Plan& plan, Owners owners, IsFree is_free, Waiting waiting, Ledger& ledger)
    : world_(world),
      plan_(plan),
      owners_(std::move(owners)),
      is_free_(std::move(is_free)),
      waiting_(std::move(waiting)),
      ledger_(ledger),
      calm_since_(world.now() - kSettling),
      free_since_(static_cast<std::size_t>(plan.locks)),
      tokens_(static_cast<std::size_t>(plan.locks)),
      queues_(static_cast<std::size_t>(plan.locks)) {}

// ---- holds ----

Judge::BeliefPtr Judge::granted(int lock, int client, Process& process, const std::shared_ptr<engine::Claim>& holding,
                                const Hold& hold) {
  const BeliefPtr belief = entered(lock, client, process);
  belief->holding = holding;
  belief->owner = holding->tenancy().owner().text;
  belief->reads = holding->tenancy().ask().mode == wire::Mode::shared;
  if (plan_.kind == LockKind::read_write && !belief->reads) belief->owner += ":write";
  if (plan_.kind == LockKind::permits) {
    belief->permits = 1 + std::ranges::count(belief->owner, ',');
  } else if (plan_.kind == LockKind::any) {
    belief->name = hold.name();
    belief->owner = belief->name + " " + belief->owner;
  }
  const std::optional<std::int64_t> token = hold.token();
  if (plan_.kind == LockKind::fenced) {
    std::int64_t& latest = tokens_[static_cast<std::size_t>(lock)];
    if (token.value_or(0) <= latest && !plan_.forgets()) {
      violated("token", "lock " + std::to_string(lock) + " was granted with the token " +
                            std::to_string(token.value_or(0)) + " behind " + std::to_string(latest));
    }
    latest = token.value_or(0);
  }
  return belief;
}

Judge::BeliefPtr Judge::entered(int lock, int client, Process& process) {
  return beliefs_.emplace_back(std::make_shared<Belief>(Belief{.lock = lock, .client = client, .process = &process}));
}

void Judge::told(Belief& belief) {
  belief.told = true;
  ++tally_.told;
  if (belief.forgotten) tally_.told_after = std::max(tally_.told_after, world_.now() - belief.forgotten_at);
}

bool Judge::stands(Belief& belief) {
  if (belief.ended || belief.told) return false;
  if (belief.owner.empty()) return true;
  const std::shared_ptr<engine::Claim> holding = belief.holding.lock();
  return holding != nullptr && belief.process->ask([&] { return holding->stands(); });
}

bool Judge::is_on_server(const Belief& belief) const {
  const std::vector<std::string> owners = owners_(belief.lock);
  // Of several permits each must be there.
  std::string_view left = belief.owner;
  while (true) {
    const std::size_t end = left.find(',');
    if (std::ranges::find(owners, left.substr(0, end)) == owners.end()) return false;
    if (end == left.npos) return true;
    left.remove_prefix(end + 1);
  }
}

/// If nothing else is wrong: with the next renewal, or at the deadline.
Duration Judge::told_within(const Belief& belief) const {
  const milliseconds lease = belief.holding.lock()->tenancy().lease();
  return engine::renew_after(lease) + engine::renewal_timeout(lease, std::chrono::seconds(3)) + milliseconds(100);
}

void Judge::look_at(Belief& belief) {
  const TimePoint now = world_.now();
  if (!stands(belief)) {
    // A deadline is a time like any other; who stands still cannot be told.
    if (belief.ended || belief.told || belief.process->paused() || belief.owner.empty())
      return belief.over_since.reset();
    if (!belief.over_since) belief.over_since = now;
    if (now - *belief.over_since > kSlack) {
      violated("told", "the hold " + belief.owner + " is over for " + ms(now - *belief.over_since) +
                           ", and its holder was not told");
    }
    return;
  }
  standing_.push_back(&belief);
  if (belief.owner.empty() || is_on_server(belief)) return;
  if (!belief.forgotten) {
    const std::shared_ptr<engine::Claim> holding = belief.holding.lock();
    if (forgetting_ == 0 &&
        (!last_forgot_ || belief.process->clock_at(*last_forgot_) < holding->tenancy().extended_at())) {
      return violated("oracle", "the server does not have the hold " + belief.owner + " that stands for another " +
                                    ms(belief.process->ask([&] { return holding->valid_for(); })));
    }
    belief.forgotten = true;
    belief.forgotten_at = now;
    ++tally_.forgotten;
  }
  if (calm() && calm_since_ + kSettling < belief.forgotten_at && !belief.process->paused() &&
      belief.holding.lock()->endless() && now - belief.forgotten_at > told_within(belief)) {
    violated("told", "the server forgot the hold " + belief.owner + " " + ms(now - belief.forgotten_at) +
                         " ago, and its holder was not told");
  }
}

/// Never more at once than there are. If the old primary of a slot under way is lost, the number and the leases can be
/// of two times: as many are given as the server has then.
void Judge::look_at_permits() {
  std::vector<std::int64_t> held(static_cast<std::size_t>(plan_.locks));
  for (const Belief* const belief : standing_) {
    if (!belief->forgotten) held[static_cast<std::size_t>(belief->lock)] += belief->permits;
  }
  for (std::size_t lock = 0; lock < held.size(); ++lock) {
    if (held[lock] <= plan_.permits || (plan_.forgets() && !ledger_.adds_up(static_cast<int>(lock)))) continue;
    violated("permits",
             std::to_string(held[lock]) + " of " + std::to_string(plan_.permits) + " permits are held at once");
  }
}

void Judge::look_at_overlaps() {
  if (plan_.kind == LockKind::permits) return look_at_permits();
  for (std::size_t i = 0; i < standing_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      Belief& one = *standing_[i];
      Belief& other = *standing_[j];
      if (one.lock != other.lock || one.name != other.name || (one.reads && other.reads)) continue;
      for (Belief* const each : {&one, &other}) tally_.beside += std::exchange(each->beside, true) ? 0 : 1;
      if (!one.forgotten && !other.forgotten) {
        violated("exclusion", "client " + std::to_string(one.client) + " (" + one.owner + ") and client " +
                                  std::to_string(other.client) + " (" + other.owner + ") hold lock " +
                                  std::to_string(one.lock) + " at once");
      }
    }
  }
}

// ---- calls ----

Judge::CallId Judge::begin(std::string what, Process& process, std::optional<Duration> bound, int waits_for) {
  return calls_.insert(calls_.end(),
                       {std::move(what), &process, waits_for, world_.now(), process.stood_still(), bound});
}

void Judge::limit(CallId call, Duration bound) {
  const Duration by_now = world_.now() - call->began - (call->process->stood_still() - call->stood_still);
  call->bound = std::min(call->bound.value_or(Duration::max()), by_now + bound);
}

void Judge::end(CallId call) { calls_.erase(call); }

void Judge::killed(const Process& process) {
  ledger_.killed(process);
  std::erase_if(calls_, [&](const Call& call) { return call.process == &process; });
  std::erase_if(beliefs_, [&](const BeliefPtr& belief) { return belief->process == &process; });
}

void Judge::look_at_calls() {
  for (const Call& call : calls_) {
    if (!call.bound || call.process->paused()) continue;
    const Duration took = world_.now() - call.began - (call.process->stood_still() - call.stood_still);
    if (took > *call.bound + *call.bound / 100 + kSlack) {
      violated("bound", call.what + " has taken " + ms(took) + " instead of " + ms(*call.bound));
    }
  }
}

/// Whoever enters leaves nobody behind who was in the queue before. Those who have left it, or lost their turn, are not
/// in it any more.
void Judge::look_at_queues() {
  if (plan_.kind != LockKind::fair) return;
  for (std::size_t lock = 0; lock < queues_.size(); ++lock) {
    Queue now{owners_(static_cast<int>(lock)), waiting_(static_cast<int>(lock))};
    const Queue before = std::exchange(queues_[lock], now);
    if (now.owners.empty() || now.owners == before.owners || plan_.forgets()) continue;
    const std::string& entered = now.owners.front();
    const auto name = &Queued::value_type::first;
    const auto place = std::ranges::find(before.waiting, entered, name);
    const auto overtaken = std::find_if(before.waiting.begin(), place, [&](const auto& each) {
      // Its turn may have passed since, and it has come back, in one step of a server that stood still.
      const bool kept = each.second > world_.now() + milliseconds(1);
      return kept && std::ranges::find(now.waiting, each.first, name) != now.waiting.end();
    });
    if (overtaken != place) {
      violated("order", entered + " has entered lock " + std::to_string(lock) + " before " + overtaken->first +
                            ", which was before it in the queue");
    }
  }
}

/// Nobody waits for a free lock longer than the safety poll; nor nearly as long if no message can have been lost.
void Judge::look_at_waits() {
  const TimePoint now = world_.now();
  // Of a fair lock one who was killed keeps its place for a turn, and there may be several.
  const Duration turns = plan_.kind == LockKind::fair && !plan_.faults.empty() ? kDeadTurns : Duration{};
  for (std::size_t lock = 0; lock < free_since_.size(); ++lock) {
    Duration poll{};
    for (const Call& call : calls_) {
      if (call.waits_for == static_cast<int>(lock) && !call.process->paused()) {
        poll =
            std::max<Duration>(poll, plan_.clients[static_cast<std::size_t>(call.process->number() % 100)].safety_poll);
      }
    }
    if (plan_.faults.empty() && tells_all(plan_)) poll = std::min<Duration>(poll, milliseconds(100));
    std::optional<TimePoint>& since = free_since_[lock];
    if (poll == Duration{} || !calm() || !is_free_(static_cast<int>(lock))) {
      since.reset();
    } else if (!since) {
      since = now;
    } else {
      tally_.longest_free = std::max(tally_.longest_free, now - *since);
      if (now - *since > poll + poll / 50 + milliseconds(100) + turns) {
        violated("stranded",
                 "lock " + std::to_string(lock) + " is free for " + ms(now - *since) + ", and somebody waits");
      }
    }
  }
}

// ---- all ----

void Judge::trouble_ends() {
  --troubles_;
  calm_since_ = world_.now();
}

void Judge::violated(std::string promise, std::string what) {
  if (!violation_) violation_ = {std::move(promise), std::move(what), world_.now()};
}

void Judge::look_at_ledger() {
  ledger_.look();
  if (ledger_.finding()) violated(ledger_.finding()->promise, ledger_.finding()->what);
}

void Judge::look() {
  if (violation_) return;
  if (forgetting_ > 0) forgets();
  std::erase_if(beliefs_, [](const BeliefPtr& belief) { return belief->ended; });
  standing_.clear();
  for (const BeliefPtr& belief : beliefs_) look_at(*belief);
  look_at_overlaps();
  look_at_calls();
  look_at_waits();
  look_at_queues();
  look_at_ledger();
}

}  // namespace holdfast::test::sim
