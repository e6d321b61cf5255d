#include "engine/hold/holder.hpp"

#include "base/text.hpp"
#include "wire/owner.hpp"
#include "wire/permits_calls.hpp"

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
  const std::string begin = wire::permits::client_begin(permit);
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
  if (!wire::looks_like_owner(owner)) return holder_of_permit(owner, connections);
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
