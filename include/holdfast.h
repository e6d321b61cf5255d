/* SPDX-License-Identifier: Apache-2.0 */
/* Holdfast for C and for other languages: distributed locks and synchronizers on Redis and Valkey, the same ones that
 * <holdfast/holdfast.hpp> has for C++. The library is libholdfast-c. See docs/c.md for a tour, docs/guarantees.md for what
 * a lock promises and what not, docs/kinds.md for the kinds.
 *
 * Calls. Each one exists as a call that waits, and, where something is sent, as a call that is started and completes in a
 * queue (`..._async`), in which case it never waits. A call returns HF_OK or a reason; hf_last_error() then has the details.
 * What a call gives out by a pointer is set only if it returns HF_OK.
 *
 * Handles. A lock's handle, a hold, and whatever else a client gave out may outlive the client, whose calls then fail with
 * HF_CLOSED. Each is freed by its `_free`, which accepts NULL and never waits for a server, except hf_client_free(). No
 * call may use a handle during or after its `_free`.
 *
 * Threads. All calls may be made on any thread, also at the same time on one handle; two calls that change one hold
 * (release, leave, extend, detach, downgrade) follow one another. Nothing calls back on a thread that is not the caller's.
 *
 * Texts are UTF-8 by convention, end with a 0 and are copied. Times are milliseconds.
 *
 * fork(): a child may only free or leave alone what it inherited; every other call fails with HF_FORKED. The parent keeps
 * its holds. Signals: the library's threads receive none.
 *
 * Before 1.0 a minor version may change this interface. */
#ifndef HOLDFAST_H
#define HOLDFAST_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HF_API __attribute__((visibility("default")))
#else
#define HF_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- declarations ---- */

typedef struct hf_client hf_client;
typedef struct hf_lock hf_lock;
typedef struct hf_hold hf_hold;
typedef struct hf_semaphore hf_semaphore;
typedef struct hf_latch hf_latch;
typedef struct hf_leader hf_leader;
typedef struct hf_stop hf_stop;
typedef struct hf_queue hf_queue;

/* Why a call failed: docs/errors.md. */
typedef enum hf_code {
  HF_OK = 0,
  HF_BUSY = 1,         /* somebody else holds it, and the call was not to wait */
  HF_TIMED_OUT = 2,    /* its limit on waiting has passed */
  HF_CANCELLED = 3,    /* by hf_stop_request(), hf_queue_cancel() or hf_client_release_all() */
  HF_LOST = 4,         /* the lock was lost */
  HF_NOT_OWNER = 5,    /* the hold has been given back, or the ticket's hold is another's */
  HF_UNREACHABLE = 6,  /* no connection */
  HF_UNKNOWN_OUTCOME = 7,
  HF_DENIED = 8,
  HF_TLS = 9,
  HF_WRONG_TYPE = 10,
  HF_READ_ONLY = 11,
  HF_OUT_OF_MEMORY = 12, /* at the server */
  HF_UNSUPPORTED_BY_SERVER = 13,
  HF_SERVER_ERROR = 14,
  HF_INVALID_ARGUMENT = 15,
  HF_FORKED = 16,
  HF_CLOSED = 17,
  HF_WOULD_DEADLOCK = 18,
  HF_NO_QUORUM = 19,
  HF_EXHAUSTED = 20, /* no memory or no threads here */
  HF_DURABILITY_NOT_MET = 21,
  HF_CROWDED = 22,
  HF_NOT_SET = 23, /* nobody has said how many permits there are */
  HF_TOO_FEW = 24, /* there are never as many permits as asked for */
  HF_INTERRUPTED = 1000, /* of hf_queue_next(): a signal's handler has run */
  HF_NOTHING = 1001      /* of hf_queue_next(): nothing has completed in that time */
} hf_code;

/* The details of a failure. Texts are never NULL. */
typedef struct hf_error {
  int code;         /* an hf_code */
  int may_pass;     /* 1: the same call may succeed later, although nothing here changes */
  const char *text; /* all of it, in a line */
  const char *key;  /* "" where none is meant, as in the next two */
  const char *node;
  const char *cause;
} hf_error;

/* The last call of this thread that failed; valid until its next call. */
HF_API const hf_error *hf_last_error(void);
/* "timed_out" for HF_TIMED_OUT; "?" for what is no hf_code. */
HF_API const char *hf_code_name(int code);
/* "0.2.0": of the library that runs, which may be newer than this header. */
HF_API const char *hf_version(void);
/* Frees a text that a call gave out. */
HF_API void hf_text_free(char *text);

/* ---- queues: how calls that were started complete ---- */

/* A call that has completed. The texts are valid until the next hf_queue_next() on that queue, or its end. */
typedef struct hf_completion {
  uint64_t tag;    /* that of the call */
  hf_error error;  /* its code is HF_OK if the call succeeded */
  int64_t value;   /* what the call says it is, otherwise 0 */
  hf_hold *hold;   /* of an acquire or an adopt that succeeded: now yours. Otherwise NULL */
  const char *text; /* JSON of hf_lock_info_async() and hf_client_list_async(), otherwise "" */
} hf_completion;

/* A queue belongs to no client. Calls that have been started and not been fetched are all that it keeps, so its size is
 * bounded by what its user starts. */
HF_API int hf_queue_new(hf_queue **queue);
/* Ends all calls that have been started with it, as hf_queue_cancel() does. What they were granted is given back. */
HF_API void hf_queue_free(hf_queue *queue);
/* Readable, for poll() and event loops, while something can be fetched. It is only to be watched, and stays the queue's. */
HF_API int hf_queue_fd(const hf_queue *queue);
/* Fetches what has completed, on one thread at a time; waits up to `timeout_ms` for something, or without a limit (-1). HF_NOTHING if there is
 * nothing. Returns HF_INTERRUPTED once a signal's handler has run on this thread while it waited. */
HF_API int hf_queue_next(hf_queue *queue, int64_t timeout_ms, hf_completion *completion);
/* Ends a call soon: it completes with HF_CANCELLED, unless it already has an outcome. A cancelled acquire leaves nothing on
 * the server; a cancelled release goes on in the background. Nothing happens if no such call is under way. */
HF_API void hf_queue_cancel(hf_queue *queue, uint64_t tag);

/* ---- stops: how another thread ends a call that waits ---- */

HF_API int hf_stop_new(hf_stop **stop);
HF_API void hf_stop_free(hf_stop *stop);
/* Calls that were given it end with HF_CANCELLED, and so do later ones. */
HF_API void hf_stop_request(hf_stop *stop);

/* ---- clients ---- */

/* A client with a thread and a connection of its own, opened by the first call that needs it. The URL has all settings:
 * docs/cli.md section URLs. HF_INVALID_ARGUMENT says where it is wrong, without repeating a password. Sends nothing. */
HF_API int hf_client_open(const char *url, hf_client **client);
/* Gives back what is still held, ends all waits with HF_CLOSED, and waits for that, for at most the release_timeout of the
 * URL. */
HF_API void hf_client_close(hf_client *client);
/* Closes it first. */
HF_API void hf_client_free(hf_client *client);
/* The id that is in the owner of its holds. Valid as long as the client. */
HF_API const char *hf_client_id(const hf_client *client);
/* The server's address, without a password. Valid as long as the client. */
HF_API const char *hf_client_node(const hf_client *client);
/* One round trip; for health checks. */
HF_API int hf_client_ping(const hf_client *client);
HF_API int hf_client_ping_async(const hf_client *client, hf_queue *queue, uint64_t tag);
/* Gives back all holds, and cancels all waits; waits up to `within_ms`. `left`, or the value: holds whose release was not
 * confirmed by then. For SIGTERM. */
HF_API int hf_client_release_all(const hf_client *client, int64_t within_ms, size_t *left);
HF_API int hf_client_release_all_async(const hf_client *client, int64_t within_ms, hf_queue *queue, uint64_t tag);

typedef enum hf_form { HF_OPENMETRICS = 0, HF_PROMETHEUS = 1 } hf_form;
/* Its metrics as text: docs/operations.md. Sends nothing. */
HF_API int hf_client_metrics(const hf_client *client, int form, char **text);

/* ---- locks ---- */

typedef enum hf_kind {
  HF_LOCK = 0, /* Redisson's RLock */
  HF_SIMPLE,   /* SET NX PX: of many libraries */
  HF_FENCED,   /* a token with each hold that only ever grows */
  HF_FAIR,     /* in the order of asking */
  HF_SPIN,     /* waits by asking again */
  HF_READ,     /* many may hold it at a time ... */
  HF_WRITE,    /* ... or one of these, of the same name */
  HF_LEASED    /* permits that come back when their holder has died */
} hf_kind;

#define HF_UNSET INT64_C(-1)
#define HF_NO_LIMIT INT64_MAX

typedef enum hf_lease { HF_LEASE_UNSET = 0, HF_LEASE_RENEWED, HF_LEASE_FIXED } hf_lease;
/* Confirmations that a grant and each renewal need; a number above 0: so many replicas. */
typedef enum hf_acks { HF_ACKS_UNSET = -1, HF_ACKS_NONE = 0, HF_ACKS_MAJORITY = -2, HF_ACKS_ALL = -3, HF_ACKS_AOF = -4 } hf_acks;

/* Of a lock's handle, as defaults of its calls, or of one call. Begin with HF_OPTIONS. */
typedef struct hf_options {
  size_t size;         /* sizeof(hf_options) */
  int64_t wait_ms;     /* limit on waiting; 0: try once; HF_UNSET: no limit */
  int64_t lease_ms;    /* HF_UNSET: the client's */
  int64_t max_hold_ms; /* at that age the hold is lost; HF_UNSET: at no age */
  int64_t max_waiters; /* of this client for this lock; HF_UNSET: any number */
  int64_t permits;     /* of HF_LEASED, 1 to 1000, only of the handle; HF_UNSET: 1 */
  int lease;           /* an hf_lease; HF_LEASE_UNSET: renewed */
  int acks;            /* an hf_acks, or a number of replicas */
  hf_stop *stop;       /* only of calls that wait; NULL: none */
} hf_options;
#define HF_OPTIONS \
  { sizeof(hf_options), HF_UNSET, HF_UNSET, HF_UNSET, HF_UNSET, HF_UNSET, HF_LEASE_UNSET, HF_ACKS_UNSET, NULL }

/* A handle, which costs nothing and sends nothing. `options` may be NULL. */
HF_API int hf_lock_open(const hf_client *client, int kind, const char *name, const hf_options *options, hf_lock **lock);
/* All of several, of kind HF_LOCK or all HF_SIMPLE, of one client or of several. */
HF_API int hf_multi_open(hf_lock *const *members, size_t number, const hf_options *options, hf_lock **lock);
/* A majority of several, on servers that fail independently: docs/guarantees-by-kind.md says what Redlock does not
 * promise. The members are all HF_LOCK, all HF_SIMPLE, or all made by hf_multi_open(). */
HF_API int hf_red_open(hf_lock *const *members, size_t number, const hf_options *options, hf_lock **lock);
/* Any one of several names of one server: hf_hold_name() says which. */
HF_API int hf_any_open(const hf_client *client, const char *const *names, size_t number, const hf_options *options, hf_lock **lock);
HF_API void hf_lock_free(hf_lock *lock);
/* Valid as long as the handle. */
HF_API const char *hf_lock_name(const hf_lock *lock);

/* Waits for the lock. HF_BUSY or HF_TIMED_OUT: somebody else has it; HF_CROWDED: too many wait. One round trip if it is
 * free; whoever waits is woken by a message. `options` may be NULL. A hold belongs to no thread and is not re-entrant. */
HF_API int hf_lock_acquire(const hf_lock *lock, const hf_options *options, hf_hold **hold);
HF_API int hf_lock_acquire_async(const hf_lock *lock, const hf_options *options, hf_queue *queue, uint64_t tag);
/* Goes on with a hold that was detached, here or elsewhere: `ticket` is what hf_hold_detach() gave out. HF_LOST: it
 * has ended meanwhile. `options`: only lease, max_hold and acks. */
HF_API int hf_lock_adopt(const hf_lock *lock, const char *ticket, const hf_options *options, hf_hold **hold);
HF_API int hf_lock_adopt_async(const hf_lock *lock, const char *ticket, const hf_options *options, hf_queue *queue, uint64_t tag);

/* Not of HF_MULTI and its like, as all below. What these say may be over when it arrives. */
HF_API int hf_lock_is_locked(const hf_lock *lock, int *locked);
HF_API int hf_lock_is_locked_async(const hf_lock *lock, hf_queue *queue, uint64_t tag);
HF_API int hf_lock_is_held_by(const hf_lock *lock, const char *owner, int *held);
HF_API int hf_lock_is_held_by_async(const hf_lock *lock, const char *owner, hf_queue *queue, uint64_t tag);
/* Of the lease; HF_UNSET: nobody holds it. */
HF_API int hf_lock_remaining(const hf_lock *lock, int64_t *remaining_ms);
HF_API int hf_lock_remaining_async(const hf_lock *lock, hf_queue *queue, uint64_t tag);
/* Takes it away from whoever holds it, or from that owner only (NULL: from anybody). `freed`, or the value: 1 if it was held. */
HF_API int hf_lock_force_release(const hf_lock *lock, const char *owner, int *freed);
HF_API int hf_lock_force_release_async(const hf_lock *lock, const char *owner, hf_queue *queue, uint64_t tag);
/* Asks whoever holds it to give it back, which ends nothing by itself. `heard`, or the value: how many holders listen, as
 * hf_hold_wait_asked_async() does; 0 also where nobody holds it. One command. */
HF_API int hf_lock_ask_release(const hf_lock *lock, size_t *heard);
HF_API int hf_lock_ask_release_async(const hf_lock *lock, hf_queue *queue, uint64_t tag);
/* Of HF_FENCED: the highest token so far, 0 if there is none. */
HF_API int hf_lock_latest_token(const hf_lock *lock, int64_t *token);

/* Of HF_LEASED. How many are free. */
HF_API int hf_permits_available(const hf_lock *lock, int64_t *permits);
HF_API int hf_permits_available_async(const hf_lock *lock, hf_queue *queue, uint64_t tag);
/* Says how many there are, unless somebody has; `set`, or the value: 1 if that was done. `lives_ms`: it then expires after
 * that time, but not before its last permit; HF_UNSET: never. */
HF_API int hf_permits_init(const hf_lock *lock, int64_t permits, int64_t lives_ms, int *set);
HF_API int hf_permits_init_async(const hf_lock *lock, int64_t permits, hf_queue *queue, uint64_t tag);
/* Changes how many there are, with those that are held; `now`, or the value: how many are free then, maybe below 0. */
HF_API int hf_permits_set_total(const hf_lock *lock, int64_t permits, int64_t *now);
HF_API int hf_permits_set_total_async(const hf_lock *lock, int64_t permits, hf_queue *queue, uint64_t tag);
/* Adds so many, or takes some away; `now`, or the value: how many are free then. */
HF_API int hf_permits_add(const hf_lock *lock, int64_t permits, int64_t *now);
HF_API int hf_permits_add_async(const hf_lock *lock, int64_t permits, hf_queue *queue, uint64_t tag);
/* As if nobody had said how many there are; who holds one keeps it. `removed`, or the value: 1 if somebody had. */
HF_API int hf_permits_remove(const hf_lock *lock, int *removed);
HF_API int hf_permits_remove_async(const hf_lock *lock, hf_queue *queue, uint64_t tag);

/* ---- holds ---- */

/* Gives it back in the background, if that was not done. */
HF_API void hf_hold_free(hf_hold *hold);
/* The same for what a pointer points to, if anything, which is then NULL: for languages that free by themselves. */
HF_API void hf_hold_clear(hf_hold **hold);

typedef enum hf_outcome { HF_RELEASED = 0, HF_WAS_LOST, HF_UNKNOWN, HF_LEFT, HF_EMPTY } hf_outcome;
/* Gives it back and waits for the answer, for at most the client's release_timeout. `outcome` may be NULL. HF_WAS_LOST: it
 * had been lost before; HF_UNKNOWN: no answer came, and the lease bounds how long it can be held. A second time the outcome
 * is the same. */
HF_API int hf_hold_release(hf_hold *hold, int *outcome);
/* The value: an hf_outcome. The hold is empty from this call on, and may be freed. */
HF_API int hf_hold_release_async(hf_hold *hold, hf_queue *queue, uint64_t tag);
/* Lets it go without giving it back: it stays taken for that long. */
HF_API int hf_hold_leave(hf_hold *hold, int64_t rest_ms, int *outcome);
/* Gives a hold with a fixed lease another one, of this length from now on. */
HF_API int hf_hold_extend(hf_hold *hold, int64_t lease_ms);
HF_API int hf_hold_extend_async(hf_hold *hold, int64_t lease_ms, hf_queue *queue, uint64_t tag);
/* Lets it go without giving it back: whoever has the ticket can adopt it. The hold is empty then. */
HF_API int hf_hold_detach(hf_hold *hold, char **ticket);
/* From a write hold to a read hold, with nobody in between. */
HF_API int hf_hold_downgrade(hf_hold *hold);
HF_API int hf_hold_downgrade_async(hf_hold *hold, hf_queue *queue, uint64_t tag);
/* Completes when the hold is lost: the value is an hf_loss. With HF_CANCELLED when it is given back first. Costs nothing. */
HF_API int hf_hold_wait_lost_async(const hf_hold *hold, hf_queue *queue, uint64_t tag);
/* Completes when somebody asks for the lock (hf_lock_ask_release(), `holdfast ask-release`): the value is how often since
 * the last such completion. With HF_LOST or HF_CANCELLED when the hold ends first. The first call for a hold begins to
 * listen, in the background, by a subscription; what comes while nobody waits is kept for the next call. */
HF_API int hf_hold_wait_asked_async(hf_hold *hold, hf_queue *queue, uint64_t tag);

/* These look at what is known here and send nothing. For how long nobody else can have it; 0: it is lost or given back. */
HF_API int64_t hf_hold_valid_for(const hf_hold *hold);
/* The same for a hold with acks, as far as these confirmed it. */
HF_API int64_t hf_hold_durable_for(const hf_hold *hold);
/* HF_OK, HF_LOST, or HF_NOT_OWNER if it has been given back. */
HF_API int hf_hold_check(const hf_hold *hold);
typedef enum hf_state { HF_HELD = 0, HF_SUSPECT, HF_STATE_LOST, HF_STATE_RELEASED, HF_STATE_EMPTY } hf_state;
HF_API int hf_hold_state(const hf_hold *hold);
typedef enum hf_loss { HF_EXPIRED = 0, HF_TAKEN, HF_MAX_HOLD, HF_LOSS_CLOSED, HF_LOSS_FORKED } hf_loss;
/* An hf_loss, or -1 while it is not lost. */
HF_API int hf_hold_loss_reason(const hf_hold *hold);
/* Of a fenced lock; 0 for other kinds. */
HF_API int64_t hf_hold_token(const hf_hold *hold);
/* As they were when it was granted. Valid as long as the handle. */
HF_API const char *hf_hold_owner(const hf_hold *hold);
HF_API const char *hf_hold_name(const hf_hold *hold);

/* ---- semaphores: permits of nobody in particular (Redisson's RSemaphore) ---- */

HF_API int hf_semaphore_open(const hf_client *client, const char *name, hf_semaphore **semaphore);
HF_API void hf_semaphore_free(hf_semaphore *semaphore);
/* `wait_ms`: 0: try once, HF_NO_LIMIT: none. HF_BUSY and HF_TIMED_OUT: there were not enough. `stop` may be NULL. */
HF_API int hf_semaphore_acquire(const hf_semaphore *semaphore, int64_t permits, int64_t wait_ms, hf_stop *stop);
HF_API int hf_semaphore_acquire_async(const hf_semaphore *semaphore, int64_t permits, int64_t wait_ms, hf_queue *queue, uint64_t tag);
/* Gives back. `done`, or the value: 0 if nobody has set the semaphore, and nothing was changed. */
HF_API int hf_semaphore_release(const hf_semaphore *semaphore, int64_t permits, int *done);
HF_API int hf_semaphore_release_async(const hf_semaphore *semaphore, int64_t permits, hf_queue *queue, uint64_t tag);
HF_API int hf_semaphore_available(const hf_semaphore *semaphore, int64_t *permits);
HF_API int hf_semaphore_available_async(const hf_semaphore *semaphore, hf_queue *queue, uint64_t tag);
/* Says how many there are, unless somebody has; `set`, or the value: 1 if that was done. `lives_ms`: it then expires after
 * that time; HF_UNSET: never. */
HF_API int hf_semaphore_init(const hf_semaphore *semaphore, int64_t permits, int64_t lives_ms, int *set);
HF_API int hf_semaphore_init_async(const hf_semaphore *semaphore, int64_t permits, hf_queue *queue, uint64_t tag);
/* Adds so many, or takes some away; `now`, or the value: how many are free then. */
HF_API int hf_semaphore_add(const hf_semaphore *semaphore, int64_t permits, int64_t *now);
HF_API int hf_semaphore_add_async(const hf_semaphore *semaphore, int64_t permits, hf_queue *queue, uint64_t tag);
/* Takes all that are free; `taken`, or the value: how many. */
HF_API int hf_semaphore_drain(const hf_semaphore *semaphore, int64_t *taken);
HF_API int hf_semaphore_drain_async(const hf_semaphore *semaphore, hf_queue *queue, uint64_t tag);
/* As if nobody had set it. `removed`, or the value: 1 if somebody had. */
HF_API int hf_semaphore_remove(const hf_semaphore *semaphore, int *removed);
HF_API int hf_semaphore_remove_async(const hf_semaphore *semaphore, hf_queue *queue, uint64_t tag);

/* ---- latches (Redisson's RCountDownLatch) ---- */

HF_API int hf_latch_open(const hf_client *client, const char *name, hf_latch **latch);
HF_API void hf_latch_free(hf_latch *latch);
/* Waits until the count is 0, as it is of a latch that nobody has set. `wait_ms` and `stop`: as of a semaphore. */
HF_API int hf_latch_wait(const hf_latch *latch, int64_t wait_ms, hf_stop *stop);
HF_API int hf_latch_wait_async(const hf_latch *latch, int64_t wait_ms, hf_queue *queue, uint64_t tag);
/* Sets it, unless it is set; `set`, or the value: 1 if that was done. */
HF_API int hf_latch_init(const hf_latch *latch, int64_t steps, int *set);
HF_API int hf_latch_init_async(const hf_latch *latch, int64_t steps, hf_queue *queue, uint64_t tag);
/* `now`, or the value: what is left. */
HF_API int hf_latch_count_down(const hf_latch *latch, int64_t steps, int64_t *now);
HF_API int hf_latch_count_down_async(const hf_latch *latch, int64_t steps, hf_queue *queue, uint64_t tag);
HF_API int hf_latch_count(const hf_latch *latch, int64_t *count);
HF_API int hf_latch_count_async(const hf_latch *latch, hf_queue *queue, uint64_t tag);
/* Then it is open; those who wait see it at their next check. `removed`, or the value: 1 if it was closed. */
HF_API int hf_latch_remove(const hf_latch *latch, int *removed);
HF_API int hf_latch_remove_async(const hf_latch *latch, hf_queue *queue, uint64_t tag);

/* ---- leaders: one process of many does the work ---- */

/* Of a lock of kind HF_FENCED. */
HF_API int hf_leader_open(const hf_lock *lock, hf_leader **leader);
HF_API void hf_leader_free(hf_leader *leader);

/* A term, as long as the body runs. */
typedef struct hf_term hf_term;
HF_API int64_t hf_term_token(const hf_term *term);
HF_API int64_t hf_term_valid_for(const hf_term *term);
/* 0 once the body should return: the term is lost, or somebody wants it to end. */
HF_API int hf_term_leads(const hf_term *term);

typedef enum hf_term_end { HF_FINISHED = 0, HF_STEPPED_DOWN, HF_TERM_LOST } hf_term_end;
/* Waits until it leads, as hf_lock_acquire() does, runs the body on this thread, and gives the lock back when the body
 * returns. `end` may be NULL. */
HF_API int hf_leader_lead(hf_leader *leader, const hf_options *options, void (*body)(const hf_term *term, void *data), void *data, int *end);
/* Leads again and again, until `stop` (HF_OK then) or a failure that does not pass; `rest_ms` after a term that ended well.
 * `trouble` (or NULL) is called on this thread for each failure that may pass. */
HF_API int hf_leader_campaign(hf_leader *leader, hf_stop *stop, int64_t rest_ms, void (*body)(const hf_term *term, void *data),
                              void (*trouble)(const hf_error *error, void *data), void *data);
/* Asks the body to return. From any thread. */
HF_API void hf_leader_step_down(hf_leader *leader);
HF_API int hf_leader_leads(const hf_leader *leader);

/* ---- what there is, as JSON of the form that docs/cli.md describes: `inspect`, `ls` and `doctor` ---- */

HF_API int hf_lock_info(const hf_lock *lock, char **json);
HF_API int hf_lock_info_async(const hf_lock *lock, hf_queue *queue, uint64_t tag);

typedef enum hf_list {
  HF_LIST_LOCKS = 0,
  HF_LIST_READ_WRITE,
  HF_LIST_SIMPLE,
  HF_LIST_LEASED,
  HF_LIST_SEMAPHORES,
  HF_LIST_LATCHES,
  HF_LIST_ANY /* locks, read-write locks and leased semaphores: all that is found by the type of a key */
} hf_list;
/* An array. Reads all keys of the server by SCAN. `pattern`: * and ? and [abc]. */
HF_API int hf_client_list(const hf_client *client, const char *pattern, int what, char **json);
HF_API int hf_client_list_async(const hf_client *client, const char *pattern, int what, hf_queue *queue, uint64_t tag);

/* What about the client's servers endangers locks, or that lock (or NULL). A few round trips to each node. */
HF_API int hf_client_probe(const hf_client *client, const char *lock, char **json);

/* ---- end of declarations ---- */

#ifdef __cplusplus
}
#endif

#endif
