/* SPDX-License-Identifier: Apache-2.0 */
/* HoldFsm, GroupCommit, ReplicaCount and as_confirmed for a model: the library's own code. The hold's object is a part
   of the model's state; a commit is made anew of what was asked. Times are microseconds. */
#ifndef HOLDFAST_MODEL_FAILOVER_H
#define HOLDFAST_MODEL_FAILOVER_H

#ifdef __cplusplus
extern "C" {
#endif

enum { kHoldRoom = 96 };
extern char hold_room[kHoldRoom];

enum { kNothing, kRenew, kLost };

/* With acks of all replicas, or (acks is 0) none. */
void hold_begin(int sent_at, int lease, int acks, int era);
void hold_forget(void);
int hold_on_time(int now);
void hold_on_renewed(int sent_at, int now, int era);
void hold_on_gone(void);
void hold_on_unanswered(int now);
void hold_on_reconnect(int now);
int hold_lost(void);
int hold_due(int now);
int hold_valid(int now);
int hold_durable(int now, int era);
int hold_in_time(int sent_at, int now, int lease);

/* What comes of a confirm: kAgain is to go with the next batch. */
enum { kAgain, kConfirmed, kGoneThere, kMissed };
/* How many acks its WAIT is for, where the Sentinels have so many replicas on record. */
int acks_to_wait_for(int on_record, int connected);
int confirm_answered(int asked_at, int now, int extended, int acks, int on_record, int connected, int interrupted);
int confirm_unknown(int asked_at, int now, int on_record);
/* So long the replicas have, and so long whoever asks. */
enum { kForAcks = 2000, kForAll = 4000 };

/* What a grant is worth whose confirm has come to that, asked for in one era and told in another. */
enum { kStands, kInDoubt, kNotDurable };
int worth(int confirmed, int era_asked, int era_now);

/* How many releases a client repeats at the next primary. */
int releases_to_repeat(int released_at, int now, int lease);

#ifdef __cplusplus
}
#endif
#endif
