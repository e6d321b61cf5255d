/* SPDX-License-Identifier: Apache-2.0 */
/* HoldFsm and Ballot for a model: the library's own code. The hold's object is a part of the model's state; a ballot is
   made anew of its votes. Times are microseconds. */
#ifndef HOLDFAST_MODEL_QUORUM_H
#define HOLDFAST_MODEL_QUORUM_H

#ifdef __cplusplus
extern "C" {
#endif

enum { kHoldRoom = 96 };
extern char hold_room[kHoldRoom];

enum { kNothing, kRenew, kLost };

void hold_begin(int sent_at, int lease);
void hold_forget(void);
int hold_on_time(int now);
void hold_on_renewed(int sent_at, int now);
void hold_on_gone(void);
void hold_on_unanswered(int now);
int hold_lost(void);
int hold_due(int now);
int hold_valid(int now);
int hold_in_time(int sent_at, int now, int lease);

enum { kNoVote, kGranted, kRefused, kSilent };
enum { kOpen, kWon, kFailed };
/* Of three members, two of whom are needed. */
int ballot_of(int first, int second, int third);
/* A member with this vote may have the owner: it is asked to give it back when the round has failed. */
int vote_may_stand(int vote);

#ifdef __cplusplus
}
#endif
#endif
