#include <holdfast/detail/hold_access.hpp>
#include <holdfast/error.hpp>
#include <holdfast/read_write_lock.hpp>

#include "engine/hold/claim.hpp"
#include "engine/hold/sharing.hpp"
#include "engine/hold/tenancy.hpp"
#include "face/outcome.hpp"
#include "face/parts.hpp"
#include "face/travel.hpp"

namespace holdfast {

ReadWriteLock ReadWriteLock::make(detail::PartsPtr writer) {
  AcquireOptions defaults = writer->defaults ? *writer->defaults : AcquireOptions();
  ReadLock reader(face::make_parts(writer->runtime, writer->target, std::move(defaults), {wire::Mode::shared}));
  return {std::move(writer), std::move(reader)};
}

bool face::reads_already(const engine::Target& target, const std::shared_ptr<engine::Claim>& held) {
  if (!held || held->target().get() != &target) {
    throw error_about(target, Errc::invalid_argument, held ? "the hold is of another lock" : "the hold is empty");
  }
  if (held->tenancy().ask().mode != wire::Mode::shared) return false;
  require_valid(*held);
  return true;
}

void ReadWriteLock::downgrade(Hold& hold) const {
  const std::shared_ptr<engine::Claim>& held = detail::HoldAccess::held(hold);
  const engine::Target& target = *parts()->target;
  if (face::reads_already(target, held)) return;
  if (const std::error_code error = engine::share(*held)) throw face::error_about(target, error, {});
}

}  // namespace holdfast
