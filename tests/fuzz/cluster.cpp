// SPDX-License-Identifier: Apache-2.0
// Nodes of a cluster that say anything: views, MOVED, ASK. The survey asks one at a time and never stops, and whatever
// map it believes makes sense.
#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/resp.hpp"
#include "redis/decide/redirect.hpp"
#include "redis/decide/survey.hpp"
#include "redis/decide/view.hpp"

namespace holdfast::fuzz {
namespace {

using namespace std::chrono_literals;
using namespace redis::cluster;
using base::Reply;

constexpr int kMostSteps = 60;

Reply text(std::string_view what) { return {.kind = Reply::Kind::text, .text = std::string(what)}; }
Reply number(std::int64_t value) { return {.kind = Reply::Kind::integer, .integer = value}; }
Reply list(std::vector<Reply> elements) { return {.kind = Reply::Kind::array, .elements = std::move(elements)}; }

/// One of a few, so that views speak of the same; or odd.
Reply made_host(Input& input) {
  switch (const std::size_t which = input.below(10)) {
    case 7:
      return {};
    case 8:
      return text("?");
    case 9:
      return text(input.text());
    default:
      return text(std::string(1, static_cast<char>('a' + which)));
  }
}

Reply made_node(Input& input) {
  const Reply host = made_host(input);
  const std::size_t port = input.below(8);
  std::vector<Reply> node{host, number(port == 0 ? input.number() : static_cast<std::int64_t>(7000 + port / 4))};
  if (input.coin()) node.push_back(text(std::string(40, static_cast<char>('a' + input.below(8)))));
  if (input.coin()) node.push_back(made_reply(input, 2));
  return list(std::move(node));
}

/// As CLUSTER SLOTS says it, most of the time.
Reply made_slots(Input& input) {
  if (input.below(8) == 0) return made_reply(input);
  std::vector<Reply> ranges;
  std::int64_t next = 0;
  for (std::size_t left = input.below(8); left > 0; --left) {
    const std::int64_t first = next + static_cast<std::int64_t>(input.below(4)) * 5;
    std::int64_t last = first + input.byte() * 64;
    if (input.below(16) == 0) last = input.number();
    next = std::min<std::int64_t>(last, kSlots) + 1;
    std::vector<Reply> range{number(first),
                             number(input.below(16) == 0 ? last : std::min<std::int64_t>(last, kSlots - 1))};
    for (std::size_t nodes = input.below(4); nodes > 0; --nodes) range.push_back(made_node(input));
    ranges.push_back(list(std::move(range)));
  }
  return list(std::move(ranges));
}

bool is_address(const NodeAddress& node) {
  return !node.host.empty() && node.host.size() <= base::kLongestHost && node.port != 0;
}

/// Up to which slot the owner is the same.
std::size_t end_of_range(const View& view, std::size_t first) {
  constexpr std::size_t kAtOnce = 256;
  const std::uint16_t* const slots = view.served_by.data();
  std::size_t end = first + 1;
  while (end + kAtOnce <= kSlots && std::equal(slots + end, slots + end + kAtOnce, slots + end - 1)) end += kAtOnce;
  while (end < kSlots && slots[end] == slots[first]) ++end;
  return end;
}

void check_view(const View& view) {
  std::vector<bool> serves(view.primaries.size());
  std::size_t covered = 0;
  for (std::size_t slot = 0, end = 0; slot < kSlots; slot = end) {
    end = end_of_range(view, slot);
    const std::uint16_t owner = view.served_by.at(slot);
    if (owner == View::kNobody) continue;
    require(owner < view.primaries.size(), "whoever serves a slot is a primary");
    serves[owner] = true;
    covered += end - slot;
  }
  require(covered == view.covered, "the covered slots are counted");
  require(std::ranges::find(serves, false) == serves.end(), "each primary serves a slot");
  std::set<std::pair<std::string, std::uint16_t>> seen;
  for (const Primary& each : view.primaries) {
    require(is_address(each.address), "a primary has an address");
    require(each.id.empty() || each.id.size() == 40, "an id has 40 digits, or is not told");
    require(each.replicas >= 0, "there are no fewer replicas than none");
    require(seen.emplace(each.address.host, each.address.port).second, "each primary is there once");
  }
  require(view.replicas.size() <= View::kMostReplicas, "there are no more replicas than are kept");
  seen.clear();
  for (const NodeAddress& each : view.replicas) {
    require(is_address(each), "a replica has an address");
    require(seen.emplace(each.host, each.port).second, "each replica is there once");
  }
}

class Play {
 public:
  explicit Play(Input input) : input_(input), survey_(seeds(), input_.byte()) { take(survey_.start(now_)); }

  void run() {
    for (int i = 0; !input_.empty() && i < kMostSteps; ++i) step();
    // Whoever answers from now on says what makes sense: the survey believes it in the end.
    for (int i = 0; i < 200 && !believes_z(); ++i) {
      if (!asked_) go_to_due();
      answer(only_z());
    }
    require(believes_z(), "what all nodes say is believed in the end");
  }

 private:
  std::vector<NodeAddress> seeds() {
    std::vector<NodeAddress> all;
    for (std::size_t i = 0; i <= input_.below(3); ++i)
      all.push_back({std::string(1, static_cast<char>('x' + i)), 7000});
    return all;
  }
  NodeAddress somebody() {
    const auto& nodes = survey_.nodes();
    const std::size_t which = input_.byte();
    return which % 8 == 7 ? NodeAddress{"stranger", 1} : nodes[which % nodes.size()];
  }

  void step() {
    switch (input_.below(9)) {
      case 0:
      case 1:
      case 2:
        if (!asked_) return go_to_due();
        if (const auto view = read_view(made_slots(input_), *asked_)) {
          check_view(*view);
          return answer(*view);
        }
        return fail_with("it makes no sense");
      case 3:
        return fail_with(input_.text());
      case 4:
        return take(survey_.on_doubt(now_, input_.coin() ? std::optional(somebody()) : std::nullopt));
      case 5:
        return correct();
      case 6:
        return take(survey_.on_wanted(now_));
      case 7:
        now_ += std::chrono::milliseconds(input_.byte() * 100);
        return take(survey_.on_time(now_));
      default:
        return answer_unasked();
    }
  }

  void correct() {
    const std::string told = (input_.coin() ? "MOVED " : "ASK ") + std::to_string(input_.byte() * 65) + " " +
                             made_host(input_).text + ":" + std::to_string(7000 + input_.below(2));
    const NodeAddress from = somebody();
    const auto redirect = read_redirect(told, from);
    if (!redirect) return;
    require(redirect->slot < kSlots && is_address(redirect->to), "a redirect is about a slot and a node", told);
    if (redirect->kind == Redirect::Kind::ask) return;
    survey_.on_corrected(now_, from, redirect->slot, redirect->to);
    take(survey_.on_doubt(now_, from));
  }

  void answer_unasked() {
    const auto view = read_view(made_slots(input_), {"liar", 1});
    if (!view) return;
    const auto before = asked_;
    const Survey::Step step = survey_.on_answer(now_, {"liar", 1}, *view);
    require(!step.adopt && !step.ask, "who was not asked is not heard");
    require(asked_ == before, "... and changes nothing");
  }

  void answer(const View& view) {
    const NodeAddress from = *std::exchange(asked_, std::nullopt);
    take(survey_.on_answer(now_, from, view));
  }
  void fail_with(std::string_view cause) {
    if (!asked_) return;
    const NodeAddress from = *std::exchange(asked_, std::nullopt);
    take(survey_.on_failure(now_, from, std::string(cause)));
  }
  void go_to_due() {
    require(due_ != base::TimePoint::max(), "without a question under way, the next one has a time");
    now_ = std::max(now_, due_);
    take(survey_.on_time(now_));
    require(asked_.has_value(), "what is due is asked");
  }

  void take(const Survey::Step& step) {
    if (step.ask) {
      require(!asked_, "one question at a time");
      require(std::ranges::find(survey_.nodes(), *step.ask) != survey_.nodes().end(), "only who is known is asked");
      asked_ = step.ask;
    }
    if (step.adopt && step.adopt != believed_) {
      check_view(*step.adopt);
      believed_ = step.adopt;
    }
    due_ = step.due;
    require(asked_ || due_ != base::TimePoint::max(), "without a question under way, the next one has a time");
    require(asked_ || due_ <= now_ + 5min, "... that is not far away");
    require(step.problem.size() <= 8 * (Rounds::kLongestCause + base::kLongestHost + 32) + 200,
            "a problem is told in few words");
  }

  bool believes_z() const {
    return believed_ && believed_->covered == kSlots && believed_->primaries.size() == 1 &&
           believed_->primaries.front().address.host == "z";
  }
  static View only_z() {
    View view;
    view.primaries.push_back({{"z", 7001}, {}, 0});
    view.served_by.fill(0);
    view.covered = kSlots;
    return view;
  }

  Input input_;
  base::TimePoint now_{1000h};
  Survey survey_;
  std::optional<NodeAddress> asked_;
  base::TimePoint due_ = base::TimePoint::max();
  std::shared_ptr<const View> believed_;
};

}  // namespace
}  // namespace holdfast::fuzz

FUZZ_TARGET(cluster, bytes) { holdfast::fuzz::Play(holdfast::fuzz::Input(bytes)).run(); }
