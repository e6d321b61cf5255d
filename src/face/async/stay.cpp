// Drops the operations of a handler's context when the context is destroyed.
#include <algorithm>
#include <condition_variable>
#include <list>
#include <thread>

#include <holdfast/detail/stay.hpp>

#include "base/guarded.hpp"

namespace holdfast::detail {
namespace {

class StayOnContext;

/// The stays on one context. The last of them may outlive it.
struct Residents {
  base::Mutex mutex;
  std::condition_variable one_left;
  bool over HOLDFAST_GUARDED_BY(mutex) = false;
  std::list<StayOnContext*> all HOLDFAST_GUARDED_BY(mutex);
};

class StayOnContext final : public Stay {
 public:
  explicit StayOnContext(std::shared_ptr<Residents> residents) : residents_(std::move(residents)) {}
  ~StayOnContext() override {
    const base::Guard guard(residents_->mutex);
    if (!begun_) return;
    residents_->all.erase(place_);
    if (residents_->over) residents_->one_left.notify_all();
  }

  bool begin(const OperationPtr& operation) override {
    const base::Guard guard(residents_->mutex);
    if (residents_->over) return false;
    place_ = residents_->all.insert(residents_->all.end(), this);
    begun_ = true;
    operation_ = operation;
    return true;
  }
  bool end() noexcept override {
    const base::Guard guard(residents_->mutex);
    ended_by_ = std::this_thread::get_id();
    return !residents_->over;
  }

 private:
  friend class Stays;

  const std::shared_ptr<Residents> residents_;
  // Guarded by the residents' mutex.
  bool begun_ = false;
  std::list<StayOnContext*>::iterator place_;
  std::weak_ptr<Operation> operation_;
  bool abandoned_ = false;
  std::thread::id ended_by_;
};

/// A service of the context.
class Stays final : public boost::asio::execution_context::service {
 public:
  static boost::asio::execution_context::id id;
  explicit Stays(boost::asio::execution_context& context) : service(context) {}
  StayPtr make() { return std::make_unique<StayOnContext>(residents_); }

 private:
  /// Handlers are destroyed here, except those in use by another thread, and those further down this thread's stack,
  /// whose destructors have destroyed the context.
  void shutdown() noexcept override {
    Residents& residents = *residents_;
    base::WaitingGuard guard(residents.mutex);
    residents.over = true;
    while (OperationPtr operation = next(residents)) {
      guard.unlock();
      operation->abandon();
      operation.reset();  // without the mutex: what it owns may have a stay here as well
      guard.lock();
    }
    guard.wait(residents.one_left, [&residents]() HOLDFAST_NOT_GUARDED {
      return std::ranges::all_of(residents.all, [](const StayOnContext* stay) HOLDFAST_NOT_GUARDED {
        return stay->ended_by_ == std::this_thread::get_id();
      });
    });
  }
  static OperationPtr next(Residents& residents) HOLDFAST_REQUIRES(residents.mutex) {
    for (StayOnContext* const stay : residents.all) {
      if (std::exchange(stay->abandoned_, true)) continue;
      if (OperationPtr operation = stay->operation_.lock()) return operation;
    }
    return nullptr;
  }

  const std::shared_ptr<Residents> residents_ = std::make_shared<Residents>();
};

boost::asio::execution_context::id Stays::id;

}  // namespace

StayPtr stay_on(boost::asio::execution_context& context) { return boost::asio::use_service<Stays>(context).make(); }

}  // namespace holdfast::detail
