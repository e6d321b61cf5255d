/* SPDX-License-Identifier: Apache-2.0 */
/* The first lock in C: cc first.c -lholdfast-c && ./a.out redis://127.0.0.1:6379 */
#include <stdio.h>
#include <stdlib.h>

#include <holdfast.h>

static int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, hf_last_error()->text);
  return 1;
}

int main(int argc, char **argv) {
  hf_options options = HF_OPTIONS;
  hf_client *client = NULL;
  hf_lock *lock = NULL;
  hf_hold *hold = NULL;
  int outcome = HF_UNKNOWN;
  const char *url = argc > 1 ? argv[1] : getenv("HOLDFAST_URL");

  if (hf_client_open(url ? url : "redis://127.0.0.1:6379", &client) != HF_OK) return failed("open");
  if (hf_lock_open(client, HF_LOCK, "orders:42", NULL, &lock) != HF_OK) return failed("lock");

  options.wait_ms = 5000;
  if (hf_lock_acquire(lock, &options, &hold) != HF_OK) return failed("acquire");
  printf("held for at least %lld ms\n", (long long)hf_hold_valid_for(hold));

  /* Right before a step that must not overlap: */
  if (hf_hold_check(hold) != HF_OK) return failed("lost");

  if (hf_hold_release(hold, &outcome) != HF_OK) return failed("release");
  if (outcome == HF_WAS_LOST) fprintf(stderr, "the lock had been lost\n");

  hf_hold_free(hold);
  hf_lock_free(lock);
  hf_client_free(client);
  return outcome == HF_RELEASED ? 0 : 1;
}
