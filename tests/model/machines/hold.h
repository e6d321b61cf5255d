/* SPDX-License-Identifier: Apache-2.0 */
/* HoldFsm and ReleaseFsm for a model: the library's own code, whose objects are a part of the model's state. Times are
   microseconds; kRoom is what one object has. */
#ifndef HOLDFAST_MODEL_HOLD_H
#define HOLDFAST_MODEL_HOLD_H

#ifdef __cplusplus
extern "C" {
#endif

enum { kHolds = 1, kHoldRoom = 96, kReleaseRoom = 32 };
extern char hold_room[kHolds * kHoldRoom];
extern char release_room[kHolds * kReleaseRoom];

enum { kNothing, kRenew, kLost };
enum { kStateHeld, kStateSuspect, kStateLost, kStateReleased };

void hold_begin(int hold, int sent_at, int lease);
void hold_forget(int hold);
int hold_on_time(int hold, int now);
void hold_on_renewed(int hold, int sent_at, int now);
void hold_on_gone(int hold);
void hold_on_unanswered(int hold, int now);
void hold_on_reconnect(int hold, int now);
void hold_on_doubt(int hold, int now);
void hold_begin_release(int hold);
int hold_state(int hold);
int hold_due(int hold, int now);
/* Nothing that may still come brings it back. */
int hold_stays_ended(int hold, int now, int lease);
int hold_valid(int hold, int now);
int hold_in_time(int sent_at, int now, int lease);

enum { kSendAgain, kGivenBack, kWasLost, kUnknown };
enum { kDeleted, kAbsent, kNoReply };
void release_begin(int release, int hold_stood, int now, int lease);
void release_forget(int release);
int release_on_reply(int release, int reply, int now);
int release_again_at(void); /* rounded up to whole milliseconds of an even number */
int release_must_end(int release, int now);

#ifdef __cplusplus
}
#endif
#endif
