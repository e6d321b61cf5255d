// SPDX-License-Identifier: Apache-2.0
#include "judges/made_story.hpp"

#include <algorithm>
#include <vector>

#include "judges/judge.hpp"

namespace holdfast::test {
namespace {

class Maker {
 public:
  explicit Maker(const MadeStory& options) : options_(options), random_(options.seed) {
    story_.settings.lease = kLease;
    story_.settings.safety_poll = 2'000'000;
    threads_.resize(static_cast<std::size_t>(2 * options.clients));
    story_.history.holds.reserve(static_cast<std::size_t>(options.holds));
  }

  Story make() {
    for (int name = 0; name < options_.names; ++name) {
      std::ranges::fill(threads_, Microseconds{kBegin});
      name_ = "lock" + std::to_string(name);
      free_at_ = kBegin;
      number_ = 0;
      for (int i = 0; i < options_.holds / options_.names; ++i) one_hold();
      if (!options_.troubles) story_.numbers[name_.str()] = number_;
    }
    return std::move(story_);
  }

 private:
  static constexpr Microseconds kBegin = 1'000'000, kLease = 3'000'000, kMargin = 32'000;

  Microseconds up_to(Microseconds most) { return std::uniform_int_distribution<Microseconds>(1, most)(random_); }
  bool chance(double part) { return options_.troubles && std::bernoulli_distribution(part)(random_); }
  Text client_of(std::size_t thread) const { return name_.str() + "client" + std::to_string(thread / 2); }

  void one_hold() {
    const std::size_t thread = std::uniform_int_distribution<std::size_t>(0, threads_.size() - 1)(random_);
    HeldOnce hold;
    hold.client = client_of(thread);
    hold.name = name_;
    hold.owner = hold.client.str() + ":" + std::to_string(++owners_);
    // Somebody who waits gets it soon after it is free; at times nobody does.
    hold.called = std::max(threads_[thread], free_at_ - up_to(500));
    const Microseconds taken = std::max(free_at_, hold.called) + up_to(100);
    hold.granted = taken + up_to(100);
    hold.deadline = hold.called + kLease - kMargin;
    hold.wait = 30'000'000;
    hold.reason = "-";
    hold.outcome = "released";
    hold.token = ++token_;
    hold.released = hold.granted + up_to(1000);
    Microseconds free = hold.released + up_to(100);
    hold.ended = free + up_to(100);
    hold.number = ++number_;
    if (chance(0.01))
      free = freeze(hold, taken);
    else if (chance(0.01))
      free = lose_reply(hold);
    else if (chance(0.005))
      free = kill(hold, taken);
    if (chance(0.1)) refuse(hold, free);
    threads_[thread] = std::max(hold.ended, hold.granted);
    story_.history.holds.push_back(hold);
    free_at_ = free;
    if (chance(0.01)) leave_ghost();
  }

  /// Past its deadline: it is told when it goes on, and writes nothing.
  Microseconds freeze(HeldOnce& hold, Microseconds taken) {
    const Microseconds over = taken + kLease;
    const StruckFault fault{
        .kind = "process stopped", .began = hold.granted + 1, .ended = over + up_to(100'000), .clients = {hold.client}};
    story_.faults.push_back(fault);
    hold.told = fault.ended + up_to(500);
    hold.released = hold.told + up_to(100);
    hold.ended = hold.released + up_to(500);
    hold.outcome = "was_lost";
    hold.reason = "expired";
    hold.number = 0;
    --number_;
    return over;
  }

  /// The release was carried out, or not, in which case the lease ends it.
  Microseconds lose_reply(HeldOnce& hold) {
    hold.outcome = "unknown";
    hold.ended = hold.released + 3'000'000;
    return chance(0.5) ? hold.released + up_to(1000) : hold.called + kLease + kMargin;
  }

  Microseconds kill(HeldOnce& hold, Microseconds taken) {
    const StruckFault fault{.kind = "process killed",
                            .began = hold.granted + up_to(500),
                            .ended = hold.granted + 100'000,
                            .clients = {hold.client},
                            .kills = true};
    story_.faults.push_back(fault);
    // Its name comes again as that of a new process.
    hold.client = name_.str() + "killed" + std::to_string(owners_);
    story_.faults.back().clients = {hold.client};
    hold.open = true;
    hold.released = hold.ended = 0;
    hold.outcome = hold.reason = Text();
    return taken + kLease;
  }

  /// Somebody else asked once, or waited in vain, while it was taken.
  void refuse(const HeldOnce& hold, Microseconds free) {
    FailedCall call;
    call.client = "client" + std::to_string(options_.clients);
    call.name = name_;
    const Microseconds seen = hold.granted + up_to(std::max<Microseconds>(1, free - hold.granted - 1)) - 1;
    const bool once = chance(0.5);
    call.called = seen - up_to(100);
    call.ended = seen + up_to(100);
    call.word = once ? "busy" : "timed_out";
    call.wait = once ? 0 : 1000;
    call.cause = call.word;
    story_.history.failures.push_back(call);
  }

  /// A call whose reply was lost: perhaps it was granted, and undone a little later.
  void leave_ghost() {
    FailedCall call;
    call.client = "client" + std::to_string(options_.clients + 1);
    call.name = name_;
    call.called = free_at_;
    call.ended = free_at_ + 3'000'000;
    call.word = "unknown_outcome";
    call.cause = call.word;
    call.wait = 30'000'000;
    story_.history.failures.push_back(call);
    if (chance(0.5)) free_at_ += up_to(kLease);
  }

  const MadeStory options_;
  std::mt19937_64 random_;
  Story story_;
  std::vector<Microseconds> threads_;  // when each can ask again
  Text name_;
  Microseconds free_at_ = 0;
  long long owners_ = 0, number_ = 0, token_ = 0;
};

}  // namespace

Story make_story(const MadeStory& options) { return Maker(options).make(); }

HeldOnce held(const std::string& owner, Microseconds granted, Microseconds released, const std::string& name) {
  HeldOnce hold;
  hold.client = owner.substr(0, 1);
  hold.name = name;
  hold.owner = owner;
  hold.called = granted - 10;
  hold.granted = granted;
  hold.released = released;
  hold.ended = released + 10;
  hold.outcome = "released";
  hold.reason = "-";
  return hold;
}

std::vector<std::string> promises(const Story& story) {
  std::vector<std::string> broken;
  for (const Violation& each : judge(story).violations) broken.push_back(each.promise);
  return broken;
}

}  // namespace holdfast::test
