// SPDX-License-Identifier: Apache-2.0
// The model of a cluster against a real one, while a slot is under way: each script, wherever each of its keys is, at
// the node that the slot leaves and at the one that it comes to.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "kinds/any_lock.hpp"
#include "kinds/fair_lock.hpp"
#include "kinds/fenced_lock.hpp"
#include "kinds/latch.hpp"
#include "kinds/leased_semaphore.hpp"
#include "kinds/lock.hpp"
#include "kinds/read_write_lock.hpp"
#include "kinds/semaphore.hpp"
#include "oracle/comparison.hpp"
#include "oracle/same.hpp"
#include "oracle/sides.hpp"
#include "redis/decide/redirect.hpp"
#include "sim/model/model_cluster.hpp"
#include "support/cluster.hpp"

namespace holdfast::test::oracle::slot_under_way_test {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;
using std::chrono::milliseconds;

constexpr milliseconds kLease = 60s, kLonger = 600s;

enum Node : std::uint8_t { from, to };

/// Two nodes of each sort, and one slot that goes from the first to the second.
class Clusters {
 public:
  Clusters() : real_(ClusterOptions{.primaries = 2, .replicas = 0}), model_(time_, settings()) {
    name_ = real_.name_on(real_.node(from));
    slot_ = real_.slot_of(name_);
    for (const Node node : {from, to}) {
      raws_[node] = std::make_unique<Raw>(real_.node(node));
      sessions_[node] = model_.server(node).connect([this, node](const std::string& bytes) { said_[node].add(bytes); });
      sessions_[node]->resp3 = true;
    }
  }

  const std::string& name() const { return name_; }

  /// Empty, and the slot does not move.
  void clear() {
    for (const Node node : {from, to}) {
      raws_[node]->command("CLUSTER", "SETSLOT", slot_, "STABLE");
      raws_[node]->command("FLUSHALL");
      model_.member(node).settle(static_cast<std::uint16_t>(slot_));
      model_.server(node).change([](Keyspace& keys) { keys.clear(); });
    }
  }

  std::vector<std::string> keys() {
    std::vector<std::string> keys;
    for (const auto& [key, value] : model_.server(from).keyspace_now().all()) keys.push_back(key);
    std::ranges::sort(keys);
    return keys;
  }

  void begin_move() {
    raws_[to]->command("CLUSTER", "SETSLOT", slot_, "IMPORTING", real_.id_of(real_.node(from)));
    raws_[from]->command("CLUSTER", "SETSLOT", slot_, "MIGRATING", real_.id_of(real_.node(to)));
    model_.member(to).set_importing(static_cast<std::uint16_t>(slot_));
    model_.member(from).set_migrating(static_cast<std::uint16_t>(slot_), to);
  }

  void move(const std::string& key) {
    const Reply moved = raws_[from]->command("MIGRATE", "127.0.0.1", real_.node(to).port(), key, 0, 30'000);
    if (moved.text != "OK") throw std::runtime_error("MIGRATE: " + moved.text);
    const Keyspace::Value value = model_.server(from).keyspace_now().all().at(key);
    model_.server(to).change([&](Keyspace& keys) { keys.apply(key, value); });
    model_.server(from).change([&](Keyspace& keys) { keys.apply(key, std::nullopt); });
  }

  /// Empty: both say the same.
  std::string compare(Node node, const Words& words) {
    if (node == to) {
      raws_[node]->command("ASKING");
      ask_model(node, {"ASKING"});
    }
    const bool scored = words.front() == "ZRANGE";
    const Reply real = scored ? in_order(raws_[node]->send(words)) : raws_[node]->send(words);
    const Reply model = scored ? in_order(ask_model(node, words)) : ask_model(node, words);
    if (same(real, model)) return {};
    return "real: " + to_string(real) + ", model: " + to_string(model);
  }

  /// Empty: both have the same keys, with the same values and about the same ends.
  std::string compare_keys(const std::set<std::string>& keys) {
    for (const std::string& key : keys) {
      for (const Node node : {from, to}) {
        for (const Words& look : looks(key)) {
          if (std::string parted = compare(node, look); !parted.empty()) {
            return key + (node == from ? " where the slot comes from" : " where it goes to") + ", " + look.front() +
                   ": " + parted;
          }
        }
      }
    }
    return {};
  }

 private:
  static ClusterSettings settings() {
    ClusterSettings settings{.primaries = 2, .replicas = 0};
    settings.server.likeness = likeness_of_server();
    return settings;
  }

  /// Each is an error for all types but one, and says nothing where the order in which a set is listed differs.
  static std::vector<Words> looks(const std::string& key) {
    return {{"PTTL", key},
            {"GET", key},
            {"HLEN", key},
            {"HGET", key, "mode"},
            {"LRANGE", key, "0", "-1"},
            {"ZRANGE", key, "0", "-1", "WITHSCORES"}};
  }

  /// Without their scores; those whose scores are as good as the same, since they end with the same lease, by name.
  static Reply in_order(Reply scored) {
    constexpr double kSame = 50;  // ms
    std::vector<std::pair<double, Reply>> all;
    for (std::size_t i = 0; i + 1 < scored.elements.size(); i += 2) {
      all.emplace_back(std::stod(scored.elements[i + 1].text), std::move(scored.elements[i]));
    }
    const auto swapped = [](const auto& one, const auto& other) {
      return other.first - one.first < kSame && other.second.text < one.second.text;
    };
    for (auto at = std::ranges::adjacent_find(all, swapped); at != all.end();
         at = std::ranges::adjacent_find(all, swapped)) {
      std::iter_swap(at, at + 1);
    }
    scored.elements.clear();
    for (auto& [score, member] : all) scored.elements.push_back(std::move(member));
    return scored;
  }

  Reply ask_model(Node node, const Words& words) {
    time_.run_what_is_due();
    model_.server(node).receive(sessions_[node], encoded(words));
    return said_[node].take().back().what;
  }

  Cluster real_;
  PassingTime time_;
  ModelCluster model_;
  std::string name_;
  int slot_ = 0;
  std::array<std::unique_ptr<Raw>, 2> raws_;
  std::array<Hearing, 2> said_;
  std::array<ModelServer::SessionPtr, 2> sessions_;
};

wire::Owner owner(int number) { return {"9b2e5b0e-0000-8000-8000-00000000000" + std::to_string(number) + ":1"}; }
wire::Owner reader(int number) {
  wire::Owner reader = owner(number);
  reader.ask.mode = wire::Mode::shared;
  return reader;
}

struct Case {
  const char* name;
  /// The keys that there are before the slot moves.
  std::vector<base::Command> before;
  /// What is sent then; and its other forms.
  base::Command sent;
};

/// Of names that are alive as long as the calls refer to them.
class Cases {
 public:
  explicit Cases(const std::string& name)
      : lock_(wire::lock::names(name)),
        fair_(wire::fair::names(name)),
        rw_(wire::read_write::names(name)),
        permits_(wire::permits::names(name)),
        semaphore_(wire::semaphore::names(name)),
        latch_(wire::latch::names(name)) {}

  std::vector<Case> all() {
    namespace rw = wire::read_write;
    const std::vector<base::Command> two_read{read(1, kLease), read(2, kLonger)};
    const std::vector<base::Command> written{rw::acquire_write({{&rw_, 1}, a, kLease})};
    const std::vector<base::Command> queued{fair(1), fair(2), fair(3)};
    const std::vector<base::Command> some{semaphore("set", 3)};
    const std::vector<base::Command> taken{wire::permits::set_total({permits_, 3}), permit(1)};
    return {
        {"read_write: a reader comes", two_read, read(3, kLease)},
        {"read_write: a reader comes first", {}, read(3, kLease)},
        {"read_write: a writer comes", two_read, rw::acquire_write({{&rw_, 1}, c, kLease})},
        {"read_write: a reader goes", two_read, rw::release_read({{&rw_, 1}, r1})},
        {"read_write: the writer goes", written, rw::release_write({{&rw_, 1}, a})},
        {"read_write: a reader is renewed", two_read, rw::renew({{rw_.key, r1.text, wire::Mode::shared}}, kLonger)},
        {"read_write: the writer is renewed", written, rw::renew({{rw_.key, a.text}}, kLonger)},
        {"read_write: the writer reads", written, rw::downgrade({rw_, a, a, kLonger})},
        {"read_write: force", two_read, rw::force_release(rw_, r1)},
        {"read_write: look", two_read, rw::holders(rw_.key)},
        {"fair: a waiter comes", queued, fair(4)},
        {"fair: free", {}, fair(4)},
        {"fair: the holder goes", queued, wire::fair::release({.names = {&fair_, 1}, .owner = a, .turn = 5s})},
        {"fair: a waiter goes", queued, wire::fair::leave({.names = {&fair_, 1}, .owner = b, .turn = 5s})},
        {"fair: force", queued, wire::fair::force_release(fair_)},
        {"fenced: free", {fenced(1), wire::lock::release({{&lock_, 1}, a})}, fenced(2)},
        {"fenced: taken", {fenced(1)}, fenced(2)},
        {"permits: one more", taken, permit(2)},
        {"permits: the first", {taken.front()}, permit(2)},
        {"permits: one goes", taken, wire::permits::release({{&permits_, 1}, a})},
        {"permits: renewed", taken, wire::permits::renew({{permits_.key, a.text}}, kLonger)},
        {"permits: total", taken, wire::permits::set_total({permits_, 5})},
        {"semaphore: acquire", some, semaphore("acquire", 2)},
        {"semaphore: add", some, semaphore("add", 2)},
        {"semaphore: again", {semaphore("set", 3), semaphore("add", 2)}, semaphore("add", 2)},
        {"latch: a step", {latch("set", 3)}, latch("step", 1)},
        {"EXISTS of two", two_read, {{"EXISTS", rw_.key, rw::hold_key(rw_.key, r1.text)}}},
    };
  }

 private:
  base::Command read(int number, milliseconds lease) {
    readers_.push_back(std::make_unique<wire::Owner>(reader(number)));
    return wire::read_write::acquire_read({{&rw_, 1}, *readers_.back(), lease});
  }
  base::Command fair(int number) {
    const wire::Owner own = owner(number);
    return wire::fair::acquire({.names = {&fair_, 1}, .owner = own, .lease = kLease, .turn = 50s});
  }
  base::Command fenced(int number) {
    const wire::Owner own = owner(number);
    return wire::fenced::acquire({{&lock_, 1}, own, kLease});
  }
  base::Command permit(int number) {
    const wire::Owner own = owner(number);
    return wire::permits::acquire({{&permits_, 1}, own, kLease});
  }
  base::Command semaphore(const std::string& what, int number) {
    const wire::Once once{owner(1).text + ":" + what, 60s};
    if (what == "set") return wire::semaphore::set({semaphore_, number, once, Publish::publish}, std::nullopt);
    if (what == "add") return wire::semaphore::add({semaphore_, number, once, Publish::publish});
    wire::Owner own = owner(1);
    own.ask.permits = static_cast<std::uint32_t>(number);
    return wire::semaphore::acquire({.names = {&semaphore_, 1}, .owner = own, .lease = kLease, .once = once});
  }
  base::Command latch(const std::string& what, int number) {
    const wire::Once once{owner(1).text + ":" + what, 60s};
    if (what == "set") return wire::latch::set({latch_, number, once, Publish::publish});
    return wire::latch::count_down({latch_, number, once, Publish::publish});
  }

  const wire::LockNames lock_, fair_, rw_, permits_, semaphore_, latch_;
  const wire::Owner a = owner(1), b = owner(2), c = owner(3), r1 = reader(1);
  std::vector<std::unique_ptr<wire::Owner>> readers_;
};

/// The command, and what is sent in its place where its keys are apart.
std::vector<std::pair<Node, base::Command>> forms_of(const base::Command& command) {
  std::vector<std::pair<Node, base::Command>> forms{{from, command}, {to, command}};
  if (command.script == nullptr) return forms;
  if (command.pieces != nullptr) {
    const base::Command alone = command.pieces(command).back();
    forms.insert(forms.end(), {{from, alone}, {to, alone}});
  }
  if (command.script->of_first_key != nullptr && command.args.front() != "1") {
    forms.emplace_back(to, redis::cluster::of_first_key(command));
  }
  return forms;
}

TEST(SlotUnderWay, TheModelDoesWhatTheServersDoWhereverEachKeyIs) {
  Clusters clusters;
  Cases cases(clusters.name());
  std::size_t compared = 0;
  for (const Case& each : cases.all()) {
    std::size_t keys = 0;
    for (std::size_t gone = 0; gone < (std::size_t{1} << keys) || gone == 0; ++gone) {
      for (const auto& [node, form] : forms_of(each.sent)) {
        clusters.clear();
        for (const base::Command& command : each.before) {
          const std::string parted = clusters.compare(from, words_of(command));
          ASSERT_EQ(parted, "") << each.name << ", before";
        }
        const std::vector<std::string> all = clusters.keys();
        keys = all.size();
        clusters.begin_move();
        std::string moved;
        for (std::size_t i = 0; i < keys; ++i) {
          if ((gone >> i & 1U) == 0) continue;
          clusters.move(all[i]);
          moved += " " + all[i];
        }
        const std::string where = std::string(each.name) +
                                  (node == from ? ", where the slot comes from" : ", where it goes to") +
                                  ", with as many keys as " + form.args.front() + ", moved:" + moved;
        EXPECT_EQ(clusters.compare(node, words_of(form)), "") << where;
        std::set<std::string> known(all.begin(), all.end());
        if (each.sent.script != nullptr) {
          known.insert(each.sent.args.begin() + 1, each.sent.args.begin() + 1 + std::stoi(each.sent.args.front()));
        }
        EXPECT_EQ(clusters.compare_keys(known), "") << where;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 300U);
}

}  // namespace
}  // namespace holdfast::test::oracle::slot_under_way_test
