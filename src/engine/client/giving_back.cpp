#include "engine/client/giving_back.hpp"

#include <atomic>

#include "engine/hold/hold_release.hpp"
#include "engine/loop/own_loop.hpp"

namespace holdfast::engine {
namespace {

class GivingBack final : public Loop::Task, public std::enable_shared_from_this<GivingBack> {
 public:
  explicit GivingBack(Core& core) : core_(core) {}

  void run() override {
    for (const std::shared_ptr<Target>& target : core_.targets().all(Targets::Which::own)) target->end_waits();
    const std::vector<std::shared_ptr<Tenancy>> holds = core_.targets().watchdog().armed();
    unconfirmed.store(holds.size());
    under_way_ = holds.size() + 1;
    for (const std::shared_ptr<Tenancy>& hold : holds) give_back(*hold);
    on_end();
  }
  void broken() noexcept override { core_.runtime().own_loop()->set(answer); }

  Answer answer;
  std::atomic<std::size_t> unconfirmed{0};

 private:
  void give_back(Tenancy& hold) {
    hold.on_closed();
    try {
      const bool begun = give_up(hold, [self = shared_from_this()](ReleaseOutcome outcome) {
        if (outcome != ReleaseOutcome::unknown) --self->unconfirmed;
        self->on_end();
      });
      if (begun) return;
      --unconfirmed;  // its holder gives it back
    } catch (...) {
      // Out of memory: its lease ends it.
    }
    on_end();
  }
  void on_end() {
    if (--under_way_ == 0) core_.runtime().own_loop()->set(answer);
  }

  Core& core_;
  std::size_t under_way_ = 0;
};

}  // namespace

std::size_t give_back_all(Core& core, TimePoint until) {
  const auto giving_back = std::make_shared<GivingBack>(core);
  core.runtime().own_loop()->call(giving_back, giving_back->answer, until);
  return giving_back->unconfirmed.load();
}

}  // namespace holdfast::engine
