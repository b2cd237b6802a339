// Futures with values, and what is to follow them.
//
//   stripline::future_of<double> there = stripline::rget_async(ctx, remote);   // one element
//   double value = there.wait();
//
//   // What follows runs inside of a later call that makes progress; it may start what follows it.
//   ctx.rput(data, place, n).then([&] { ++stored; });
//   auto next = stripline::rget_async(ctx, head).then([&](global_ptr<node> first) {
//     return stripline::rget_async(ctx, first);         // a future: flattened
//   });                                                 // future_of<node>
//   auto [a, b] = stripline::when_all(one, other).wait();
//
// Operations without a value return `future` (<stripline/context.h>), which costs no allocation and
// becomes a future_of<void> wherever one is asked for. A future with a value takes one allocation
// unless it is ready at once, as of memory that loads and stores reach; each then() takes some.
//
// Where continuations run. On the thread of the program, inside of a call that makes progress or
// waits for other ranks: progress(), the waits of futures, wait_until(), wait_signal(), barriers
// and collectives, the end of the Context; never in handlers of active messages, nor beside the
// program. One runs at a time. What is complete when then() is called is followed at once. A
// continuation may start operations, send messages and RPCs, and use memory; it must not wait, make
// progress, or call collectives: that ends the job. It must not outlive what it refers to.
//
// If a continuation throws, its future has the exception instead of a value: wait() throws it, and
// what would follow does not run, but has it, too. An exception that no one asks for ends the job
// when the last future that has it goes.
//
// Futures are used by the thread that may call the Context, and not after it has gone.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <stripline/call_site.h>
#include <stripline/context.h>

namespace stripline {

template <typename T>
class future_of;

namespace detail {

/// Says if a Context can still be called (runtime/rma/context_life.h).
class ContextLife;
/// Null for none.
std::shared_ptr<const ContextLife> life_of(Context* context);

/// What the handles of one future share, but for the value.
class FutureState {
 public:
  /// Settled by fulfil() or reject(). Null: of what is ready without a Context; adopt() gives it
  /// one before it is returned unsettled.
  explicit FutureState(Context* context) : context_(context), life_(life_of(context)) {}
  virtual ~FutureState();
  FutureState(const FutureState&) = delete;
  FutureState& operator=(const FutureState&) = delete;

  /// One to be settled by an operation that uses its memory: it stays until that is complete, even
  /// if no one has it any more.
  template <typename State>
  static std::shared_ptr<State> make_for_operation(Context& context) {
    return {new State(&context), [](State* state) { retire(std::unique_ptr<State>(state)); }};
  }
  /// Settled when this operation is complete.
  void settle_by(const future& operation) {
    operation_ = operation;
    by_operation_ = true;
  }
  void fulfil();
  void reject(std::exception_ptr error);

  Context* context() const { return context_; }
  /// The Context that progress is made in until this is settled, unless it has one already.
  void adopt(Context* context) {
    if (context_ != nullptr) return;
    context_ = context;
    life_ = life_of(context);
  }
  bool settled();
  /// Makes progress once if it is not settled.
  bool is_ready();
  /// Returns when it is settled; throws what it was rejected with.
  void wait(CallSite site);
  /// What it was rejected with, of which the caller takes care from now on. Null: it has a value.
  std::exception_ptr take_error();
  /// Runs this once it is settled.
  void follow(std::function<void()> run);

  /// The same for a plain future.
  static bool settled(const future& operation);
  static Context* context_of(const future& operation) { return operation.ticket().context; }
  static void follow(const future& operation, std::function<void()> run);

 private:
  static void retire(std::unique_ptr<FutureState> state);
  void run_followers();

  Context* context_;
  std::shared_ptr<const ContextLife> life_;  // null without a Context
  future operation_;
  std::exception_ptr error_;
  std::vector<std::function<void()>> followers_;
  bool by_operation_ = false;
  bool settled_ = false;
  bool error_taken_ = false;
};

template <typename T>
struct ValueState final : FutureState {
  using FutureState::FutureState;
  std::optional<T> value;
};
template <>
struct ValueState<void> final : FutureState {
  using FutureState::FutureState;
};

template <typename T>
struct value_of_future {
  using type = T;
  static constexpr bool is_future = false;
};
template <>
struct value_of_future<future> {
  using type = void;
  static constexpr bool is_future = true;
};
template <typename T>
struct value_of_future<future_of<T>> {
  using type = T;
  static constexpr bool is_future = true;
};
template <typename F>
using future_value = typename value_of_future<std::remove_cvref_t<F>>::type;
template <typename F>
concept any_future = value_of_future<std::remove_cvref_t<F>>::is_future;

struct FutureAccess;

}  // namespace detail

/// Completion of an operation that has a result. A value; copies share one result; may be dropped,
/// the operation completes all the same. Moves: calls of the other one, and joins of it, end the
/// process.
template <typename T>
class future_of {
  static_assert(std::is_same_v<T, std::decay_t<T>>, "a future has a value, not a reference");

 public:
  using value_type = T;  ///< of the result

  /// Ready with this value.
  explicit future_of(T value) : value_(std::move(value)) {}
  future_of(const future_of&) = default;             ///< shares the result
  future_of& operator=(const future_of&) = default;  ///< shares the result
  /// Moves: the other one has no result any more, neither now nor later.
  future_of(future_of&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : value_(std::move(other.value_)), state_(std::move(other.state_)) {
    other.value_.reset();
  }
  /// Moves, likewise; to itself, it stays as it is.
  future_of& operator=(future_of&& other) noexcept(std::is_nothrow_move_assignable_v<T>) {
    if (this == &other) return *this;
    value_ = std::move(other.value_);
    state_ = std::move(other.state_);
    other.value_.reset();
    return *this;
  }

  /// True if the result is here. Makes progress once if not.
  bool is_ready(CallSite site = CallSite::current()) const {
    if (value_.has_value()) return true;
    check_whole("future_of::is_ready", site);
    return state_->is_ready();
  }
  /// Returns the result when it is here. Makes progress meanwhile. Throws what a continuation or an
  /// RPC has thrown instead.
  const T& wait(CallSite site = CallSite::current()) const& {
    if (value_.has_value()) return *value_;
    check_whole("future_of::wait", site);
    state_->wait(site);
    return *state_->value;
  }
  /// The same of a future that is a temporary: moves nothing, and returns a copy.
  T wait(CallSite site = CallSite::current()) && { return std::as_const(*this).wait(site); }

  /// Calls function(result), or function(elements...) of a result that is a std::tuple, when the
  /// result is here. Returns the future of what it returns; if that is a future itself, of that
  /// one's result. Ends the process if there is no function.
  template <typename F>
  auto then(F function, CallSite site = CallSite::current()) const;

 private:
  friend struct detail::FutureAccess;
  explicit future_of(std::shared_ptr<detail::ValueState<T>> state) : state_(std::move(state)) {}
  // A future whose value is not here waits for a state, unless it has been moved from.
  void check_whole(const char* call, CallSite site) const {
    if (state_ == nullptr) [[unlikely]]
      detail::fail_moved_from(call, site);
  }
  std::optional<T> value_;
  std::shared_ptr<detail::ValueState<T>> state_;  // null: value_ is there
};

/// The future of what has no value: ready, and no more. To move it is to copy it.
template <>
class future_of<void> {
 public:
  using value_type = void;  ///< of the result

  future_of() = default;  ///< ready
  /// The same as this operation.
  future_of(const future& operation) : operation_(operation) {}  // NOLINT(*-explicit-*)
  future_of(const future_of&) = default;                         ///< stands for the same
  future_of& operator=(const future_of&) = default;              ///< stands for the same
  /// Copies, as the other one still stands for the same.
  future_of(future_of&& other) noexcept : operation_(other.operation_), state_(other.state_) {}
  /// Copies, likewise.
  future_of& operator=(future_of&& other) noexcept {
    operation_ = other.operation_;
    state_ = other.state_;
    return *this;
  }

  /// True if it is complete. Makes progress once if not.
  bool is_ready() const { return state_ != nullptr ? state_->is_ready() : operation_.is_ready(); }
  /// Returns when it is complete. Makes progress meanwhile. Throws what a continuation has thrown
  /// instead.
  void wait(CallSite site = CallSite::current()) const {
    if (state_ != nullptr) {
      state_->wait(site);
    } else {
      operation_.wait(site);
    }
  }
  /// Calls function().
  template <typename F>
  auto then(F function, CallSite site = CallSite::current()) const;

 private:
  friend struct detail::FutureAccess;
  explicit future_of(std::shared_ptr<detail::ValueState<void>> state) : state_(std::move(state)) {}
  future operation_;
  std::shared_ptr<detail::ValueState<void>> state_;  // null: it is the operation's
};

namespace detail {

/// What is not for programs.
struct FutureAccess {
  template <typename T>
  static future_of<T> make(std::shared_ptr<ValueState<T>> state) {
    return future_of<T>(std::move(state));
  }
  template <typename T>
  static bool settled(const future_of<T>& one) {
    if (one.state_ != nullptr) return one.state_->settled();
    if constexpr (std::is_void_v<T>) {
      return FutureState::settled(one.operation_);
    } else {
      if (!one.value_.has_value()) [[unlikely]]
        one.check_whole("then() or when_all()", {});
      return true;
    }
  }
  template <typename T>
  static Context* context(const future_of<T>& one) {
    if (one.state_ != nullptr) return one.state_->context();
    if constexpr (std::is_void_v<T>) {
      return FutureState::context_of(one.operation_);
    } else {
      return nullptr;
    }
  }
  template <typename T>
  static std::exception_ptr take_error(const future_of<T>& one) {
    return one.state_ != nullptr ? one.state_->take_error() : nullptr;
  }
  template <typename T>
  static void follow(const future_of<T>& one, std::function<void()> run) {
    if (one.state_ != nullptr) return one.state_->follow(std::move(run));
    if constexpr (std::is_void_v<T>) FutureState::follow(one.operation_, std::move(run));
  }
  /// The value of a future that is settled and has it.
  template <typename T>
  static const T& value(const future_of<T>& one) {
    return one.value_.has_value() ? *one.value_ : *one.state_->value;
  }
};

template <typename F, typename Tuple>
inline constexpr bool takes_elements = false;
template <typename F, typename... Elements>
inline constexpr bool takes_elements<F, std::tuple<Elements...>> =
    !std::is_invocable_v<F&, const std::tuple<Elements...>&> &&
    std::is_invocable_v<F&, const Elements&...>;

/// `function` of the result of one that is settled.
template <typename T, typename F>
decltype(auto) follow_with(const future_of<T>& one, F& function) {
  if constexpr (std::is_void_v<T>) {
    return function();
  } else if constexpr (takes_elements<F, T>) {
    return std::apply(function, FutureAccess::value(one));
  } else {
    return function(FutureAccess::value(one));
  }
}

/// `next` becomes what `inner` is, now or later.
template <typename T>
void settle_like(const std::shared_ptr<ValueState<T>>& next, const future_of<T>& inner) {
  if (!FutureAccess::settled(inner)) {
    // What was followed may have been ready without a Context, and what follows it is not.
    next->adopt(FutureAccess::context(inner));
    FutureAccess::follow(inner, [next, inner] { settle_like<T>(next, inner); });
    return;
  }
  if (std::exception_ptr error = FutureAccess::take_error(inner)) {
    next->reject(std::move(error));
    return;
  }
  if constexpr (!std::is_void_v<T>) next->value.emplace(FutureAccess::value(inner));
  next->fulfil();
}

/// `next` becomes what `function` makes of `one`, which is settled.
template <typename U, typename T, typename F>
void settle_with(const std::shared_ptr<ValueState<U>>& next, const future_of<T>& one, F& function) {
  if (std::exception_ptr error = FutureAccess::take_error(one)) {
    next->reject(std::move(error));
    return;
  }
  using Returned = decltype(follow_with(one, function));
  try {
    if constexpr (any_future<Returned>) {
      settle_like<U>(next, future_of<U>(follow_with(one, function)));
      return;
    } else if constexpr (std::is_void_v<U>) {
      follow_with(one, function);
    } else {
      next->value.emplace(follow_with(one, function));
    }
  } catch (...) {
    next->reject(std::current_exception());
    return;
  }
  next->fulfil();
}

template <typename T, typename F>
auto then(const future_of<T>& one, F function, CallSite site) {
  check_callable(function, "then", site);
  using Returned = std::decay_t<decltype(follow_with(one, function))>;
  using U = future_value<Returned>;
  auto next = std::make_shared<ValueState<U>>(FutureAccess::context(one));
  if (FutureAccess::settled(one)) {
    settle_with(next, one, function);
  } else {
    // What is followed is kept by the caller of `run`, or by this rank's list of operations.
    FutureAccess::follow(one, [next, one, function = std::make_shared<F>(std::move(function))] {
      settle_with(next, one, *function);
    });
  }
  return FutureAccess::make(std::move(next));
}

template <typename F>
future_of<future_value<F>> as_future_of(const F& one) {
  return one;
}

/// Calls `run` when as many have been counted as were announced, and all_announced().
class Countdown {
 public:
  explicit Countdown(std::function<void()> run)
      : left_(std::make_shared<Left>(Left{1, std::move(run)})) {}
  template <typename T>
  void add(const future_of<T>& one) {
    if (FutureAccess::settled(one)) return;
    ++left_->count;
    FutureAccess::follow(one, [left = left_] { one_less(*left); });
  }
  void all_announced() { one_less(*left_); }

 private:
  struct Left {
    size_t count;
    std::function<void()> run;
  };
  static void one_less(Left& left) {
    if (--left.count == 0) left.run();
  }
  std::shared_ptr<Left> left_;
};

template <typename T>
auto as_tuple(const future_of<T>& settled) {
  if constexpr (std::is_void_v<T>) {
    return std::tuple<>();
  } else {
    return std::tuple<T>(FutureAccess::value(settled));
  }
}

template <typename Tuple>
using joined_value = std::conditional_t<std::is_same_v<Tuple, std::tuple<>>, void, Tuple>;

}  // namespace detail

template <typename T>
template <typename F>
auto future_of<T>::then(F function, CallSite site) const {
  return detail::then(*this, std::move(function), site);
}
template <typename F>
auto future_of<void>::then(F function, CallSite site) const {
  return detail::then(*this, std::move(function), site);
}
template <typename F>
auto future::then(F function, CallSite site) const {
  return detail::then(future_of<void>(*this), std::move(function), site);
}

/// When all are here: the results of those that have one, as a std::tuple in this order; if none
/// has, a future_of<void>. The first exception in this order, if there is one.
template <detail::any_future... Futures>
requires(sizeof...(Futures) > 0) auto when_all(const Futures&... futures) {
  using Tuple = decltype(std::tuple_cat(detail::as_tuple(detail::as_future_of(futures))...));
  using Value = detail::joined_value<Tuple>;
  using detail::FutureAccess;
  Context* context = nullptr;
  ((context = context != nullptr ? context : FutureAccess::context(detail::as_future_of(futures))),
   ...);
  auto next = std::make_shared<detail::ValueState<Value>>(context);
  const auto join = [next](const auto&... all) {
    std::exception_ptr error;
    (..., [&] {
      std::exception_ptr its = FutureAccess::take_error(all);
      if (error == nullptr) error = std::move(its);
    }());
    if (error != nullptr) return next->reject(std::move(error));
    if constexpr (!std::is_void_v<Value>) {
      next->value.emplace(std::tuple_cat(detail::as_tuple(all)...));
    }
    next->fulfil();
  };
  const auto all = std::make_tuple(detail::as_future_of(futures)...);
  detail::Countdown countdown([join, all] { std::apply(join, all); });
  std::apply([&countdown](const auto&... one) { (countdown.add(one), ...); }, all);
  countdown.all_announced();
  return FutureAccess::make(std::move(next));
}

/// The same of a range of futures of one type: future_of<std::vector<T>>, or future_of<void>.
template <std::ranges::forward_range R>
requires detail::any_future<std::ranges::range_value_t<R>>
auto when_all(const R& futures, CallSite site = CallSite::current()) {
  using detail::FutureAccess;
  if constexpr (std::ranges::contiguous_range<R> && std::ranges::sized_range<R>) {
    if (std::ranges::data(futures) == nullptr && std::ranges::size(futures) > 0) {
      detail::fail_null("when_all", std::ranges::size(futures), site);
    }
  }
  using T = detail::future_value<std::ranges::range_value_t<R>>;
  using Kept = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
  using Value = std::conditional_t<std::is_void_v<T>, void, std::vector<Kept>>;
  auto all = std::make_shared<std::vector<future_of<T>>>();
  for (const auto& one : futures) all->push_back(detail::as_future_of(one));
  Context* context = nullptr;
  for (const future_of<T>& one : *all) {
    if (context == nullptr) context = FutureAccess::context(one);
  }
  auto next = std::make_shared<detail::ValueState<Value>>(context);
  const auto join = [next, all] {
    std::exception_ptr error;
    for (const future_of<T>& one : *all) {
      std::exception_ptr its = FutureAccess::take_error(one);
      if (error == nullptr) error = std::move(its);
    }
    if (error != nullptr) return next->reject(std::move(error));
    if constexpr (!std::is_void_v<T>) {
      std::vector<T>& values = next->value.emplace();
      for (const future_of<T>& one : *all) values.push_back(FutureAccess::value(one));
    }
    next->fulfil();
  };
  detail::Countdown countdown(join);
  for (const future_of<T>& one : *all) countdown.add(one);
  countdown.all_announced();
  return FutureAccess::make(std::move(next));
}

/// A future that is ready, of a value or of none.
template <typename T>
future_of<std::decay_t<T>> make_ready(T&& value) {
  return future_of<std::decay_t<T>>(std::forward<T>(value));
}
inline future_of<void> make_ready() { return {}; }

/// Starts fetching one element. Its memory is the future's.
template <typename T>
future_of<std::remove_const_t<T>> rget_async(Context& context, global_ptr<T> source,
                                             CallSite site = CallSite::current()) {
  using Value = std::remove_const_t<T>;
  if (context.is_local(source.where())) return future_of<Value>(context.rget(source, site));
  auto state = detail::FutureState::make_for_operation<detail::ValueState<Value>>(context);
  state->settle_by(context.rget(source, &state->value.emplace(), 1, site));
  return detail::FutureAccess::make(std::move(state));
}

}  // namespace stripline
