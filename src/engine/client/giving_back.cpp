#include "engine/client/giving_back.hpp"

#include <atomic>
#include <memory>
#include <utility>

#include "engine/hold/hold_release.hpp"
#include "engine/loop/result.hpp"

namespace holdfast::engine {
namespace {

class GivingBack final : public Loop::Task, public std::enable_shared_from_this<GivingBack> {
 public:
  using Done = std::function<void(std::size_t unconfirmed)>;
  GivingBack(Core& core, Done done) : core_(core), done_(std::move(done)) {}

  void run() override {
    for (const std::shared_ptr<Target>& target : core_.targets().all(Targets::Which::own)) target->end_waits();
    const std::vector<std::shared_ptr<Tenancy>> holds = core_.watchdog().armed();
    unconfirmed->store(holds.size());
    under_way_ = holds.size() + 1;
    for (const std::shared_ptr<Tenancy>& hold : holds) give_back(*hold);
    on_end();
  }
  void broken() noexcept override { tell(); }

  const std::shared_ptr<std::atomic<std::size_t>> unconfirmed = std::make_shared<std::atomic<std::size_t>>(0);

 private:
  void give_back(Tenancy& hold) {
    hold.on_closed();
    try {
      const bool begun = give_up(hold, [self = shared_from_this()](ReleaseOutcome outcome) {
        if (outcome != ReleaseOutcome::unknown) --*self->unconfirmed;
        self->on_end();
      });
      if (begun) return;
      --*unconfirmed;  // its holder releases it
    } catch (...) {
      // Out of memory: its lease ends it.
    }
    on_end();
  }
  void on_end() noexcept {
    if (--under_way_ == 0) tell();
  }
  void tell() noexcept { tell_once(done_, unconfirmed->load()); }

  Core& core_;
  Done done_;
  std::size_t under_way_ = 0;
};

}  // namespace

std::size_t give_back_all(Core& core, TimePoint until) {
  const auto answer = std::make_shared<Answer>();
  OwnLoop* const loop = core.runtime().own_loop();
  const auto giving_back = std::make_shared<GivingBack>(core, [answer, loop](std::size_t) { loop->set(*answer); });
  loop->call(giving_back, *answer, until);
  return giving_back->unconfirmed->load();
}

std::shared_ptr<const std::atomic<std::size_t>> give_back_all_async(Core& core,
                                                                    std::function<void(std::size_t unconfirmed)> done) {
  const auto giving_back = std::make_shared<GivingBack>(core, std::move(done));
  giving_back->run();
  return giving_back->unconfirmed;
}

}  // namespace holdfast::engine
