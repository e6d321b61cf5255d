/* SPDX-License-Identifier: Apache-2.0 */
/* HoldFsm of a fixed lease for a model, with the extensions that are begun of it. Times are microseconds. */
#ifndef HOLDFAST_MODEL_EXTENSION_H
#define HOLDFAST_MODEL_EXTENSION_H

#ifdef __cplusplus
extern "C" {
#endif

enum { kHoldRoom = 96, kExtensions = 3, kExtensionRoom = 16 };
extern char hold_room[kHoldRoom];
extern char extension_room[kExtensions * kExtensionRoom];

void hold_begin(int lease);
int hold_valid(int now);
void extension_begin(int which, int now, int lease);
void extension_on_answer(int which, int sent_at, int now);
void extension_on_gone(void);
void extension_on_unanswered(void);
void extension_forget(int which);

#ifdef __cplusplus
}
#endif
#endif
