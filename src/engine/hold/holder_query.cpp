#include "engine/hold/holder_query.hpp"

#include <algorithm>
#include <utility>

#include "engine/hold/holder.hpp"
#include "engine/runtime/runtime.hpp"

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
    redis::Request request{{}, runtime_.config().command_timeout, {}};
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
