/* SPDX-License-Identifier: Apache-2.0 */
/* The hand-off inside a client: two callers who want a lock again and again, and another client that wants it too.

   Bounds: 2 callers, 1 server, 1 other client, 17 steps of 1 ms (a tenure is 2), commands and messages that take a step
   at most, callers who stay inside for a step at most; the other client asks within REACTS steps of a message. There
   are no faults: when a connection is cut everybody asks again.

   Exhausted: all orders of callers, commands, replies, messages and the other client within these bounds.
   Checked: nobody is inside with anybody else; whoever waits for a message has one to come; the other client, which
   listens, is inside within CHANCE steps.

   The code itself: Tenure and ReleaseTraffic run here (machines/handoff.cpp).
   Written anew: Target (retain, take_retained, begin_release, end_release, heard), the queue, what AcquireFsm says to a
   busy reply, a wake and a message (with any delay of up to a step for Place), the server. */
#define END 17
#define REACTS 2
#define CHANCE 14
#define NEVER 255

c_decl {
\#include "machines/handoff.h"
#define NOW (now.t * 1000)
}
c_track "tenure_room" "kTenureRoom"
c_track "traffic_room" "kTrafficRoom"

mtype = { out, queued, waiting, asking, inside };
mtype = { nothing, acquire, subscribe_acquire, release, busy, granted, released, message };

byte t = 1;
mtype caller[2] = out;
byte head = 2, next = 2;   /* the queue */
byte until = NEVER;        /* the head waits until then */
bit missed;                /* a wake or a message while it asked */
bit retained;
byte asked_at;
bit behind_release;        /* the head asked before that release was answered: a moment before, within a step */
byte inside_since;

bit taken, by_other;       /* at the server */
bit subscribed;
chan up = [3] of { mtype };
chan down = [5] of { mtype, bit };

mtype other = out;         /* out, waiting (it listens), inside */
byte other_waits, other_due = NEVER;
byte result;
mtype what = nothing;
bit heard;
bit up_late, down_late;

#define ANYBODY_INSIDE (caller[0] == inside || caller[1] == inside)
#define LEAVE_QUEUE \
  head = next; next = 2; until = NEVER; missed = 0; \
  if :: head != 2 -> caller[head] = waiting; until = t :: else fi

/* AcquireFsm::go_on: the head looks what it can do. */
#define GO_ON \
  c_code { now.result = (handoff_not_before() + 999) / 1000; }; \
  if \
  :: ANYBODY_INSIDE -> until = NEVER; caller[head] = waiting \
  :: !ANYBODY_INSIDE && retained -> \
     retained = 0; caller[head] = inside; inside_since = t; c_code { tenure_on_queue_served(NOW); }; LEAVE_QUEUE \
  :: !ANYBODY_INSIDE && !retained && t < result -> until = (result > END -> NEVER : result); caller[head] = waiting \
  :: else -> ASK(acquire) \
  fi; \
  result = 0
#define ASK(first) \
  caller[head] = asking; until = NEVER; missed = 0; asked_at = t; c_code { now.behind_release = traffic_any(); }; \
  if :: subscribed || first == subscribe_acquire -> up!subscribe_acquire :: else -> up!first fi

#define WAKE_HEAD \
  if \
  :: head != 2 && caller[head] == waiting -> until = t \
  :: head != 2 && caller[head] == asking -> missed = 1 \
  :: else \
  fi
/* A message: it may be a little later that the head asks (Place). */
#define POST_MESSAGE \
  if \
  :: head != 2 && caller[head] == waiting -> until = (t + 1 < until -> t + 1 : until) \
  :: head != 2 && caller[head] == asking -> missed = 1 \
  :: else \
  fi
#define OTHER_RELEASED \
  if :: !ANYBODY_INSIDE -> c_code { tenure_on_other(); } :: else fi; \
  POST_MESSAGE

#ifdef MUTANT_WAKE_FORGOTTEN
#define WAKE_NEXT skip
#else
#define WAKE_NEXT WAKE_HEAD
#endif
#define WAIT_ON until = (missed -> t : NEVER); missed = 0
#ifdef MUTANT_ASK_AGAIN_IGNORED
#define ASKS_AGAIN (0)
#else
#define ASKS_AGAIN (result == 1 || result == 3)
#endif
#define OTHERS_TOLD (result >= 2)

#define CALLER(c) \
  :: d_step { caller[c] == out && t < END -> /* it comes */ \
       c_code { now.result = tenure_may_overtake(NOW); }; \
       if \
       :: retained && result -> retained = 0; caller[c] = inside; inside_since = t \
       :: !(retained && result) && head == 2 -> head = c; caller[c] = waiting; until = t \
       :: else -> next = c; caller[c] = queued \
       fi; \
       result = 0 } \
  :: d_step { caller[c] == inside && len(up) < 3 -> /* it goes */ \
       caller[c] = out; inside_since = 0; \
       c_code { now.result = tenure_may_pass(NOW); }; \
       if \
       :: result && head != 2 -> retained = 1; result = 0 \
       :: else -> result = 0; c_code { traffic_begin(NOW); }; up!release \
       fi; \
       WAKE_NEXT }

#define TELL_US if :: subscribed -> down!message, 0 :: else fi
#define TELL_OTHER if :: other == waiting && other_due == NEVER -> other_due = t + REACTS :: else fi
#define SUBSCRIBE if :: what == subscribe_acquire -> subscribed = 1 :: else fi

#define SETTLED \
  (taken == 0 && len(up) + len(down) == 0 && !ANYBODY_INSIDE && !retained && other != inside && other_due == NEVER)

active proctype world() {
  d_step { c_code { handoff_begin(2000); } }
  do
  CALLER(0)
  CALLER(1)
  :: d_step { head != 2 && caller[head] == waiting && until <= t && len(up) < 3 -> GO_ON }

  /* the server */
  :: d_step { nempty(up) && len(down) < 4 ->
       up?what; up_late = 0;
       SUBSCRIBE;
       if
       :: what == release -> taken = 0; heard = (other == waiting); TELL_US; TELL_OTHER; down!released, heard
       :: what != release && !taken -> taken = 1; by_other = 0; down!granted, 0
       :: else -> down!busy, (what == subscribe_acquire)
       fi;
       what = nothing; heard = 0 }

  /* what the client hears */
  :: d_step { nempty(down) && len(up) < 3 ->
       down?what, heard; down_late = 0;
       if
       :: what == message ->
          c_code { now.result = traffic_may_be_own(); };
          if :: !result -> OTHER_RELEASED :: else fi;
          result = 0
       :: what == released ->
          c_code { now.result = traffic_end(1); tenure_on_released(NOW, now.heard); };
          if :: OTHERS_TOLD -> OTHER_RELEASED :: else fi;
          if :: ASKS_AGAIN -> WAKE_HEAD :: else fi;
          result = 0
       :: what == granted ->
          caller[head] = inside; inside_since = t;
          c_code { tenure_on_granted(now.asked_at * 1000 - now.behind_release); tenure_on_queue_served(NOW); };
          asked_at = 0; behind_release = 0;
          LEAVE_QUEUE
       :: what == busy ->
          c_code { if (!traffic_overtakes()) tenure_on_other(); };
          if
          :: heard -> caller[head] = waiting; asked_at = 0; behind_release = 0; WAIT_ON
          :: else -> ASK(subscribe_acquire)
          fi
       fi;
       what = nothing; heard = 0 }

  /* the other client */
  :: d_step { other == out && t < END - CHANCE -> /* asks, and listens if it is taken */
       if
       :: !taken -> taken = 1; by_other = 1; other = inside
       :: else -> other = waiting; other_waits = 0
       fi }
  :: d_step { other == waiting && other_due != NEVER ->
       other_due = NEVER;
       if
       :: !taken -> taken = 1; by_other = 1; other = inside; other_waits = 0
       :: else
       fi }
  :: d_step { other == inside && len(down) < 4 -> taken = 0; by_other = 0; other = out; TELL_US }

  /* nobody is inside with anybody else */
  :: d_step { (caller[0] == inside) + (caller[1] == inside) + retained + (other == inside) > 1 -> assert(false) }
  /* whoever waits for a message has one to come */
  :: d_step { SETTLED && head != 2 && caller[head] == waiting && until == NEVER -> assert(false) }
  :: d_step { t < END && !(ANYBODY_INSIDE && t > inside_since) && !up_late && !down_late &&
              !(head != 2 && caller[head] == waiting && until <= t) && !(other_due != NEVER && other_due <= t) &&
              !(other == inside && other_waits >= 1) ->
       t++;
       up_late = (len(up) > 0); down_late = (len(down) > 0);
       if :: other != out -> other_waits++ :: else fi;
       assert(other != waiting || other_waits <= CHANCE) }
  :: d_step { t == END -> skip }; break
  od
}
