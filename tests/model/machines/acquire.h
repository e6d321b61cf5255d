/* SPDX-License-Identifier: Apache-2.0 */
/* AcquireFsm, with its Place, for a model: the library's own code, whose objects are a part of the model's state. Times
   are microseconds. */
#ifndef HOLDFAST_MODEL_ACQUIRE_H
#define HOLDFAST_MODEL_ACQUIRE_H

#ifdef __cplusplus
extern "C" {
#endif

enum { kWaiters = 2, kAcquireRoom = 304 };
extern char acquire_room[kWaiters * kAcquireRoom];

/* What it is to do. */
enum { kAttempt, kWait, kGranted, kFailed };
/* Of the latest kAttempt and kWait; until: in steps. Of kFailed: whether an attempt is to be undone. */
extern int acquire_until, acquire_subscribe, acquire_publish_busy, acquire_undo;

/* wait: 0: without a limit. chance: in hundredths. The first answer is that of its turn, which comes at once. */
int acquire_begin(int who, int now, int wait, int chance);
void acquire_forget(int who);
enum { kReplyGranted, kReplyBusy, kReplyUnknown };
/* left: of a busy lock's lease; listeners: -1 if they were not counted. */
int acquire_on_attempt(int who, int now, int reply, int left, int listeners, int subscribed);
/* busy_left: somebody has published since the latest release that it is busy for so long; 0: nobody. */
int acquire_on_message(int who, int now, int subscribed, int busy_left);
int acquire_on_busy(int who, int now, int subscribed, int busy_left);
int acquire_on_time(int who, int now, int subscribed, int busy_left);
int acquire_lets_others_ask(int who);

#ifdef __cplusplus
}
#endif
#endif
