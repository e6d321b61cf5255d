// SPDX-License-Identifier: Apache-2.0
// What must be true of every call, in whatever state the keys are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <holdfast/error.hpp>

#include "redis/decide/errors.hpp"
#include "scripts/key_states.hpp"

namespace holdfast::test::key_states {

using table::kSlack;
using table::Value;

/// One server, or the two nodes between which a slot moves.
class Place {
 public:
  explicit Place(const RedisServer& server) : raw_(server) {}
  /// The target executes only what has been asked for.
  Place(const RedisServer& server, bool asking) : raw_(server), asking_(asking) {}

  template <class... Args>
  Reply command(const Args&... args) {
    ask();
    return raw_.command(args...);
  }
  Reply call(const base::Command& command) {
    ask();
    return run(raw_, command);
  }
  long long now() {
    const Reply time = raw_.command("TIME");
    return std::stoll(time.elements.at(0).text) * 1000 + std::stoll(time.elements.at(1).text) / 1000;
  }
  void put(const std::string& key, const Value& value) {
    command("DEL", key);
    for (const auto& [field, text] : value.fields) command("HSET", key, field, text);
    for (const std::string& item : value.items) command("RPUSH", key, item);
    for (const auto& [member, score] : value.scores) command("ZADD", key, now() + score, member);
    if (value.type == "string") command("SET", key, value.text);
    if (value.ttl != table::kNoExpiry) command("PEXPIRE", key, value.ttl);
  }
  /// Empty: there is nothing, or it has gone to the other node.
  std::optional<Value> get(const std::string& key) {
    const Reply type = command("TYPE", key);
    if (type.is_error() || type.text == "none") return std::nullopt;
    Value value{.type = type.text};
    value.ttl = command("PTTL", key).integer;
    if (value.type == "string") value.text = command("GET", key).text;
    if (value.type == "hash") value.fields = pairs(command("HGETALL", key));
    if (value.type == "list") {
      for (const Reply& item : command("LRANGE", key, 0, -1).elements) value.items.push_back(item.text);
    }
    if (value.type == "zset") {
      const long long now_here = now();
      for (const auto& [member, score] : pairs(command("ZRANGE", key, 0, -1, "WITHSCORES"))) {
        value.scores[member] = static_cast<long long>(std::stod(score)) - now_here;
      }
    }
    return value;
  }

 private:
  void ask() {
    if (asking_) raw_.command("ASKING");
  }
  static std::map<std::string, std::string> pairs(const Reply& reply) {
    std::map<std::string, std::string> all;
    for (std::size_t i = 0; i + 1 < reply.elements.size(); i += 2)
      all[reply.elements[i].text] = reply.elements[i + 1].text;
    return all;
  }

  Raw raw_;
  bool asking_ = false;
};

inline bool near(long long one, long long other) { return std::abs(one - other) <= kSlack; }

inline bool same(const Value& one, const Value& other) {
  const auto score = [](const auto& a, const auto& b) { return a.first == b.first && near(a.second, b.second); };
  return one.type == other.type && one.fields == other.fields && one.items == other.items && one.text == other.text &&
         std::ranges::equal(one.scores, other.scores, score) && near(one.ttl, other.ttl);
}

/// What was done to each key: made, gone, changed; nothing.
inline std::map<std::string, std::string> changes(const State& before, const State& after) {
  std::map<std::string, std::string> all;
  for (const auto& [key, value] : before) {
    const auto now = after.find(key);
    if (now == after.end()) {
      all[key] = "gone";
    } else if (!same(value, now->second)) {
      all[key] = "changed";
    }
  }
  for (const auto& [key, value] : after) {
    if (!before.contains(key)) all[key] = "made";
  }
  return all;
}

inline long long number_at(const State& state, const std::string& key) {
  const auto found = state.find(key);
  return found == state.end() ? 0 : std::atoll(found->second.text.c_str());
}
inline long long all_permits(const Kind& kind, const State& state) {
  const auto held = state.find(kind.held);
  return number_at(state, kind.number) + (held == state.end() ? 0 : static_cast<long long>(held->second.scores.size()));
}
inline bool counts(const Kind& kind, const State& state) {
  const auto found = state.find(kind.number);
  return found != state.end() && found->second.type == "string";
}

/// Each server has its own for the same refusal.
inline std::string words_of(const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::null:
      return "nil";
    case Reply::Kind::integer:
      return reply.integer > kSlack ? "time" : std::to_string(reply.integer);
    case Reply::Kind::text:
      return "text";
    case Reply::Kind::error:
      if (reply.text.starts_with("WRONGTYPE it is ")) return reply.text.substr(reply.text.find("it is"));
      for (const char* const word : {"TRYAGAIN", "ASK"}) {
        if (reply.text.starts_with(word)) return word;
      }
      return std::string("error ") + to_string(redis::classify(reply.text).code);
    case Reply::Kind::array:
      break;
  }
  std::string out = "[";
  for (const Reply& each : reply.elements) out += (out.size() > 1 ? " " : "") + words_of(each);
  return out + "]";
}

inline bool granted(const Reply& reply) {
  if (reply.is_null()) return true;
  return reply.is_array() && !reply.elements.empty() &&
         (reply.elements[0].integer == -1 || reply.elements[0].integer == -2);
}

/// All keys that the scenes and the calls of a kind have.
inline std::set<std::string> names_of(const Kind& kind) {
  std::set<std::string> names;
  for (const Key& key : kind.keys) names.insert(key.name);
  for (const Scene& scene : kind.scenes) {
    for (const auto& [key, value] : scene.state) names.insert(key);
  }
  const auto add = [&](const base::Command& command) {
    const auto count = static_cast<std::size_t>(std::stoi(command.args.at(0)));
    for (std::size_t i = 1; i <= count; ++i) names.insert(command.args.at(i));
  };
  for (const Call& call : kind.calls) add(call.command);
  for (const base::Command& rival : kind.rivals) add(rival);
  return names;
}

struct Outcome {
  Reply reply{};
  std::string words{};
  State after{};
};

/// What must be true of one call, in whatever state.
inline void expect_right(const Kind& kind, const Call& call, const State& before, const Outcome& outcome) {
  const auto changed = changes(before, outcome.after);
  if (outcome.reply.is_error()) {
    EXPECT_TRUE(changed.empty()) << "a refused call changes nothing: " << outcome.words;
  }
  for (const Key& key : kind.keys) {
    const auto found = before.find(key.name);
    if (found == before.end() || found->second.type == key.type || key.its_own) continue;
    EXPECT_FALSE(changed.contains(key.name)) << "it is of another type: " << key.name;
  }
  if (kind.number.empty() || outcome.reply.is_error() || changed.empty()) return;
  if (call.rule == Rule::sets || (call.title == "set" && !counts(kind, before))) {
    EXPECT_EQ(all_permits(kind, outcome.after), 4);
  } else if (call.title == "add") {
    EXPECT_EQ(all_permits(kind, outcome.after), (counts(kind, before) ? all_permits(kind, before) : 0) + 2);
  } else if (counts(kind, before) && call.title != "remove") {
    EXPECT_EQ(all_permits(kind, outcome.after), all_permits(kind, before)) << "none is made or lost";
  } else {
    EXPECT_FALSE(counts(kind, outcome.after))
        << "it is made by nobody else, and nothing is left of one that is removed";
  }
}

}  // namespace holdfast::test::key_states
