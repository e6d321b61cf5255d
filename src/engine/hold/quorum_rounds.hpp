// What a group asks its members, round by round. Each is begun on the loop of the client that serves the group, and
// tells its outcome there, once.
#pragma once

#include <memory>

#include "engine/hold/members.hpp"

namespace holdfast::engine {

/// How long to wait for one member's vote: far below the lease, so that servers that are down cost little of it.
Duration vote_timeout(const Config& config, milliseconds lease);

void ask_members_for(std::shared_ptr<Members> group, Order order, AttemptDone done);
void release_members(std::shared_ptr<Members> group, const wire::Owner& owner, TimePoint deadline, TimePoint give_up,
                     ReleaseDone done);
void renew_members(std::shared_ptr<Members> group, std::shared_ptr<Tenancy> hold, milliseconds lease, RenewDone done);

}  // namespace holdfast::engine
