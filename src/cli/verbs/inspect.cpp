// SPDX-License-Identifier: Apache-2.0
// `holdfast inspect`: who holds a lock, and for how long.
#include <fmt/format.h>

#include <holdfast/client.hpp>
#include <holdfast/semaphore.hpp>

#include "cli/at_servers.hpp"
#include "cli/json.hpp"
#include "cli/kinds.hpp"
#include "cli/source.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kPerhaps = ", if it is a lock: so looks any string with an expiry";

std::string ttl(const std::optional<std::chrono::milliseconds>& remaining) {
  return remaining ? in_words(*remaining) : "none";
}

/// Lines about who the owner is; none if the server was not asked.
std::string who(const LockHolder& info) {
  if (!info.holder) return {};
  const Holder& holder = *info.holder;
  if (holder.connection == Holder::Connection::open) {
    return fmt::format("who    {}\nfrom   {}, connected for {}\n", to_string(holder), printable(holder.address),
                       in_words(holder.connected_for));
  }
  if (holder.connection == Holder::Connection::none) {
    const std::string end = info.remaining ? "the lease ends in " + in_words(*info.remaining) : "there is no lease";
    return fmt::format("who    {}; {}\n", to_string(holder), end);
  }
  return fmt::format("who    {}\n", to_string(holder));
}

std::string about_holder(const LockHolder& info, LockKind kind) {
  const bool shared = info.mode == LockHolder::Mode::shared;
  const char* const mode = !is_read_write(kind) ? "" : shared ? "mode   reader\n" : "mode   writer\n";
  return fmt::format("owner  {}\n{}{}ttl    {}\nholds  {}\n", printable(info.owner), mode, who(info),
                     ttl(info.remaining), info.count);
}

/// A line about the waiters; none if unknown.
std::string about_waiters(const LockInfo& info) {
  if (!info.listeners) return {};
  if (*info.listeners == 0) return "waits  nobody who listens for the release\n";
  return fmt::format("waits  up to {} client{}\n", *info.listeners, *info.listeners == 1 ? "" : "s");
}

/// How long a waiter keeps its place without sending anything.
std::string place(const LockWaiter& waiter) {
  if (!waiter.keeps_place) return "none";
  return waiter.keeps_place->count() > 0 ? in_words(*waiter.keeps_place) : "over";
}

/// A table of the waiters for a lock whose server keeps a queue; none if there is no queue.
std::string about_queue(const LockInfo& info) {
  if (!info.queued) return {};
  if (*info.queued == 0) return "queue  0\n";
  std::vector<std::vector<std::string>> rows{{"PLACE", "OWNER", "KEEPS IT FOR", "WHO"}};
  for (const LockWaiter& each : info.queue) {
    rows.push_back({std::to_string(rows.size()), printable(each.owner), place(each),
                    each.holder ? to_string(*each.holder) : std::string()});
  }
  const std::string rest =
      *info.queued > info.queue.size() ? fmt::format("and {} more\n", *info.queued - info.queue.size()) : "";
  return fmt::format("queue  {} wait{}\n\n", *info.queued, *info.queued == 1 ? "s" : "") + table(std::move(rows)) +
         rest;
}

boost::json::object to_json(const Answer& answer) {
  boost::json::object out;
  if (answer.error) {
    out["error"] = cli::to_json(Problem::from(*answer.error));
  } else {
    out = cli::to_json(*answer.info);
    out.erase("name");
  }
  out["node"] = answer.node;
  return out;
}

std::string in_json(const Judgement& judgement, LockKind kind, const std::string& node) {
  boost::json::object out = cli::to_json(judgement.lock);
  out["kind"] = row_of(kind).name;
  out["held"] = judgement.verdict == Judgement::Verdict::held;
  out["node"] = node;
  boost::json::array& servers = out["servers"].emplace_array();
  for (const Answer& answer : judgement.answers) servers.push_back(to_json(answer));
  return json_line(out);
}

/// `found`: nobody has said which kind it is.
std::string in_lines(const Judgement& judgement, LockKind kind, bool found, const std::string& node) {
  const LockInfo& lock = judgement.lock;
  const bool held = judgement.verdict == Judgement::Verdict::held;
  std::string text = fmt::format("name   {}\n", printable(lock.name));
  if (found) text += fmt::format("kind   {}{}\n", row_of(kind).name, kind == LockKind::simple ? kPerhaps : "");
  text += fmt::format("state  {}\n", held ? "held" : "free");
  if (lock.available) text += fmt::format("free   {}\n", *lock.available);
  for (const LockHolder& each : lock.holders) text += about_holder(each, kind);
  if (lock.token) text += fmt::format("token  {}\n", *lock.token);
  if (held) text += about_waiters(lock);
  if (judgement.answers.size() == 1) return text + fmt::format("node   {}\n", node) + about_queue(lock);
  if (held)
    text += fmt::format("votes  {} of {} servers, {} needed\n", judgement.votes, judgement.answers.size(),
                        judgement.quorum());
  std::vector<std::vector<std::string>> rows{{"NODE", "OWNER", "TTL"}};
  for (const Answer& answer : judgement.answers) {
    if (answer.error) {
      rows.push_back({answer.node, in_words(*answer.error)});
    } else if (answer.held()) {
      rows.push_back({answer.node, printable(answer.info->owner), ttl(answer.info->remaining)});
    } else {
      rows.push_back({answer.node, "free"});
    }
  }
  return text + "\n" + table(std::move(rows));
}

/// What kind of lock a name belongs to, if `refusal` is what a look at it as a plain lock got. Empty: it is no lock, or
/// one cannot tell, as with a number, which may be a semaphore or a latch. Costs up to two queries, only of strings.
/// Throws Error.
std::optional<LockKind> kind_of(const Client& client, const std::string& name, const Error& refusal) {
  if (refusal.code() != Errc::wrong_type) return std::nullopt;
  const std::string_view cause = refusal.cause();
  if (cause.ends_with("it is a read-write lock")) return LockKind::write;
  if (cause.find("it is a string") == cause.npos) return std::nullopt;
  try {
    const bool any_held = !client.leased_semaphore(name).info(InfoDetail::owner).owner.empty();
    return any_held ? std::optional(LockKind::permit) : std::nullopt;
  } catch (const Error& error) {
    if (error.code() != Errc::wrong_type) throw;
  }
  // Without an expiry it is more likely somebody's data, which must not be shown.
  return client.simple_lock(name).remaining() ? std::optional(LockKind::simple) : std::nullopt;
}

/// What a look says, and as what kind. If that is not the kind of the lock, and none was given, looks again.
struct Look {
  Judgement judgement;
  LockKind kind;
  bool found = false;  ///< The kind is not the one that was asked for.
};

class InspectVerb final : public Verb {
 public:
  void declare(CommandLine& line) override {
    line.kind(kind_,
              R"(lock, fenced, fair, simple, spin, read-write, permit, semaphore or latch; default: lock, or
whichever of simple, read-write and permit is found under that name)",
              KindsFor::looking);
  }
  void accept(const CommandLine& line) override {
    name_ = line.only("the name of the lock");
    finds_kind_ = !line.has("--kind");
  }
  int run(const Console& console) override;

 private:
  int inspect_number(const Console& console) const;
  Look look_at(const std::vector<Config>& configs, InfoDetail detail) const;

  std::string name_;
  LockKind kind_ = LockKind::lock;
  bool finds_kind_ = false;  // no kind was given: if it is of another one, that is shown
};

/// A semaphore or a latch, which has no holders, only a number.
int InspectVerb::inspect_number(const Console& console) const {
  std::vector<Config> configs = make_configs(console);
  if (configs.size() > 1) throw UsageError("--kind semaphore and latch are for one server");
  const Client client(std::move(configs.front()));
  const bool latch = kind_ == LockKind::latch;
  const std::int64_t number = latch ? client.latch(name_).count() : client.semaphore(name_).available();
  const bool shut = latch ? number > 0 : number <= 0;
  if (console.json()) {
    boost::json::object out;
    put_text(out, "name", name_);
    out["available"] = number;
    out["held"] = shut;
    out["node"] = client.node();
    out["kind"] = row_of(kind_).name;
    console.result(json_line(out));
  } else if (!console.quiet()) {
    console.result(fmt::format("name   {}\nstate  {}\n{} {}\nnode   {}\n", printable(name_),
                               latch  ? (shut ? "closed" : "open")
                               : shut ? "busy"
                                      : "free",
                               latch ? "steps " : "free  ", number, client.node()));
  }
  return shut ? kExitOk : kExitNo;
}

Look InspectVerb::look_at(const std::vector<Config>& configs, InfoDetail detail) const {
  Look look{LockAtServers(configs, name_, kind_).ask(detail), kind_};
  const bool alone = configs.size() == 1;
  if (!finds_kind_ || !alone || !look.judgement.answers.front().error) return look;
  const std::optional<LockKind> kind = kind_of(Client(configs.front()), name_, *look.judgement.answers.front().error);
  if (!kind) return look;
  return {LockAtServers(configs, name_, *kind).ask(detail), *kind, true};
}

int InspectVerb::run(const Console& console) {
  if (is_number(kind_)) return inspect_number(console);
  const std::vector<Config> configs = make_configs(console);
  const bool silent = console.quiet() && !console.json();
  const Look look = look_at(configs, silent ? InfoDetail::owner : InfoDetail::holder);
  if (look.judgement.verdict == Judgement::Verdict::undecided) throw Error(no_majority(look.judgement));
  const std::string node =
      configs.size() == 1 ? look.judgement.answers.front().node : fmt::format("{} servers", configs.size());
  if (console.json()) {
    console.result(in_json(look.judgement, look.kind, node));
  } else if (!console.quiet()) {
    console.result(in_lines(look.judgement, look.kind, look.found, node));
  }
  return look.judgement.verdict == Judgement::Verdict::held ? kExitOk : kExitNo;
}

}  // namespace

extern const VerbEntry inspect_verb{.name = "inspect",
                                    .summary = R"(show who holds a lock, and for how long)",
                                    .head = R"(holdfast inspect [OPTIONS] NAME

Shows who holds a lock (with host, process, label and address, as far as the holder's connection gives them), how long
it stays theirs without a renewal, how many times they hold it, and up to how many clients wait; of a read-write lock
the writer or each reader, of a fair lock who waits, in order. With several servers, it is held by whoever has it on a
majority; what each server says is shown too.
)",
                                    .end = R"(
Exit codes
  0   held; no permit is free; closed      64  wrong usage
  1   free; open                           69  no server (majority), or it refuses
                                           70  internal error

Examples
  holdfast inspect nightly-backup
  holdfast inspect -q nightly-backup && echo "still running"
)",
                                    .make = make_verb<InspectVerb>};

}  // namespace holdfast::cli
