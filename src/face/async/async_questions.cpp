// Queries without blocking: about a lock, about a server; and closing a client.
#include <holdfast/detail/operation.hpp>
#include <holdfast/error.hpp>

#include "engine/client/closing.hpp"
#include "face/counting.hpp"
#include "face/in_turn.hpp"
#include "face/listing.hpp"
#include "face/looking.hpp"
#include "face/parts.hpp"
#include "face/question.hpp"

namespace holdfast::detail {
namespace {

class AsyncClose final : public Operation, public std::enable_shared_from_this<AsyncClose> {
 public:
  AsyncClose(std::shared_ptr<Core> core, ReceiverPtr<> receiver)
      : core_(std::move(core)), receiving_(std::move(receiver)) {}
  void start() override {
    start_close(core_, [self = shared_from_this()] { self->receiving_.tell(); });
  }
  void cancel() noexcept override { receiving_.tell(); }
  void abandon() noexcept override { receiving_.drop(); }

 private:
  const std::shared_ptr<Core> core_;
  face::Receiving<> receiving_;
};

template <class Result>
OperationPtr make_count(const PartsPtr& parts, Counting what, std::int64_t number,
                        ReceiverPtr<Failure, Result> receiver) {
  try {
    if (what == Counting::release && face::pass_on(*parts, number)) {
      return face::make_told<Failure, Result>(std::move(receiver), {}, true);
    }
    face::Question<Result> question = face::counting<Result>(face::key_target(*parts), what, number);  // may throw
    return face::make_ask(parts->runtime, std::move(question), std::move(receiver));
  } catch (const Error& error) {
    return face::make_told<Failure, Result>(std::move(receiver), Failure(error), {});
  }
}

}  // namespace

OperationPtr make_is_locked(const PartsPtr& parts, ReceiverPtr<Failure, bool> receiver) {
  return face::make_ask(parts->runtime, face::is_locked(face::key_target(*parts)), std::move(receiver));
}

OperationPtr make_is_held_by(const PartsPtr& parts, const std::string& owner, ReceiverPtr<Failure, bool> receiver) {
  return face::make_ask(parts->runtime, face::is_held_by(face::key_target(*parts), wire::Owner{owner, parts->ask}),
                        std::move(receiver));
}

OperationPtr make_remaining(const PartsPtr& parts,
                            ReceiverPtr<Failure, std::optional<std::chrono::milliseconds>> receiver) {
  return face::make_ask(parts->runtime, face::remaining(face::key_target(*parts)), std::move(receiver));
}

OperationPtr make_info(const PartsPtr& parts, Detail detail, ReceiverPtr<Failure, LockInfo> receiver) {
  const engine::KeyTarget& target = face::key_target(*parts);
  return face::make_ask_in_steps(parts->runtime, face::Looking(target, detail), target.name(), std::move(receiver));
}

OperationPtr make_force_release(const PartsPtr& parts, ReceiverPtr<Failure, bool> receiver) {
  return face::make_ask(parts->runtime, face::force_release(face::key_target(*parts)), std::move(receiver));
}

OperationPtr make_force_release(const PartsPtr& parts, const std::string& owner, ReceiverPtr<Failure, bool> receiver) {
  return face::make_ask(parts->runtime, face::force_release(face::key_target(*parts), wire::Owner{owner}),
                        std::move(receiver));
}

OperationPtr make_counting(const PartsPtr& parts, Counting what, std::int64_t number,
                           ReceiverPtr<Failure, std::int64_t> receiver) {
  return make_count(parts, what, number, std::move(receiver));
}

OperationPtr make_counting(const PartsPtr& parts, Counting what, std::int64_t number,
                           ReceiverPtr<Failure, bool> receiver) {
  return make_count(parts, what, number, std::move(receiver));
}

OperationPtr make_ping(const std::shared_ptr<Core>& core, ReceiverPtr<Failure> receiver) {
  return face::make_ask_in_steps(core->shared_runtime(), face::Pinging(core->runtime()), {}, std::move(receiver));
}

OperationPtr make_list(const std::shared_ptr<Core>& core, const std::string& pattern, Detail detail, Listed what,
                       ReceiverPtr<Failure, std::vector<LockInfo>> receiver) {
  face::Listing listing(core->runtime(), pattern, detail, what);
  return face::make_ask_in_steps(core->shared_runtime(), std::move(listing), {}, std::move(receiver));
}

OperationPtr make_close(const std::shared_ptr<Core>& core, ReceiverPtr<> receiver) {
  return std::make_shared<AsyncClose>(core, std::move(receiver));
}

}  // namespace holdfast::detail
