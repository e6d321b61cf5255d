// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "answers/driver.hpp"
#include "kinds/leased_semaphore.hpp"
#include "kinds/read_write_lock.hpp"

namespace holdfast::test::answers {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using base::Clock;
using base::Duration;
using base::TimePoint;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

/// Whole milliseconds here and there.
constexpr Duration kRounding = 1ms;
/// What nobody has is gone within this, though answers are lost; longer leases than this are not cut by it.
constexpr Duration kSettling = 15s;
constexpr std::int64_t kPermits = 3;

struct Held {
  Hold hold;
  std::size_t client = 0;
  std::string owner{};
  std::uint32_t permits = 1;
  bool fixed = false;
  bool reads = false;
  bool may_read = false;  // a downgrade has been begun
  bool in_doubt = false;  // something was not answered
  int asking = 0;         // calls of it under way
  TimePoint certain{};    // until when it was said to be valid
};
using HeldPtr = std::shared_ptr<Held>;

class HoldStory final : public Story, public std::enable_shared_from_this<HoldStory> {
 public:
  using Story::Story;

  awaitable<void> tell() {
    if (kind() == Kind::permits) co_await set_permits();
    const std::size_t callers = 1 + dice(3);
    const std::size_t first = some_client();
    for (std::size_t i = 0; i < callers; ++i) {
      ++callers_;
      // Two of one client pass it on, and share it.
      const std::size_t client = share(25) ? first : (first + i) % ground().clients();
      users_.push_back(client);
      asio::co_spawn(ground().context(), caller(client), [self = shared_from_this()](const std::exception_ptr& thrown) {
        --self->callers_;
        self->on_end(thrown);
      });
    }
    while (callers_ > 0) co_await driver().pause(500us);
    co_await settle();
  }

 private:
  // ---- what is there ----

  std::vector<std::string> names() const {
    if (kind() != Kind::multi && kind() != Kind::any) return {name()};
    return {"{" + name() + "}:0", "{" + name() + "}:1"};
  }
  KeyLock key_lock(std::size_t client) {
    const Client& its = ground().client(client);
    switch (kind()) {
      case Kind::simple:
        return its.simple_lock(name());
      case Kind::fenced:
        return its.fenced_lock(name());
      case Kind::fair:
        return its.fair_lock(name());
      case Kind::permits:
        return its.leased_semaphore(name());
      default:
        return its.lock(name());
    }
  }
  BasicLock lock(std::size_t client, const Held& held) {
    const Client& its = ground().client(client);
    switch (kind()) {
      case Kind::spin:
        return its.spin_lock(name());
      case Kind::read_write:
        if (held.reads) return its.read_write_lock(name()).reader();
        return its.read_write_lock(name()).writer();
      case Kind::permits:
        return its.leased_semaphore(name()).with_permits(held.permits);
      case Kind::multi:
        return its.multi_lock(names());
      case Kind::any:
        return its.any_lock(names());
      default:
        return key_lock(client);
    }
  }
  bool travels() const { return kind() <= Kind::fair || kind() == Kind::permits; }

  /// For how long the server has this lock for this owner, at most.
  Duration left(const std::string& key, const std::string& owner) {
    return ground().has_field(key, owner) ? ground().left(key) : Duration{};
  }
  Duration left(const Held& held) {
    switch (kind()) {
      case Kind::simple:
        return ground().text(name()) == held.owner ? ground().left(name()) : Duration{};
      case Kind::read_write: {
        const Duration as_writer = left(name(), held.owner + ":write");
        const Duration as_reader =
            std::min(left(name(), held.owner), ground().left(wire::read_write::hold_key(name(), held.owner)));
        return held.may_read ? std::max(as_writer, as_reader) : held.reads ? as_reader : as_writer;
      }
      case Kind::permits: {
        Duration least = Duration::max();
        for (const std::string& id : wire::permits::ids_of({held.owner})) {
          least = std::min(least, ground().permit_left(wire::permits::expiries(name()), id));
        }
        return least;
      }
      case Kind::multi:
        return std::min(left(names()[0], held.owner), left(names()[1], held.owner));
      case Kind::any:
        return std::max(left(names()[0], held.owner), left(names()[1], held.owner));
      default:
        return left(name(), held.owner);
    }
  }
  bool is_free() {
    if (kind() == Kind::permits) {
      // Those whose leases are over come back with whoever asks next.
      const Ground::Permits permits = ground().permits(wire::permits::expiries(name()));
      return permits.taken == permits.over && ground().text(name()) == std::to_string(kPermits - permits.over);
    }
    return std::ranges::all_of(names(), [&](const std::string& each) { return ground().left(each) <= 0ms; });
  }

  // ---- what must be so ----

  void disagree(const std::string& what) {
    driver().disagree(std::string(to_string(kind())) + " " + name() + ": " + what + "; before:" + notes_);
  }
  void disagree(const Held& held, const std::string& what) { disagree(held.owner + ": " + what); }
  void note(const Held& held, const std::string& what) {
    driver().count(what);
    notes_ += "\n  " + ms(Clock::now() - began_) + " " + std::to_string(held.client) + " " + held.owner + " " + what;
  }
  /// Never valid for longer than the server has it; never two at once that must not be.
  void look(Held& held, const char* behind) {
    const TimePoint before = Clock::now();
    const Duration valid = held.hold.valid_for();
    if (valid <= 0ms) return look_at_loss(held, before);
    held.certain = before + valid;
    const Duration left = this->left(held);
    const TimePoint after = Clock::now();
    if (before + valid > after + left + kRounding) {
      disagree(held, std::string("behind ") + behind + " it is valid for " + ms(valid) +
                         ", and the server has it for another " + ms(left) + ", asked " + ms(after - before) +
                         " later");
    }
    look_beside(held);
  }
  /// Nobody takes it from anybody here.
  void look_at_loss(const Held& held, TimePoint now) {
    if (held.hold.loss_reason() == LossReason::taken && now < held.certain) {
      disagree(held, "it is lost as taken " + ms(held.certain - now) + " before its end");
    }
  }
  void look_beside(const Held& held) {
    std::int64_t permits = 0;
    for (const HeldPtr& other : held_) {
      if (other->hold.valid_for() <= 0ms) continue;
      permits += other->permits;
      if (other.get() == &held || kind() == Kind::permits) continue;
      if (kind() == Kind::any && other->hold.name() != held.hold.name()) continue;
      const auto reads = [](const Held& each) { return each.reads || each.may_read; };
      if (!reads(held) || !reads(*other)) disagree(held, "it is held beside " + other->owner);
    }
    if (kind() == Kind::permits && permits > kPermits) disagree(held, std::to_string(permits) + " permits are held");
  }
  static std::string ms(Duration time) {
    return std::to_string(std::chrono::duration_cast<milliseconds>(time).count()) + " ms";
  }

  // ---- what callers do ----

  awaitable<void> set_permits() {
    const LeasedSemaphore semaphore = ground().client(some_client()).leased_semaphore(name());
    while (driver().goes_on() && ground().text(name()) != std::to_string(kPermits)) {
      const Signal never = cancelled_sometimes(0);
      const auto call = running("set");
      co_await semaphore.async_init(kPermits, answer(never));
    }
  }

  void on_end(const std::exception_ptr& thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      driver().disagree(std::string(to_string(kind())) + " " + name() + ": a caller ends with " + error.what());
    }
  }

  awaitable<void> caller(std::size_t client) {
    for (std::uint64_t rounds = 1 + dice(3); rounds > 0 && driver().goes_on(); --rounds) {
      const HeldPtr held = co_await acquire(client);
      if (!held) continue;
      held_.push_back(held);
      look(*held, "its grant");
      bool has_it = true;
      for (std::uint64_t steps = dice(5); steps > 0 && has_it && driver().goes_on(); --steps) {
        has_it = co_await step(held);
        if (has_it) look(*held, "a step");
      }
      if (has_it) co_await end(held);
      std::erase(held_, held);
    }
  }

  awaitable<HeldPtr> acquire(std::size_t client) {
    const auto held = std::make_shared<Held>();
    held->client = client;
    held->reads = kind() == Kind::read_write && share(50);
    held->permits = kind() == Kind::permits ? static_cast<std::uint32_t>(1 + dice(kPermits)) : 1;
    held->fixed = share(60);
    AcquireOptions options;
    options.wait = one_of<milliseconds>({0ms, 20ms, 300ms});
    const milliseconds length = one_of<milliseconds>({400ms, 2s, 30s, 60s});
    options.lease = held->fixed ? fixed(length) : renewed(std::max<milliseconds>(length, 1s));
    const Signal cancel = cancelled_sometimes(25);
    const BasicLock its = lock(client, *held);
    const auto call = running("acquire");
    auto [failure, hold] = co_await its.async_acquire(options, answer(cancel));
    held->hold = std::move(hold);
    held->owner = held->hold.owner();
    note(*held, std::string("acquire: ") + (failure ? failure.code().message() : "granted"));
    co_return failure ? nullptr : held;
  }

  /// False: it is not held here any more.
  awaitable<bool> step(const HeldPtr& held) {
    switch (dice(4)) {
      case 0:
        if (!held->fixed || kind() == Kind::multi) break;
        for (std::uint64_t times = 1 + dice(3); times > 0; --times) {
          if (share(50)) {
            co_await extend(held);
          } else {
            asio::co_spawn(ground().context(), extend(held), asio::detached);
          }
          look(*held, "the begin of an extension");
        }
        co_return true;
      case 1:
        if (kind() != Kind::read_write || held->reads) break;
        co_await downgrade(held);
        co_return true;
      case 2:
        // What was asked before may arrive behind the adoption.
        if (!travels() || held->asking > 0 || held->in_doubt || held->hold.valid_for() < 5s) break;
        co_return co_await travel(held);
      default:
        break;
    }
    co_await driver().pause(std::chrono::microseconds(dice(2'000)));
    co_return true;
  }

  awaitable<void> extend(HeldPtr held) {
    const auto self = shared_from_this();
    ++held->asking;
    const Signal cancel = cancelled_sometimes(40);
    const milliseconds length = one_of<milliseconds>({400ms, 1s, 5s, 20s, 60s});
    const auto call = running("extend");
    const auto [failure] = co_await held->hold.async_extend(length, answer(cancel));
    --held->asking;
    note(*held, std::string("extend: ") + (failure ? failure.code().message() : "extended"));
    held->in_doubt = held->in_doubt || failure;
    if (std::ranges::find(held_, held) != held_.end()) look(*held, "the end of an extension");
  }

  awaitable<void> downgrade(const HeldPtr& held) {
    held->may_read = true;
    const Signal cancel = cancelled_sometimes(50);
    const ReadWriteLock its = ground().client(held->client).read_write_lock(name());
    const auto call = running("downgrade");
    const auto [failure] = co_await its.async_downgrade(held->hold, answer(cancel));
    note(*held, std::string("downgrade: ") + (failure ? failure.code().message() : "reads"));
    held->in_doubt = held->in_doubt || failure;
    if (!failure) held->reads = true;
  }

  /// By a ticket to another client. True: it has arrived.
  awaitable<bool> travel(const HeldPtr& held) {
    const milliseconds valid = held->hold.valid_for();
    std::string ticket;
    try {
      ticket = held->hold.detach();
    } catch (const Error&) {
      co_return false;  // it has ended just now
    }
    held->client = some_client();
    users_.push_back(held->client);
    const KeyLock its = key_lock(held->client);
    const TimePoint until = Clock::now() + valid;
    for (int tries = 0; tries < 20; ++tries) {
      const Signal cancel = cancelled_sometimes(30);
      AdoptOptions options;
      options.lease = held->fixed ? Lease(Lease::Kind::fixed, {}) : Lease(Lease::Kind::renewed, {});
      const auto call = running("adopt");
      auto [failure, hold] = co_await its.async_adopt(ticket, options, answer(cancel));
      note(*held, std::string("adopt: ") + (failure ? failure.code().message() : "adopted"));
      if (!failure) {
        held->hold = std::move(hold);
        co_return true;
      }
      if (failure.code() == Errc::lost && Clock::now() < until) disagree(*held, "it is lost on its way");
      if (failure.code() == Errc::lost) co_return false;
    }
    is_left_ = true;
    co_return false;
  }

  awaitable<void> end(const HeldPtr& held) {
    const auto call = running("end");
    const auto how = dice(100);
    if (how < 15) {
      note(*held, held->hold.valid_for() > 0ms ? "drop: valid" : "drop: lost");
      held->hold = {};
      co_return;
    }
    if (how < 30) {
      is_left_ = true;
      note(*held, "leave");
      held->hold.leave(one_of<milliseconds>({1ms, 300ms, 10s}));
      co_return;
    }
    const TimePoint before = Clock::now();
    const TimePoint until = before + held->hold.valid_for();
    const bool was_valid = until > before;
    const Signal cancel = cancelled_sometimes(25);
    const auto [outcome] = co_await held->hold.async_release(answer(cancel));
    note(*held, std::string("release: ") + holdfast::to_string(outcome));
    if (outcome == ReleaseOutcome::was_lost && was_valid && Clock::now() < until) {
      disagree(*held, "its release says that it was lost, " + ms(until - Clock::now()) + " before its end");
    }
    // Of two of one client the first to end leaves it to the other, who may have ended since, and not have been
    // answered.
    const bool alone = std::ranges::count(users_, held->client) == 1;
    if (outcome == ReleaseOutcome::released && was_valid && alone && !is_left_ && left(*held) > 0ms) {
      disagree(*held, "it is released, and the server has it for another " + ms(left(*held)));
    }
  }

  /// In the end nobody has it, but who has left it.
  awaitable<void> settle() {
    const TimePoint until = Clock::now() + kSettling;
    auto next = 200us;
    bool over = is_left_ || is_free();  // what was given up may still come, and goes again
    while (!over && Clock::now() < until) {
      co_await driver().pause(next);
      next = std::min(next * 2, 20'000us);
      over = is_free();
    }
    if (!over) {
      std::string left;
      for (const std::string& each : names()) left += " " + ms(ground().left(each));
      disagree("nobody has it, and it is not free:" + left);
    }
    for (const std::string& each : names()) ground().remove(each);
    if (kind() == Kind::permits) ground().remove(wire::permits::expiries(name()));
  }

  std::vector<HeldPtr> held_;
  std::size_t callers_ = 0;
  std::vector<std::size_t> users_;  // the clients of the callers, and those that adopt
  std::string notes_;
  const TimePoint began_ = Clock::now();
  bool is_left_ = false;  // it may stay for a while, or it is not known
};

}  // namespace

awaitable<void> tell_of_holds(Driver& driver, Kind kind, std::string name, std::uint64_t seed) {
  const auto story = std::make_shared<HoldStory>(driver, kind, std::move(name), seed);
  co_await story->tell();
}

}  // namespace holdfast::test::answers
