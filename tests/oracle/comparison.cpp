// SPDX-License-Identifier: Apache-2.0
#include "oracle/comparison.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <thread>

#include "oracle/same.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::oracle {
namespace {

constexpr std::chrono::milliseconds kBrief{25};

bool same(const Said& one, const Said& other) { return one.push == other.push && oracle::same(one.what, other.what); }

std::string list(const std::vector<Said>& said) {
  std::string out;
  for (const Said& each : said) out += (out.empty() ? "" : ", ") + to_string(each);
  return out;
}

/// As wire::add_untold() has it, of words.
std::vector<std::vector<std::string>> untold(const Step& step) {
  std::vector<std::string> read{"EXISTS"};
  read.insert(read.end(), names().begin(), names().end());
  return {{"MULTI"}, {"CLIENT", "TRACKING", "OFF"}, step.words, {"CLIENT", "TRACKING", "ON"}, read, {"EXEC"}};
}

class Comparison {
 public:
  Comparison(const RedisServer& server, const Likeness& like, const Prepare& prepare) : real_(server), model_(like) {
    if (prepare) prepare(model_.server());
  }

  std::string run(const Step& step) {
    const bool refused = step.kind <= Step::Kind::brief && !step.words.empty() &&
                         step.words.front().ends_with("UNSUBSCRIBE") && model_.refuses_to_leave(step.who);
    for (Side* const side : {static_cast<Side*>(&real_), static_cast<Side*>(&model_)}) {
      side->befall(step);
      if (step.kind > Step::Kind::brief) continue;
      if (step.kind == Step::Kind::untold) {
        const std::vector<std::vector<std::string>> all = untold(step);
        std::string bytes;
        for (const std::vector<std::string>& words : all) bytes += encoded(words);
        side->send(step.who, bytes, all.size());
        continue;
      }
      const bool replied = refused || !step.words.front().ends_with("SUBSCRIBE");
      side->send(step.who, encoded(step.words), replied ? 1 : 0);
    }
    if (step.kind == Step::Kind::brief) std::this_thread::sleep_for(kBrief);
    for (Side* const side : {static_cast<Side*>(&real_), static_cast<Side*>(&model_)}) look(*side);
    Told real = real_.told();
    Told model = model_.told();
    for (Told* const told : {&real, &model}) {
      settle_ties((*told)[step.who], step);
      settle_fields((*told)[looker]);
      for (std::vector<Said>& said : *told) std::ranges::for_each(said, settle_deadlines);
    }
    remember(model[looker]);
    return difference(real, model);
  }

 private:
  /// What a look asks about each name; the first is what remember() keeps.
  static constexpr std::array<const char*, 4> kQuestions{"PTTL", "TYPE", "HGETALL", "GET"};
  static constexpr std::size_t kFields = 2;

  /// At all that there is. What has ended is noticed by that, if by nothing before.
  static void look(Side& side) {
    std::string bytes;
    for (const std::vector<std::string>& question : questions()) bytes += encoded(question);
    for (const std::string& name : names()) {
      for (const char* const verb : kQuestions) bytes += encoded({verb, name});
    }
    side.send(looker, bytes, questions().size() + kQuestions.size() * names().size());
  }

  void remember(const std::vector<Said>& looked) {
    for (std::size_t i = 0; i < names().size(); ++i) remaining_[names()[i]] = looked[first_of(looked, i)].what.integer;
  }

  /// Where the answers about the name begin. A PONG is behind them.
  static std::size_t first_of(const std::vector<Said>& looked, std::size_t name) {
    return looked.size() - 1 - kQuestions.size() * (names().size() - name);
  }

  /// A hash with a field of more than 64 bytes is in no order.
  static void settle_fields(std::vector<Said>& looked) {
    for (std::size_t i = 0; i < names().size(); ++i) {
      std::vector<base::Reply>& parts = looked[first_of(looked, i) + kFields].what.elements;
      std::map<std::string, base::Reply> sorted;
      for (std::size_t field = 0; field + 1 < parts.size(); field += 2) sorted[parts[field].text] = parts[field + 1];
      std::size_t at = 0;
      for (auto& [field, value] : sorted) {
        parts[at++].text = field;
        parts[at++] = std::move(value);
      }
    }
  }

  /// A reply `[index of the lock that stays longest, its time]`: of locks whose leases are equal, any may be named,
  /// since servers before 7.2 look at the clock for each key, and one of them may end a millisecond later. The first of
  /// them is put in its place.
  void settle_ties(std::vector<Said>& said, const Step& step) const {
    if (step.kind > Step::Kind::brief || step.kind == Step::Kind::untold) return;
    if (!step.words.front().starts_with("EVAL")) return;
    const auto keys = step.words.begin() + 3;
    std::size_t count = 0;
    std::from_chars(keys[-1].data(), keys[-1].data() + keys[-1].size(), count);
    for (Said& each : said) {
      std::vector<base::Reply>& parts = each.what.elements;
      if (parts.size() != 2 || parts[1].integer <= 2 * kSlack) continue;
      const auto is_tied = [&](const std::string& key) {
        const auto left = remaining_.find(key);
        return left != remaining_.end() && std::abs(left->second - parts[1].integer) <= kSlack;
      };
      const auto named = static_cast<std::size_t>(parts[0].integer - 1);
      if (named < count && is_tied(keys[static_cast<std::ptrdiff_t>(named)])) {
        parts[0].integer = std::find_if(keys, keys + static_cast<std::ptrdiff_t>(count), is_tied) - keys + 1;
      }
    }
  }

  /// Of those who wait for a fair lock: how long a deadline is over already does not matter.
  static void settle_deadlines(Said& said) {
    std::vector<base::Reply>& parts = said.what.elements;
    const bool is_line = parts.size() >= 4 && parts.size() % 2 == 0 && parts[2].is_integer() && parts[3].is_integer();
    if (!is_line || said.push) return;
    for (std::size_t i = 5; i < parts.size(); i += 2) parts[i].integer = std::max<std::int64_t>(parts[i].integer, 0);
  }

  static std::string difference(const Told& real, const Told& model) {
    for (std::size_t who = 0; who < kSessions; ++who) {
      const bool equal = std::ranges::equal(real[who], model[who],
                                            [](const Said& one, const Said& other) { return same(one, other); });
      if (equal) continue;
      return "session " + std::to_string(who) + "\n  real:  " + list(real[who]) + "\n  model: " + list(model[who]);
    }
    return {};
  }

  RealSide real_;
  ModelSide model_;
  std::map<std::string, std::int64_t> remaining_;  // ms of each name, before the step
};

/// Whatever is withdrawn comes back: the next history begins on the same server.
void make_well(const RedisServer& server) {
  RealSide side(server);
  for (const Step::Kind kind : {Step::Kind::lead, Step::Kind::roomy, Step::Kind::together, Step::Kind::allow}) {
    side.befall({kind, looker, {""}});
  }
}

}  // namespace

std::optional<Difference> compare(const RedisServer& server, const Likeness& like, const std::vector<Step>& history,
                                  const Prepare& prepare) {
  make_well(server);
  Comparison comparison(server, like, prepare);
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (std::string what = comparison.run(history[i]); !what.empty()) return Difference{i, std::move(what)};
  }
  return std::nullopt;
}

std::vector<Step> shortest(const RedisServer& server, const Likeness& like, std::vector<Step> history,
                           const Prepare& prepare) {
  const auto cut = [&](const std::vector<Step>& candidate) {
    const auto parted = compare(server, like, candidate, prepare);
    if (!parted) return false;
    history.assign(candidate.begin(), candidate.begin() + static_cast<std::ptrdiff_t>(parted->step) + 1);
    return true;
  };
  if (!cut(std::vector<Step>(history))) return {};
  for (std::size_t size = history.size() / 2; size > 0; size /= 2) {
    for (std::size_t begin = 0; begin + size < history.size();) {
      std::vector<Step> candidate = history;
      const auto from = candidate.begin() + static_cast<std::ptrdiff_t>(begin);
      candidate.erase(from, from + static_cast<std::ptrdiff_t>(size));
      if (!cut(candidate)) begin += size;
    }
  }
  return history;
}

Likeness likeness_of_server() {
  Likeness like{6, 0};
  if (server_like_redis(7, 0)) like = {7, 0};
  if (server_like_redis(7, 2)) like = {7, 2};
  like.valkey = server_is_valkey(0, 0);
  like.refuses_to_leave_nothing = server_is_valkey(8, 0) && !server_is_valkey(8, 1);
  return like;
}

}  // namespace holdfast::test::oracle
