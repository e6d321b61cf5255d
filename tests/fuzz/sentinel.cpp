// SPDX-License-Identifier: Apache-2.0
// Sentinels that say anything: what is read of it makes sense, each is asked once for a question, and the user's own
// are never forgotten.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "fuzz/resp.hpp"
#include "redis/decide/discovery.hpp"

namespace holdfast::fuzz {
namespace {

using namespace std::chrono_literals;
using namespace redis::sentinel;
using base::Reply;

constexpr std::size_t kLongestHost = 255;
constexpr int kMostSteps = 50;
/// Beyond so many Sentinels words are looked at after one event of kSeldom only, and at the end.
constexpr std::size_t kFew = 6;
constexpr int kSeldom = 16;

Reply text(std::string_view what) { return {.kind = Reply::Kind::text, .text = std::string(what)}; }

Reply made_address(Input& input) {
  const std::size_t which = input.below(64);
  const std::string host = which == 0 ? std::string(input.text()) : "10.0.0." + std::to_string(input.byte());
  const std::string port = which == 1 ? std::string(input.text()) : "26379";
  return {.kind = Reply::Kind::array, .elements = {text("ip"), text(host), text("port"), text(port)}};
}

/// The replies to questions(), most of the time.
std::vector<Reply> made_answer(Input& input) {
  std::vector<Reply> replies;
  const Reply primary = made_address(input);
  replies.push_back(input.below(8) == 0
                        ? made_reply(input)
                        : Reply{.kind = Reply::Kind::array, .elements = {primary.elements[1], primary.elements[3]}});
  Reply others{.kind = Reply::Kind::array};
  for (std::size_t left = input.below(100); left > 0; --left) others.elements.push_back(made_address(input));
  replies.push_back(input.below(8) == 0 ? made_reply(input) : others);
  replies.push_back(input.below(4) == 0
                        ? made_reply(input)
                        : Reply{.kind = Reply::Kind::array, .elements = {text("num-slaves"), text(input.text())}});
  replies.resize(input.below(16) == 0 ? input.below(3) : 3);
  return replies;
}

void check_address(const NodeAddress& address) {
  require(address.port != 0, "an address has a port");
  require(!address.host.empty() && address.host.size() <= kLongestHost, "a host has a name that a host can have");
  const auto odd = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; };
  require(std::ranges::none_of(address.host, odd), "a host has no spaces and control characters", address.host);
}

void check_answer(const Answer& answer) {
  require(answer.primary.has_value() == answer.problem.empty(), "who knows no primary has a problem");
  if (answer.primary) check_address(*answer.primary);
  for (const NodeAddress& each : answer.sentinels) check_address(each);
  require(!answer.replicas || *answer.replicas >= 0, "there are no fewer replicas than none");
}

class Play {
 public:
  explicit Play(Input input) : input_(input), users_(users()), known_(users_) {}

  void run() {
    for (int i = 0; !input_.empty() && i < kMostSteps; ++i) {
      switch (input_.below(4)) {
        case 0:
          hear();
          break;
        case 1:
          discover();
          break;
        case 2:
          input_.coin() ? known_.worked(somebody()) : known_.failed(somebody());
          break;
        default:
          if (const auto address = switched_to(input_.text(), "mymaster")) check_address(*address);
      }
      check_known();
    }
  }

 private:
  std::vector<NodeAddress> users() {
    std::vector<NodeAddress> all;
    const std::size_t number = input_.below(16) == 0 ? KnownSentinels::kMost + 3 : 1 + input_.below(4);
    for (std::size_t i = 0; i < number; ++i) all.push_back({"10.0.0." + std::to_string(i), 26379});
    return all;
  }
  NodeAddress somebody() {
    const std::size_t which = input_.byte();
    return which == 255 ? NodeAddress{"stranger", 1} : known_.order()[which % known_.order().size()];
  }

  void hear() {
    const Answer answer = decode(made_answer(input_));
    check_answer(answer);
    known_.heard_of(answer.sentinels);
  }

  void check_known() {
    const std::vector<NodeAddress>& order = known_.order();
    require(order.size() <= std::max(KnownSentinels::kMost, users_.size()),
            "no more Sentinels are kept than there is room");
    sorted_.clear();
    for (const NodeAddress& each : order) sorted_.emplace_back(each.host, each.port);
    std::ranges::sort(sorted_);
    require(std::ranges::adjacent_find(sorted_) == sorted_.end(), "each Sentinel is there once");
    for (const NodeAddress& each : users_) {
      const std::pair<std::string_view, std::uint16_t> user(each.host, each.port);
      require(std::ranges::binary_search(sorted_, user), "the user's Sentinels stay");
    }
  }

  /// Failures and times in any order.
  void discover() {
    base::TimePoint now{1000h};
    Discovery discovery(known_.order(), std::chrono::milliseconds(1 + input_.byte() * 20));
    std::set<std::size_t> silent;
    std::size_t asked = 0;
    int unseen = 0;
    const auto take = [&](const Discovery::Step& step) {
      if (step.ask) {
        require(*step.ask == asked++ && asked <= known_.order().size(), "each is asked once, in their order");
        silent.insert(*step.ask);
      }
      const bool all_failed = asked == known_.order().size() && silent.empty();
      require(step.lost == all_failed, "it is lost when all have failed");
      require(!step.look || *step.look > now, "the next look is ahead");
      return step.lost;
    };
    bool lost = take(discovery.start(now));
    while (!lost) {
      now += 100ms;
      if (!silent.empty() && (input_.coin() || asked == known_.order().size())) {
        const auto one = std::next(silent.begin(), static_cast<std::ptrdiff_t>(input_.below(silent.size())));
        const std::size_t failed = *one;
        silent.erase(one);
        lost = take(discovery.on_failure(failed, "gone", now));
      } else {
        lost = take(discovery.on_time(now));
      }
      if (asked > kFew && !lost && ++unseen % kSeldom != 0) continue;
      require(discovery.silent().size() == silent.size(), "who is silent is known");
      require(discovery.missing().empty() == silent.empty() || !discovery.problem().empty(),
              "what is missing has words");
    }
  }

  Input input_;
  const std::vector<NodeAddress> users_;
  KnownSentinels known_;
  std::vector<std::pair<std::string_view, std::uint16_t>> sorted_;  // room for check_known()
};

}  // namespace
}  // namespace holdfast::fuzz

FUZZ_TARGET(sentinel, bytes) { holdfast::fuzz::Play(holdfast::fuzz::Input(bytes)).run(); }
