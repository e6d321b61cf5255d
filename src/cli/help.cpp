#include "cli/help.hpp"

namespace holdfast::cli {
namespace {

constexpr std::string_view kTool =
    R"(holdfast: run commands one at a time, across machines, with a lock on Redis or Valkey

  holdfast run NAME -- COMMAND...   run a command while holding one or more locks
  holdfast elect NAME -- COMMAND... run a command while this candidate leads; the others stand by
  holdfast acquire NAME             take a lock and print a ticket for it; renew TICKET and release TICKET follow
  holdfast ls [PATTERN]             list the locks that are held
  holdfast inspect NAME             show who holds a lock, and for how long
  holdfast wait NAME                wait until a lock is free, without taking it
  holdfast break NAME               take a lock away from its holder
  holdfast top [PATTERN]            the locks on a screen that refreshes: who has them, who waits
  holdfast doctor                   examine the servers: what about them endangers locks
  holdfast exporter                 answer Prometheus: what the servers have

  holdfast help VERB                options, exit codes and examples of a verb; the same as holdfast VERB --help
  holdfast --version

Examples
  holdfast run nightly-backup -- ./backup.sh
  holdfast run -n nightly-backup -- ./backup.sh     # give up if it is already running
  holdfast ls 'nightly-*'
)";

constexpr std::string_view kRun = R"(holdfast run [OPTIONS] NAME... -- COMMAND...
holdfast run [OPTIONS] -c 'SHELL LINE' NAME...

Takes the lock, runs the command, and gives the lock back. The lease is renewed while the command runs; if that fails,
the command is ended before anyone else can have the lock. If several names are given, all are taken, or none.

Lock
      --url URL              repeat it for several independent servers: a majority of them must grant the lock
      --kind KIND            lock: Redisson's RLock (default); simple: SET NX PX, as in redis-py, redsync, node redlock;
                             of one name on one server: fenced, fair, spin, read-write (its writer), as Redisson's
      --fair                 in the order in which the runs came, on all machines: the same as --kind fair
      --any                  any one of the names that is free (HOLDFAST_NAME says which); 'gpu:{0..7}' is eight names
  -s, --shared               a reader of a read-write lock: together with other readers, but never beside its writer
      --max N                at most N at the same time, on all machines: a permit of Redisson's leased semaphore
Waiting (a TIME is a number of seconds, or has a unit: 500ms, 10s, 5m, 2h, 1d)
  -n, --nonblock             give up at once if somebody else has the lock
  -w, --wait TIME            give up after this long (0 is -n); default: wait without limit
  -E, --conflict-exit-code N the exit code for giving up; default 1
Holding
      --lease TIME           how long the lock stays taken after a crash; default 30
      --at-least TIME        the name stays taken this long, whatever the command does; the lease is at least as long
      --fresh TIME           do nothing, with 0, if the command has succeeded so recently, on whichever machine
      --at MINUTE            do nothing, with 0, if anybody has run it for this minute: 2026-11-23T02:00, or now
      --max-hold TIME        the longest time the command may hold the lock; SIGTERM is sent --kill-after before that
      --on-lost WHAT         term: SIGTERM, then SIGKILL (default); kill: only SIGKILL; warn: only warn
      --kill-after TIME      from SIGTERM to SIGKILL; default 5, but at most a quarter of the lease or of --max-hold
Command
  -c, --command 'LINE'       run a line of shell instead of a command
      --status-fd N          write a report as JSON to this descriptor at the end
      --withhold-login       the command gets no HOLDFAST_PASSWORD, and no HOLDFAST_URL with a login in it
      --label TEXT           what inspect and ls call the holder; default: the command's name
      --metrics-file FILE    write how it went, for the textfile collector of node_exporter
)";

constexpr std::string_view kRunEnd = R"(
The command gets HOLDFAST_NAME, HOLDFAST_OWNER, HOLDFAST_LEASE_MS, HOLDFAST_EXPIRES_MS (Unix time; postponed by every
renewal); of a fenced lock HOLDFAST_TOKEN, a number that grows with each run, for a store that refuses lower ones.
Signals are passed on to it. Standard output belongs to it; with --json the report goes to standard error.

Exit codes
  the command's own; 128+N if signal N killed it; 0 if there was nothing to do (--fresh, --at)
  1    not acquired (-n, -w); another number with -E
  64   wrong usage                          75   the lock was lost, the command was stopped
  69   no server (majority), or it refuses  126  the command cannot be executed
  70   internal error                       127  the command was not found

Examples
  holdfast run -n -E 0 --at-least 10m nightly-backup -- ./backup.sh     # once, on whichever machine comes first
  holdfast run -n -E 0 --fresh 20h nightly-backup -- ./backup.sh        # on another machine, if the first one failed
  holdfast run --any 'gpu:{0..7}' -- sh -c 'CUDA_VISIBLE_DEVICES=${HOLDFAST_NAME#gpu:} exec ./train'
)";

constexpr std::string_view kElect = R"(holdfast elect [OPTIONS] NAME -- COMMAND...
holdfast elect [OPTIONS] -c 'SHELL LINE' NAME
holdfast elect --watch [OPTIONS] NAME

Of all that run this for one name, on any machine, one leads and runs its command; the others wait. The command has
ended before the lead is given away. Whatever ends a term, this candidate then stands for the next one, until a signal
ends it. The lock is of the kind fenced, of one name on one server.

      --watch                print a line for each new leader, and for none; take part in nothing
      --once                 end with the first term, with the exit code that run would have
      --rest TIME            stand back this long after a term that was not lost, so that others get theirs; default 1
      --lease TIME           how long the others wait after a crash; default 30, so give a shorter one
      --kill-after TIME      time from SIGTERM to SIGKILL after a loss, within the lease; default 5, but at most a
                             quarter of the lease
  -c, --command 'LINE'       run a line of shell instead of a command
      --withhold-login       the command gets no HOLDFAST_PASSWORD, and no HOLDFAST_URL with a login in it
      --label TEXT           what inspect, ls and --watch call the leader; default: the command's name
      --metrics-file FILE    write whether it leads, for the textfile collector of node_exporter
)";

constexpr std::string_view kElectEnd = R"(
The command gets what run gives it; HOLDFAST_TOKEN is larger in each term than in all before, for a store that refuses
lower ones. With --json a report of each term goes to standard error.

When the term ends
  the command has ended, however     the lead is given away at once; then --rest, and the next campaign
  the lead is lost                   the command is ended before anyone else can lead, as by run; then the next campaign
  SIGTERM, SIGINT, SIGHUP, SIGQUIT   passed on to the command; once it has ended the lead is given away at once, and the
                                     tool ends
A server that cannot be reached is tried again, for ever.

Exit codes
  after a signal the command's own, 128+N if signal N killed it; while waiting the tool dies of the signal
  64   wrong usage                          75   with --once: the lead was lost, the command was stopped
  69   the server refuses                   126  the command cannot be executed
  70   internal error                       127  the command was not found

Examples
  holdfast elect --lease 5s scheduler -- ./scheduler
  holdfast elect --watch scheduler
)";

constexpr std::string_view kAcquire = R"(holdfast acquire [OPTIONS] NAME

Takes the lock, prints a ticket for it, and ends: for scripts, CI jobs and programs that cannot run as a command of run.
Nobody renews the lock, which is free when its lease is over; renew sets the lease anew, release gives the lock back.
Whoever has the ticket can do either, on any machine. Of one name on one server.

      --lease TIME           how long the lock stays taken; default 60
      --kind KIND            lock (default), fenced, fair or simple, as in run
      --max N                one of N permits, as in run
  -n, --nonblock             give up at once if somebody else has the lock
  -w, --wait TIME            give up after this long (0 is -n); default: wait without limit
  -E, --conflict-exit-code N the exit code for giving up; default 1
      --label TEXT           what inspect and ls call the holder while it waits; then nobody is connected
)";

constexpr std::string_view kAcquireEnd = R"(
Exit codes
  0   taken; the ticket is on standard     64  wrong usage
      output                               69  no server, or it refuses
  1   not acquired (-n, -w); another       70  internal error
      number with -E

Examples
  ticket=$(holdfast acquire --lease 10m -w 1h deploy) || exit
  trap 'holdfast release "$ticket"' EXIT
  holdfast renew "$ticket" || exit            # before the ten minutes are over, as often as needed
)";

constexpr std::string_view kRenew = R"(holdfast renew [OPTIONS] TICKET

Sets the lease of a lock anew, if whoever acquire took it for still has it.

      --lease TIME           how long the lock stays taken from now on; default: the ticket's
)";

constexpr std::string_view kRelease = R"(holdfast release [OPTIONS] TICKET

Gives a lock back, if whoever acquire took it for still has it, and wakes the next waiter.

)";

constexpr std::string_view kTicketEnd = R"(
Exit codes
  0   done                                 69  no server, or it refuses
  64  wrong usage, or no ticket            70  internal error
                                           75  the lock was lost: its lease was over, or somebody broke it

Examples
  holdfast renew --lease 5m "$ticket" || exit
  holdfast release "$ticket"
)";

constexpr std::string_view kLs = R"(holdfast ls [OPTIONS] [PATTERN]

Lists the locks that are held and whose names match the pattern (a glob; default *), and who holds them: host, process
and label, as far as the holder's connection gives them; and up to how many clients wait. Goes through the whole server
in small steps (SCAN); locks that come and go meanwhile may be missed. With several servers, the locks of each are
listed.

      --kind KIND            lock (default), fenced, fair, spin: all of these, which look the same; or read-write, with
                             each reader; permit, with each that is held; simple: any string with an expiry; semaphore
                             or latch: any number, which nobody can tell from one of another use
)";

constexpr std::string_view kLsEnd = R"(
Exit codes
  0   done, even if there are none         64  wrong usage
  69  no server, or it refuses             70  internal error

Examples
  holdfast ls
  holdfast ls --kind permit 'gpu*'
  holdfast ls 'orders:*' --json | jq -r '.[].name'
)";

constexpr std::string_view kInspect = R"(holdfast inspect [OPTIONS] NAME

Shows who holds a lock (with host, process, label and address, as far as the holder's connection gives them), how long
it stays theirs without a renewal, how many times they hold it, and up to how many clients wait; of a read-write lock
the writer or each reader, of a fair lock who waits, in order. With several servers, it is held by whoever has it on a
majority; what each server says is shown too.

      --kind KIND            lock, fenced, fair, simple, spin, read-write, permit, semaphore or latch; default: lock, or
                             whichever of simple, read-write and permit is found under that name
)";

constexpr std::string_view kInspectEnd = R"(
Exit codes
  0   held; no permit is free; closed      64  wrong usage
  1   free; open                           69  no server (majority), or it refuses
                                           70  internal error

Examples
  holdfast inspect nightly-backup
  holdfast inspect -q nightly-backup && echo "still running"
)";

constexpr std::string_view kWait = R"(holdfast wait [OPTIONS] NAME

Waits until a lock is free, without taking it; somebody else may take it the next moment. Checks once or twice a
second. With several servers, the lock is free when nobody can have it on a majority.

      --kind KIND            lock (default), fenced, fair, simple, spin, read-write or permit, as in run
  -n, --nonblock             only check, do not wait
  -w, --wait TIME            give up after this long: seconds, or 500ms, 10s, 5m, 2h, 1d; default: wait without limit
  -E, --conflict-exit-code N the exit code for giving up; default 1
)";

constexpr std::string_view kWaitEnd = R"(
Exit codes
  0   free                                 64  wrong usage
  1   still held (-n, -w); another         69  no server (majority), or it refuses
      number with -E                       70  internal error

Examples
  holdfast wait deploy && echo "the deployment is over"
  holdfast wait -w 10m deploy
)";

constexpr std::string_view kBreak = R"(holdfast break [OPTIONS] NAME

Takes a lock away from its holder and wakes the next waiter. The holder learns of it at once or with its next
renewal, so its work may overlap with the next holder's: use this only as a last resort. Asks for confirmation
first. Only the holder that was seen loses the lock, or all readers that were; anyone who has taken it since keeps it.
With several servers, it is taken on each. What is no lock is left alone; any string looks like a simple lock, so for
one of these OWNER must be given.

      --kind KIND            lock (default), fenced, fair, simple, spin, read-write or permit, as in run
  -y, --yes                  do not ask; required if standard input is not a terminal
      --owner OWNER          only if this is the holder, as shown by inspect; of several readers only this one
)";

constexpr std::string_view kBreakEnd = R"(
Exit codes
  0   taken away                           64  wrong usage
  1   free, or left alone: the answer was  69  no server (majority), or it refuses
      no, or the holder is a different one 70  internal error

Examples
  holdfast break nightly-backup
  holdfast break --yes --owner 99999999-2222-4333-8444-555555555555:7 nightly-backup
)";

constexpr std::string_view kDoctor = R"(holdfast doctor [OPTIONS]

Examines the server, its replicas and its Sentinels, and says what about them endangers locks, and what to do about it:
permissions, eviction, persistence, failover, clocks, limits, and more. Changes nothing there without --try. Takes 10 s
at most. With several servers, says too what is wrong between them. What could not be checked is shown as unknown;
what a lock needs and could not be tried, as a warning.

      --try NAME             take the lock of this name, wait for it with a second client, and give it back, unless
                             somebody has it; up to 10 s more
      --fail-on SEVERITY     what is exit code 1, with all that is worse: danger, warning (default), note or unknown
      --strict               the same as --fail-on unknown
)";

constexpr std::string_view kDoctorEnd = R"(
Exit codes
  0   nothing as bad as --fail-on          64  wrong usage
  1   warnings or dangers, or --fail-on    69  a server cannot be reached or refuses the login
                                           70  internal error

Examples
  holdfast doctor
  holdfast doctor --try nightly-backup
  holdfast doctor -q --url redis://a --url redis://b --url redis://c
  holdfast doctor --json | jq -r '.findings[] | select(.severity == "danger") | .id'
)";

constexpr std::string_view kExporter = R"(holdfast exporter [OPTIONS] [PATTERN]

Answers Prometheus at http://ADDRESS:PORT/metrics: for each server whether it is up, how many locks are held and waited
for, the least time to live, and what the doctor finds. Looks at the servers in the background, so a request is answered
at once. PATTERN: only these locks, as in ls. Plain, fenced, fair and spin locks only.

      --listen ADDRESS:PORT  where to listen; default 127.0.0.1:9743. An address is a number, localhost, or * (or none)
                             for every one of this machine; a port alone is on 127.0.0.1, and 0 is one that is free
      --interval TIME        how often to look, going through all keys; default 15s
      --doctor TIME          how often to examine the servers as the doctor does; default 5m; 0: never
)";

constexpr std::string_view kExporterEnd = R"(
Exit codes
  0   ended by a signal                    69  it cannot listen there
  64  wrong usage                          70  internal error

Examples
  holdfast exporter
  holdfast exporter --listen :9743 --url redis://a --url redis://b 'billing:*'
  curl -s http://127.0.0.1:9743/metrics
)";

constexpr std::string_view kTop = R"(holdfast top [OPTIONS] [PATTERN]

Shows on a screen that refreshes which locks are held: by whom, for how long, and who waits. Those that most wait for
come first; the key s sorts by the next column, ? shows the keys, q ends it. PATTERN: only these locks, as in ls. Where
standard output is no terminal, the table is printed anew each time; with --json one object a line. Nothing is asked of
those who hold or wait. Plain, fenced, fair and spin locks only: for others there is ls --kind.

  -n, --interval TIME        how often to look, going through all keys; default 2s
)";

constexpr std::string_view kTopEnd = R"(
Exit codes
  0   ended by q or a signal               64  wrong usage
  70  internal error

Examples
  holdfast top
  holdfast top -n 500ms --url redis://a --url redis://b 'billing:*'
  holdfast top --json | jq -c '.locks[] | select(.held_ms > 60000)'
)";

constexpr std::string_view kCommon = R"(Common
      --url URL              the server; else HOLDFAST_URL, else /etc/holdfast/url, else redis://127.0.0.1:6379
                             redis://host:port/db  rediss://host (TLS)  unix:///path/to/socket  local:
                             redis+sentinel://s1,s2,s3/mymaster  redis+cluster://n1,n2,n3
      --url-file FILE        read the URL, or several, from a file (or name it in HOLDFAST_URL_FILE)
      --password-file FILE   read the password from a file (or HOLDFAST_PASSWORD_FILE, or set HOLDFAST_PASSWORD)
      --json                 print the result, or the failure, as one JSON value
  -q, --quiet                print nothing but failures
  -v, --verbose              print more: how long it waited, and for whom
      --timestamps           begin each message with the time (UTC)
      --syslog               send messages to the system's log instead of standard error
  -h, --help                 this text
)";

std::string with_common(std::string_view head, std::string_view end) {
  return std::string(head).append(kCommon).append(end);
}

}  // namespace

std::string help_of(std::string_view verb) {
  if (verb == "run") return with_common(kRun, kRunEnd);
  if (verb == "elect") return with_common(kElect, kElectEnd);
  if (verb == "acquire") return with_common(kAcquire, kAcquireEnd);
  if (verb == "renew") return with_common(kRenew, kTicketEnd);
  if (verb == "release") return with_common(kRelease, kTicketEnd);
  if (verb == "ls") return with_common(kLs, kLsEnd);
  if (verb == "inspect") return with_common(kInspect, kInspectEnd);
  if (verb == "wait") return with_common(kWait, kWaitEnd);
  if (verb == "break") return with_common(kBreak, kBreakEnd);
  if (verb == "doctor") return with_common(kDoctor, kDoctorEnd);
  if (verb == "exporter") return with_common(kExporter, kExporterEnd);
  if (verb == "top") return with_common(kTop, kTopEnd);
  return std::string(kTool).append("\n").append(kCommon);
}

}  // namespace holdfast::cli
