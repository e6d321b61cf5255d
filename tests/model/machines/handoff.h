/* SPDX-License-Identifier: Apache-2.0 */
/* Tenure and ReleaseTraffic for a model: the library's own code, whose objects are a part of the model's state. Times
   are microseconds. */
#ifndef HOLDFAST_MODEL_HANDOFF_H
#define HOLDFAST_MODEL_HANDOFF_H

#ifdef __cplusplus
extern "C" {
#endif

enum { kTenureRoom = 88, kTrafficRoom = 16 };
extern char tenure_room[kTenureRoom];
extern char traffic_room[kTrafficRoom];

void handoff_begin(int limit);
void tenure_on_granted(int sent_at);
void tenure_on_other(void);
void tenure_on_released(int now, int others);
void tenure_on_queue_served(int now);
int tenure_may_pass(int now);
int tenure_may_overtake(int now);
/* Until then nobody here asks: what releases under way say, or the pause behind them. 0: at once. */
int handoff_not_before(void);

/* A release goes to the server. */
void traffic_begin(int now);
int traffic_may_be_own(void);
int traffic_overtakes(void);
int traffic_any(void);
enum { kAskAgain = 1, kOthers = 2 };
/* Its outcome: the sum of what it says. */
int traffic_end(int released);

#ifdef __cplusplus
}
#endif
#endif
