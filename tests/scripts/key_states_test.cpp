// SPDX-License-Identifier: Apache-2.0
// Kinds of several keys, of which one is missing, expired, of another type, or somebody else's: every call in every
// such state. What must be true of all is checked; what each does stands in key_states.golden (HOLDFAST_WRITE_GOLDEN=1
// writes it anew).
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include "scripts/key_states_check.hpp"
#include "support/paths.hpp"

namespace holdfast::test::key_states_test {
namespace {

using namespace key_states;

enum class Of { nothing, missing, expired, another_type, somebody_else };
constexpr Of kAll[] = {Of::nothing, Of::missing, Of::expired, Of::another_type, Of::somebody_else};
constexpr const char* kWords[] = {"as it is", "missing", "expired", "of another type", "somebody else's"};

Value of_another_type(const Key& key) { return key.type == "list" ? table::text("x") : table::list({"x"}); }
Value somebody_elses(const Key& key) {
  constexpr long long kLonger = 400'000;  // than anything in a scene
  if (key.type == "hash") return table::hash({{kB.text, "1"}}, kLonger);
  if (key.type == "list") return table::list({kB.text});
  if (key.type == "zset") return table::zset({{"0123456789abcdef", 300'000}, {kB.text, 300'000}});
  return table::text(kB.text, kLonger);
}

class Golden {
 public:
  explicit Golden(const std::string& name) : path_(source_path("tests/scripts/" + name)) {
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
      const std::size_t end = line.find(" => ");
      if (end != line.npos) known_[line.substr(0, end)] = line.substr(end + 4);
    }
  }
  /// Of one state: a line for all its calls.
  void say(const std::string& state, const std::string& call, const std::string& result) {
    std::string& line = said_[state];
    line += (line.empty() ? "" : "; ") + call + ": " + result;
  }
  void expect() const {
    if (std::getenv("HOLDFAST_WRITE_GOLDEN") != nullptr) {
      std::ofstream file(path_);
      for (const auto& [state, line] : said_) file << state << " => " << line << "\n";
      return;
    }
    std::size_t different = 0;
    for (const auto& [state, line] : said_) {
      const auto known = known_.find(state);
      if (known != known_.end() && known->second == line) continue;
      if (++different <= 20) {
        ADD_FAILURE() << state << "\n  is:     " << line
                      << "\n  golden: " << (known == known_.end() ? "nothing" : known->second);
      }
    }
    EXPECT_EQ(different, 0U);
    EXPECT_EQ(known_.size(), said_.size());
  }

 private:
  const std::string path_;
  std::map<std::string, std::string> known_, said_;
};

class Server {
 public:
  State read(const std::set<std::string>& names) {
    State state;
    for (const std::string& name : names) {
      if (std::optional<Value> value = place_.get(name)) state[name] = std::move(*value);
    }
    return state;
  }
  void set_up(const State& state) {
    place_.command("FLUSHALL");
    for (const auto& [key, value] : state) place_.put(key, value);
  }

  /// False: there is no such state.
  bool bring(const Scene& scene, const Key& key, Of of) {
    State state = scene.state;
    if (of == Of::another_type) state[key.name] = of_another_type(key);
    if (of == Of::somebody_else) state[key.name] = somebody_elses(key);
    if (of == Of::missing && state.erase(key.name) == 0) return false;
    if (of == Of::expired && !state.contains(key.name)) return false;
    set_up(state);
    if (of == Of::expired) {
      place_.command("PEXPIRE", key.name, 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  void try_call(const Kind& kind, const std::set<std::string>& names, const Call& call, const std::string& title) {
    SCOPED_TRACE(title + " | " + call.title);
    const State before = read(names);
    messages_.clear();
    Outcome outcome{place_.call(call.command)};
    outcome.words = words_of(outcome.reply);
    outcome.after = read(names);
    expect_right(kind, call, before, outcome);
    const std::vector<Message> told = messages_.messages();
    const auto changed = changes(before, outcome.after);
    EXPECT_TRUE(told.empty() || !changed.empty()) << "nothing was changed, and somebody is told";
    expect_alone(kind, names, call, outcome);
    for (const auto& [key, how] : changed) outcome.words += ", " + key + " " + how;
    for (const Message& message : told) outcome.words += ", told " + message.payload;
    golden.say(title, call.title, outcome.words);
  }

  Golden golden{"key_states.golden"};

 private:
  /// Once more changes nothing; and nobody else gets what was granted.
  void expect_alone(const Kind& kind, const std::set<std::string>& names, const Call& call, const Outcome& outcome) {
    if (call.rule != Rule::asks_again) {
      messages_.clear();
      place_.call(call.command);
      EXPECT_TRUE(changes(outcome.after, read(names)).empty()) << "it is not the same twice";
      EXPECT_TRUE(messages_.messages().empty()) << "somebody is told twice";
    }
    if (!granted(outcome.reply)) return;
    if (call.rule == Rule::takes || call.rule == Rule::asks_again) expect_none_granted(kind.rivals);
    if (call.rule == Rule::takes_shared) expect_none_granted(kind.lone_rivals);
  }
  void expect_none_granted(const std::vector<base::Command>& rivals) {
    for (const base::Command& rival : rivals) {
      const Reply reply = place_.call(rival);
      EXPECT_FALSE(granted(reply)) << "another gets it as well: " << rival.script->name;
    }
  }

  RedisServer server_;
  Place place_{server_};
  Subscriber messages_{server_};
};

TEST(KeyStates, OnOneServer) {
  Server server;
  std::size_t cells = 0;
  std::set<std::string> scripts;
  for (const Kind& kind : all_kinds()) {
    const std::set<std::string> names = names_of(kind);
    for (const Scene& scene : kind.scenes) {
      for (const Key& key : kind.keys) {
        for (const Of of : kAll) {
          if (of == Of::nothing && &key != &kind.keys.front()) continue;
          for (const Call& call : kind.calls) {
            if (!server.bring(scene, key, of)) continue;
            const std::string what = of == Of::nothing ? "all as it is" : key.name + " " + kWords[static_cast<int>(of)];
            server.try_call(kind, names, call, kind.title + " | " + scene.title + " | " + what);
            scripts.insert(std::string(call.command.script->name));
            ++cells;
          }
        }
      }
    }
  }
  server.golden.expect();
  std::cout << "cells on one server: " << cells << std::endl;
  std::set<std::string> all;
  for (const base::Script* script : all_scripts()) all.insert(std::string(script->name));
  EXPECT_THAT(scripts, testing::ContainerEq(all)) << "each script has its cells";
}

}  // namespace
}  // namespace holdfast::test::key_states_test
