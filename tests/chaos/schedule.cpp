// SPDX-License-Identifier: Apache-2.0
#include "chaos/schedule.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::test::chaos {
namespace {

/// Faults that are over at once need no more than this.
constexpr Milliseconds kAtOnce{100};
constexpr int kShortestPause = 150, kLongestPause = 900;  // milliseconds

std::vector<Fault> of_track(std::span<const Fault> faults, Track track) {
  std::vector<Fault> found;
  std::ranges::copy_if(faults, std::back_inserter(found), [&](Fault each) { return traits(each).track == track; });
  return found;
}

void shuffle(std::vector<Fault>& faults, Dice& dice) {
  for (std::size_t i = faults.size(); i > 1; --i) std::swap(faults[i - 1], faults[dice.next() % i]);
}

void plan_track(std::vector<Fault> faults, Dice& dice, Milliseconds length, Milliseconds lease,
                std::vector<Planned>& plan) {
  if (faults.empty()) return;
  Milliseconds at{0};
  for (std::size_t i = 0;; ++i) {
    if (i % faults.size() == 0) shuffle(faults, dice);
    const Fault fault = faults[i % faults.size()];
    const FaultTraits& is = traits(fault);
    at += Milliseconds(dice.between(kShortestPause, kLongestPause));
    const Milliseconds duration = lease * dice.between(is.least, is.most) / 100;
    const Planned planned{at, fault, static_cast<std::uint32_t>(dice.next() >> 32U), duration};
    at += std::max(expected(fault, duration, lease), kAtOnce);
    if (at > length) return;
    plan.push_back(planned);
  }
}

}  // namespace

/// SplitMix64.
std::uint64_t Dice::next() {
  std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  return mixed ^ (mixed >> 31U);
}

int Dice::between(int least, int most) {
  return least + static_cast<int>(next() % static_cast<std::uint64_t>(most - least + 1));
}

std::uint64_t seed_of(std::uint64_t seed, std::string_view shape) {
  for (const char c : shape) seed = Dice(seed + static_cast<unsigned char>(c)).next();
  return seed;
}

std::vector<Fault> few_of(std::span<const Fault> faults, std::uint64_t seed) {
  constexpr std::size_t kOneOf = 4;
  Dice dice(seed);
  std::vector<Fault> few;
  for (const Track track : {Track::clients, Track::servers}) {
    std::vector<Fault> all = of_track(faults, track);
    shuffle(all, dice);
    all.resize((all.size() + kOneOf - 1) / kOneOf);
    few.insert(few.end(), all.begin(), all.end());
  }
  return few;
}

std::vector<Planned> schedule(std::span<const Fault> faults, std::uint64_t seed, Milliseconds length,
                              Milliseconds lease) {
  std::vector<Planned> plan;
  Dice dice(seed);
  for (const Track track : {Track::clients, Track::servers}) {
    Dice own(dice.next());
    plan_track(of_track(faults, track), own, length, lease, plan);
  }
  std::ranges::stable_sort(plan, {}, &Planned::at);
  return plan;
}

}  // namespace holdfast::test::chaos
