#include "kinds/kinds.hpp"
#include "wire/read_write_calls.hpp"

namespace holdfast::kinds {
namespace {

namespace rw = wire::read_write;

bool reads(const wire::Owner& owner) { return owner.ask.mode == wire::Mode::shared; }

}  // namespace

const engine::Plan kReadWriteLock{
    .traits = {.holders = engine::Traits::Holders::readers},
    .transitions = {.names = rw::names,
                    .acquire =
                        [](const wire::AcquireCall& call) {
                          return reads(call.owner) ? rw::acquire_read(call) : rw::acquire_write(call);
                        },
                    .decode_acquire = rw::decode_acquire,
                    .release =
                        [](const wire::ReleaseCall& call) {
                          return reads(call.owner) ? rw::release_read(call) : rw::release_write(call);
                        },
                    .renew = rw::renew,
                    .force_release = [](const wire::LockNames& names, const std::optional<wire::Owner>& owner,
                                        Publish publish) { return rw::force_release(names, owner, publish); },
                    .share =
                        [](const wire::ShareCall& call) {
                          return rw::downgrade({call.names, call.owner, call.owner, call.lease, call.publish});
                        }},
    .questions = {.ask_owner =
                      [](std::string_view key, const wire::Owner& owner) {
                        return reads(owner) ? rw::has_reader(key, owner.text) : rw::has_writer(key, owner.text);
                      },
                  .holder = rw::holders,
                  .decode_holder = rw::decode_holder,
                  .decode_holders = rw::decode_all},
};

}  // namespace holdfast::kinds
