// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include <boost/asio/co_spawn.hpp>

#include "answers/driver.hpp"

namespace holdfast::test::answers {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using base::Clock;
using base::Duration;
using base::TimePoint;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

/// What is counted; empty: there is nothing of this name.
using Value = std::optional<std::int64_t>;

/// One effect that an operation has on the server, once.
struct Effect {
  enum class Kind { set, set_total, add, take, give, drain, count_down };
  Kind kind{};
  std::int64_t number = 0;
};
struct Operation {
  Effect effect;
  std::uint32_t before = 0;  // a bit for each of those whose effects came before this one was begun
  bool over = false;
  bool certain = false;                // it is known to have come about, once
  std::optional<std::int64_t> said{};  // by its answer
};

const char* to_string(Effect::Kind kind) {
  constexpr const char* kNames[] = {"set", "set_total", "add", "take", "give", "drain", "count_down"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// What it says, and leaves.
std::pair<std::int64_t, Value> apply(const Effect& effect, const Value& value, bool closes_at_zero) {
  const std::int64_t now = value.value_or(0);
  switch (effect.kind) {
    case Effect::Kind::set:
      return value ? std::pair<std::int64_t, Value>(0, value) : std::pair<std::int64_t, Value>(1, effect.number);
    case Effect::Kind::set_total:
      return {effect.number, effect.number};
    case Effect::Kind::add:
      return {now + effect.number, now + effect.number};
    case Effect::Kind::take:
      return {1, now - effect.number};
    case Effect::Kind::give:
      return value ? std::pair<std::int64_t, Value>(1, now + effect.number) : std::pair<std::int64_t, Value>(0, value);
    case Effect::Kind::drain:
      return {now, value ? Value(0) : value};
    case Effect::Kind::count_down: {
      const std::int64_t left = std::max<std::int64_t>(now - effect.number, 0);
      return {left, closes_at_zero && left == 0 ? Value() : Value(left)};
    }
  }
  return {};
}

/// Every value that some order of these can leave in which each was answered as it was.
class Orders {
 public:
  Orders(const std::vector<Operation>& operations, bool closes_at_zero)
      : operations_(operations), closes_at_zero_(closes_at_zero) {}

  std::set<Value> from(const Value& begin) {
    go_on(begin, 0, 0);
    return ends_;
  }

 private:
  /// `done`: those that have had their effects, or never will. `taken`: acquires to be undone.
  void go_on(const Value& value, std::uint32_t done, std::uint32_t taken) {
    if (done + 1 == 1U << operations_.size() && taken == 0) ends_.insert(value);
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const std::uint32_t bit = 1U << i;
      const Operation& each = operations_[i];
      if ((taken & bit) != 0) go_on(value.value_or(0) + each.effect.number, done, taken & ~bit);
      if ((done & bit) != 0 || (each.before & ~done) != 0) continue;
      if (!each.certain) go_on(value, done | bit, taken);
      const bool takes = each.effect.kind == Effect::Kind::take;
      if (takes && value.value_or(0) < each.effect.number) continue;
      const auto [says, next] = apply(each.effect, value, closes_at_zero_);
      if (each.said && *each.said != says) continue;
      go_on(next, done | bit, takes && !each.certain ? taken | bit : taken);
    }
  }

  const std::vector<Operation>& operations_;
  const bool closes_at_zero_;
  std::set<Value> ends_;
};

class CountStory final : public Story, public std::enable_shared_from_this<CountStory> {
 public:
  using Story::Story;

  awaitable<void> tell() {
    // What a semaphore's caller gives back may go to another one here, whether or not there is one at the server.
    if ((kind() == Kind::semaphore || share(80)) && !co_await begin()) co_return;
    const Value at_first = value();
    const std::size_t number = 2 + dice(3);
    operations_.reserve(number);
    for (std::size_t i = 0; i < number; ++i) co_await begin_one();
    while (std::ranges::any_of(operations_, [](const Operation& each) { return !each.over; })) {
      co_await driver().pause(300us);
    }
    const std::set<Value> ends = Orders(operations_, kind() == Kind::latch).from(at_first);
    bool settled = co_await settles(ends);
    // Nothing that was asked before counts again.
    co_await driver().pause(share(20) ? 100ms : 1ms);
    settled = settled && co_await settles(ends);
    if (!settled) disagree(at_first, ends);
    ground().remove(name());
  }

 private:
  Value value() {
    const std::optional<std::string> text = ground().text(name());
    return text ? Value(std::stoll(*text)) : Value();
  }

  /// It is set to something first. False: that was not answered, or there is no time.
  awaitable<bool> begin() {
    operations_.push_back({{Effect::Kind::set, static_cast<std::int64_t>(3 + dice(10))}});
    co_await carry_out(0, some_client(), cancelled_sometimes(0));
    const bool is_set = operations_.front().certain;
    operations_.clear();
    co_return is_set;
  }

  Effect some_effect() {
    using Kind = Effect::Kind;
    const auto some = static_cast<std::int64_t>(1 + dice(6));
    switch (kind()) {
      case answers::Kind::semaphore:
        return {one_of({Kind::set, Kind::add, Kind::add, Kind::take, Kind::give, Kind::drain}), some};
      case answers::Kind::totals:
        return {one_of({Kind::set, Kind::add, Kind::set_total, Kind::set_total}), some};
      default:
        return {one_of({Kind::set, Kind::count_down, Kind::count_down, Kind::count_down}), some};
    }
  }

  /// And waits for its answer, or for its effect alone, or for neither.
  awaitable<void> begin_one() {
    const std::size_t number = operations_.size();
    operations_.push_back({some_effect()});
    Operation& its = operations_.back();
    bool alone = true;
    for (std::size_t i = 0; i < number; ++i) {
      // What was given up may go on, or be undone, much later.
      if (operations_[i].certain || (seen_ & 1U << i) != 0) its.before |= 1U << i;
      alone = alone && operations_[i].certain;
    }
    const Value before = value();
    asio::co_spawn(ground().context(), carry_out(number, some_client(), cancelled_sometimes(20)),
                   [self = shared_from_this()](const std::exception_ptr& thrown) {
                     if (thrown) self->driver().disagree("a caller of " + self->name() + " has thrown");
                   });
    const auto how = dice(100);
    if (how < 35) {
      while (!operations_[number].over) co_await driver().pause(200us);
    } else if (how < 80) {
      for (int looks = 0; looks < 20 && !operations_[number].over && value() == before; ++looks) {
        co_await driver().pause(300us);
      }
      if (alone && value() != before) seen_ |= 1U << number;
    }
  }

  awaitable<void> carry_out(std::size_t number, std::size_t client, Signal cancel) {
    const auto self = shared_from_this();
    const Effect effect = operations_[number].effect;
    const auto call = running(to_string(effect.kind));
    Failure failure;
    std::int64_t said = 0;
    switch (kind()) {
      case Kind::semaphore:
        std::tie(failure, said) = co_await ask(ground().client(client).semaphore(name()), effect, cancel);
        break;
      case Kind::totals:
        std::tie(failure, said) = co_await ask(ground().client(client).leased_semaphore(name()), effect, cancel);
        break;
      default:
        std::tie(failure, said) = co_await ask(ground().client(client).latch(name()), effect, cancel);
    }
    driver().count(std::string(to_string(effect.kind)) + ": " + (failure ? failure.code().message() : "answered"));
    Operation& its = operations_[number];
    its.over = true;
    if (failure) co_return;
    if (effect.kind == Effect::Kind::take && said == 0) {
      its.effect.number = 0;  // nothing was taken
      co_return;
    }
    its.certain = true;
    its.said = said;
  }

  using Said = std::pair<Failure, std::int64_t>;
  static awaitable<Said> ask(Semaphore semaphore, Effect effect, Signal cancel) {
    using Kind = Effect::Kind;
    if (effect.kind == Kind::set) co_return co_await said(semaphore.async_init(effect.number, answer(cancel)));
    if (effect.kind == Kind::add) co_return co_await said(semaphore.async_add(effect.number, answer(cancel)));
    if (effect.kind == Kind::give) co_return co_await said(semaphore.async_release(effect.number, answer(cancel)));
    if (effect.kind == Kind::drain) co_return co_await said(semaphore.async_drain(answer(cancel)));
    co_return co_await said(
        semaphore.async_try_acquire_for(10ms, static_cast<std::uint32_t>(effect.number), answer(cancel)));
  }
  static awaitable<Said> ask(LeasedSemaphore semaphore, Effect effect, Signal cancel) {
    using Kind = Effect::Kind;
    if (effect.kind == Kind::set) co_return co_await said(semaphore.async_init(effect.number, answer(cancel)));
    if (effect.kind == Kind::add) co_return co_await said(semaphore.async_add(effect.number, answer(cancel)));
    co_return co_await said(semaphore.async_set_total(effect.number, answer(cancel)));
  }
  static awaitable<Said> ask(Latch latch, Effect effect, Signal cancel) {
    using Kind = Effect::Kind;
    if (effect.kind == Kind::set) co_return co_await said(latch.async_init(effect.number, answer(cancel)));
    co_return co_await said(latch.async_count_down(effect.number, answer(cancel)));
  }
  template <class Call>
  static awaitable<Said> said(Call call) {
    auto [failure, value] = co_await std::move(call);
    co_return Said(std::move(failure), static_cast<std::int64_t>(value));
  }

  /// What was given up may still come, and goes again. False: it does not.
  awaitable<bool> settles(const std::set<Value>& ends) {
    const TimePoint until = Clock::now() + 15s;
    bool over = ends.contains(value());
    while (!over && Clock::now() < until) {
      co_await driver().pause(2ms);
      over = ends.contains(value());
    }
    co_return over;
  }

  void disagree(const Value& at_first, const std::set<Value>& ends) {
    const auto text = [](const Value& value) { return value ? std::to_string(*value) : std::string("nothing"); };
    std::string what = name() + " was " + text(at_first) + ", then";
    for (const Operation& each : operations_) {
      what += std::string(" ") + to_string(each.effect.kind) + " " + std::to_string(each.effect.number);
      if (each.said) what += " (" + std::to_string(*each.said) + ")";
      if (!each.certain) what += " (perhaps)";
      what += " after " + std::to_string(each.before) + ",";
    }
    what += " and is " + text(value()) + " instead of";
    for (const Value& end : ends) what += " " + text(end);
    driver().disagree(std::move(what));
  }

  std::vector<Operation> operations_;
  std::uint32_t seen_ = 0;  // their effects were
};

}  // namespace

awaitable<void> tell_of_counts(Driver& driver, Kind kind, std::string name, std::uint64_t seed) {
  const auto story = std::make_shared<CountStory>(driver, kind, std::move(name), seed);
  co_await story->tell();
}

}  // namespace holdfast::test::answers
