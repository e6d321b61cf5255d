/* SPDX-License-Identifier: Apache-2.0 */
/* A lock on a majority of three servers: rounds with an owner each, votes, undo, renewal by a majority, healing.

   Bounds: 1 client in full, 3 servers, 2 rounds of asking, one renewal round at a time, 16 steps of 2 ms with a lease
   of 20 ms, 3 commands to a server under way, of which one is executed in every step; releases to one of the servers as
   late as they like; two faults in all: a connection that is cut, before or behind the execution of what was sent, a
   vote that is taken away by force, one server (they are alike) that crashes and comes back empty after a lease, as
   guarantees-by-kind.md asks for.
   Of the other clients only that is there what this one sees of them: a vote that is free may be theirs. Each of them
   is such a client as well. Whoever believes has a majority of votes (of a server that is down: until it comes back);
   two majorities have a server in common, so no two clients believe, however many there are.

   Exhausted: all orders and delays of commands within these bounds, time limits of rounds that fire before a reply or
   behind it, a server's clock as fast as the margin allows. Checked: that majority; undo and release never hit the
   owner of the hold that stands; a renewal round that began without a majority does not extend; after the release
   nothing of it stays.

   The code itself: HoldFsm, Ballot, Attempt::may_stand and lease.hpp run here (machines/quorum.cpp).
   Written anew: the rounds (quorum_target.cpp: what they ask, count, heal and undo), servers, connections. */
#define FAULTS 2
#define LEASE 10 /* steps */
#define FAST 1
#define END 16
#define PATIENCE 3
#define DELAY 1
#define RENEW 1
#define GRANTED 1
#define REFUSED 2
#define SILENT 3
#define OPEN 0
#define WON 1

c_decl {
\#include "machines/quorum.h"
#define NOW (now.t * 2000)
#define LEASE_US 20000
}
c_track "hold_room" "kHoldRoom"

mtype = { asking, holding, lost, over };    /* the client */
mtype = { none, acquire, renew, heal, release }; /* rounds and commands */

byte t;
byte faults = FAULTS;
byte vote[3], expires[3]; /* the owner a server has, and until when */
bit down;                 /* server 2 */
byte down_since;

mtype phase = asking;
byte owner;               /* of the latest round: 1, 2 */
mtype round = none;
byte started;
byte said[3];
bit told;                 /* the renewal round has said what came of it */
byte next_at;             /* the next round */
bit healing[3];
bit giving[9];            /* server * 3 + owner: to be given back until answered */
bit given_back;           /* the hold was released */
bit forced;               /* a vote was taken away */
bit began_broken;         /* a majority of the votes was gone when the renewal round began */
byte age[3];              /* since something came through a connection in which something is */
byte result, i;

chan to0 = [3] of { mtype, byte, byte };
chan to1 = [3] of { mtype, byte, byte };
chan to2 = [3] of { mtype, byte, byte };
mtype kind = none;
byte whose, sent;
bit yes;

#define BELIEVES (phase == holding && c_expr { (hold_valid(NOW)) })
#define MINE(s) (vote[s] == owner && owner != 0)
#define VOTES (MINE(0) + MINE(1) + MINE(2))
#define COMING (healing[0] + healing[1] + healing[2])
#define UP(s) (s != 2 || !down)

#define SEND(s, command, link) \
  if \
  :: UP(s) && len(link) < 3 -> link!command, owner, (command == renew -> t : 0) \
  :: else -> if :: command != heal -> said[s] = SILENT :: else -> healing[s] = 0 fi \
  fi
#define ASK_ALL(command) \
  said[0] = 0; said[1] = 0; said[2] = 0; round = command; started = t; told = 0; \
  SEND(0, command, to0); SEND(1, command, to1); SEND(2, command, to2)
#define END_ROUND round = none; started = 0; told = 0; said[0] = 0; said[1] = 0; said[2] = 0; began_broken = 0

#ifdef MUTANT_UNDO_FORGOTTEN
#define UNDO(s) skip
#else
#define UNDO(s) if :: c_expr { (vote_may_stand(now.said[s]) != 0) } -> giving[s * 3 + owner] = 1 :: else fi
#endif

#define DECIDE_ACQUIRE \
  c_code { now.result = ballot_of(now.said[0], now.said[1], now.said[2]); }; \
  if \
  :: result == WON && c_expr { (hold_in_time(now.started * 2000, NOW, LEASE_US) != 0) } -> \
     c_code { hold_begin(now.started * 2000, LEASE_US); }; phase = holding; END_ROUND \
  :: result == OPEN -> skip \
  :: else -> UNDO(0); UNDO(1); UNDO(2); next_at = t + 1; END_ROUND \
  fi; \
  result = 0

#define COUNT(word) ((said[0] == word) + (said[1] == word) + (said[2] == word))
#define HEAL(s, link) \
  if \
  :: said[s] == REFUSED && !healing[s] -> said[s] = HEALED; healing[s] = 1; SEND(s, heal, link) \
  :: else \
  fi
#define HEALED 4
#define HEAL_ALL HEAL(0, to0); HEAL(1, to1); HEAL(2, to2)
#ifdef MUTANT_HEALING_COUNTS
#define MAY_HEAL (COUNT(GRANTED) > 0)
#else
#define MAY_HEAL (COUNT(GRANTED) >= 2)
#endif

/* What was lost by force does not come back unnoticed. */
#define DECIDE_RENEW \
  if \
  :: !told && COUNT(GRANTED) >= 2 -> \
     told = 1; assert(!began_broken); \
     c_code { hold_on_renewed(now.started * 2000, NOW); }; LOOK \
  :: !told && COUNT(REFUSED) > 1 && !MAY_HEAL -> told = 1; c_code { hold_on_gone(); }; LOOK; assert(phase == lost) \
  :: !told && COUNT(0) == 0 && COUNT(GRANTED) < 2 && !(MAY_HEAL && COUNT(REFUSED) > 0) -> \
     told = 1; c_code { hold_on_unanswered(NOW); }; LOOK \
  :: else \
  fi; \
  if :: phase == holding && MAY_HEAL -> HEAL_ALL :: else fi; \
  if :: round == renew && told && COUNT(0) == 0 -> END_ROUND :: else fi

#define LOOK \
  if \
  :: phase == holding && c_expr { (hold_lost() != 0) } -> phase = lost; c_code { hold_forget(); } \
  :: else \
  fi

/* A hold that has ended gives back what it was healed to have. */
#ifdef MUTANT_HEALING_STAYS
#define HEAL_ENDED(s) skip
#else
#define HEAL_ENDED(s) if :: phase == lost || phase == over -> giving[s * 3 + owner] = 1 :: else fi
#endif

#define HEAR(s, to) \
  if \
  :: kind == acquire && round == acquire && whose == owner && said[s] == 0 -> \
     said[s] = (yes -> GRANTED : REFUSED); DECIDE_ACQUIRE \
  :: kind == renew && round == renew && phase == holding && sent == started && said[s] == 0 -> \
     said[s] = (yes -> GRANTED : REFUSED); DECIDE_RENEW \
  :: kind == renew && round == renew && phase == over && told && sent == started && said[s] == 0 -> \
     said[s] = (yes -> GRANTED : REFUSED); HEAL(s, to) /* the round goes on */ \
  :: kind == heal && healing[s] -> \
     healing[s] = 0; \
     if :: yes -> HEAL_ENDED(s) :: else fi; \
     HEALING_COUNTS(s) \
  :: kind == release -> giving[s * 3 + whose] = 0 \
  :: else \
  fi
#ifdef MUTANT_HEALING_COUNTS
#define HEALING_COUNTS(s) \
  if :: yes && round == renew && said[s] == HEALED && phase == holding -> said[s] = GRANTED; DECIDE_RENEW :: else fi
#else
#define HEALING_COUNTS(s) skip
#endif

#define LOSE_LINK(s, to) \
  age[s] = 0; \
  do :: len(to) > 0 -> to?kind, whose, sent :: else -> break od; \
  if :: healing[s] -> healing[s] = 0; HEAL_ENDED(s) :: else fi; \
  kind = none; whose = 0; sent = 0; yes = 0

#ifdef MUTANT_ONE_OWNER
#define FIRST_OWNER(o) 1
#else
#define FIRST_OWNER(o) o
#endif

#define HITS(s) \
  assert(!(kind == release && phase == holding && whose == owner && vote[s] == owner))

#define EXECUTE(s) \
  HITS(s); \
  if \
  :: (kind == acquire || kind == heal) && (vote[s] == 0 || vote[s] == whose) -> \
     vote[s] = whose; expires[s] = (phase == over -> 0 : t + LEASE - FAST); yes = 1 \
  :: kind == renew && vote[s] == whose -> expires[s] = (phase == over -> 0 : t + LEASE - FAST); yes = 1 \
  :: kind == release && vote[s] == whose -> vote[s] = 0; expires[s] = 0; yes = 1 \
  :: else \
  fi

#define FORGET kind = none; whose = 0; sent = 0; yes = 0
#define TAKE(s, to) to?kind, whose, sent; EXECUTE(s); age[s] = 0
#define SERVER(s, to) \
  :: d_step { nempty(to) && UP(s) -> TAKE(s, to); HEAR(s, to); FORGET } \
  :: d_step { faults > 0 && nempty(to) -> faults--; LOSE_LINK(s, to) } \
  :: d_step { faults > 0 && nempty(to) && UP(s) -> faults--; TAKE(s, to); FORGET; LOSE_LINK(s, to) } \
  :: d_step { faults > 0 && phase == holding && UP(s) && MINE(s) -> \
       faults--; vote[s] = 0; expires[s] = 0; \
       forced = 1 } \
  :: d_step { UP(s) && vote[s] == 0 && (to?[acquire, _, _] || to?[heal, _, _]) -> \
       to?kind, whose, sent; age[s] = 0; HEAR(s, to); FORGET } /* others have it */ \
  :: d_step { giving[s * 3 + 1] && UP(s) && len(to) < 3 && !(to??[release, 1, _]) -> \
       to!release, 1, 0 } \
  :: d_step { giving[s * 3 + 2] && UP(s) && len(to) < 3 && !(to??[release, 2, _]) -> \
       to!release, 2, 0 }

#define EXPIRE(s) if :: vote[s] != 0 && t >= expires[s] -> vote[s] = 0; expires[s] = 0 :: else fi

#ifdef MUTANT_RESTARTS_AT_ONCE
#define REST 1
#else
#define REST (LEASE + 1)
#endif

/* From there on no lease ends: what is not given back stays. */
#define IS_OVER \
  phase = over; t = 0; expires[0] = 0; expires[1] = 0; expires[2] = 0; down_since = 0; next_at = 0; forced = 0; \
  age[0] = 0; age[1] = 0; age[2] = 0
#define GIVE_BACK \
  giving[owner] = 1; giving[3 + owner] = 1; giving[6 + owner] = 1; given_back = 1

#define OURS(s) (vote[s] == 1 || vote[s] == 2)
#define QUIET \
  (!giving[1] && !giving[2] && !giving[4] && !giving[5] && !giving[7] && !giving[8] && COMING == 0 && \
   len(to0) + len(to1) + len(to2) == 0)

/* Releases to server 0 are as late as they like; those to others leave at once. */
#define TO_GIVE(s, to) \
  (UP(s) && len(to) < 3 && \
   ((giving[s * 3 + 1] && !(to??[release, 1, _])) || (giving[s * 3 + 2] && !(to??[release, 2, _]))))
#define LATE (TO_GIVE(1, to1) || TO_GIVE(2, to2) || age[0] >= DELAY || age[1] >= DELAY || age[2] >= DELAY)
#define GROW(s, to) if :: len(to) > 0 -> age[s]++ :: else fi
#define ROUND_OVER (round != none && t > started)
#define BUSY \
  ((phase == holding && round == none && c_expr { (hold_due(NOW)) }) || ROUND_OVER || phase == lost || \
   (phase == asking && round == none && (t >= PATIENCE || owner == 2)) || \
   (phase == holding && !BELIEVES))

active proctype world() {
  do
  SERVER(0, to0)
  SERVER(1, to1)
  SERVER(2, to2)
  :: d_step { faults > 0 && !down && phase != over -> faults--; down = 1; down_since = t; LOSE_LINK(2, to2) }
  :: d_step { down && (phase == over || t >= down_since + REST) ->
       down = 0; down_since = 0; vote[2] = 0; expires[2] = 0 }
  :: d_step { phase == asking && round == none && t < PATIENCE && t >= next_at && owner < 2 ->
       owner = FIRST_OWNER(owner + 1); next_at = 0; ASK_ALL(acquire); DECIDE_ACQUIRE }
  :: d_step { phase == asking && round == none && (t >= PATIENCE || owner == 2) -> IS_OVER; given_back = 1 }
  :: d_step { ROUND_OVER ->
       if :: said[0] == 0 -> said[0] = SILENT :: else fi;
       if :: said[1] == 0 -> said[1] = SILENT :: else fi;
       if :: said[2] == 0 -> said[2] = SILENT :: else fi;
       if
       :: round == acquire -> DECIDE_ACQUIRE
       :: round == renew && phase == holding -> DECIDE_RENEW; if :: round == renew -> END_ROUND :: else fi
       :: else -> END_ROUND
       fi }
  :: d_step { phase == holding && c_expr { (hold_due(NOW)) } ->
       c_code { now.result = hold_on_time(NOW); };
       if
       :: result == RENEW && round == none -> began_broken = (VOTES < 2); ASK_ALL(renew); DECIDE_RENEW
       :: result == RENEW && round != none -> c_code { hold_on_unanswered(NOW); }
       :: else -> LOOK
       fi;
       result = 0 }
  :: d_step { phase == holding ->
       IS_OVER; GIVE_BACK; c_code { hold_forget(); };
       if :: round == renew && !told -> END_ROUND :: else fi }
  :: d_step { phase == lost -> IS_OVER; GIVE_BACK; if :: round == renew && !told -> END_ROUND :: else fi }
  :: d_step { phase == lost -> IS_OVER; if :: round == renew && !told -> END_ROUND :: else fi }
  :: d_step { phase == over && round == renew -> END_ROUND }
  :: d_step { BELIEVES && !forced && VOTES < 2 -> assert(false) }
  :: d_step { given_back && QUIET && (OURS(0) || OURS(1) || OURS(2)) -> assert(false) }
  :: d_step { t < END && phase != over && !BUSY && !LATE -> 
       t++; EXPIRE(0); EXPIRE(1); EXPIRE(2); GROW(0, to0); GROW(1, to1); GROW(2, to2) }
  :: d_step { t == END || (phase == over && QUIET) -> skip }; break
  od
}
