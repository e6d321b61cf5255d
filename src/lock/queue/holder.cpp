// SPDX-License-Identifier: Apache-2.0
#include "lock/queue/holder.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "kinds/owner.hpp"
#include "lock/runtime/runtime.hpp"

namespace holdfast {
namespace {

/// One value of several that stand between commas.
std::string item(std::string_view text) {
  return text.find(',') == text.npos ? base::printable(text) : base::quote(text);
}

}  // namespace

std::string to_string(const Holder& holder) {
  switch (holder.connection) {
    case Holder::Connection::open:
      return item(holder.host) + ", process " + std::to_string(holder.process) + ", label " + item(holder.label);
    case Holder::Connection::none:
      return "a Holdfast client without a connection (a ticket, --at-least, cut off, or dead)";
    case Holder::Connection::unknown:
      break;
  }
  switch (holder.kind) {
    case Holder::Kind::holdfast:
      return "a Holdfast client, no name known";
    case Holder::Kind::redisson:
      return "a Redisson (or other) client, no name known";
    case Holder::Kind::other:
      break;
  }
  return "a client of another library, no name known";
}

namespace engine {
namespace {

void set_connection(Holder& holder, const wire::Connection& connection) {
  holder.connection = Holder::Connection::open;
  holder.host = connection.identity.host;
  holder.process = connection.identity.process;
  holder.label = connection.identity.label;
  holder.address = connection.address;
  holder.connected_for = connection.age;
}

/// A permit shows the half of its client's UUID, if that is connected. Any other could be anybody's token.
Holder holder_of_permit(std::string_view permit, const wire::Connections* connections) {
  Holder holder;
  const std::string begin = wire::client_begin_of_permit(permit);
  if (begin.empty() || connections == nullptr) return holder;
  const auto found = connections->lower_bound(begin);
  if (found == connections->end() || !found->first.starts_with(begin)) return holder;
  holder.kind = Holder::Kind::holdfast;
  set_connection(holder, found->second);
  return holder;
}

}  // namespace

Holder holder_of(std::string_view owner, const wire::Connections* connections) {
  Holder holder;
  if (!wire::looks_like_holder(owner)) return holder_of_permit(owner, connections);
  const std::string_view client = wire::client_of(owner);
  holder.kind = wire::is_named_client(client) ? Holder::Kind::holdfast : Holder::Kind::redisson;
  if (connections == nullptr) return holder;
  const auto found = connections->find(client);
  if (found == connections->end()) {
    if (holder.kind == Holder::Kind::holdfast) holder.connection = Holder::Connection::none;
    return holder;
  }
  set_connection(holder, found->second);
  return holder;
}

}  // namespace engine
}  // namespace holdfast

namespace holdfast::engine {
namespace {

/// Of a lock made of very many, these are enough to name somebody.
constexpr std::size_t kMostKeys = 100;

/// The owner and the connections, asked for at the same time.
class HolderQuery : public std::enable_shared_from_this<HolderQuery> {
 public:
  HolderQuery(Runtime& runtime, redis::Shard& shard, const Plan& plan, std::vector<wire::LockNames> names,
              HolderDone done)
      : runtime_(runtime), shard_(shard), plan_(plan), names_(std::move(names)), done_(std::move(done)) {}

  void start() {
    redis::Request request{{}, runtime_.config().timing.command_timeout, {}};
    for (const wire::LockNames& name : names_) request.commands.push_back(plan_.questions.holder(name.key));
    shard_.send(std::move(request), [self = shared_from_this()](const redis::Result& result) {
      self->owner_known_ = true;
      for (std::size_t i = 0; i < result.replies.size() && self->info_.owner.empty(); ++i) {
        self->info_.name = self->names_[i].key;
        self->info_.owner = self->plan_.questions.decode_holder(result.replies[i]).owner;
      }
      self->tell_if_known();
    });
    runtime_.known_connections(shard_).ask([self = shared_from_this()](KnownConnections::List connections, bool fresh) {
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
    // It may have connected since that list was made, or be connected to other nodes only.
    const bool missing = info_.holder->connection == Holder::Connection::none;
    if (missing && (!fresh_ || runtime_.router().only_shard() == nullptr))
      info_.holder->connection = Holder::Connection::unknown;
    done_(std::move(info_));
  }

  Runtime& runtime_;
  redis::Shard& shard_;
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

void ask_holder(Runtime& runtime, redis::Shard& shard, const Plan& plan, std::vector<wire::LockNames> names,
                HolderDone done) {
  names.erase(names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostKeys)), names.end());
  const auto query = std::make_shared<HolderQuery>(runtime, shard, plan, std::move(names), std::move(done));
  if (runtime.loop().inside()) return query->start();
  runtime.loop().defer([query] { query->start(); });
}

}  // namespace holdfast::engine
