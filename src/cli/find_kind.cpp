#include "cli/find_kind.hpp"

#include <string_view>

#include <holdfast/leased_semaphore.hpp>

namespace holdfast::cli {

std::optional<LockKind> kind_of(const Client& client, const std::string& name, const Error& refusal) {
  if (refusal.code() != Errc::wrong_type) return std::nullopt;
  const std::string_view cause = refusal.cause();
  if (cause.ends_with("it is a read-write lock")) return LockKind::write;
  if (cause.find("it is a string") == cause.npos) return std::nullopt;
  try {
    const bool any_held = !client.leased_semaphore(name).info(Detail::owner).owner.empty();
    return any_held ? std::optional(LockKind::permit) : std::nullopt;
  } catch (const Error& error) {
    if (error.code() != Errc::wrong_type) throw;
  }
  // Without an expiry it is more likely somebody's data, which must not be shown.
  return client.simple_lock(name).remaining() ? std::optional(LockKind::simple) : std::nullopt;
}

}  // namespace holdfast::cli
