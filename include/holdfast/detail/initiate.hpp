// SPDX-License-Identifier: Apache-2.0
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
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/context_as.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/system_executor.hpp>

#include <holdfast/detail/mangling.hpp>
#include <holdfast/detail/operation.hpp>
#include <holdfast/detail/stay.hpp>

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
  static ReceiverPtr<Results...> make(Handler handler, const asio::any_io_executor& otherwise, StayPtr stay) {
    Memory memory(asio::get_associated_allocator(handler));
    HandlerReceiver* const place = Traits::allocate(memory, 1);
    Traits::construct(memory, place, std::move(handler), otherwise, std::move(stay));
    return ReceiverPtr<Results...>(place);
  }

  HandlerReceiver(Handler handler, const asio::any_io_executor& otherwise, StayPtr stay)
      : handler_(std::move(handler)),
        work_(asio::prefer(asio::get_associated_executor(handler_, otherwise), kTracked)),
        stay_(std::move(stay)) {}

  void receive(Results... results) override {
    const StayPtr stay(std::move(stay_));  // destroyed last
    Completion completion{std::move(handler_), std::move(work_), {std::move(results)...}};
    give_back(Memory(completion.get_allocator()));  // before the handler runs
    if (stay && !stay->end()) return;
    const auto executor = asio::prefer(completion.work, asio::execution::outstanding_work.untracked);
    asio::post(executor, std::move(completion));
  }

  void drop() noexcept override {
    const StayPtr stay(std::move(stay_));
    if (stay) stay->end();
    give_back(Memory(asio::get_associated_allocator(handler_)));
  }

 private:
  using Memory =
      typename std::allocator_traits<asio::associated_allocator_t<Handler>>::template rebind_alloc<HandlerReceiver>;
  using Traits = std::allocator_traits<Memory>;
  using Tracked = asio::execution::outstanding_work_t::tracked_t;
  static constexpr Tracked kTracked{};
  // Not executor_work_guard, which a strand of any executor does not fit into.
  using Work = std::decay_t<
      asio::prefer_result_t<const asio::associated_executor_t<Handler, asio::any_io_executor>&, const Tracked&>>;

  /// What is posted. The work goes with the handler, and none of it stays on the thread that posts: whoever ends the
  /// last work of a context stops that, and another thread may do so when the context has just been restarted. So this
  /// has no executor of its own, which post() would add work for.
  struct Completion {
    using allocator_type = asio::associated_allocator_t<Handler>;
    allocator_type get_allocator() const noexcept { return asio::get_associated_allocator(handler); }
    void operator()() {
      if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected()) slot.clear();
      std::apply(std::move(handler), std::move(results));
    }

    Handler handler;
    Work work;
    std::tuple<Results...> results;
  };

  void give_back(Memory memory) noexcept {
    Traits::destroy(memory, this);
    Traits::deallocate(memory, this, 1);
  }

  Handler handler_;
  Work work_;
  StayPtr stay_;  // null: on the client's own context, which knows its operations, or on one that is unknown
};

/// Null: the executor does not say.
template <class Executor>
asio::execution_context* context_of(const Executor& executor) {
  using Context = asio::execution::context_as_t<asio::execution_context&>;
  if constexpr (asio::can_query_v<const Executor&, Context>) {
    return &asio::query(executor, Context());
  } else {
    return nullptr;
  }
}

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
    StayPtr stay = stay_of(handler);
    Stay* const begins = stay.get();
    const OperationPtr operation = make(Told::make(std::forward<Handler>(handler), get_executor(), std::move(stay)));
    if (begins != nullptr && !begins->begin(operation)) return;
    if (slot.is_connected()) cancel_by(slot, operation);
    operation->start();
  }
  template <class Handler>
  StayPtr stay_of(const Handler& handler) const {
    asio::execution_context* const context = context_of(asio::get_associated_executor(handler, get_executor()));
    return context == nullptr || context == home_ ? nullptr : stay_on(*context);
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
