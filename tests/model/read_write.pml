/* SPDX-License-Identifier: Apache-2.0 */
/* A read-write lock: three clients that read or write, one after another or together, and a server.

   Bounds: 3 clients, each of which takes it once; 9 steps; leases of 2 and 4; each renews at most once. A command takes a
   step at most, and its reply may be lost: then the client asks again, or gives back what it may have.

   Exhausted: every order of commands within these bounds; processes that die, whose leases end by themselves.
   Checked: whoever writes is alone among those who believe in their holds; the server has for as long what a client
   believes in; nothing is there when the last lease is over; what is given back is free if nobody else has it.

   Written anew: the scripts src/kinds/lua/read_write, each of which is one step, and what a client believes: its lease
   from the time at which the command was sent. */
#define N 3
#define END 9
#define SHORT 2
#define LONG 4

mtype = { nobody, reads, writes };                         /* the lock's mode */
mtype = { outside, reading, writing, unsure_reads, unsure_writes, gone }; /* clients */

byte t = 1;
mtype mode = nobody;
byte expires;            /* of the lock; 0: it is not there */
bit reader[N], writer[N]; /* its fields */
byte hold[N];            /* until when a reader's key lives; 0: it is not there */

mtype phase[N] = outside;
byte until[N]; /* believed */
bit renewed[N];
byte latest;   /* lease that was given */

byte k, longest, lease;
bit yes;

#define WRITING (writer[0] || writer[1] || writer[2])
#define FIELDS (reader[0] + reader[1] + reader[2] + writer[0] + writer[1] + writer[2])
#define CLEAR \
  expires = 0; mode = nobody; reader[0] = 0; reader[1] = 0; reader[2] = 0; writer[0] = 0; writer[1] = 0; writer[2] = 0

/* ---- the scripts ---- */

#define LONGEST_READ \
  longest = 0; k = 0; \
  do \
  :: k < N -> if :: reader[k] && hold[k] > longest -> longest = hold[k] :: else fi; k++ \
  :: else -> break \
  od; \
  k = 0

#ifdef MUTANT_ENTERS_BESIDE_A_WRITER
#define MAY_READ(i) (1)
#else
#define MAY_READ(i) (mode != writes || writer[i])
#endif
#ifdef MUTANT_READER_CUTS
#define LIVES_FOR(time) expires = time
#else
#define LIVES_FOR(time) if :: (time) > expires -> expires = time :: else fi
#endif

#define ACQUIRE_READ(i) \
  yes = MAY_READ(i); \
  if \
  :: yes -> \
     if :: expires == 0 -> mode = reads :: else fi; \
     reader[i] = 1; hold[i] = t + lease; LIVES_FOR(t + lease) \
  :: else \
  fi

#ifdef MUTANT_ENTERS_BESIDE_READERS
#define MAY_WRITE(i) (mode != writes || writer[i])
#else
#define MAY_WRITE(i) (expires == 0 || writer[i])
#endif
#define ACQUIRE_WRITE(i) \
  yes = MAY_WRITE(i); \
  if \
  :: yes -> \
     if :: expires == 0 -> mode = writes; writer[i] = 1 :: else fi; \
     if :: t + lease > expires -> expires = t + lease :: else fi \
  :: else \
  fi

#ifdef MUTANT_RENEWAL_CUTS
#define RENEW_LOCK expires = t + lease
#else
#define RENEW_LOCK if :: expires < t + lease || FIELDS == 1 -> expires = t + lease :: else fi
#endif
#define RENEW(i) \
  yes = (phase[i] == reading -> reader[i] : writer[i]); \
  if \
  :: yes -> if :: phase[i] == reading -> hold[i] = t + lease :: else fi; RENEW_LOCK \
  :: else \
  fi

#ifdef MUTANT_READER_FREES_FOR_ALL
#define OTHERS_READ (0)
#else
#define OTHERS_READ (longest > 0)
#endif
#define RELEASE_READ(i) \
  if \
  :: reader[i] -> \
     reader[i] = 0; hold[i] = 0; LONGEST_READ; \
     if :: OTHERS_READ && !(WRITING && longest <= expires) -> expires = longest :: else fi; \
     if :: !WRITING && !OTHERS_READ -> CLEAR :: else fi \
  :: else \
  fi
#define RELEASE_WRITE(i) \
  if \
  :: writer[i] -> \
     writer[i] = 0; LONGEST_READ; \
     if :: longest > 0 -> mode = reads; expires = longest :: else -> CLEAR fi \
  :: else \
  fi

#ifdef MUTANT_DOWNGRADE_WITHOUT_A_HOLD
#define SET_HOLD(i) skip
#else
#define SET_HOLD(i) hold[i] = t + lease
#endif
#define DOWNGRADE(i) \
  yes = (writer[i] || reader[i]); \
  if \
  :: yes -> SET_HOLD(i); mode = reads; reader[i] = 1; writer[i] = 0; LONGEST_READ; expires = longest \
  :: else \
  fi

/* ---- the clients ---- */

#define LEASE \
  if \
  :: lease = SHORT \
  :: lease = LONG \
  fi
#define GIVEN if :: yes && t + lease > latest -> latest = t + lease :: else fi
/* It was sent now, or a step ago; or its reply is lost. */
#define BELIEVE(i, as, unsure) \
  GIVEN; \
  if \
  :: yes -> phase[i] = as; until[i] = t + lease \
  :: yes -> phase[i] = as; until[i] = t + lease - 1 \
  :: !yes && phase[i] == outside \
  :: !yes && phase[i] != outside -> phase[i] = gone; until[i] = 0 \
  :: phase[i] == outside -> phase[i] = unsure; until[i] = 0 \
  fi; \
  yes = 0; longest = 0; lease = 0

#define STANDS(i) (until[i] > t)

#define CLIENT(i) \
  :: atomic { phase[i] == outside && t < 5 -> LEASE; ACQUIRE_READ(i); BELIEVE(i, reading, unsure_reads) } \
  :: atomic { phase[i] == outside && t < 5 -> LEASE; ACQUIRE_WRITE(i); BELIEVE(i, writing, unsure_writes) } \
  :: atomic { STANDS(i) && !renewed[i] && (phase[i] == reading || phase[i] == writing) -> \
       renewed[i] = 1; LEASE; RENEW(i); BELIEVE(i, phase[i], phase[i]) } \
  :: atomic { STANDS(i) && phase[i] == writing -> LEASE; DOWNGRADE(i); BELIEVE(i, reading, reading) } \
  :: d_step { phase[i] == reading || phase[i] == unsure_reads -> \
       phase[i] = gone; until[i] = 0; RELEASE_READ(i); longest = 0 } \
  :: d_step { phase[i] == writing || phase[i] == unsure_writes -> \
       phase[i] = gone; until[i] = 0; RELEASE_WRITE(i); longest = 0 } \
  :: d_step { phase[i] != outside && phase[i] != gone -> phase[i] = gone; until[i] = 0 /* dies */ }

#define EXPIRES(i) if :: hold[i] > 0 && hold[i] <= t -> hold[i] = 0 :: else fi

#define IS_THERE(i) \
  assert(!STANDS(i) || expires >= until[i]); \
  assert(!STANDS(i) || phase[i] != reading || (reader[i] && hold[i] >= until[i])); \
  assert(!STANDS(i) || phase[i] != writing || (writer[i] && mode == writes))
#define ALONE(i, j) assert(!(STANDS(i) && STANDS(j) && (phase[i] == writing || phase[j] == writing)))

active proctype world() {
  do
  CLIENT(0)
  CLIENT(1)
  CLIENT(2)
  :: d_step { t < END ->
       ALONE(0, 1); ALONE(0, 2); ALONE(1, 2);
       IS_THERE(0); IS_THERE(1); IS_THERE(2);
       t++;
       if :: expires > 0 && expires <= t -> CLEAR :: else fi;
       EXPIRES(0); EXPIRES(1); EXPIRES(2);
       assert(expires <= latest && (FIELDS > 0 || expires == 0)) }
  :: d_step { t == END -> skip }; break
  od
}
