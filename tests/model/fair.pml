/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of a fair lock: three waiters, each of which wants it once, and a server.

   Bounds: 3 waiters, 18 steps of a quarter of a turn, a lease of 5, two faults in all: a process that is killed while it waits or
   has the lock, one that is stopped for as long as you like, a message that is lost. A waiter asks after half to three
   quarters of a turn, or when a lease ends, at once when it is notified, and may leave.

   Exhausted: every order of waiters, messages and faults within these bounds.
   Checked: nobody who lives is overtaken by one who came later, or loses his place; a free lock is idle for a moment, or
   a turn for each fault, while somebody who lives waits.

   Written anew: the scripts src/kinds/lua/fair, without Redisson's waiters and long queues, of which each is one step with
   its reply; what a waiter does. */
#define N 3
#define END 18
#define TURN 4
#define LEASE 5
#define FAULTS 2
#define NOBODY 9

mtype = { outside, waiting, inside, gone };

byte t = 1, faults = FAULTS;
byte owner = NOBODY, expires;
byte queue[4] = NOBODY, length; /* queue[3]: nobody, always */
byte deadline[N];               /* 0: it has no place */
byte free_for;

mtype phase[N] = outside;
bit dead[N], stopped[N], was_stopped[N];
bit message[N];
byte until[N], since[N];

byte came[N], arrivals; /* in which order */
byte i, k, ahead, wanted, left;
bit told, is_due;

#define HEAD queue[0]
#define FREE (owner == NOBODY)

/* ---- the scripts ---- */

#define REMOVE(who) \
  k = 0; \
  do \
  :: k < length && queue[k] != who -> k++ \
  :: else -> break \
  od; \
  if \
  :: k < length -> \
     length--; \
     do \
     :: k < length -> queue[k] = queue[k + 1]; k++ \
     :: else -> break \
     od; \
     queue[length] = NOBODY \
  :: else \
  fi; \
  k = 0

#ifdef MUTANT_DEAD_HEAD_STAYS
#define SWEEP skip
#else
#define SWEEP \
  do \
  :: HEAD != NOBODY && deadline[HEAD] <= t -> deadline[HEAD] = 0; wanted = HEAD; REMOVE(wanted); wanted = 0 \
  :: else -> break \
  od
#endif

/* It is free: the next has a turn from now on. */
#ifdef MUTANT_TURN_NEVER_BEGINS
#define BEGIN_TURN is_due = 1
#else
#define BEGIN_TURN \
  if \
  :: HEAD != NOBODY && deadline[HEAD] > t + TURN -> deadline[HEAD] = t + TURN; is_due = 1 \
  :: else \
  fi
#endif

#define TELL_ONE(who) if :: !told && who != NOBODY && !dead[who] -> message[who] = 1; told = 1 :: else fi
#define TELL TELL_ONE(HEAD); TELL_ONE(queue[1]); TELL_ONE(queue[2]); told = 0

/* Of all behind a place: one turn less to wait for. */
#define LESS_FROM(place) \
  k = place; \
  do \
  :: k < length -> deadline[queue[k]] = (deadline[queue[k]] > TURN -> deadline[queue[k]] - TURN : 1); k++ \
  :: else -> break \
  od; \
  k = 0

#ifdef MUTANT_PLACE_IS_NOT_KEPT
#define KEEP skip
#else
#define KEEP if :: wanted > deadline[i] -> deadline[i] = wanted :: else fi
#endif
#ifdef MUTANT_JOINS_IN_FRONT
#define JOIN queue[2] = queue[1]; queue[1] = queue[0]; queue[0] = i; length++
#else
#define JOIN queue[length] = i; length++
#endif

/* Where `left` is how long it stays so. */
#define ACQUIRE \
  SWEEP; \
  if \
  :: FREE && (HEAD == NOBODY || HEAD == i) -> \
     owner = i; expires = t + LEASE; \
     if :: HEAD == i -> REMOVE(i); LESS_FROM(0) :: else fi; \
     deadline[i] = 0 \
  :: else -> \
     left = (FREE -> 0 : expires - t); \
     if \
     :: deadline[i] > 0 -> \
        ahead = 0; \
        do \
        :: queue[ahead] != i && ahead < length -> ahead++ \
        :: else -> break \
        od; \
        wanted = t + left + (ahead + 2) * TURN; KEEP \
     :: else -> \
        deadline[i] = t + TURN + (length > 0 -> deadline[queue[length - 1]] - t : left); \
        if :: came[i] == 0 || was_stopped[i] -> arrivals++; came[i] = arrivals :: else fi; \
        JOIN \
     fi; \
     if \
     :: FREE -> \
        is_due = 0; BEGIN_TURN; \
        if :: is_due || 4 * (deadline[HEAD] - t) < 3 * TURN -> TELL :: else fi; \
        is_due = 0; left = deadline[HEAD] - t \
     :: else \
     fi \
  fi; \
  wanted = 0; ahead = 0

#define GIVE_BACK owner = NOBODY; expires = 0; SWEEP; BEGIN_TURN; is_due = 0; TELL

#ifdef MUTANT_LEAVES_WITHOUT_A_WORD
#define HAND_ON skip
#else
#define HAND_ON if :: ahead == 0 && FREE -> SWEEP; BEGIN_TURN; is_due = 0; TELL :: else fi
#endif
#define LEAVE \
  ahead = 0; \
  do \
  :: queue[ahead] != i && ahead < length -> ahead++ \
  :: else -> break \
  od; \
  if \
  :: ahead < length -> LESS_FROM(ahead + 1); REMOVE(i); deadline[i] = 0; HAND_ON \
  :: else \
  fi; \
  ahead = 0

/* ---- the waiters ---- */

/* One that lives, was never stopped, and came before: it may not be overtaken. */
#define IS_BEFORE(who) \
  (who != i && phase[who] == waiting && !dead[who] && !was_stopped[who] && came[who] > 0 && \
   (came[i] == 0 || came[who] < came[i]))
#define IN_ORDER assert(!IS_BEFORE(0) && !IS_BEFORE(1) && !IS_BEFORE(2))

#define ASK \
  ACQUIRE; \
  if \
  :: owner == i -> IN_ORDER; phase[i] = inside; since[i] = t; until[i] = 0; message[i] = 0 \
  :: else -> \
     phase[i] = waiting; \
     if \
     :: until[i] = t + (left < 2 -> left : 2) \
     :: until[i] = t + (left < 3 -> left : 3) \
     fi \
  fi; \
  left = 0

#define RUNS(who) (!dead[who] && !stopped[who])

#define WAITER(who) \
  :: d_step { phase[who] == outside && t < 4 -> i = who } ; atomic { ASK; i = 0 } \
  :: d_step { phase[who] == waiting && RUNS(who) && until[who] <= t -> i = who } ; atomic { ASK; i = 0 } \
  :: d_step { message[who] && RUNS(who) && phase[who] == waiting -> message[who] = 0; i = who } ; atomic { ASK; i = 0 } \
  :: d_step { phase[who] == waiting && RUNS(who) && t < 8 -> \
       i = who; phase[who] = gone; until[who] = 0; message[who] = 0; dead[who] = 1; LEAVE; i = 0 } \
  :: d_step { phase[who] == inside && RUNS(who) && t > since[who] -> phase[who] = gone; since[who] = 0; dead[who] = 1; GIVE_BACK } \
  :: d_step { faults > 0 && !dead[who] && (phase[who] == waiting || phase[who] == inside) -> \
       faults--; dead[who] = 1; message[who] = 0; until[who] = 0; since[who] = 0 } \
  :: d_step { faults > 0 && RUNS(who) && phase[who] == waiting -> faults--; stopped[who] = 1; was_stopped[who] = 1 } \
  :: d_step { stopped[who] && !dead[who] -> stopped[who] = 0 } \
  :: d_step { faults > 0 && message[who] -> faults--; message[who] = 0 }

#define DUE(who) \
  (RUNS(who) && ((phase[who] == waiting && (until[who] <= t || message[who])) || (phase[who] == outside && t == 3) || \
                 (phase[who] == inside && t > since[who])))
#define WAITS(who) (phase[who] == waiting && RUNS(who))
#define HAS_ITS_PLACE(who) assert(!WAITS(who) || was_stopped[who] || deadline[who] > 0)

active proctype world() {
  do
  WAITER(0)
  WAITER(1)
  WAITER(2)
  :: d_step { t < END && !DUE(0) && !DUE(1) && !DUE(2) ->
       t++;
       if :: owner != NOBODY && t >= expires -> owner = NOBODY; expires = 0 :: else fi;
       if :: FREE && (WAITS(0) || WAITS(1) || WAITS(2)) -> free_for++ :: else -> free_for = 0 fi;
       assert(free_for <= 1 + TURN * (FAULTS - faults));
       HAS_ITS_PLACE(0);
       HAS_ITS_PLACE(1);
       HAS_ITS_PLACE(2) }
  :: d_step { t == END -> skip }; break
  od
}
