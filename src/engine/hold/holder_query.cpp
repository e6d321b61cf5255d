#include "engine/hold/holder_query.hpp"

#include <algorithm>
#include <utility>

#include "engine/client/core.hpp"
#include "engine/hold/holder.hpp"

namespace holdfast::engine {
namespace {

using base::Clock;

/// How long a list of connections serves those who ask next.
constexpr std::chrono::seconds kFresh{1};
/// Of a lock made of very many, these are enough to name somebody.
constexpr std::size_t kMostKeys = 100;

/// The owner and the connections, asked for at the same time.
class HolderQuery : public std::enable_shared_from_this<HolderQuery> {
 public:
  HolderQuery(Core& core, const Plan& plan, std::vector<wire::LockNames> names, HolderDone done)
      : core_(core), plan_(plan), names_(std::move(names)), done_(std::move(done)) {}

  void start() {
    redis::Request request{{}, core_.config().command_timeout, {}};
    for (const wire::LockNames& name : names_) request.commands.push_back(plan_.holder(name.key));
    core_.send(std::move(request), [self = shared_from_this()](const redis::Result& result) {
      self->owner_known_ = true;
      for (std::size_t i = 0; i < result.replies.size() && self->info_.owner.empty(); ++i) {
        self->info_.name = self->names_[i].key;
        self->info_.owner = self->plan_.decode_holder(result.replies[i]).owner;
      }
      self->tell_if_known();
    });
    core_.known_connections().ask([self = shared_from_this()](KnownConnections::List connections, bool fresh) {
      self->connections_known_ = true;
      self->fresh_ = fresh;
      self->connections_ = std::move(connections);
      self->tell_if_known();
    });
  }

 private:
  void tell_if_known() {
    if (!owner_known_ || !connections_known_) return;
    if (info_.owner.empty()) return done_(std::nullopt);
    info_.holder = holder_of(info_.owner, connections_.get());
    // It may have connected since that list was made.
    const bool missing = info_.holder->connection == Holder::Connection::none;
    if (missing && !fresh_) info_.holder->connection = Holder::Connection::unknown;
    done_(std::move(info_));
  }

  Core& core_;
  const Plan& plan_;
  const std::vector<wire::LockNames> names_;
  const HolderDone done_;
  LockInfo info_;
  KnownConnections::List connections_;
  bool owner_known_ = false;
  bool connections_known_ = false;
  bool fresh_ = false;
};

}  // namespace

void KnownConnections::ask(Done done) {
  if (Clock::now() < known_at_ + kFresh) return done(connections_, false);
  waiting_.push_back(std::move(done));
  if (waiting_.size() > 1) return;
  core_.send(redis::Request::of(wire::count_connections(), core_.config().command_timeout),
             [this](const redis::Result& result) {
               const bool few = !result.replies.empty() && wire::are_few_connections(result.replies.front());
               if (few) return ask_list();
               tell(nullptr);
             });
}

void KnownConnections::ask_list() {
  core_.send(redis::Request::of(wire::list_connections(), core_.config().command_timeout),
             [this](const redis::Result& result) {
               std::optional<wire::Connections> list;
               if (!result.replies.empty()) list = wire::decode_connections(result.replies.front());
               tell(list ? std::make_shared<const wire::Connections>(std::move(*list)) : nullptr);
             });
}

void KnownConnections::tell(List connections) {
  connections_ = std::move(connections);
  known_at_ = Clock::now();
  bool first = true;
  for (const Done& done : std::exchange(waiting_, {})) {
    done(connections_, std::exchange(first, false));
  }
}

void ask_holder(const std::shared_ptr<Core>& core, const Plan& plan, std::vector<wire::LockNames> names,
                HolderDone done) {
  names.erase(names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostKeys)), names.end());
  const auto query = std::make_shared<HolderQuery>(*core, plan, std::move(names), std::move(done));
  if (core->loop().inside()) return query->start();
  core->loop().defer([query] { query->start(); });
}

}  // namespace holdfast::engine
