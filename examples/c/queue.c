/* SPDX-License-Identifier: Apache-2.0 */
/* Two calls at a time on one thread: a completion queue, whose descriptor any event loop can watch. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <holdfast.h>

enum { ORDERS = 1, INVOICES = 2, LOST = 3, DONE = 4 };

int main(int argc, char **argv) {
  hf_client *client = NULL;
  hf_lock *orders = NULL, *invoices = NULL;
  hf_queue *queue = NULL;
  hf_hold *holds[2] = {NULL, NULL};
  struct pollfd ready;
  int ended = 0;
  const char *url = argc > 1 ? argv[1] : getenv("HOLDFAST_URL");

  if (hf_client_open(url ? url : "redis://127.0.0.1:6379", &client) != HF_OK ||
      hf_lock_open(client, HF_LOCK, "orders", NULL, &orders) != HF_OK ||
      hf_lock_open(client, HF_LOCK, "invoices", NULL, &invoices) != HF_OK || hf_queue_new(&queue) != HF_OK ||
      hf_lock_acquire_async(orders, NULL, queue, ORDERS) != HF_OK ||
      hf_lock_acquire_async(invoices, NULL, queue, INVOICES) != HF_OK) {
    fprintf(stderr, "%s\n", hf_last_error()->text);
    return 1;
  }
  ready.fd = hf_queue_fd(queue);
  ready.events = POLLIN;
  while (ended < 2) {
    hf_completion done;
    poll(&ready, 1, -1);
    while (hf_queue_next(queue, 0, &done) == HF_OK) {
      if (done.error.code != HF_OK) {
        fprintf(stderr, "%s\n", done.error.text);
        if (done.tag != LOST) return 1; /* cancelled, when the hold is given back */
        continue;
      }
      switch (done.tag) {
        case ORDERS: /* told at once if it is lost */
          hf_hold_wait_lost_async(done.hold, queue, LOST);
          /* fall through */
        case INVOICES:
          holds[done.tag - 1] = done.hold;
          printf("%s is held\n", hf_hold_name(done.hold));
          hf_hold_release_async(done.hold, queue, DONE + done.tag);
          break;
        case LOST:
          printf("lost: %d\n", (int)done.value);
          break;
        default:
          ++ended;
      }
    }
  }
  hf_hold_free(holds[0]);
  hf_hold_free(holds[1]);
  hf_queue_free(queue);
  hf_lock_free(invoices);
  hf_lock_free(orders);
  hf_client_free(client);
  return 0;
}
