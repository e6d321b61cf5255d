// SPDX-License-Identifier: Apache-2.0
#include "handoff.h"

#include "lock/decide/tenure.hpp"
#include "room.hpp"

using namespace holdfast;
using namespace holdfast::engine;
using model::at;

alignas(8) char tenure_room[kTenureRoom];
alignas(8) char traffic_room[kTrafficRoom];

namespace {

/// As Target's kReleaseFirst.
constexpr Duration kReleaseFirst = milliseconds(100);

Tenure& tenure() { return model::machine_at<Tenure, kTenureRoom>(tenure_room, 0); }
/// What Target keeps of it.
struct Traffic {
  ReleaseTraffic releases;
  TimePoint first_until{};
};
Traffic& room() { return model::machine_at<Traffic, kTrafficRoom>(traffic_room, 0); }
ReleaseTraffic& traffic() { return room().releases; }

}  // namespace

void handoff_begin(int limit) {
  model::make<Tenure, kTenureRoom>(tenure_room, 0, std::chrono::microseconds(limit));
  model::make<Traffic, kTrafficRoom>(traffic_room, 0);
}
void tenure_on_granted(int sent_at) { tenure().on_granted(at(sent_at)); }
void tenure_on_other() { tenure().on_other(); }
void tenure_on_released(int now, int others) { tenure().on_released(at(now), others); }
void tenure_on_queue_served(int now) { tenure().on_queue_served(at(now)); }
int tenure_may_pass(int now) { return tenure().may_pass(at(now)) ? 1 : 0; }
int tenure_may_overtake(int now) { return tenure().may_overtake(at(now)) ? 1 : 0; }

int handoff_not_before() {
  const TimePoint until = traffic().goes_first() ? room().first_until : tenure().pause_until();
  return until <= at(0) ? 0 : model::steps_until(until, 1);
}

void traffic_begin(int now) {
  const bool first = tenure().must_ask_after_release(at(now));
  room().first_until = first ? at(now) + kReleaseFirst : TimePoint{};
  traffic().begin(first);
}
int traffic_may_be_own() { return traffic().may_be_own(1) ? 1 : 0; }
int traffic_overtakes() { return traffic().overtakes() ? 1 : 0; }
int traffic_any() { return traffic().any() ? 1 : 0; }
int traffic_end(int released) {
  const ReleaseTraffic::End end = traffic().end(released != 0);
  return (end.ask_again ? kAskAgain : 0) + (end.others ? kOthers : 0);
}
