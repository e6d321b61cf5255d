/* SPDX-License-Identifier: Apache-2.0 */
/* The wait for a lock: two clients that want it, each once, one server, and somebody who has it at first.

   Bounds: 2 waiters, one of them with a limit; 22 steps of 2 ms with a lease of 20 ms and a safety poll of 8; two faults in
   all: a request that is lost, a reply that is lost, a message that does not reach a waiter. Or 28 steps, in a
   crowd of 18 clients more that listen and never ask, and one fault, or who had it first takes it once more. Commands and replies take a step at most, and a holder has
   it for two, or, if it dies, as long as its lease.

   Exhausted: every order of waiters, commands, replies, messages and faults within these bounds.
   Checked: every wait ends by itself; a free lock is not idle for longer than a message takes, or beyond a fault the
   safety poll, while somebody waits; whoever gives up has what it may have been granted given back; a limit is kept.

   The code itself: AcquireFsm runs here, with Place and Poll (machines/acquire.cpp).
   Written anew: AcquireOp around it, the server, the subscription. */
#define END (crowd -> 28 : 22)
#define CROWD 18
#define LEASE 10  /* steps */
#define LIMIT 12  /* of the second waiter's wait */
#define TIMEOUT 2 /* of a command */
#define OTHERS 3
#define NEVER 255
/* So long a lock is free at most while somebody waits. Where a message was lost: the safety poll; in the crowd, which
   polls rarely, the end of the lease. Where one or two commands were not answered: the pauses of 10 and 20 ms behind. */
#define QUICK (crowd -> 12 : 3)
#define SLOW (crowd -> 21 : 5)
#define SLOWEST (crowd -> 21 : 11)

c_decl {
\#include "machines/acquire.h"
#define NOW (now.t * 2000)
#define BUSY_LEFT(i) (now.busy_until[i] > now.t ? (now.busy_until[i] - now.t) * 2000 : 0)
}
c_track "acquire_room" "kWaiters * kAcquireRoom"

mtype = { outside, asking, waiting, inside, giving_back, gone };
mtype = { nothing, to_server, to_client, unanswered };

bit crowd, takes_again;
byte t = 1, faults = 2;
byte owner = OTHERS, expires = LEASE; /* 0: nobody has it; else the waiter plus 1, or OTHERS */
byte free_for, free_at_most;

mtype phase[2] = outside;
byte since[2];   /* inside, or giving back */
byte until[2];   /* waiting */
bit subscribed[2], missed[2];
byte message[2]; /* 1: on its way */
byte busy_until[2], busy_message[2];

mtype where[2] = nothing; /* its command */
byte sent[2];
bit subscribes[2], publishes[2], yes[2];
byte left[2], count[2];

byte todo;
bit undo, again;

#define SUBSCRIBERS (subscribed[0] + subscribed[1] + (crowd -> CROWD : 0))
#define OTHER(i) (1 - (i))

#define IS_SLOW(steps) if :: free_at_most < (steps) -> free_at_most = (steps) :: else fi
#define PUBLISH(i) if :: subscribed[i] -> message[i] = 1; busy_message[i] = 0 :: else fi
#define FREE owner = 0; expires = 0; PUBLISH(0); PUBLISH(1)

/* What the machine says. A message that came while it asked is looked at before it sleeps. */
#define ACT(i) \
  if \
  :: todo == 0 /* kAttempt */ -> \
     c_code { now.subscribes[i] = acquire_subscribe | now.subscribed[i]; now.publishes[i] = acquire_publish_busy; }; \
     phase[i] = asking; until[i] = 0; missed[i] = 0; where[i] = to_server; sent[i] = t \
  :: todo == 1 /* kWait */ -> \
     c_code { now.until[i] = acquire_until; }; phase[i] = waiting; again = missed[i]; missed[i] = 0 \
  :: todo == 2 /* kGranted */ -> \
     phase[i] = inside; since[i] = t; subscribed[i] = 0; c_code { acquire_forget(i); } \
  :: todo == 3 /* kFailed */ -> \
     c_code { now.undo = acquire_undo; acquire_forget(i); }; \
     assert(owner != i + 1 || undo); \
     phase[i] = (undo -> giving_back : gone); since[i] = t; subscribed[i] = 0; undo = 0; until[i] = 0 \
  fi; \
  todo = 0
#define ACT_ON(i) \
  ACT(i); \
  if \
  :: again -> again = 0; c_code { now.todo = acquire_on_message(i, NOW, now.subscribed[i], BUSY_LEFT(i)); }; ACT(i); \
     assert(!again) \
  :: else \
  fi

#define WAITER(i) \
  :: d_step { phase[i] == outside && t < 3 -> \
       c_code { now.todo = acquire_begin(i, NOW, i == 1 ? LIMIT * 2000 : 0, i == 1 ? 40 : 70); }; ACT(i) } \
  :: d_step { phase[i] == waiting && until[i] <= t -> \
       c_code { now.todo = acquire_on_time(i, NOW, now.subscribed[i], BUSY_LEFT(i)); }; ACT_ON(i) } \
  :: d_step { message[i] -> \
       message[i] = 0; busy_until[i] = 0; \
       if \
       :: phase[i] == waiting -> \
          c_code { now.todo = acquire_on_message(i, NOW, now.subscribed[i], 0); }; ACT_ON(i) \
       :: phase[i] == asking -> missed[i] = 1 \
       :: else \
       fi } \
  :: d_step { busy_message[i] > 0 && !message[i] -> \
       busy_until[i] = t + busy_message[i]; busy_message[i] = 0; \
       if \
       :: phase[i] == waiting && c_expr { (acquire_lets_others_ask(i)) } -> \
          c_code { now.todo = acquire_on_busy(i, NOW, now.subscribed[i], BUSY_LEFT(i)); }; ACT_ON(i) \
       :: else \
       fi } \
  :: d_step { (message[i] || busy_message[i]) && faults > 0 -> \
       faults--; message[i] = 0; busy_message[i] = 0; IS_SLOW(SLOW) } \
  :: d_step { phase[i] == inside && t > since[i] -> /* it is given back; the reply is not lost here */ \
       assert(owner == i + 1); phase[i] = gone; since[i] = 0; FREE } \
  :: d_step { phase[i] == inside -> phase[i] = gone; since[i] = 0 /* its process dies */ } \
  :: d_step { phase[i] == giving_back -> \
       phase[i] = gone; since[i] = 0; if :: owner == i + 1 -> FREE :: else fi }

#ifdef MUTANT_MISSED_IS_FORGOTTEN
#define EXECUTED_BEFORE(i) missed[i] = 0
#else
#define EXECUTED_BEFORE(i) skip
#endif

#define COMMAND(i) \
  :: d_step { where[i] == to_server -> \
       if :: subscribes[i] -> subscribed[i] = (phase[i] == asking) :: else fi; \
       if \
       :: owner == 0 || owner == i + 1 -> owner = i + 1; expires = t + LEASE; yes[i] = 1 \
       :: else -> \
          yes[i] = 0; left[i] = expires - t; count[i] = (subscribes[i] -> SUBSCRIBERS : NEVER); \
          if :: publishes[i] && subscribed[OTHER(i)] -> busy_message[OTHER(i)] = expires - t :: else fi \
       fi; \
       where[i] = to_client; publishes[i] = 0 } \
  :: d_step { (where[i] == to_server || where[i] == to_client) && faults > 0 -> \
       faults--; where[i] = unanswered; yes[i] = 0; left[i] = 0; count[i] = 0; IS_SLOW(SLOWEST) } \
  :: d_step { where[i] == to_client -> \
       where[i] = nothing; sent[i] = 0; EXECUTED_BEFORE(i); \
       c_code { now.todo = acquire_on_attempt(i, NOW, now.yes[i] ? kReplyGranted : kReplyBusy, now.left[i] * 2000, \
                                              now.count[i] == NEVER ? -1 : now.count[i], now.subscribes[i]); }; \
       yes[i] = 0; left[i] = 0; count[i] = 0; subscribes[i] = 0; ACT_ON(i) } \
  :: d_step { where[i] == unanswered && t >= sent[i] + TIMEOUT -> \
       where[i] = nothing; sent[i] = 0; subscribes[i] = 0; \
       c_code { now.todo = acquire_on_attempt(i, NOW, kReplyUnknown, 0, -1, 0); }; ACT_ON(i) }

#define DUE(i) \
  ((phase[i] == waiting && until[i] <= t) || (phase[i] == outside && t == 2) || message[i] || busy_message[i] || \
   phase[i] == giving_back || (phase[i] == inside && t > since[i]) || \
   ((where[i] == to_server || where[i] == to_client) && t > sent[i]) || (where[i] == unanswered && t >= sent[i] + TIMEOUT))
#define WANTS(i) (phase[i] == waiting)
#define UNDER_WAY (phase[0] == asking || phase[1] == asking || phase[0] == giving_back || phase[1] == giving_back)

#define CHECK(i) \
  assert(phase[i] != waiting || until[i] != NEVER); \
  assert(i == 0 || phase[i] == inside || phase[i] == gone || phase[i] == giving_back || t <= 2 + LIMIT + TIMEOUT + 1)

active proctype world() {
  if
  :: crowd = 1; faults = 1
  :: crowd = 1; faults = 0; takes_again = 1
  :: crowd = 0
  fi;
  free_at_most = QUICK;
  do
  WAITER(0)
  WAITER(1)
  COMMAND(0)
  COMMAND(1)
  :: d_step { owner == OTHERS && t > 1 -> FREE }
  :: d_step { owner == 0 && takes_again && t < 4 -> takes_again = 0; owner = OTHERS; expires = t + LEASE }
  :: d_step { t < END && !DUE(0) && !DUE(1) ->
       t++;
       if :: owner != 0 && t >= expires -> owner = 0; expires = 0 :: else fi;
       if
       :: owner == 0 && (WANTS(0) || WANTS(1)) && !UNDER_WAY -> free_for++
       :: else -> free_for = 0
       fi;
       assert(free_for <= free_at_most);
       CHECK(0);
       CHECK(1) }
  :: d_step { t == END || (phase[0] == gone && phase[1] == gone) -> skip }; break
  od
}
