// How the operations of async.hpp are started with a completion token, and call its handler. Not for users.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>

#include <holdfast/detail/operation.hpp>

namespace holdfast::detail {

namespace asio = boost::asio;

/// The token of calls that pass none: `deferred`, as for Asio's I/O objects.
struct DefaultToken {};

/// The cancellation types that a release honours: it goes on in the background.
inline constexpr auto kReleases = asio::cancellation_type::terminal | asio::cancellation_type::partial;

/// Carries a completion handler, in memory from that handler's allocator.
template <class Handler, class... Results>
class HandlerReceiver final : public Receiver<Results...> {
 public:
  static ReceiverPtr<Results...> make(Handler handler, const asio::any_io_executor& otherwise) {
    Memory memory(asio::get_associated_allocator(handler));
    HandlerReceiver* const place = Traits::allocate(memory, 1);
    Traits::construct(memory, place, std::move(handler), otherwise);
    return ReceiverPtr<Results...>(place);
  }

  HandlerReceiver(Handler handler, const asio::any_io_executor& otherwise)
      : handler_(std::move(handler)), work_(asio::get_associated_executor(handler_, otherwise)) {}

  void receive(Results... results) override {
    const auto allocator = asio::get_associated_allocator(handler_);
    Handler handler(std::move(handler_));
    const Work work(std::move(work_));
    give_back(Memory(allocator));  // before the handler runs
    asio::post(work.get_executor(),
               asio::bind_allocator(allocator, [handler = std::move(handler),
                                                results = std::make_tuple(std::move(results)...)]() mutable {
                 if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected()) slot.clear();
                 std::apply(std::move(handler), std::move(results));
               }));
  }

  void drop() noexcept override { give_back(Memory(asio::get_associated_allocator(handler_))); }

 private:
  using Memory =
      typename std::allocator_traits<asio::associated_allocator_t<Handler>>::template rebind_alloc<HandlerReceiver>;
  using Traits = std::allocator_traits<Memory>;
  using Work = asio::executor_work_guard<asio::associated_executor_t<Handler, asio::any_io_executor>>;

  void give_back(Memory memory) noexcept {
    Traits::destroy(memory, this);
    Traits::deallocate(memory, this, 1);
  }

  Handler handler_;
  Work work_;
};

/// Starts an operation once its handler is known.
template <class Make, class... Results>
class Initiation {
 public:
  using executor_type = asio::any_io_executor;

  Initiation(asio::io_context* home, Make make, asio::cancellation_type honoured)
      : home_(home), make_(std::move(make)), honoured_(honoured) {}

  executor_type get_executor() const {
    if (home_ != nullptr) return home_->get_executor();
    return asio::system_executor();
  }

  template <class Handler>
  void operator()(Handler&& handler) && {
    start(make_, std::forward<Handler>(handler));
  }
  template <class Handler>
  void operator()(Handler&& handler) const& {
    Make make(make_);
    start(make, std::forward<Handler>(handler));
  }

 private:
  template <class Handler>
  void start(Make& make, Handler&& handler) const {
    const auto slot = asio::get_associated_cancellation_slot(handler);
    using Told = HandlerReceiver<std::decay_t<Handler>, Results...>;
    const OperationPtr operation = make(Told::make(std::forward<Handler>(handler), get_executor()));
    if (slot.is_connected()) cancel_by(slot, operation);
    operation->start();
  }
  template <class Slot>
  void cancel_by(Slot slot, const std::weak_ptr<Operation>& operation) const {
    slot.assign([operation, honoured = honoured_](asio::cancellation_type type) {
      if ((type & honoured) == asio::cancellation_type::none) return;
      if (const OperationPtr running = operation.lock()) running->cancel();
    });
  }

  asio::io_context* home_;
  Make make_;
  asio::cancellation_type honoured_;
};

/// `home`: where a handler without an executor of its own runs; null: on Asio's system executor.
template <class... Results, class Make, class Token>
auto initiate(asio::io_context* home, Make make, Token&& token,
              asio::cancellation_type honoured = asio::cancellation_type::all) {
  Initiation<Make, Results...> initiation(home, std::move(make), honoured);
  if constexpr (std::is_same_v<std::remove_cvref_t<Token>, DefaultToken>) {
    return asio::async_initiate<const asio::deferred_t&, void(Results...)>(std::move(initiation), asio::deferred);
  } else {
    return asio::async_initiate<Token, void(Results...)>(std::move(initiation), token);
  }
}

}  // namespace holdfast::detail
