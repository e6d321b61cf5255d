/* SPDX-License-Identifier: Apache-2.0 */
/* A fixed lease that its holder extends: a client, a server, one hold.

   Bounds: 3 extensions, each to 16 or 10 ms, begun whenever the hold is valid, under way together or not; 9 steps of
   2 ms; one connection, which is cut at most twice.

   Exhausted: every order of begins, executions, answers, time limits, cuts and logins; what is on its way when the
   connection is cut may be executed or not until the next login, which kills the connection before it; answers that come
   behind the time limit of a later extension; a server whose clock is as fast as the margin allows.

   The code itself: HoldFsm (machines/extension.cpp). Written anew: the shell around it (Extending), the script, lanes and
   login. */
#define FAULTS 2
#define LONG 8 /* steps */
#define SHORT 5
#define FAST 1 /* by so much the server's clock runs ahead within a lease */
#define END 9
#define ALL 3

c_decl {
\#include "machines/extension.h"
#define NOW (now.t * 2000)
}
c_track "hold_room" "kHoldRoom"
c_track "extension_room" "kExtensions * kExtensionRoom"

mtype = { idle, at_gate, to_server, of_old_connection, to_client, done };

byte t, expires = LONG - FAST;
bit up = 1;
byte faults = FAULTS;
byte begun;
mtype where[ALL] = idle;
byte lease[ALL], sent[ALL];
bit yes[ALL], told[ALL];
byte i; /* of the loops below, and 0 between them */

/* The server still has what the client believes in. */
#define CHECK assert(!c_expr { (hold_valid(NOW)) } || t < expires)

#define UNANSWERED(k) \
  if :: !told[k] -> told[k] = 1; c_code { extension_on_unanswered(); }; :: else fi
byte now_is;
#define FORGET(k) \
  if \
  :: where[k] == done -> lease[k] = 0; sent[k] = 0; yes[k] = 0; now_is = k; \
     c_code { extension_forget(now.now_is); }; now_is = 0 \
  :: else \
  fi

#define BEFORE(k, here) \
  ((k > 0 && where[0] == here) || (k > 1 && where[1] == here))

#define EXECUTE(k) \
  if \
  :: t < expires -> expires = t + lease[k] - FAST; yes[k] = 1 \
  :: else -> yes[k] = 0 \
  fi

#ifdef MUTANT_OLD_CONNECTION_LIVES
#define LOGIN(k) if :: where[k] == at_gate -> where[k] = to_server; sent[k] = t :: else fi
#else
#define LOGIN(k) \
  if \
  :: where[k] == of_old_connection -> where[k] = done \
  :: where[k] == at_gate -> where[k] = to_server; sent[k] = t \
  :: else \
  fi
#endif

#define CUT(k) \
  if \
  :: where[k] == to_server -> where[k] = of_old_connection; UNANSWERED(k) \
  :: where[k] == to_client -> where[k] = done; UNANSWERED(k) \
  :: else \
  fi

#ifdef MUTANT_COUNTED_FROM_THE_ANSWER
#define SENT(k) t
#else
#define SENT(k) sent[k]
#endif

#define EXTENSION(k) \
  :: d_step { begun == k && t < END && c_expr { (hold_valid(NOW)) } -> \
       begun++; lease[k] = LONG; sent[k] = t; where[k] = (up -> to_server : at_gate); \
       c_code { extension_begin(now.begun - 1, NOW, 8 * 2000); }; CHECK } \
  :: d_step { begun == k && t < END && c_expr { (hold_valid(NOW)) } -> \
       begun++; lease[k] = SHORT; sent[k] = t; where[k] = (up -> to_server : at_gate); \
       c_code { extension_begin(now.begun - 1, NOW, 5 * 2000); }; CHECK } \
  :: d_step { where[k] == to_server && !BEFORE(k, to_server) -> \
       EXECUTE(k); where[k] = to_client; CHECK } \
  :: d_step { where[k] == of_old_connection && !BEFORE(k, of_old_connection) -> \
       EXECUTE(k); where[k] = done; FORGET(k); CHECK } \
  :: d_step { where[k] == to_client && !BEFORE(k, to_client) -> \
       where[k] = done; \
       if \
       :: !told[k] && yes[k] -> \
          told[k] = 1; now_is = k; i = SENT(k); \
          c_code { extension_on_answer(now.now_is, now.i * 2000, NOW); }; now_is = 0; i = 0 \
       :: !told[k] && !yes[k] -> \
          UNANSWERED(k); c_code { extension_on_gone(); } \
       :: else \
       fi; FORGET(k); CHECK } \
  :: d_step { begun > k && !told[k] && where[k] != done && t > sent[k] -> UNANSWERED(k); CHECK }

active proctype world() {
  c_code { hold_begin(8 * 2000); };
  do
  EXTENSION(0)
  EXTENSION(1)
  EXTENSION(2)
  :: d_step { faults > 0 && up -> faults--; up = 0; CUT(0); CUT(1); CUT(2); FORGET(0); FORGET(1); FORGET(2); CHECK }
  :: d_step { !up -> up = 1; LOGIN(0); LOGIN(1); LOGIN(2); FORGET(0); FORGET(1); FORGET(2); CHECK }
  :: d_step { t < END -> t++; CHECK }
  :: d_step { t == END -> skip }; break
  od
}
