#include "kinds/kinds.hpp"
#include "wire/permits_calls.hpp"

namespace holdfast::kinds {
namespace {

namespace permits = wire::permits;

/// A query for the holders returns at most this many permits.
constexpr std::size_t kMostShown = 1000;

std::vector<wire::Held> holders_of(const base::Reply& reply) {
  std::vector<wire::Held> held;
  const std::optional<permits::Seen> seen = permits::decode_look(reply);
  if (!seen) return held;
  for (const permits::Permit& permit : seen->permits) {
    held.push_back({.owner = permit.id, .count = 1, .mode = wire::Mode::shared, .left = permit.left});
  }
  return held;
}

}  // namespace

// Repeatable, since a permit is identified by its id.
const engine::Plan kLeasedSemaphore{
    .traits = {.reentrant = false, .holders = engine::Traits::Holders::several},
    .transitions = {.names = permits::names,
                    .acquire = permits::acquire,
                    .decode_acquire = permits::decode_acquire,
                    .release = permits::release,
                    .renew = permits::renew,
                    .force_release = permits::force_release},
    .questions = {.owners_key = permits::expiries,
                  .ask_owner = permits::has_owner,
                  .is_owner =
                      [](const base::Reply& reply, const wire::Owner&) {
                        return reply.is_null() || reply.is_text() ? std::optional(reply.is_text()) : std::nullopt;
                      },
                  .holder =
                      [](std::string_view key) {
                        return permits::look(permits::names(std::string(key)), kMostShown, Publish::both);
                      },
                  .decode_holder =
                      [](const base::Reply& reply) {
                        std::vector<wire::Held> held = holders_of(reply);
                        return held.empty() ? wire::Held{} : std::move(held.front());
                      },
                  .decode_holders = holders_of,
                  .decode_available = [](const base::Reply& reply) -> std::optional<std::int64_t> {
                    const std::optional<permits::Seen> seen = permits::decode_look(reply);
                    return seen ? std::optional(seen->available) : std::nullopt;
                  }},
};

}  // namespace holdfast::kinds
