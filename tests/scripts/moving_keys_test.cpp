// SPDX-License-Identifier: Apache-2.0
// Kinds of several keys while their slot moves to another node, of which one key has gone there already, or all, or
// none: every call, sent on as a client sends it on. What must be true of all is checked.
#include <iostream>

#include "scripts/key_states_check.hpp"
#include "support/cluster.hpp"

namespace holdfast::test::moving_keys_test {
namespace {

using namespace key_states;

class Moving {
 public:
  void begin(const std::string& key) {
    slot_ = cluster_.slot_of(key);
    RedisServer& from = cluster_.primary_of(slot_);
    RedisServer& to = &from == &cluster_.node(0) ? cluster_.node(1) : cluster_.node(0);
    cluster_.begin_move(slot_, to);
    source_.emplace(from, false);
    target_.emplace(to, true);
    target_id_ = cluster_.id_of(to);
  }
  /// `moved`: the key that is at the other node already; "*": all are.
  void set_up(const State& state, const std::set<std::string>& names, const std::string& moved) {
    EXPECT_EQ(source_->command("CLUSTER", "SETSLOT", slot_, "STABLE").text, "OK");  // else it makes no new keys
    for (const std::string& name : names) {
      source_->command("DEL", name);
      target_->command("DEL", name);
    }
    for (const auto& [key, value] : state) (moved == "*" || key == moved ? *target_ : *source_).put(key, value);
    EXPECT_EQ(source_->command("CLUSTER", "SETSLOT", slot_, "MIGRATING", target_id_).text, "OK");
  }
  /// As a client: where it is sent, it goes.
  Reply call(const base::Command& command) {
    Reply reply = source_->call(command);
    return reply.is_error() && reply.text.starts_with("ASK ") ? target_->call(command) : reply;
  }
  State read(const std::set<std::string>& names) {
    State state;
    for (const std::string& name : names) {
      std::optional<Value> here = source_->get(name);
      std::optional<Value> there = target_->get(name);
      EXPECT_FALSE(here && there) << name << " is at both nodes";
      if (here) state[name] = std::move(*here);
      if (there) state[name] = std::move(*there);
    }
    return state;
  }

 private:
  Cluster cluster_{{.primaries = 3, .replicas = 0}};
  std::optional<Place> source_, target_;
  std::string target_id_;
  int slot_ = 0;
};

TEST(MovingKeys, LetNothingThrough) {
  Moving moving;
  std::size_t cells = 0;
  std::map<std::string, std::size_t> outcomes;
  for (const Kind& kind : all_kinds()) {
    const std::set<std::string> names = names_of(kind);
    moving.begin(*names.begin());
    for (const Scene& scene : kind.scenes) {
      std::vector<std::string> moved{"", "*"};
      for (const auto& [key, value] : scene.state) moved.push_back(key);
      for (const std::string& key : moved) {
        for (const Call& call : kind.calls) {
          SCOPED_TRACE(kind.title + " | " + scene.title + " | " + (key.empty() ? "none" : key) + " moved | " +
                       call.title);
          moving.set_up(scene.state, names, key);
          const State before = moving.read(names);
          Outcome outcome{moving.call(call.command)};
          outcome.words = words_of(outcome.reply);
          outcome.after = moving.read(names);
          expect_right(kind, call, before, outcome);
          if (granted(outcome.reply) && call.rule != Rule::none && call.rule != Rule::sets) {
            const auto& rivals = call.rule == Rule::takes_shared ? kind.lone_rivals : kind.rivals;
            for (const base::Command& rival : rivals) {
              EXPECT_FALSE(granted(moving.call(rival))) << "another gets it as well: " << rival.script->name;
            }
          }
          if (scene.anothers && (call.title == "force ours" || !call.title.starts_with("force"))) {
            for (const base::Command& rival : kind.lone_rivals.empty() ? kind.rivals : kind.lone_rivals) {
              EXPECT_FALSE(granted(moving.call(rival))) << "what another holds is given away: " << rival.script->name;
            }
          }
          ++outcomes[outcome.reply.is_error() ? outcome.words : "done"];
          ++cells;
        }
      }
    }
  }
  std::cout << "cells while the slot moves: " << cells;
  for (const auto& [words, times] : outcomes) std::cout << "; " << words << ": " << times;
  std::cout << std::endl;
  EXPECT_GT(outcomes["done"], cells / 3) << "the others are refused until all keys are at one node";
}

}  // namespace
}  // namespace holdfast::test::moving_keys_test
