// SPDX-License-Identifier: Apache-2.0
// Everything that counts, once for each reply and for each command that can be lost on the way: what is sent again
// counts once, what is given up comes back, and in the end no permit and no step is there too often, or missing.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <gtest/gtest.h>

#include <holdfast/async.hpp>

#include "kinds/leased_semaphore.hpp"
#include "kinds/scripts.hpp"
#include "sim/model/model_server.hpp"
#include "sim/network.hpp"
#include "sim/process.hpp"

namespace holdfast::test::sim::lost_replies_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace scripts = wire::scripts;

/// What is lost of the n-th exchange: the server's answer, or what it was asked; its connection goes with it.
enum class Lost { reply, command };

/// What callers were told, one after another.
using Said = std::vector<std::int64_t>;
using Work = std::function<asio::awaitable<void>(const Client& client, Said& said)>;

struct Wrong {
  const base::Script* script = nullptr;
  Transition instead = nullptr;
};

class Trial {
 public:
  Trial(Lost lost, int number, std::chrono::milliseconds lease, const Wrong& wrong)
      : lost_(lost), left_(number), lease_(lease) {
    network_.add(server_);
    if (wrong.script != nullptr) server_.plant(*wrong.script, wrong.instead);
    network_.watch([this](const Process&, char direction, int, std::string_view) {
      if (direction == (lost_ == Lost::reply ? '<' : '>') && --left_ == 0) lose();
    });
  }
  ~Trial() {
    process_.inside([this] { client_.reset(); });
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// Does this as the client's process, until it is over and everything has come back.
  Said run(const Work& work) {
    Said said;
    process_.inside([&] {
      Config config;
      config.server = NodeAddress{server_.place().host};
      config.label = "counting";  // instead of the program's name
      config.timing.command_timeout = 50ms;
      config.lease = lease_;
      config.timing.patience = 1min;
      client_.emplace(client_on(process_.context(), config));
      asio::co_spawn(process_.context(), work(*client_, said), [this](const std::exception_ptr& failed) {
        over_ = true;
        failed_ = failed != nullptr;
      });
    });
    world_.run_until(5min, [this] { return over_; });
    world_.run(10s);
    return said;
  }
  bool has_ended_well() const { return over_ && !failed_; }
  bool has_lost() const { return left_ <= 0; }
  std::string text(const std::string& key) {
    const std::string* const text = server_.keyspace_now().text(key);
    return text == nullptr ? "nothing" : *text;
  }
  std::size_t leased(const std::string& key) {
    return server_.keyspace_now().scores(wire::permits::expiries(key)).size();
  }
  bool is_free(const std::string& key) { return server_.owners(key).empty(); }

 private:
  /// The next portion. The client notices at once, or by its own time limit.
  void lose() {
    if (lost_ == Lost::reply) return network_.lose_next_reply(process_);
    network_.swallow(process_, Network::Way::to_server);
  }

  const Lost lost_;
  int left_;
  const std::chrono::milliseconds lease_;
  World world_{1};
  ModelServer server_{world_};
  Network network_{world_};
  Process process_{world_, 1};
  std::optional<Client> client_;
  bool over_ = false, failed_ = false;
};

/// Nothing that is lost here lasts as long; nor as short.
constexpr std::chrono::milliseconds kLong = 30s, kShort = 100ms;

class EachLost : public testing::TestWithParam<Lost> {
 protected:
  /// Of all that are lost, one after another, the first that `is_right` does not find right; 0: none.
  static int first_wrong(const Work& work, const std::function<bool(Trial& trial, const Said& said)>& is_right,
                         std::chrono::milliseconds lease, const Wrong& wrong = {}) {
    for (int number = 1;; ++number) {
      Trial trial(GetParam(), number, lease, wrong);
      const Said said = trial.run(work);
      if (!trial.has_ended_well() || !is_right(trial, said)) return number;
      if (!trial.has_lost()) {
        EXPECT_GT(number, 8) << "all of it was tried";
        return 0;
      }
    }
  }
};

// ---- what is done ----

asio::awaitable<void> use_semaphore(const Client& client, Said& said) {
  const Semaphore semaphore = client.semaphore("s");
  said.push_back(co_await semaphore.async_init(3, asio::use_awaitable) ? 1 : 0);
  co_await semaphore.async_acquire(2, asio::use_awaitable);
  // One attempt, of which the answer may be lost; there are not as many in any case.
  const auto [unknown, taken] = co_await semaphore.async_try_acquire_for(0ms, 2, asio::as_tuple(asio::use_awaitable));
  said.push_back(taken ? 1 : 0);
  said.push_back(co_await semaphore.async_release(2, asio::use_awaitable) ? 1 : 0);
  said.push_back(co_await semaphore.async_add(-1, asio::use_awaitable));
  said.push_back(co_await semaphore.async_drain(asio::use_awaitable));
  said.push_back(co_await semaphore.async_remove(asio::use_awaitable) ? 1 : 0);
  said.push_back(co_await semaphore.async_add(5, asio::use_awaitable));
}

/// Each of a dozen acquires is cancelled a little later than the one before, by the client's own clock, which is
/// simulated; nobody keeps anything.
asio::awaitable<void> give_up_acquires(const Client& client, Said& said) {
  const Semaphore semaphore = client.semaphore("s");
  co_await semaphore.async_add(3, asio::use_awaitable);
  for (int i = 0; i < 12; ++i) {
    const auto signal = std::make_shared<asio::cancellation_signal>();
    client.semaphore("unset").async_try_acquire_for(
        i * 1ms, 1, [signal](const auto&, bool) { signal->emit(asio::cancellation_type::terminal); });
    const auto [failure] = co_await semaphore.async_acquire(
        2, asio::bind_cancellation_slot(signal->slot(), asio::as_tuple(asio::use_awaitable)));
    if (!failure) said.push_back(co_await semaphore.async_release(2, asio::use_awaitable) ? 1 : 0);
  }
}

asio::awaitable<void> use_leased(const Client& client, Said& said) {
  const LeasedSemaphore semaphore = client.leased_semaphore("s");
  said.push_back(co_await semaphore.async_init(3, asio::use_awaitable) ? 1 : 0);
  {
    Hold two = co_await semaphore.with_permits(2).async_acquire(asio::use_awaitable);
    Hold one = co_await semaphore.async_acquire(asio::use_awaitable);
    const auto [unknown, none] = co_await semaphore.async_try_acquire(asio::as_tuple(asio::use_awaitable));
    said.push_back(none ? 1 : 0);
    co_await two.async_release(asio::use_awaitable);
    said.push_back(co_await semaphore.async_set_total(4, asio::use_awaitable));
    said.push_back(co_await semaphore.async_remove(asio::use_awaitable) ? 1 : 0);
    said.push_back(co_await semaphore.async_init(4, asio::use_awaitable) ? 1 : 0);
    co_await one.async_release(asio::use_awaitable);
  }
  said.push_back(co_await semaphore.async_add(1, asio::use_awaitable));
}

/// By the client's own clock, which is simulated: it waits for what nobody will ever set.
asio::awaitable<std::int64_t> add_later(LeasedSemaphore semaphore, Semaphore unset, std::chrono::milliseconds delay) {
  const auto [over, taken] = co_await unset.async_try_acquire_for(delay, 1, asio::as_tuple(asio::use_awaitable));
  co_return co_await semaphore.async_add(3, asio::use_awaitable);
}

/// Totals, and what somebody adds at about the same time: whichever is first, the other counts as well.
asio::awaitable<void> total_and_add(const Client& client, Said& said) {
  using namespace asio::experimental::awaitable_operators;
  const LeasedSemaphore semaphore = client.leased_semaphore("s");
  co_await semaphore.async_init(1, asio::use_awaitable);
  for (int delay = 0; delay < 9; ++delay) {
    co_await semaphore.async_set_total(1, asio::use_awaitable);
    const auto [total, added] = co_await (semaphore.async_set_total(2, asio::use_awaitable) &&
                                          add_later(semaphore, client.semaphore("unset"), delay * 1ms));
    const std::int64_t all = co_await semaphore.async_add(0, asio::use_awaitable);
    const bool added_behind = added == 5 && all == 5;
    const bool added_before = added == 4 && all == 2;
    said.push_back(total == 2 && (added_behind || added_before) ? 1 : 0);
  }
}

asio::awaitable<void> use_latch(const Client& client, Said& said) {
  const Latch latch = client.latch("s");
  said.push_back(co_await latch.async_init(3, asio::use_awaitable) ? 1 : 0);
  said.push_back(co_await latch.async_count_down(1, asio::use_awaitable));
  const auto [unknown, open] = co_await latch.async_wait_for(0ms, asio::as_tuple(asio::use_awaitable));
  said.push_back(open ? 1 : 0);
  said.push_back(co_await latch.async_count_down(2, asio::use_awaitable));
  co_await latch.async_wait(asio::use_awaitable);
  said.push_back(co_await latch.async_init(7, asio::use_awaitable) ? 1 : 0);
  said.push_back(co_await latch.async_remove(asio::use_awaitable) ? 1 : 0);
  said.push_back(co_await latch.async_init(5, asio::use_awaitable) ? 1 : 0);
  said.push_back(co_await latch.async_count_down(1, asio::use_awaitable));
}

const std::vector<std::string> kNames = {"{gpu}:0", "{gpu}:1"};

asio::awaitable<void> use_any(const Client& client, Said& said) {
  const AnyLock any = client.any_lock(kNames);
  Hold first = co_await any.async_acquire(asio::use_awaitable);
  Hold second = co_await any.async_acquire(asio::use_awaitable);
  said.push_back(first.name() == second.name() ? 1 : 0);
  co_await first.async_release(asio::use_awaitable);
  Hold third = co_await any.async_acquire(asio::use_awaitable);
  said.push_back(third.name() == second.name() ? 1 : 0);
  co_await second.async_release(asio::use_awaitable);
  co_await third.async_release(asio::use_awaitable);
}

// ---- what must be so ----

const Said kSemaphoreSays = {1, 0, 1, 2, 2, 1, 5};
bool has_five(Trial& trial, const Said& said) { return said == kSemaphoreSays && trial.text("s") == "5"; }
bool has_three(Trial& trial, const Said&) { return trial.text("s") == "3"; }
const Said kLatchSays = {1, 2, 0, 0, 1, 1, 1, 4};
bool has_four_steps(Trial& trial, const Said& said) { return said == kLatchSays && trial.text("s") == "4"; }
const Said kLeasedSays = {1, 0, 3, 1, 1, 5};
bool has_five_free(Trial& trial, const Said& said) {
  return said == kLeasedSays && trial.text("s") == "5" && trial.leased("s") == 0;
}

bool has_both(Trial&, const Said& said) { return said == Said(9, 1); }

TEST_P(EachLost, OfALeasedSemaphoreATotalDoesNotUndoWhatIsAdded) {
  EXPECT_EQ(first_wrong(total_and_add, has_both, kLong), 0);
}
TEST_P(EachLost, OfASemaphoreNoPermitIsCreatedOrLost) { EXPECT_EQ(first_wrong(use_semaphore, has_five, kShort), 0); }
TEST_P(EachLost, OfASemaphoreWhatIsGivenUpComesBack) { EXPECT_EQ(first_wrong(give_up_acquires, has_three, kShort), 0); }
TEST_P(EachLost, OfALatchNoStepIsCreatedOrLost) { EXPECT_EQ(first_wrong(use_latch, has_four_steps, kShort), 0); }
TEST_P(EachLost, OfALeasedSemaphoreNoPermitIsCreatedOrLost) {
  EXPECT_EQ(first_wrong(use_leased, has_five_free, kLong), 0);
}
TEST_P(EachLost, OfAnyOfSeveralOneOwnerHasEach) {
  const auto each_alone = [](Trial& trial, const Said& said) {
    return said == Said{0, 0} && trial.is_free(kNames[0]) && trial.is_free(kNames[1]);
  };
  EXPECT_EQ(first_wrong(use_any, each_alone, kLong), 0);
}

INSTANTIATE_TEST_SUITE_P(On, EachLost, testing::Values(Lost::reply, Lost::command),
                         [](const auto& each) { return each.param == Lost::reply ? "TheWayBack" : "TheWayThere"; });

// ---- servers that know nothing again, which are found out ----

/// It comes as if for the first time: without the keys behind the kind's own.
template <const base::Script& kScript, std::size_t kOwn>
void count_again(ScriptHost& host, Args keys, Args args, std::string& reply) {
  script_of_sha1(kScript.sha1)->run(host, keys.first(kOwn), args, reply);
}

template <const base::Script& kScript, std::size_t kOwn = 1>
constexpr Wrong counting_again() {
  return {&kScript, count_again<kScript, kOwn>};
}

class LostReply : public EachLost {};

TEST_P(LostReply, IsFoundOutWhereItCountsTwice) {
  EXPECT_GT(first_wrong(use_semaphore, has_five, kShort, counting_again<scripts::semaphore_acquire>()), 0);
  EXPECT_GT(first_wrong(use_semaphore, has_five, kShort, counting_again<scripts::semaphore_release>()), 0);
  EXPECT_GT(first_wrong(use_semaphore, has_five, kShort, counting_again<scripts::semaphore_add>()), 0);
  EXPECT_GT(first_wrong(use_semaphore, has_five, kShort, counting_again<scripts::semaphore_drain>()), 0);
  EXPECT_GT(first_wrong(use_semaphore, has_five, kShort, counting_again<scripts::latch_remove>()), 0);
  EXPECT_GT(first_wrong(use_latch, has_four_steps, kShort, counting_again<scripts::latch_set>()), 0);
  EXPECT_GT(first_wrong(use_latch, has_four_steps, kShort, counting_again<scripts::latch_count_down>()), 0);
  EXPECT_GT(first_wrong(use_latch, has_four_steps, kShort, counting_again<scripts::latch_remove>()), 0);
  EXPECT_GT(first_wrong(use_leased, has_five_free, kLong, counting_again<scripts::permits_add, 2>()), 0);
  EXPECT_GT(first_wrong(use_leased, has_five_free, kLong, counting_again<scripts::permits_remove, 2>()), 0);
  EXPECT_GT(first_wrong(total_and_add, has_both, kLong, counting_again<scripts::permits_set_total, 2>()), 0);
}

TEST_P(LostReply, IsFoundOutWhereNothingIsUndone) {
  const Wrong nothing_undone{&scripts::semaphore_release,
                             [](ScriptHost& host, Args keys, Args args, std::string& reply) {
                               if (keys.size() > 2) return put_null(reply);
                               script_of_sha1(scripts::semaphore_release.sha1)->run(host, keys, args, reply);
                             }};
  EXPECT_GT(first_wrong(give_up_acquires, has_three, kShort, nothing_undone), 0);
}

INSTANTIATE_TEST_SUITE_P(On, LostReply, testing::Values(Lost::reply), [](const auto&) { return "TheWayBack"; });

}  // namespace
}  // namespace holdfast::test::sim::lost_replies_test
