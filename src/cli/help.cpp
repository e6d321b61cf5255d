#include "cli/help.hpp"

namespace holdfast::cli {
namespace {

constexpr std::string_view kTool =
    R"(holdfast: run commands one at a time, across machines, with a lock on Redis or Valkey

  holdfast run NAME -- COMMAND...   run a command while holding a lock, or several
  holdfast ls [PATTERN]             list the locks that are held
  holdfast inspect NAME             who holds a lock, and for how long
  holdfast wait NAME                wait until a lock is free, without taking it
  holdfast break NAME               take a lock away from its holder

  holdfast VERB --help              options, exit codes and examples of a verb
  holdfast --version

Examples
  holdfast run nightly-backup -- ./backup.sh
  holdfast run -n nightly-backup -- ./backup.sh     # give up if it runs already
  holdfast ls 'nightly-*'
)";

constexpr std::string_view kRun = R"(holdfast run [OPTIONS] NAME... -- COMMAND...
holdfast run [OPTIONS] -c 'SHELL LINE' NAME...

Takes the lock, runs the command, gives the lock back. The lease is renewed while the command runs; if that fails, the
command is ended before anyone else can have the lock. Several names: all of them are taken, or none.

Lock
      --url URL              once more for each further server, all independent: a majority of them must grant the lock
      --kind KIND            lock: Redisson's RLock (default); simple: SET NX PX, as redis-py, redsync, node redlock
Waiting
  -n, --nonblock             give up at once if somebody else has the lock
  -w, --wait SECONDS         give up after this long (fractions are fine; 0 is -n); default: wait without limit
  -E, --conflict-exit-code N the exit code for having given up; default 1
Holding
      --lease SECONDS        after a crash the lock is free this much later; default 30
      --max-hold SECONDS     the longest time the command may hold the lock; default: no limit
      --on-lost WHAT         term: SIGTERM, then SIGKILL (default); kill: SIGKILL at once; warn: only say so
      --kill-after SECONDS   from SIGTERM to SIGKILL, inside the lease; default 5, at most a quarter of the lease
Command
  -c, --command 'LINE'       run a line of shell instead
      --status-fd N          write a report as JSON to this descriptor at the end
)";

constexpr std::string_view kRunEnd = R"(
The command gets HOLDFAST_NAME, HOLDFAST_OWNER, HOLDFAST_LEASE_MS, and HOLDFAST_EXPIRES_MS (Unix time; moved by every
renewal). Signals are passed on to it. Standard output is its own; with --json the report goes to standard error.

Exit codes
  the command's own; 128+N if signal N killed it, or ended the wait for the lock
  1    not acquired (-n, -w); another number with -E
  64   wrong usage                          75   the lock was lost, the command was stopped
  69   no server (majority), or it refuses  126  the command cannot be executed
  70   internal error                       127  the command was not found

Examples
  holdfast run nightly-backup -- ./backup.sh --all
  holdfast run -w 60 --lease 10 deploy -- make deploy
  holdfast run -n -E 0 report -c 'make report && mail -s done ops < report.txt'
  holdfast run stock:42 stock:77 -- ./move-stock
  holdfast run --url redis://a --url redis://b --url redis://c leader -- ./leader
)";

constexpr std::string_view kLs = R"(holdfast ls [OPTIONS] [PATTERN]

Lists the locks that are held and whose name matches the pattern (glob; default *). Looks through the whole server in
small steps (SCAN); locks that come and go meanwhile may be missed. Locks of the kind simple are not listed: nothing
tells them from other strings.

)";

constexpr std::string_view kLsEnd = R"(
Exit codes
  0   done, even if there is none          64  wrong usage
  69  no server, or it refuses             70  internal error

Examples
  holdfast ls
  holdfast ls 'orders:*' --json | jq -r '.[].name'
)";

constexpr std::string_view kInspect = R"(holdfast inspect [OPTIONS] NAME

Shows who holds a lock, for how long it is theirs without renewal, and how often they hold it.

      --kind KIND            lock (default) or simple, as in run
)";

constexpr std::string_view kInspectEnd = R"(
Exit codes
  0   held                                 64  wrong usage
  1   free                                 69  no server, or it refuses
                                           70  internal error

Examples
  holdfast inspect nightly-backup
  holdfast inspect -q nightly-backup && echo "still running"
)";

constexpr std::string_view kWait = R"(holdfast wait [OPTIONS] NAME

Waits until a lock is free, without taking it; somebody else may take it the next moment. Looks once or twice a second.

      --kind KIND            lock (default) or simple, as in run
  -n, --nonblock             only look
  -w, --wait SECONDS         give up after this long (fractions are fine; 0 is -n); default: wait without limit
  -E, --conflict-exit-code N the exit code for having given up; default 1
)";

constexpr std::string_view kWaitEnd = R"(
Exit codes
  0   free                                 64  wrong usage
  1   still held (-n, -w); another         69  no server, or it refuses
      number with -E                       70  internal error

Examples
  holdfast wait deploy && echo "the deployment is over"
  holdfast wait -w 600 deploy
)";

constexpr std::string_view kBreak = R"(holdfast break [OPTIONS] NAME

Takes a lock away from whoever holds it and wakes the next one. The holder learns of it with its next renewal, so its
work may overlap with the next holder's: the last resort. Asks first.

      --kind KIND            lock (default) or simple, as in run
  -y, --yes                  do not ask; needed where standard input is not a terminal
)";

constexpr std::string_view kBreakEnd = R"(
Exit codes
  0   taken away                           64  wrong usage
  1   was free, or the answer was no       69  no server, or it refuses
                                           70  internal error

Examples
  holdfast break nightly-backup
  holdfast break --yes nightly-backup
)";

constexpr std::string_view kCommon = R"(Common
      --url URL              the server; else from HOLDFAST_URL; default redis://127.0.0.1:6379
                             redis://host:port/db  rediss://host (TLS)  unix:///path/to/socket  local:
      --url-file FILE        read the URL from a file (or HOLDFAST_URL_FILE); for run, one or several
      --password-file FILE   read the password from a file (or HOLDFAST_PASSWORD_FILE, or set HOLDFAST_PASSWORD)
      --json                 the result, or the failure, as one JSON value
  -q, --quiet                say nothing but failures
  -v, --verbose              say more: how long it waited, and for whom
  -h, --help                 this text
)";

std::string with_common(std::string_view head, std::string_view end) {
  return std::string(head).append(kCommon).append(end);
}

}  // namespace

std::string help_of(std::string_view verb) {
  if (verb == "run") return with_common(kRun, kRunEnd);
  if (verb == "ls") return with_common(kLs, kLsEnd);
  if (verb == "inspect") return with_common(kInspect, kInspectEnd);
  if (verb == "wait") return with_common(kWait, kWaitEnd);
  if (verb == "break") return with_common(kBreak, kBreakEnd);
  return std::string(kTool).append("\n").append(kCommon);
}

}  // namespace holdfast::cli
