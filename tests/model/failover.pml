/* SPDX-License-Identifier: Apache-2.0 */
/* Failover and acks: a primary with two replicas, any of which may be elected at any time, and one client in full.

   Bounds: 3 servers, 1 client, 1 owner (who asks again if need be), 2 writes under way to each replica, 8 steps of 2 ms
   with a lease of 14 ms; an election (of any replica, whatever it has), and
   one fault more: a replica that is cut off,
   a lane of the client that is cut, a primary that restarts without data.
   The primary before an election goes on until it is demoted, which interrupts its WAITs and cuts its
   connections (Sentinels see to that); replicas follow the new one
   when they like. Of the other clients only that is there what this one sees of them: they may have what is free.
   With acks of all, whoever believes has its owner on every server that could be elected, and so does anybody else who
   believes; with none the primary may be without it, which the case without acks must show (it is a mutant here).

   The code itself: HoldFsm, GroupCommit, ReplicaCount, as_confirmed, RecentReleases and lease.hpp run here
   (machines/failover.cpp).
   Written anew: Confirmations, the two lanes, the eras' ends, LateReleases (with any pause), replication, Sentinels. */
#define FAULTS 1
#define ELECTIONS 1
#define LEASE 7
#define END 8
#define PATIENCE 2
#define NOBODY 3
#define RENEW 1
#define AGAIN 0
#define CONFIRMED 1
#define GONE 2
#define MISSED 3
#define STANDS 0

c_decl {
\#include "machines/failover.h"
#define NOW (now.t * 2000)
#define LEASE_US 14000
#define FOLLOWER(n) (now.following[n] == now.at_side)
#define CONNECTED_THERE (FOLLOWER(0) + FOLLOWER(1) + FOLLOWER(2))
#define ACKS_THERE ((FOLLOWER(0) && !now.behind[0]) + (FOLLOWER(1) && !now.behind[1]) + (FOLLOWER(2) && !now.behind[2]))
#define ON_RECORD 2
}
c_track "hold_room" "kHoldRoom"

mtype = { asking, confirming, holding, releasing, over };
mtype = { none, waits, sent, acks }; /* a confirm: for its batch, to the server, for acks */

byte t;
byte faults = FAULTS, elections = ELECTIONS;
byte primary;
bit acting[3];        /* it takes writes */
byte following[3];
bit own[3];           /* it has our owner, */
byte until[3];        /* for so long */
chan stream[3] = [2] of { bit, byte }; /* to each replica */
bit emptied;

mtype phase = asking;
byte at_main, at_side;
bit up_main = 1, up_side = 1;
byte era = 1;
bit unresolved, repeat, released;
byte granted_at, released_at;
mtype confirm = none;
byte asked_at, sent_at, era_asked, behind[3]; /* writes that a replica has to take before it acks */
byte result, got;
bit mine;

#define BELIEVES (phase == holding && c_expr { (hold_valid(NOW)) })
#define DURABLE (phase == holding && c_expr { (hold_durable(NOW, now.era)) })
#define AT_HOME (up_main && up_side && at_main == primary && at_side == primary)
#define FOLLOWS(n, p) (following[n] == p)
#define ROOM_FOR(p) \
  ((!FOLLOWS(0, p) || len(stream[0]) < 2) && (!FOLLOWS(1, p) || len(stream[1]) < 2) && \
   (!FOLLOWS(2, p) || len(stream[2]) < 2))

#define TELL(n, p) if :: FOLLOWS(n, p) -> stream[n]!own[p], until[p] :: else fi
#define WRITE(p, has, end) own[p] = has; until[p] = end; TELL(0, p); TELL(1, p); TELL(2, p)
#define LEASE_END (phase == over -> 0 : t + LEASE)
#define DRAIN(n) do :: len(stream[n]) > 0 -> stream[n]?mine, got :: else -> break od; mine = 0; got = 0; behind[n] = 0
#define WAITS_AT(p) (confirm == acks && at_side == p)
#define LEN(n) (FOLLOWS(n, at_side) -> len(stream[n]) : 0)

#define LOOK \
  if \
  :: c_expr { (hold_lost()) } && phase == holding -> phase = releasing; c_code { hold_forget(); } \
  :: else \
  fi
#define NO_CONFIRM \
  confirm = none; asked_at = 0; sent_at = 0; era_asked = 0; behind[0] = 0; behind[1] = 0; behind[2] = 0

#ifdef MUTANT_ERA_FORGOTTEN
#define ERA_ASKED era
#define END_ERA skip
#else
#define ERA_ASKED era_asked
#define END_ERA if :: phase != over -> era++ :: else fi
#endif

/* What has become of the batch is in `result`. */
#define TOLD \
  if \
  :: result == AGAIN -> confirm = waits; sent_at = 0; era_asked = 0; behind[0] = 0; behind[1] = 0; behind[2] = 0 \
  :: result != AGAIN && phase == confirming -> \
     got = result; \
     c_code { now.result = worth(now.got, now.era_asked, now.era); }; \
     if \
     :: result == STANDS && c_expr { (hold_in_time(now.granted_at * 2000, NOW, LEASE_US)) } -> \
        c_code { hold_begin(now.granted_at * 2000, LEASE_US, 1, now.era); }; \
        phase = holding; unresolved = 0 \
     :: else -> phase = asking; unresolved = 1 \
     fi; \
     granted_at = 0; got = 0; NO_CONFIRM \
  :: result != AGAIN && phase == holding -> \
     if \
     :: result == CONFIRMED -> got = ERA_ASKED; c_code { hold_on_renewed(now.sent_at * 2000, NOW, now.got); } \
     :: result == GONE -> c_code { hold_on_gone(); } \
     :: else -> c_code { hold_on_unanswered(NOW); } \
     fi; \
     got = 0; LOOK; NO_CONFIRM \
  :: else -> NO_CONFIRM \
  fi; \
  result = 0

#define LOSE_MAIN up_main = 0; at_main = 0
#define SIDE_LOST \
  up_side = 0; at_side = 0; END_ERA; \
  if \
  :: confirm == sent || confirm == acks -> \
     c_code { now.result = confirm_unknown(now.asked_at * 2000, NOW, ON_RECORD); }; TOLD \
  :: else \
  fi

/* Replicas are alike: the first that is elected is 1. */
#define FIRST(n) (n != 2 || primary == 1)
#define SERVER(n) \
  :: d_step { nempty(stream[n]) -> \
       stream[n]?own[n], until[n]; \
       if :: behind[n] > 0 -> behind[n]-- :: else fi } \
  :: d_step { elections > 0 && primary != n && !acting[n] && FIRST(n) -> /* an election */ \
       elections--; primary = n; acting[n] = 1; following[n] = NOBODY; DRAIN(n) } \
  :: d_step { faults > 0 && following[n] != NOBODY && phase != over -> \
       faults--; following[n] = NOBODY; DRAIN(n) } \
  :: d_step { primary != n && following[n] != primary -> /* it follows the new one, with all its data */ \
       if \
       :: WAITS_AT(n) && acting[n] -> \
          c_code { now.result = confirm_answered(now.asked_at * 2000, NOW, 1, 0, ON_RECORD, 0, 1); }; TOLD \
       :: else \
       fi; \
       if :: acting[n] && at_main == n -> LOSE_MAIN :: else fi; \
       if :: acting[n] && at_side == n && up_side && phase != over -> SIDE_LOST :: else fi; \
       acting[n] = 0; LEAVE(0, n); LEAVE(1, n); LEAVE(2, n); DRAIN(n); \
       following[n] = primary; own[n] = own[primary]; until[n] = until[primary] }

#define LEAVE(m, n) if :: FOLLOWS(m, n) -> following[m] = NOBODY; DRAIN(m) :: else fi
#define EXPIRE(n) if :: own[n] && t >= until[n] -> own[n] = 0; until[n] = 0 :: else fi
#define HAS_ALL (own[0] && own[1] && own[2])
#define IN_STEP(n) (n == primary || (following[n] == primary && empty(stream[n]) && !acting[n]))
#define OUT_OF_TIME (confirm != none && t >= asked_at + 2)
#define QUIET (phase == over && !repeat && up_main && at_main == primary && \
               IN_STEP(0) && IN_STEP(1) && IN_STEP(2))

#ifdef MUTANT_NO_ACKS
#define GRANTED \
  c_code { hold_begin(NOW, LEASE_US, 0, 0); }; phase = holding; unresolved = 0
#define RENEWAL \
  if \
  :: up_main && acting[at_main] && ROOM_FOR(at_main) && own[at_main] -> \
     WRITE(at_main, 1, LEASE_END); c_code { hold_on_renewed(NOW, NOW, 0); } \
  :: up_main && acting[at_main] && !own[at_main] -> c_code { hold_on_gone(); } \
  :: else -> c_code { hold_on_unanswered(NOW); } \
  fi; \
  LOOK
#else
#define GRANTED phase = confirming; granted_at = t; asked_at = t; confirm = waits
#define RENEWAL \
  if :: confirm == none -> confirm = waits; asked_at = t :: else fi
#endif

#ifdef MUTANT_RELEASE_NOT_REPEATED
#define REPEAT skip
#else
#define REPEAT \
  c_code { now.repeat = releases_to_repeat(now.released_at * 2000, NOW, LEASE_US); }
#endif

#define BUSY \
  ((phase == holding && c_expr { (hold_due(NOW)) }) || (phase == asking && t >= PATIENCE) || OUT_OF_TIME || \
   (confirm == acks && t > sent_at) || phase == releasing)

active proctype world() {
  d_step { acting[0] = 1; following[0] = NOBODY }
  do
  SERVER(0)
  SERVER(1)
  SERVER(2)
  :: d_step { faults > 0 && phase != over -> /* the primary comes back at once, without data */
       faults--; emptied = 1; own[primary] = 0; until[primary] = 0;
       LEAVE(0, primary); LEAVE(1, primary); LEAVE(2, primary);
       if :: at_main == primary -> LOSE_MAIN :: else fi;
       if :: at_side == primary && up_side -> SIDE_LOST :: else fi }

  /* the client's lanes */
  :: d_step { faults > 0 && up_main && (phase == confirming || phase == holding) -> faults--; LOSE_MAIN }
  :: d_step { !up_main || at_main != primary ->
       up_main = 1; at_main = primary; END_ERA;
       if :: phase == holding -> c_code { hold_on_reconnect(NOW); } :: else fi;
       if :: phase == over && released -> REPEAT :: else fi }
  :: d_step { up_side && at_side != primary -> SIDE_LOST }
  :: d_step { faults > 0 && up_side && phase != over -> faults--; SIDE_LOST }
  :: d_step { !up_side && phase != over ->
       up_side = 1; at_side = primary;
       if :: phase == holding -> c_code { hold_on_reconnect(NOW); } :: else fi }

  /* acquire: others may have what is free */
  :: d_step { phase == asking && t < PATIENCE && up_main && acting[at_main] && ROOM_FOR(at_main) ->
       WRITE(at_main, 1, LEASE_END); GRANTED }
  :: d_step { phase == asking && t >= PATIENCE -> phase = (unresolved -> releasing : over) }

  /* confirm */
  :: d_step { confirm == waits && up_side && phase != over && !OUT_OF_TIME ->
       confirm = sent; sent_at = t; era_asked = era }
  :: d_step { confirm == sent && up_side && acting[at_side] && ROOM_FOR(at_side) ->
       if
       :: own[at_side] ->
          WRITE(at_side, 1, LEASE_END); confirm = acks; behind[0] = LEN(0); behind[1] = LEN(1); behind[2] = LEN(2)
       :: else ->
          c_code { now.result = confirm_answered(now.asked_at * 2000, NOW, 0, 0, ON_RECORD, 0, 0); }; TOLD
       fi }
  :: d_step { confirm == acks && (t > sent_at || c_expr {
                (acks_to_wait_for(ON_RECORD, CONNECTED_THERE) <= ACKS_THERE) }) ->
       c_code {
         now.result = confirm_answered(now.asked_at * 2000, NOW, 1, ACKS_THERE, ON_RECORD, CONNECTED_THERE, 0);
       };
       TOLD }
  :: d_step { OUT_OF_TIME ->
       c_code { now.result = confirm_unknown(now.asked_at * 2000, NOW, ON_RECORD); }; TOLD }
  :: d_step { phase == holding && c_expr { (hold_due(NOW)) } ->
       c_code { now.result = hold_on_time(NOW); };
       if :: result == RENEW -> RENEWAL :: else -> LOOK fi;
       result = 0 }

  /* release, until it is answered; from there on no lease ends, so that what is forgotten stays */
  :: d_step { phase == holding -> phase = releasing; c_code { hold_forget(); } }
  :: d_step { phase == releasing && up_main && acting[at_main] && ROOM_FOR(at_main) ->
       phase = over; NO_CONFIRM; released_at = 0; granted_at = 0; era = 1; up_side = 0; at_side = 0;
       t = 0; until[0] = 0; until[1] = 0; until[2] = 0; unresolved = 0;
       if :: own[at_main] -> released = 1; WRITE(at_main, 0, 0) :: else fi }
  :: d_step { phase == over && repeat && up_main && acting[at_main] && ROOM_FOR(at_main) ->
       repeat = 0;
       if :: own[at_main] -> WRITE(at_main, 0, 0) :: else fi }

  /* the primary has what is believed in, and so has whoever may be elected */
  :: d_step { BELIEVES && !emptied && !own[primary] -> assert(false) }
#ifndef MUTANT_NO_ACKS
  :: d_step { BELIEVES && !emptied && !HAS_ALL -> assert(false) }
  :: d_step { DURABLE && AT_HOME && !HAS_ALL -> assert(false) }
#endif
  :: d_step { QUIET && released && !emptied && (own[0] || own[1] || own[2]) -> assert(false) }
  :: d_step { t < END && phase != over && !BUSY -> t++; EXPIRE(0); EXPIRE(1); EXPIRE(2) }
  :: d_step { t == END || QUIET -> skip }; break
  od
}
