// SPDX-License-Identifier: Apache-2.0
// `holdfast acquire`, `renew` and `release`: a lock for uses that cannot be the command of a run.
#include <chrono>
#include <optional>

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/hold.hpp>

#include "cli/json.hpp"
#include "cli/run/lock.hpp"
#include "cli/run/report.hpp"
#include "cli/signals.hpp"
#include "cli/source.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDefaultLease{60'000};

/// What remains of a hold after the tool ends.
struct LeftHold {
  Ticket ticket;
  milliseconds valid_for{};
};

LeftHold left_of(Hold& hold) {
  const milliseconds valid_for = hold.valid_for();
  return {Ticket::parse(hold.detach()), valid_for};
}

std::string left_json(const LeftHold& left, const std::string& node) {
  const auto now = std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  boost::json::object out;
  put_text(out, "name", left.ticket.name);
  out["kind"] = to_string(left.ticket.kind);
  put_text(out, "owner", left.ticket.owner);
  out["token"] = left.ticket.token ? boost::json::value(*left.ticket.token) : boost::json::value(nullptr);
  out["ticket"] = left.ticket.text();
  put_ms(out, "lease_ms", left.ticket.lease);
  put_ms(out, "expires_ms", now + left.valid_for);
  out["node"] = node;
  return json_line(out);
}

Client client_for_ticket(const Console& console) {
  std::vector<Config> configs = make_configs(console);
  if (configs.size() > 1) throw UsageError("a ticket is for one server");
  return Client(std::move(configs.front()));
}

KeyLock lock_of(const Ticket& ticket, const Client& client) {
  return key_lock(client, ticket.name, kind_named(to_string(ticket.kind), KindsFor::holding).value());
}

std::string ticket_in_words(const Ticket& ticket, const Client& client) {
  return fmt::format("lock {} on {}", base::quote(ticket.name), client.node());
}

class AcquireVerb final : public Verb {
 public:
  void declare(CommandLine& line) override {
    line.duration("--lease TIME", options_.lease, R"(how long the lock stays taken; default 60)", milliseconds(10));
    line.kind(options_.kind, R"(lock (default), fenced, fair or simple, as in run)");
    line.number("--max N", kMostPermits, options_.max, R"(one of N permits, as in run)");
    options_.declare(line);
    line.text("--label TEXT", options_.label,
              R"(what inspect and ls call the holder while it waits; then nobody is connected)");
  }
  void accept(const CommandLine& line) override {
    options_.names = {line.only("the name of the lock")};
    if (is_read_write(options_.kind)) throw UsageError("acquire: there are no tickets for --kind read-write");
    if (options_.kind == LockKind::spin) throw UsageError("acquire: there are no tickets for --kind spin");
    const bool odd = options_.max ? *options_.max == 0 || line.has("--kind") : options_.kind == LockKind::permit;
    if (odd) throw UsageError("acquire: a permit is --max N, from 1, in place of --kind");
    if (options_.max) options_.kind = LockKind::permit;
    options_.settle();
    options_.fixed = true;
    line.hint_at_units(options_.names.front());
  }
  int run(const Console& console) override;

 private:
  RunOptions options_;
};

int AcquireVerb::run(const Console& console) {
  const SignalGate signals;
  std::vector<Config> configs = make_configs(console);
  if (configs.size() > 1) throw UsageError("acquire is for one server: a ticket is of one hold");
  if (options_.label) configs.front().label = *options_.label;
  const Config config = configs.front();
  RunReport report;
  RunLock lock(options_, console, report, std::move(configs));
  RunTimes times;
  times.lease = options_.lease.value_or(kDefaultLease);
  AcquisitionResult result = lock.acquire(times, signals);
  if (const int signal = lock.interrupted_by(); signal != 0) {
    if (result.hold) lock.release(*result.hold);
    lock.close();
    SignalGate::die_of(signal);
  }
  if (!result.hold) {
    const int exit_code = lock.not_acquired(result);
    if (console.json()) {
      boost::json::object out;
      out["error"] = to_json(*report.problem);
      console.result(json_line(out));
    }
    return exit_code;
  }
  const LeftHold left = left_of(*result.hold);
  try {
    console.result(console.json() ? left_json(left, report.node) : left.ticket.text() + "\n");
  } catch (...) {  // nobody has the ticket
    key_lock(Client(config), left.ticket.name, options_.kind).force_release(left.ticket.owner);
    throw;
  }
  console.detail(fmt::format("{}: acquired for {}", report.lock_in_words(), in_words(left.valid_for)));
  return kExitOk;
}

class RenewVerb final : public Verb {
 public:
  void declare(CommandLine& line) override {
    line.duration("--lease TIME", lease_, R"(how long the lock stays taken from now on; default: the ticket's)",
                  milliseconds(10));
  }
  void accept(const CommandLine& line) override { ticket_ = line.only("the ticket"); }
  int run(const Console& console) override;

 private:
  std::string ticket_;
  std::optional<milliseconds> lease_;  // empty: that of the ticket
};

int RenewVerb::run(const Console& console) {
  const Ticket ticket = Ticket::parse(ticket_);
  const Client client = client_for_ticket(console);
  Hold hold = lock_of(ticket, client).adopt(ticket_, {.lease = fixed(lease_.value_or(ticket.lease))});
  const LeftHold left = left_of(hold);
  if (console.json()) console.result(left_json(left, client.node()));
  console.detail(fmt::format("{}: renewed for {}", ticket_in_words(ticket, client), in_words(left.valid_for)));
  return kExitOk;
}

class ReleaseVerb final : public Verb {
 public:
  void declare(CommandLine&) override {}
  void accept(const CommandLine& line) override { ticket_ = line.only("the ticket"); }
  int run(const Console& console) override;

 private:
  std::string ticket_;
};

int ReleaseVerb::run(const Console& console) {
  const Ticket ticket = Ticket::parse(ticket_);
  const Client client = client_for_ticket(console);
  if (!lock_of(ticket, client).force_release(ticket.owner)) {
    throw Error(Errc::lost, ticket.name, client.node(), "the ticket's lease was over, or somebody broke the lock");
  }
  if (console.json()) {
    boost::json::object out;
    put_text(out, "name", ticket.name);
    put_text(out, "owner", ticket.owner);
    out["released"] = true;
    console.result(json_line(out));
  }
  return kExitOk;
}

/// The end of the help of both verbs that take a ticket.
constexpr const char* kEndOfTicketHelp = R"(
Exit codes
  0   done                                 69  no server, or it refuses
  64  wrong usage, or no ticket            70  internal error
                                           75  the lock was lost: its lease was over, or somebody broke it

Examples
  holdfast renew --lease 5m "$ticket" || exit
  holdfast release "$ticket"
)";

}  // namespace

extern const VerbEntry acquire_verb{.name = "acquire",
                                    .summary = R"(take a lock and print a ticket for it)",
                                    .head = R"(holdfast acquire [OPTIONS] NAME

Takes the lock, prints a ticket for it, and ends: for scripts, CI jobs and programs that cannot run as a command of run.
Nobody renews the lock, which is free when its lease is over; renew sets the lease anew, release gives the lock back.
Whoever has the ticket can do either, on any machine. Of one name on one server.
)",
                                    .end = R"(
Exit codes
  0   taken; the ticket is on standard     64  wrong usage
      output                               69  no server, or it refuses
  1   not acquired (-n, -w); another       70  internal error
      number with -E

Examples
  ticket=$(holdfast acquire --lease 10m -w 1h deploy) || exit
  trap 'holdfast release "$ticket"' EXIT
  holdfast renew "$ticket" || exit            # before the ten minutes are over, as often as needed
)",
                                    .make = make_verb<AcquireVerb>};

extern const VerbEntry renew_verb{.name = "renew",
                                  .summary = R"(set the lease of a ticket anew)",
                                  .head = R"(holdfast renew [OPTIONS] TICKET

Sets the lease of a lock anew, if whoever acquire took it for still has it.
)",
                                  .end = kEndOfTicketHelp,
                                  .make = make_verb<RenewVerb>};

extern const VerbEntry release_verb{.name = "release",
                                    .summary = R"(give back the lock of a ticket)",
                                    .head = R"(holdfast release [OPTIONS] TICKET

Gives a lock back, if whoever acquire took it for still has it, and wakes the next waiter.
)",
                                    .end = kEndOfTicketHelp,
                                    .make = make_verb<ReleaseVerb>};

}  // namespace holdfast::cli
