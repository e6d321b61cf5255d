// What a server says to a renewal, however that was sent: alone or in a batch, with acks or without.
#pragma once

#include <cstddef>

#include "engine/decide/group_commit.hpp"
#include "engine/hold/acquirable.hpp"
#include "redis/connection/request.hpp"

namespace holdfast::engine {

/// Why the server refuses a command.
ServerRefusal refusal_of(const base::Reply& reply);

/// The reply to a renewal of so many locks.
CommitReply::Renewal read_renewal(const base::Reply& reply, std::size_t locks);

/// The same of a command of a request that asks for no acks: `acked`, if the server has answered.
Confirmed read_renewal(const redis::Result& result, std::size_t command, std::size_t locks);

/// Of one tenancy.
Renewed as_renewed(const Confirmed& confirmed);

}  // namespace holdfast::engine
