// Any one of several locks that lie in several slots of a cluster.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/decide/ballot.hpp"
#include "engine/hold/quorum_target.hpp"

namespace holdfast::engine {

/// A group of which one member is enough, each of them with all the names of one slot. What is granted is a plain lock,
/// and nothing is ever held by the group. A round asks one member after another until one grants. Whoever may have
/// granted without a word gives that back, and the next is asked: a node that does not answer is nobody's obstacle.
class AnyTarget final : public QuorumTarget {
 public:
  /// Of these names, each once, of one client, as its members have them.
  AnyTarget(std::vector<std::string> names, std::vector<Member> members);

  const std::vector<std::string>& names() const { return names_; }

  void wake() override;
  void heard() override { Target::heard(); }  // NOLINT(bugprone-parent-virtual-call): it may have been our own release
  void on_part_free(const KeyTarget& part) override;
  std::shared_ptr<Target> granted(const wire::Grant& grant) override;
  bool subscribed(const wire::Owner& waiter) const override;
  Use begin_use(const wire::Owner& waiter, const Listener& listener) override;
  void attempt(Order order, AttemptDone done) override;

 private:
  class Round;
  template <class Event>
  auto let(Event&& event) {
    const base::Guard guard(candidates_mutex_);
    return event(candidates_);
  }

  const std::vector<std::string> names_;
  base::SmallMutex candidates_mutex_;
  Candidates candidates_ HOLDFAST_GUARDED_BY(candidates_mutex_);
};

/// Of any one of these locks (each once) of a client. All who ask for the same names in the same order wait in one
/// queue. Where they share a slot, one command asks for all of them.
std::shared_ptr<Target> any_of(const std::shared_ptr<Runtime>& client, Targets& its,
                               const std::vector<std::string>& names, const Plan& plan);
/// This one, or the one of the same names that the client has already.
std::shared_ptr<Target> only_one_of(Targets& its, const std::shared_ptr<AnyTarget>& made);

}  // namespace holdfast::engine
