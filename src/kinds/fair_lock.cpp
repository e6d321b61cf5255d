#include "kinds/kinds.hpp"
#include "wire/fair_calls.hpp"
#include "wire/lock_calls.hpp"

namespace holdfast::kinds {

// Not passable: the server decides who is next.
const engine::Plan kFairLock{
    .traits = {.order = engine::Traits::Order::server, .passable = false},
    .transitions = {.names = wire::fair::names,
                    .acquire = wire::fair::acquire,
                    .release = wire::fair::release,
                    .renew = wire::lock::renew,
                    .force_release = wire::fair::force_release,
                    .leave = wire::fair::leave,
                    .wake_channel = wire::fair::wake_channel},
    .questions = {.ask_owner = wire::lock::has_owner,
                  .holder = wire::lock::holder,
                  .decode_holder = wire::lock::decode_holder,
                  .line = wire::fair::line,
                  .decode_line = wire::fair::decode_line},
};

}  // namespace holdfast::kinds
