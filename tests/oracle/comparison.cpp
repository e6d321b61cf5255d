#include "oracle/comparison.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "redis/failures/errors.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::oracle {
namespace {

/// Times to live run down, and the two sides look one after the other. Leases are much further apart.
constexpr std::int64_t kSlack = 8'000;
constexpr std::chrono::milliseconds kBrief{25};

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

/// Servers word errors differently, and those out of scripts most of all.
bool same_error(const std::string& one, const std::string& other) {
  const redis::Meaning left = redis::classify(one);
  const redis::Meaning right = redis::classify(other);
  if (left.code != right.code) return false;
  const bool by_script = one.find("script") != one.npos || other.find("script") != other.npos;
  return by_script || first_word(one) == first_word(other);
}

bool same(const base::Reply& one, const base::Reply& other) {
  if (one.kind != other.kind || one.elements.size() != other.elements.size()) return false;
  if (one.is_error()) return same_error(one.text, other.text);
  const bool times = one.integer > 2 * kSlack && other.integer > 2 * kSlack;
  const std::int64_t apart = std::abs(one.integer - other.integer);
  if (one.text != other.text || apart > (times ? kSlack : 0)) return false;
  return std::ranges::equal(one.elements, other.elements, same);
}

bool same(const Said& one, const Said& other) { return one.push == other.push && same(one.what, other.what); }

std::string list(const std::vector<Said>& said) {
  std::string out;
  for (const Said& each : said) out += (out.empty() ? "" : ", ") + to_string(each);
  return out;
}

class Comparison {
 public:
  Comparison(const RedisServer& server, const Likeness& like, const Prepare& prepare) : real_(server), model_(like) {
    if (prepare) prepare(model_.server());
  }

  std::string run(const Step& step) {
    for (Side* const side : {static_cast<Side*>(&real_), static_cast<Side*>(&model_)}) {
      side->befall(step);
      if (step.kind > Step::Kind::brief) continue;
      const bool replied = !step.words.front().ends_with("SUBSCRIBE");
      side->send(step.who, encoded(step.words), replied ? 1 : 0);
    }
    if (step.kind == Step::Kind::brief) std::this_thread::sleep_for(kBrief);
    for (Side* const side : {static_cast<Side*>(&real_), static_cast<Side*>(&model_)}) look(*side);
    return difference(real_.told(), model_.told());
  }

 private:
  /// At all that there is. What has ended is noticed by that, if by nothing before.
  static void look(Side& side) {
    std::string bytes;
    for (const std::string& name : names()) {
      for (const char* const verb : {"PTTL", "TYPE", "HGETALL", "GET"}) bytes += encoded({verb, name});
    }
    side.send(looker, bytes, 4 * names().size());
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
  return like;
}

}  // namespace holdfast::test::oracle
