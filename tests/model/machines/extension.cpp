// SPDX-License-Identifier: Apache-2.0
#include "extension.h"

#include "lock/decide/hold_fsm.hpp"
#include "room.hpp"

using namespace holdfast;
using namespace holdfast::engine;
using model::at;
using model::length;

alignas(8) char hold_room[kHoldRoom];
alignas(8) char extension_room[kExtensions * kExtensionRoom];

namespace {

HoldFsm& hold() { return model::machine_at<HoldFsm, kHoldRoom>(hold_room, 0); }
HoldFsm::Extension& extension(int which) {
  return model::machine_at<HoldFsm::Extension, kExtensionRoom>(extension_room, which);
}

}  // namespace

void hold_begin(int lease) {
  const LeaseTerms terms{.length = length(lease), .renewed = false};
  model::make<HoldFsm, kHoldRoom>(hold_room, 0, at(0), terms, at(0));
}
int hold_valid(int now) { return hold().valid_for(at(now)) > Duration{} ? 1 : 0; }

void extension_begin(int which, int now, int lease) {
  model::make<HoldFsm::Extension, kExtensionRoom>(extension_room, which,
                                                  hold().begin_extension(at(now), length(lease)));
}
void extension_on_answer(int which, int sent_at, int now) {
  hold().on_extended(extension(which), at(sent_at), at(now), 0);
}
void extension_on_gone() { hold().on_gone(); }
void extension_on_unanswered() { hold().on_extension_unanswered(); }
void extension_forget(int which) { model::clear<kExtensionRoom>(extension_room, which); }
