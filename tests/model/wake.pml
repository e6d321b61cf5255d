/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a call to its answer: what callers post into the inbox, what the loop sends, and how it wakes them.

   Bounds: 2 callers of 2 calls each; the loop's own thread drives; a server that answers in order; a reply or two are
   parsed at a time; a task sends a command or is answered on the spot. Nobody wakes by himself: the half second after which
   a caller looks again is left out here, so a wake-up that is lost is lost for ever.

   Exhausted: all orders of the single steps of callers, loop and server, each of which is one atomic operation of the code
   (sequentially consistent, as there).
   Checked: while a call is without its answer somebody can go on; nobody is woken before what a piece of work has to send
   has left; nobody sleeps whose answer is there and who is on no list.

   Written anew: Loop::post, take_inbox and empty_inbox, Awaited, Answer, OwnLoop::settle_work, set and wait. Asio's queue
   and the system's futex are atomic steps. */
#define CALLS 2

mtype = { open, slept_for, there };

mtype word[2] = open; /* of each caller's answer */
bit asleep[2];        /* in the system's queue of that word */
byte calls[2];        /* that were answered */

bit inbox[2], batch[2]; /* posted; taken out, and not yet run */
bit emptying;           /* a handler that takes the inbox is queued, or so it was */
bit queued;             /* it is */
chan out = [2] of { byte };     /* written by tasks, not sent */
chan request = [2] of { byte };
chan reply = [2] of { byte };
byte list[8];           /* who is to be woken, in order */
byte count, woken;

#define INBOX_EMPTY (!inbox[0] && !inbox[1])

/* ---- a caller ---- */

#ifdef MUTANT_SLEEPS_UNSAID
#define SAY skip
#define SLEEP_IF word[me] != there
#else
#define SAY atomic { if :: word[me] == open -> word[me] = slept_for :: else fi }
#define SLEEP_IF word[me] == slept_for
#endif

proctype caller(byte me) {
  bit was;
  do
  :: calls[me] < CALLS ->
     word[me] = open;
     inbox[me] = 1;
     atomic { was = emptying; emptying = 1 }
     if :: !was -> queued = 1 :: else fi;
     do
     :: word[me] == there -> break
     :: else ->
        SAY;
        atomic { if :: SLEEP_IF -> asleep[me] = 1 :: else fi }
        !asleep[me]
     od;
     calls[me]++
  :: else -> break
  od
}

/* ---- the loop ---- */

#ifdef MUTANT_SET_IN_TWO_STEPS
#define EXCHANGE(who) seen = word[who]; word[who] = there
#else
#define EXCHANGE(who) atomic { seen = word[who]; word[who] = there }
#endif
#define SET(who) \
  EXCHANGE(who); \
  atomic { if :: seen == slept_for -> list[count] = who; count++ :: else fi; seen = open }

#define TAKE atomic { batch[0] = inbox[0]; batch[1] = inbox[1]; inbox[0] = 0; inbox[1] = 0 }
#define RUN(who) \
  if \
  :: batch[who] -> \
     batch[who] = 0; \
     if \
     :: out!who \
     :: SET(who) /* what need not be asked for */ \
     fi \
  :: else \
  fi
#define EMPTY_INBOX TAKE; RUN(0); RUN(1)
#define SEND_OUT atomic { do :: out?who -> request!who :: empty(out) -> break od; who = 0 }

#ifdef MUTANT_ADDED_WHILE_WAKING_FORGOTTEN
#define TO_WAKE most
#else
#define TO_WAKE count
#endif
#ifdef MUTANT_WOKEN_UNSENT
#define FIRST WAKE_ANSWERED; SEND_OUT
#else
#define FIRST SEND_OUT; WAKE_ANSWERED
#endif

#define WAKE_ANSWERED \
  woken = 0; most = count; \
  do \
  :: woken < TO_WAKE -> \
     assert(empty(out)); \
     atomic { asleep[list[woken]] = 0; list[woken] = 0; woken++ } \
     if \
     :: !INBOX_EMPTY -> EMPTY_INBOX; SEND_OUT /* in between */ \
     :: true /* not behind each */ \
     fi \
  :: else -> break \
  od; \
  count = 0; woken = 0; most = 0

#ifdef MUTANT_SAYS_SO_BEHIND_THE_LOOK
#define TAKE_INBOX EMPTY_INBOX; emptying = 0
#else
#define TAKE_INBOX emptying = 0; EMPTY_INBOX
#endif

proctype loop() {
  byte who, most;
  mtype seen = open;
end:
  do
  :: queued -> queued = 0; TAKE_INBOX; FIRST
  :: reply?who -> SET(who);
     if
     :: reply?who -> SET(who)
     :: true
     fi;
     FIRST
  od
}

/* ---- the server ---- */

proctype server() {
  byte who;
end:
  do
  :: request?who -> reply!who
  od
}

init { atomic { run caller(0); run caller(1); run loop(); run server() } }
