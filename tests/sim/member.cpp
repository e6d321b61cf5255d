// SPDX-License-Identifier: Apache-2.0
#include "sim/member.hpp"

#include "sim/caller.hpp"

namespace holdfast::test::sim {
namespace {

Config settings_of(const ClientPlan& plan) {
  Config settings;
  settings.acks = plan.acks;
  settings.label = "simulated";  // instead of the program's name
  if (!plan.named) settings.client_name.clear();
  settings.lease = plan.lease;
  settings.timing.safety_poll = plan.safety_poll;
  settings.timing.patience = plan.patience;
  settings.timing.command_timeout = plan.command_timeout;
  settings.timing.release_timeout = plan.release_timeout;
  settings.kinds.handoff = plan.handoff;
  settings.loss_notice = plan.loss_notice;
  settings.pipelined_release = plan.pipelined;
  if (plan.resp2) settings.protocol = 2;
  if (plan.leaves) settings.on_close = OnClose::leave_to_expire;
  return settings;
}

/// Of all servers, if there are several.
template <class Kind>
BasicLock one(const std::vector<Kind>& locks) {
  if (locks.size() == 1) return locks.front();
  return RedLock(locks);
}

/// Closing waits for releases, and at most this much longer for what was cut short.
constexpr milliseconds kClosing{300};

}  // namespace

Member::Member(Stage& stage, int index)
    : stage_(stage), index_(index), plan_(stage.plan.clients[static_cast<std::size_t>(index)]) {
  std::vector<std::deque<Action>> actions;
  for (const Action& action : stage.plan.actions) {
    if (action.client != index) continue;
    const auto caller = static_cast<std::size_t>(action.caller);
    if (actions.size() <= caller) actions.resize(caller + 1);
    actions[caller].push_back(action);
  }
  for (std::deque<Action>& each : actions) callers_.push_back(std::make_unique<Caller>(*this, std::move(each)));
  open();
}

Member::~Member() { end(); }

void Member::open() {
  if (!process_) {
    const bool slow = stage_.plan.sabotage == Sabotage::slow_clocks && index_ > 0;
    process_ = std::make_unique<Process>(stage_.world, 100 * generation_++ + index_, slow ? -60'000 : plan_.drift_ppm);
  }
  // So far that its two connections overtake each other.
  if (plan_.resp2) Network::current().slow_down(*process_, {}, milliseconds(5));
  process_->inside([this] {
    clients_.clear();
    drop_locks();
    for (const Config& config : stage_.servers.reached_by(settings_of(plan_))) {
      clients_.push_back(std::make_shared<Client>(client_on(process_->context(), config)));
    }
    for (int i = 0; i < stage_.plan.locks; ++i) make(i);
  });
}

void Member::make(int lock) {
  const Client& client = *clients_.front();
  const std::vector<std::string> keys = stage_.plan.keys(lock);
  switch (stage_.plan.kind) {
    case LockKind::semaphore:
      return semaphores_.push_back(client.semaphore(keys.front()));
    case LockKind::latch:
      return latches_.push_back(client.latch(keys.front()));
    case LockKind::permits:
      locks_.push_back(client.leased_semaphore(keys.front()));
      return readers_.push_back(client.leased_semaphore(keys.front()).with_permits(2));
    case LockKind::any:
      locks_.push_back(client.any_lock(keys));
      return readers_.push_back(client.lock(keys[1]));
    case LockKind::read_write:
      readers_.push_back(client.read_write_lock(keys.front()).reader());
      break;
    default:
      break;
  }
  locks_.push_back(make_lock(keys));
}

void Member::drop_locks() {
  locks_.clear();
  readers_.clear();
  semaphores_.clear();
  latches_.clear();
}

/// Of one server.
KeyLock Member::make_key_lock(const std::string& key) const {
  const Client& client = *clients_.front();
  switch (stage_.plan.kind) {
    case LockKind::simple:
      return client.simple_lock(key);
    case LockKind::fenced:
      return client.fenced_lock(key);
    case LockKind::read_write:
      return client.read_write_lock(key).writer();
    case LockKind::fair:
      return client.fair_lock(key);
    case LockKind::spin:
      return client.spin_lock(key);
    default:
      break;
  }
  return client.lock(key);
}

BasicLock Member::make_lock(const std::vector<std::string>& keys) const {
  if (stage_.plan.kind >= LockKind::fenced) return make_key_lock(keys.front());
  std::vector<Lock> locks;
  std::vector<SimpleLock> simple;
  std::vector<MultiLock> several;
  for (const auto& client : clients_) {
    locks.push_back(client->lock(keys.front()));
    simple.push_back(client->simple_lock(keys.front()));
    several.push_back(client->multi_lock(keys));
  }
  if (stage_.plan.needs_all) return MultiLock(locks);
  switch (stage_.plan.kind) {
    case LockKind::simple:
      return one(simple);
    case LockKind::multi:
      return one(several);
    default:
      return one(locks);
  }
}

void Member::start() {
  process_->inside([this] {
    for (const auto& caller : callers_) caller->next();
  });
}

void Member::close_clients() {
  stage_.say(*process_, "closes");
  for (const auto& client : clients_) {
    const Judge::CallId call =
        stage_.judge.begin("closing client " + std::to_string(index_), *process_, plan_.release_timeout + kClosing);
    ++closing_;
    client->async_close([this, call, client] {
      stage_.judge.end(call);
      count(*client);
      --closing_;
    });
  }
}

void Member::count(const Client& client) {
  const Counters counted = client.counters();
  counters_.granted += counted.granted;
  counters_.contended += counted.contended;
  counters_.renewals += counted.renewals;
  counters_.safety_polls += counted.safety_polls;
  counters_.safety_poll_wakes += counted.safety_poll_wakes;
  counters_.connections += counted.connections;
  counters_.commands += counted.commands;
  counters_.suspect += counted.suspect;
  counters_.unknown += counted.unknown;
  counters_.notices += counted.notices;
}

void Member::reopen() {
  if (gone_ || process_->paused()) return;
  // To close it gives holds back, which nobody does who is about to write.
  for (const auto& caller : callers_) {
    if (caller->writes()) return;
  }
  reopened_ = true;
  stage_.ledger.closed(*process_);
  process_->inside([this] { close_clients(); });
  open();
}

void Member::kill() {
  if (std::exchange(gone_, true)) return;
  closing_ = 0;
  stage_.say(*process_, "is killed");
  stage_.judge.killed(*process_);
  process_->inside([this] {
    for (const auto& client : clients_) count(*client);
    for (const auto& caller : callers_) caller->forget();
    drop_locks();
    clients_.clear();
  });
  process_->kill();
  dead_.push_back(std::move(process_));
}

void Member::come_back() {
  if (!std::exchange(gone_, false)) return;
  open();
  process_->inside([this] {
    callers_done_ = 0;
    for (const auto& caller : callers_) caller->next();
  });
}

void Member::force() {
  if (gone_ || process_->paused()) return;
  stage_.judge.forgetting_begins();
  stage_.say(*process_, "breaks lock 0");
  process_->inside([this] {
    const std::string key = stage_.plan.keys(0).front();
    make_key_lock(key).async_force_release([this](const Failure&, bool) {
      // What was not answered may still be carried out.
      stage_.world.after(std::chrono::seconds(30), [this] { stage_.judge.forgetting_ends(); });
    });
  });
}

void Member::close() {
  closed_ = true;
  process_->inside([this] { close_clients(); });
}

void Member::end() {
  dead_.clear();
  if (!process_) return;
  process_->inside([this] {
    for (const auto& caller : callers_) caller->forget();
    drop_locks();
    clients_.clear();
  });
  if (closed_) {
    if (!process_->out_of_work()) stage_.judge.violated("leak", "client " + std::to_string(index_) + " still has work");
    if (process_->system().sockets() > 0) {
      stage_.judge.violated("leak", "client " + std::to_string(index_) + " still has connections");
    }
  }
  process_.reset();
}

}  // namespace holdfast::test::sim
