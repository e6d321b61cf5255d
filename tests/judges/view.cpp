// SPDX-License-Identifier: Apache-2.0
#include "judges/view.hpp"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

namespace holdfast::test {
namespace {

/// When each client was killed.
std::unordered_map<Text, Microseconds> ends_of_clients(const Story& story) {
  std::unordered_map<Text, Microseconds> ends;
  for (const StruckFault& fault : story.faults) {
    if (!fault.kills) continue;
    for (const Text client : fault.clients) {
      const auto [end, first] = ends.emplace(client, fault.began);
      if (!first) end->second = std::min(end->second, fault.began);
    }
  }
  return ends;
}

}  // namespace

View::View(const Story& story) : story_(story) {
  const std::unordered_map<Text, Microseconds> ends = ends_of_clients(story);
  const std::vector<HeldOnce>& holds = story.history.holds;
  std::vector<std::uint32_t> place;  // by the number of the name's text, from 1
  for (std::uint32_t i = 0; i < holds.size(); ++i) {
    const HeldOnce& hold = holds[i];
    const std::uint32_t number = hold.name.number();
    if (number >= place.size()) place.resize(number + 1);
    if (place[number] == 0) {
      names_.push_back({.name = hold.name});
      place[number] = static_cast<std::uint32_t>(names_.size());
    }
    Microseconds until = hold.believed_until();
    if (hold.open) {
      if (const auto end = ends.find(hold.client); end != ends.end()) until = std::min(until, end->second);
    }
    Name& name = names_[place[number] - 1];
    name.holds.push_back({hold.granted, until, i, hold.shared});
    name.has_readers = name.has_readers || hold.shared;
    if (begin_ == 0 || hold.called < begin_) begin_ = hold.called;
  }
  for (Name& name : names_) {
    std::ranges::sort(name.holds, {}, [](const Held& each) { return std::pair(each.granted, each.index); });
  }
}

Microseconds View::stood_still(Text client, Microseconds from, Microseconds to) const {
  Microseconds sum = 0;
  for (const StruckFault& fault : story_.faults) {
    if (fault.clients.empty() || !fault.stands_still || !fault.strikes(client)) continue;
    const Microseconds end = fault.ended == 0 ? to : std::min(fault.ended, to);
    sum += std::max<Microseconds>(0, end - std::max(fault.began, from));
  }
  for (const Standstill& each : story_.standstills) {
    sum += std::max<Microseconds>(0, std::min(each.ended, to) - std::max(each.began, from));
  }
  return sum;
}

const StruckFault* View::struck(Text name, Microseconds from, Microseconds to, bool only_losses) const {
  const auto found = std::ranges::find_if(story_.faults, [&](const StruckFault& fault) {
    const Microseconds over = only_losses ? std::max(fault.ended, fault.counts_until) : fault.ended;
    return fault.concerns(name) && fault.began <= to && (fault.ended == 0 || over >= from) &&
           !(only_losses && fault.counts_promised);
  });
  return found == story_.faults.end() ? nullptr : &*found;
}

std::string View::at(Microseconds time) const {
  if (time == 0 || time == HeldOnce::kNever) return "never";
  char text[64];
  std::snprintf(text, sizeof text, "%+.6f s [%lld]", static_cast<double>(time - begin_) / 1e6, time);
  return text;
}

std::string View::words(const HeldOnce& hold) const {
  std::string text = hold.client.str() + " " + hold.owner.str() + (hold.shared ? ", shared," : "") + " asked " +
                     at(hold.called) + ", granted " + at(hold.granted) + ", deadline " + at(hold.deadline) + ", told " +
                     at(hold.told);
  if (hold.open) return text + ", nothing recorded behind that";
  text += ", release called " + at(hold.released) + " and ended " + at(hold.ended) + ": " + hold.outcome.str();
  if (hold.reason != "-") text += ", lost: " + hold.reason.str();
  if (hold.token != 0) text += ", token " + std::to_string(hold.token);
  if (hold.number != 0) text += ", wrote " + std::to_string(hold.number);
  return text;
}

std::string View::near(Text name, Microseconds from, Microseconds to) const {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> faults;
  for (const StruckFault& fault : story_.faults) {
    const Microseconds end =
        std::max(fault.ended == 0 ? HeldOnce::kNever - story_.settings.lease : fault.ended, fault.counted_until);
    if (!fault.concerns(name) || fault.began > to || end + story_.settings.lease < from) continue;
    faults.push_back(fault.kind.str() + " from " + at(fault.began) + " to " + at(fault.ended));
    for (const Text client : fault.clients) faults.back() += " (" + client.str() + ")";
  }
  if (faults.empty()) return "; no fault near";
  const std::size_t left_out = faults.size() > kMost ? faults.size() - kMost : 0;
  std::string text = left_out == 0 ? "; near: " : "; near: " + std::to_string(left_out) + " more, ";
  for (std::size_t i = left_out; i < faults.size(); ++i) text += (i == left_out ? "" : ", ") + faults[i];
  return text;
}

}  // namespace holdfast::test
