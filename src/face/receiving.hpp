// Reports to a receiver, once.
#pragma once

#include <atomic>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <holdfast/detail/operation.hpp>
#include <holdfast/error.hpp>

namespace holdfast::face {

/// Thread-safe: the first report counts. A receiver that never gets one is dropped.
template <class... Results>
class Receiving {
 public:
  explicit Receiving(detail::ReceiverPtr<Results...> receiver) : receiver_(receiver.release()) {}
  ~Receiving() { drop(); }
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;

  bool waits() const { return receiver_.load() != nullptr; }
  void drop() noexcept { const detail::ReceiverPtr<Results...> untold(receiver_.exchange(nullptr)); }
  /// True for the first call.
  bool tell(Results... results) {
    detail::Receiver<Results...>* const receiver = receiver_.exchange(nullptr);
    if (receiver == nullptr) return false;
    receiver->receive(std::move(results)...);
    return true;
  }

 private:
  std::atomic<detail::Receiver<Results...>*> receiver_;
};

/// An operation whose results are known before it starts.
template <class... Results>
detail::OperationPtr make_told(detail::ReceiverPtr<Results...> receiver, std::type_identity_t<Results>... results) {
  class Told final : public detail::Operation {
   public:
    Told(detail::ReceiverPtr<Results...> whom, std::tuple<Results...> what)
        : receiving_(std::move(whom)), results_(std::move(what)) {}
    void start() override {
      std::apply([this](Results&... each) { receiving_.tell(std::move(each)...); }, results_);
    }
    void cancel() noexcept override {}
    void abandon() noexcept override { receiving_.drop(); }

   private:
    Receiving<Results...> receiving_;
    std::tuple<Results...> results_;
  };
  return std::make_shared<Told>(std::move(receiver), std::tuple<Results...>(std::move(results)...));
}

/// The operation that `make` returns, which moves the receiver on with its last step; or, if that throws an Error, one
/// that fails with it.
template <class... Results, class Make>
detail::OperationPtr make_or_tell(detail::ReceiverPtr<Failure, Results...> receiver, Make make) {
  try {
    return make(receiver);
  } catch (const Error& error) {
    return make_told<Failure, Results...>(std::move(receiver), Failure(error), Results()...);
  }
}

}  // namespace holdfast::face
