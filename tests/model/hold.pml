/* SPDX-License-Identifier: Apache-2.0 */
/* The hold and its renewals: a client, a server, one lock, and whoever else wants it.

   Bounds: 1 client in full, 1 server, 1 acquisition (whose commands are repeated without limit), 2 commands under way
   at a time, 18 steps of 2 ms with a lease of 20 ms, two faults in all: a connection that
   is cut, a process that is stopped, a notice that the server may not have the lock.
   Of the others only that is there what the server sees: they take the lock whenever it is free, and give it back
   whenever they like, as long as this client asks for it. Each of them is such a client as well. So if no client
   believes in what the server does not have for it, no two clients believe, however many there are.
   A server that restarts with its data is a cut of both; one that is frozen is a network that is slow.

   Exhausted: every order and every delay of commands and replies; what is on its way when a connection is cut may be
   executed or not until the next login, which kills the connection before it; time limits that fire before a reply or
   behind it; a server whose clock is as fast against the client's as the margin allows; callers who give up, who
   release early, late, after a loss.

   The code itself: HoldFsm and ReleaseFsm run here, and so do the formulas of lease.hpp (machines/hold.cpp).
   Written anew: the shell around them (AcquireOp, ReleaseOp, the watchdog), the scripts, lanes and login. */
#define FAULTS 2
#define LEASE 10 /* steps */
#define FAST 1   /* by so much the server's clock runs ahead within a lease: nearly the margin */
#define LIMIT 1  /* of a command */
#define PATIENCE 5 /* who has not got it by then asks no more */
#define END 18
#define OTHERS 2
#define RENEW 1      /* kRenew */
#define SEND_AGAIN 0 /* kSendAgain */

c_decl {
\#include "machines/hold.h"
#define NOW (now.t * 2000)
#define LEASE_US 20000
}
c_track "hold_room" "kHolds * kHoldRoom"
c_track "release_room" "kHolds * kReleaseRoom"

mtype = { asking, stopped, holding, lost, releasing, done };     /* clients */
mtype = { none, acquire, renew, release };                             /* commands */
mtype = { at_gate, to_server, of_old_connection, to_client };          /* where they are */

byte t;
byte owner, expires; /* 0: nobody has it; else the client plus 1, until then */
byte faults = FAULTS;

mtype phase[1] = asking;
bit up[1] = 1, frozen[1], unresolved[1];
bit released_there[1]; /* the release of what was held has been executed and answered */

mtype what[2] = none;
mtype where[2] = at_gate;
byte since[2]; /* asked for, and from its write on: written */
bit yes[2], ignored[2];

#define HAS_ROOM(i) (what[2 * (i)] == none || what[2 * (i) + 1] == none)
#define ROOM(i) (what[2 * (i)] == none -> 2 * (i) : 2 * (i) + 1)
#define ASKS(i, command) \
  ((what[2 * (i)] == command && !ignored[2 * (i)]) || (what[2 * (i) + 1] == command && !ignored[2 * (i) + 1]))
#define ON_ITS_WAY(i, command) \
  ((what[2 * (i)] == command && where[2 * (i)] == to_server) || \
   (what[2 * (i) + 1] == command && where[2 * (i) + 1] == to_server))

#define FORGET(m) what[m] = none; where[m] = at_gate; since[m] = 0; yes[m] = 0; ignored[m] = 0
#define SEND(i, command) \
  m = ROOM(i); what[m] = command; where[m] = (up[i] -> to_server : at_gate); since[m] = t; m = 0

#define DUE(i) (phase[i] == holding && c_expr { (hold_due(i, NOW)) })
#define OVER(m) (what[m] != none && !ignored[m] && t >= since[m] + LIMIT)
#define GIVES_UP(i) (!HAS_ROOM(i) && c_expr { (release_must_end(i, NOW)) })
#define TO_RELEASE(i) (phase[i] == releasing && !ASKS(i, release) && t >= again_at && (HAS_ROOM(i) || GIVES_UP(i)))
#define BUSY(i) \
  (!frozen[i] && (phase[i] == lost || DUE(i) || TO_RELEASE(i) || (phase[i] == asking && t >= PATIENCE) || \
                  OVER(2 * (i)) || OVER(2 * (i) + 1)))
#define BELIEVES(i) (phase[i] == holding && c_expr { (hold_valid(i, NOW)) })

/* What has ended stays so, whatever is still to come; from there on the machine is not needed any more. */
#define ENDED(i) \
  c_code { now.result = hold_stays_ended(i, NOW, LEASE_US); hold_forget(i); }; assert(result == 1); result = 0
#define LOOK(i) \
  if \
  :: c_expr { (hold_state(i) == kStateLost) } -> \
     phase[i] = lost; c_code { release_begin(i, 1, NOW, LEASE_US); }; ENDED(i) \
  :: else \
  fi
#define END_RELEASE(i) phase[i] = done; again_at = 0; c_code { release_forget(i); }

/* The client is told that nobody knows what became of a command. */
#define UNKNOWN(i, command) \
  if \
  :: command == acquire && phase[i] == asking -> unresolved[i] = 1 \
  :: command == acquire && phase[i] == stopped -> BEGIN_UNDO(i) \
  :: command == renew && phase[i] == holding -> c_code { hold_on_unanswered(i, NOW); }; LOOK(i) \
  :: command == release && phase[i] == releasing -> \
     c_code { now.result = release_on_reply(i, kNoReply, NOW); now.again_at = release_again_at() / 2000; }; \
     if \
     :: result != SEND_AGAIN -> END_RELEASE(i) \
     :: else -> assert(!c_expr { (release_must_end(i, NOW)) }) \
     fi; \
     result = 0 \
  :: else \
  fi

#define BEGIN_UNDO(i) \
  phase[i] = releasing; c_code { release_begin(i, 0, NOW, LEASE_US); }

#ifdef MUTANT_LEASE_FROM_REPLY
#define SENT(m) t
#else
#define SENT(m) since[m]
#endif

#define ON_ACQUIRED(i, m) \
  if \
  :: yes[m] && phase[i] == asking && IN_TIME(m) -> \
     sent = SENT(m); \
     c_code { hold_begin(i, now.sent * 2000, LEASE_US); }; \
     sent = 0; phase[i] = holding; unresolved[i] = 0; assert(BELIEVES(i)) \
  :: yes[m] && phase[i] == asking && !IN_TIME(m) -> unresolved[i] = 1 \
  :: !yes[m] && phase[i] == asking -> unresolved[i] = 0 \
  :: yes[m] && phase[i] == stopped -> BEGIN_UNDO(i) \
  :: !yes[m] && phase[i] == stopped -> phase[i] = done \
  fi
#ifdef MUTANT_LATE_GRANT
#define IN_TIME(m) (1)
#else
#define IN_TIME(m) (c_expr { (hold_in_time(now.since[m] * 2000, NOW, LEASE_US)) })
#endif

#define ON_RENEWED(i, m) \
  if \
  :: phase[i] == holding && yes[m] -> \
     sent = SENT(m); command = (BELIEVES(i) -> renew : none); \
     c_code { hold_on_renewed(i, now.sent * 2000, NOW); }; sent = 0; LOOK(i); \
     assert(command == renew || phase[i] == lost); /* what was over stays over */ \
     command = none; \
     assert(phase[i] == lost || c_expr { (hold_state(i) == kStateHeld) }) \
  :: phase[i] == holding && !yes[m] -> c_code { hold_on_gone(i); }; LOOK(i); assert(phase[i] == lost) \
  :: phase[i] != holding -> skip \
  fi

#define ON_RELEASED(i, m) \
  if \
  :: phase[i] == releasing -> \
     c_code { now.result = release_on_reply(i, now.yes[m] ? kDeleted : kAbsent, NOW); }; \
     if :: result != SEND_AGAIN -> released_there[i] = 1; END_RELEASE(i) :: else fi; result = 0 \
  :: else \
  fi

#define EXTEND \
  expires = t + LEASE - FAST

#ifdef MUTANT_RENEWAL_TAKES
#define MAY_RENEW(i) (owner == 0 || owner == i + 1)
#else
#define MAY_RENEW(i) (owner == i + 1)
#endif

#define EXECUTE(i, m) \
  if \
  :: what[m] == acquire && (owner == 0 || owner == i + 1) -> owner = i + 1; EXTEND; yes[m] = 1 \
  :: what[m] == renew && MAY_RENEW(i) -> owner = i + 1; EXTEND; yes[m] = 1 \
  :: what[m] == release && owner == i + 1 -> owner = 0; expires = 0; yes[m] = 1 \
  :: else \
  fi

#define CLIENT(i) \
  :: d_step { !frozen[i] && phase[i] == asking && !ASKS(i, acquire) && HAS_ROOM(i) && t < PATIENCE -> \
       SEND(i, acquire) } \
  :: d_step { !frozen[i] && phase[i] == asking -> \
       if \
       :: ASKS(i, acquire) -> phase[i] = stopped \
       :: !ASKS(i, acquire) && unresolved[i] -> BEGIN_UNDO(i) \
       :: else -> phase[i] = done \
       fi; unresolved[i] = 0 } \
  :: d_step { !frozen[i] && DUE(i) -> \
       c_code { now.result = hold_on_time(i, NOW); }; \
       if \
       :: result == RENEW && HAS_ROOM(i) -> SEND(i, renew) \
       :: result == RENEW && !HAS_ROOM(i) -> c_code { hold_on_unanswered(i, NOW); } \
       :: else -> LOOK(i) \
       fi; \
       result = 0; \
       assert(phase[i] == lost || !DUE(i)) } \
  :: d_step { !frozen[i] && phase[i] == lost -> phase[i] = releasing } \
  :: d_step { !frozen[i] && phase[i] == lost -> END_RELEASE(i) /* its holder never comes back */ } \
  :: d_step { !frozen[i] && phase[i] == holding -> \
       phase[i] = releasing; c_code { release_begin(i, 1, NOW, LEASE_US); hold_begin_release(i); }; ENDED(i) } \
  :: d_step { !frozen[i] && TO_RELEASE(i) -> \
       if :: HAS_ROOM(i) -> SEND(i, release) :: else -> UNKNOWN(i, release) fi } \
  :: d_step { faults > 0 && up[i] && !frozen[i] && t < END -> \
       faults--; up[i] = 0; BREAK(i, 2 * i); BREAK(i, 2 * i + 1) } \
  :: d_step { !up[i] && !frozen[i] -> up[i] = 1; LOGIN(i, 2 * i); LOGIN(i, 2 * i + 1); \
       if :: phase[i] == holding -> c_code { hold_on_reconnect(i, NOW); } :: else fi } \
  :: d_step { faults > 0 && (phase[i] == asking || phase[i] == holding) && !frozen[i] -> \
       faults--; frozen[i] = 1 } \
  :: d_step { frozen[i] -> frozen[i] = 0 } \
  :: d_step { faults > 0 && phase[i] == holding && !frozen[i] -> faults--; c_code { hold_on_doubt(i, NOW); } }

#define BREAK(i, m) \
  command = what[m]; \
  if \
  :: what[m] != none && where[m] == to_server -> \
     where[m] = of_old_connection; since[m] = 0; \
     if :: !ignored[m] -> ignored[m] = 1; UNKNOWN(i, command) :: else fi \
  :: what[m] != none && where[m] == to_client -> \
     if :: !ignored[m] -> FORGET(m); UNKNOWN(i, command) :: else -> FORGET(m) fi \
  :: else \
  fi; \
  command = none

#ifdef MUTANT_OLD_CONNECTION_LIVES
#define LOGIN(i, m) if :: what[m] != none && where[m] == at_gate -> where[m] = to_server; since[m] = t :: else fi
#else
#define LOGIN(i, m) \
  if \
  :: what[m] != none && where[m] == of_old_connection -> FORGET(m) \
  :: what[m] != none && where[m] == at_gate -> where[m] = to_server; since[m] = t \
  :: else \
  fi
#endif

/* In one connection a release comes behind the acquires that went before it. */
#define COMMAND(i, m) \
  :: d_step { what[m] != none && (where[m] == to_server || where[m] == of_old_connection) && \
              !(what[m] == release && where[m] == to_server && ON_ITS_WAY(i, acquire)) -> \
       EXECUTE(i, m); \
       if \
       :: ignored[m] || where[m] == of_old_connection -> FORGET(m) \
       :: else -> where[m] = to_client \
       fi } \
  :: d_step { what[m] != none && where[m] == to_client && !frozen[i] -> \
       if \
       :: what[m] == acquire -> ON_ACQUIRED(i, m) \
       :: what[m] == renew -> ON_RENEWED(i, m) \
       :: what[m] == release -> ON_RELEASED(i, m) \
       fi; FORGET(m) } \
  :: d_step { OVER(m) && !frozen[i] -> \
       command = what[m]; \
       if :: where[m] == to_server -> ignored[m] = 1; since[m] = 0 :: else -> FORGET(m) fi; \
       UNKNOWN(i, command); command = none }

byte m, sent, result;
byte again_at; /* the release is sent again */
mtype command = none;

/* The server still has what a client believes in, so no two of them believe; what was given back does not come back. */
#define CHECK(i) \
  assert(!BELIEVES(i) || (owner == i + 1)); \
  assert(!(released_there[i] && owner == i + 1))

/* A loss is told at the deadline at the latest, if the process runs. A release is not sent for ever: beyond its time
   only what was sent before is waited for. */
#define IN_ITS_TIME(i) \
  assert(frozen[i] || phase[i] != holding || BELIEVES(i)); \
  assert(frozen[i] || phase[i] != releasing || !c_expr { (release_must_end(i, NOW)) } || ASKS(i, release) || \
         t < again_at)

active proctype world() {
  do
  CLIENT(0)
  COMMAND(0, 0)
  COMMAND(0, 1)
  :: d_step { BELIEVES(0) && owner != 1 -> assert(false) }
  :: d_step { owner == 0 -> owner = OTHERS }
  :: d_step { owner == OTHERS && t < PATIENCE -> owner = 0 }
  :: d_step { t < END && !BUSY(0) ->
       IN_ITS_TIME(0);
       t++;
       if :: owner == 1 && t >= expires -> owner = 0; expires = 0 :: else fi;
       CHECK(0) }
  :: d_step { t == END || (phase[0] == done && what[0] == none && what[1] == none) -> skip }; break
  od
}
