// `holdfast acquire`, `renew` and `release`: a lock for uses that cannot be the command of a run.
#include <chrono>
#include <optional>

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/ticket.hpp>

#include "cli/connect.hpp"
#include "cli/json.hpp"
#include "cli/run_lock.hpp"
#include "cli/run_report.hpp"
#include "cli/signals.hpp"
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

LockKind lock_kind_of(Ticket::Kind kind) {
  switch (kind) {
    case Ticket::Kind::fenced:
      return LockKind::fenced;
    case Ticket::Kind::fair:
      return LockKind::fair;
    case Ticket::Kind::simple:
      return LockKind::simple;
    case Ticket::Kind::permit:
      return LockKind::permit;
    case Ticket::Kind::lock:
      break;
  }
  return LockKind::lock;
}

Client client_for_ticket(const CommonOptions& common, const Console& console) {
  std::vector<Config> configs = make_configs(common, console);
  if (configs.size() > 1) throw UsageError("a ticket is for one server");
  return Client(std::move(configs.front()));
}

std::string ticket_in_words(const Ticket& ticket, const Client& client) {
  return fmt::format("lock {} on {}", base::quote(ticket.name), client.node());
}

}  // namespace

int acquire(const CommonOptions& common, const TakeOptions& options, const Console& console) {
  const SignalGate signals;
  std::vector<Config> configs = make_configs(common, console);
  if (configs.size() > 1) throw UsageError("acquire is for one server: a ticket is of one hold");
  if (options.run.label) configs.front().label = *options.run.label;
  const Config config = configs.front();
  RunReport report;
  RunLock lock(options.run, console, report, std::move(configs));
  RunTimes times;
  times.lease = options.run.lease.value_or(kDefaultLease);
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
    key_lock(Client(config), left.ticket.name, options.run.kind).force_release(left.ticket.owner);
    throw;
  }
  console.detail(fmt::format("{}: acquired for {}", report.lock_in_words(), in_words(left.valid_for)));
  return kExitOk;
}

int renew(const CommonOptions& common, const RenewOptions& options, const Console& console) {
  const Ticket ticket = Ticket::parse(options.ticket);
  const Client client = client_for_ticket(common, console);
  Hold hold = key_lock(client, ticket.name, lock_kind_of(ticket.kind))
                  .adopt(options.ticket, {.lease = fixed(options.lease.value_or(ticket.lease))});
  const LeftHold left = left_of(hold);
  if (console.json()) console.result(left_json(left, client.node()));
  console.detail(fmt::format("{}: renewed for {}", ticket_in_words(ticket, client), in_words(left.valid_for)));
  return kExitOk;
}

int release(const CommonOptions& common, const ReleaseOptions& options, const Console& console) {
  const Ticket ticket = Ticket::parse(options.ticket);
  const Client client = client_for_ticket(common, console);
  if (!key_lock(client, ticket.name, lock_kind_of(ticket.kind)).force_release(ticket.owner)) {
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

}  // namespace holdfast::cli
