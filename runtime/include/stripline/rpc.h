// Remote procedure calls: active messages that name their function by itself, and whose answer is a
// future.
//
//   // At rank 3: how many elements of its own are above a limit.
//   stripline::future_of<size_t> above = stripline::rpc(
//       ctx, 3,
//       [](stripline::Context& there, stripline::global_ptr<double> mine, double limit) {
//         const double* x = there.local(there.on_rank(mine, there.rank_me()));
//         return size_t(std::count_if(x, x + 1000, [=](double v) { return v > limit; }));
//       },
//       array, 0.5);
//   size_t count = above.wait();
//   // Without an answer:
//   stripline::rpc_ff(ctx, 3, [](uint32_t from) { ++heard_of[from]; }, ctx.rank_me());
//
// The function is a lambda or another function object of this program (or of a library that all
// ranks have loaded). What it captures, and its arguments, are copied to the target:
// trivially copyable values, std::string and std::string_view (it gets a std::string), std::vector
// and std::span of trivially copyable elements (it gets a std::vector). Pointers and references
// mean nothing there; global pointers do. It may take a Context& before the arguments: the target's
// own. It returns nothing, one of these types, or a future of one, whose result is the answer then.
//
// It runs as handlers of active messages do (<stripline/context.h>): inside of progress of the
// target, one at a time; short; it may compute, use memory that loads and stores reach, send
// messages and RPCs, but not wait, put or get out of reach. To go on after other ranks it returns a
// future (rpc(...).then(...)), which is followed when the program of that rank waits.
//
// If it throws, wait() of the future throws rpc_error with what it said; an rpc_ff() that throws
// ends the job. An argument at a null pointer ends the job, too; a result at one counts as thrown.
// Arguments and the answer are at most rpc_max_bytes(ctx): larger data are put, and the RPC is
// given their place. Blocks while the target owes credits, as am_send().
//
// Ranks are processes with addresses of their own: the function is named by its place in the file
// of the program, and the file by its build id. Ranks that do not run the same program end the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <stripline/call_site.h>
#include <stripline/context.h>
#include <stripline/future.h>

namespace stripline {

/// What the future of an RPC throws whose function has thrown. what(): by which rank, and what that
/// exception said.
class rpc_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

/// The Context of a call and where the call stands: behind arguments of any number no last one can
/// say it.
struct RpcFrom {
  // NOLINTNEXTLINE(google-explicit-constructor): calls name the Context
  RpcFrom(Context& context_in, CallSite site_in = CallSite::current())
      : context(context_in), site(site_in) {}
  Context& context;
  CallSite site;
};

/// Values one after another in a message.
class RpcWriter {
 public:
  template <typename T>
  void put(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T> && !is_view<T>) {
      append(&value, sizeof value);
    } else {
      const uint64_t count = std::size(value);
      append(&count, sizeof count);
      append(std::data(value), count * sizeof(*std::data(value)));
    }
  }
  /// What a function has returned. Throws if that is at a null pointer.
  template <typename T>
  void put_answer(const T& answer) {
    if (is_at_null(answer)) throw std::invalid_argument("its result is at a null pointer");
    put(as_sent(answer));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }
  void reserve(size_t bytes) { bytes_.reserve(bytes); }

  /// What put() adds.
  template <typename T>
  static size_t bytes_of(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T> && !is_view<T>) {
      return sizeof value;
    } else {
      const size_t bytes = byte_count<std::remove_cvref_t<decltype(*std::data(value))>>(
          static_cast<size_t>(std::size(value)));
      return bytes == kTooManyBytes ? bytes : bytes + sizeof(uint64_t);
    }
  }

  /// What put() is given of an argument or a result: texts as views of them.
  template <typename T>
  static decltype(auto) as_sent(const T& value) {
    constexpr bool kIsValue = std::is_class_v<T> && std::is_trivially_copyable_v<T>;
    if constexpr (std::is_convertible_v<const T&, std::string_view> && !kIsValue) {
      return std::string_view(value);
    } else {
      return (value);
    }
  }
  /// True if there is nothing where the elements, or the text, should be.
  template <typename T>
  static bool is_at_null(const T& value) {
    if constexpr (std::is_pointer_v<T>) {
      return value == nullptr;
    } else if constexpr (is_view<T>) {
      return std::data(value) == nullptr && std::size(value) > 0;
    } else {
      return false;
    }
  }

  template <typename T>
  static constexpr bool is_view = false;

 private:
  void append(const void* data, size_t bytes) {
    if (bytes == 0) return;
    const auto* first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + bytes);
  }
  std::vector<std::byte> bytes_;
};
template <typename T, size_t N>
inline constexpr bool RpcWriter::is_view<std::span<T, N>> = true;
template <typename C, typename Traits>
inline constexpr bool RpcWriter::is_view<std::basic_string_view<C, Traits>> = true;

/// What arrives of a T: it owns its memory.
template <typename T>
struct RpcArrives {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                "RPCs carry trivially copyable values, strings, vectors and spans of such");
  using type = T;
};
template <typename T, size_t N>
struct RpcArrives<std::span<T, N>> {
  using type = std::vector<std::remove_const_t<T>>;
};
template <typename T, typename A>
struct RpcArrives<std::vector<T, A>> {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>,
                "RPCs carry vectors of trivially copyable elements");
  using type = std::vector<T>;
};
template <>
struct RpcArrives<std::string> {
  using type = std::string;
};
template <>
struct RpcArrives<std::string_view> {
  using type = std::string;
};
// Literals, which decay to either.
template <>
struct RpcArrives<const char*> : RpcArrives<std::string> {};
template <>
struct RpcArrives<char*> : RpcArrives<std::string> {};
template <typename T>
using rpc_arrives = typename RpcArrives<std::decay_t<T>>::type;

class RpcReader {
 public:
  RpcReader(Context& context, rank_t source, std::span<const std::byte> bytes)
      : context_(context), source_(source), bytes_(bytes) {}
  template <typename T>
  T take() {
    if constexpr (std::is_trivially_copyable_v<T>) {
      // Lambdas have no default constructor.
      alignas(T) std::byte memory[sizeof(T)];
      copy(memory, sizeof(T));
      return *std::launder(reinterpret_cast<T*>(memory));
    } else {
      uint64_t count = 0;
      copy(&count, sizeof count);
      if (count > bytes_.size() / sizeof(typename T::value_type)) malformed();
      T value(count, typename T::value_type{});
      copy(value.data(), count * sizeof(typename T::value_type));
      return value;
    }
  }

 private:
  [[noreturn]] void malformed() const;
  void copy(void* to, size_t bytes) {
    if (bytes > bytes_.size()) malformed();
    if (bytes > 0) std::memcpy(to, bytes_.data(), bytes);
    bytes_ = bytes_.subspan(bytes);
  }
  Context& context_;
  rank_t source_;
  std::span<const std::byte> bytes_;
};

/// How the answer returns to the caller. Copyable; used once.
class RpcAnswer {
 public:
  RpcAnswer(Context& context, rank_t caller, uint64_t id)
      : context_(&context), caller_(caller), id_(id) {}
  /// False: no one expects one.
  bool expected() const { return id_ != 0; }
  void send(std::vector<std::byte> result) const;
  void send_error(const std::exception_ptr& error) const;

 private:
  Context* context_;
  rank_t caller_;
  uint64_t id_;
};

/// What runs one kind of RPC at its target. Has a place in the file of the program.
struct RpcEntry {
  static constexpr uint64_t kMagic = 0x73747270'6c6e7270;
  uint64_t magic;
  void (*run)(Context& context, rank_t source, std::span<const std::byte> arguments,
              const RpcAnswer& answer);
};

/// A function without captures is made where it runs, of nothing.
template <typename F>
inline constexpr bool rpc_function_is_empty =
    std::is_empty_v<F>&& std::is_default_constructible_v<F>;
template <typename F>
F rpc_function(RpcReader& reader) {
  if constexpr (rpc_function_is_empty<F>) {
    return F();
  } else {
    return reader.template take<F>();
  }
}

/// A call whose answer is awaited.
class RpcCall {
 public:
  virtual ~RpcCall() = default;
  virtual void succeed(RpcReader& result) = 0;
  virtual void fail(const std::string& what) = 0;
};

template <typename T>
class TypedRpcCall final : public RpcCall {
 public:
  explicit TypedRpcCall(std::shared_ptr<ValueState<T>> state) : state_(std::move(state)) {}
  void succeed(RpcReader& result) override {
    if constexpr (!std::is_void_v<T>) state_->value.emplace(result.template take<T>());
    state_->fulfil();
  }
  void fail(const std::string& what) override {
    state_->reject(std::make_exception_ptr(rpc_error(what)));
  }

 private:
  std::shared_ptr<ValueState<T>> state_;
};

/// `call`: null if no answer is expected.
void send_rpc(const RpcFrom& from, rank_t target, const RpcEntry& entry,
              std::vector<std::byte> arguments, std::unique_ptr<RpcCall> call);

template <typename F, typename... Args>
decltype(auto) call_here(Context& context, F& function, Args&... arguments) {
  if constexpr (std::is_invocable_v<F&, Context&, Args&...>) {
    return std::invoke(function, context, arguments...);
  } else {
    return std::invoke(function, arguments...);
  }
}

template <typename F, typename... Args>
struct RpcKind {
  static_assert(!std::is_pointer_v<F>,
                "a function's address means nothing to another process: pass a lambda that calls "
                "it");
  static_assert(std::is_trivially_copyable_v<F>,
                "what the function of an RPC captures is copied to another process: trivially "
                "copyable values; pass strings and vectors as arguments");
  static_assert(std::is_invocable_v<F&, Context&, Args&...> || std::is_invocable_v<F&, Args&...>,
                "the function of the RPC does not take these arguments, as they arrive");
  using Returned = std::decay_t<decltype(call_here(std::declval<Context&>(), std::declval<F&>(),
                                                   std::declval<Args&>()...))>;
  template <typename R>
  struct Result {
    using type = rpc_arrives<R>;
  };
  template <typename R>
  requires std::is_void_v<R>
  struct Result<R> {
    using type = void;
  };
  using Value = typename Result<
      std::conditional_t<any_future<Returned>, future_value<Returned>, Returned>>::type;

  static void run(Context& context, rank_t source, std::span<const std::byte> bytes,
                  const RpcAnswer& answer) {
    RpcReader reader(context, source, bytes);
    F function = rpc_function<F>(reader);
    // Braces: in this order.
    std::tuple<Args...> arguments{reader.template take<Args>()...};
    const auto call = [&]() -> decltype(auto) {
      return std::apply(
          [&](Args&... each) -> decltype(auto) { return call_here(context, function, each...); },
          arguments);
    };
    RpcWriter result;
    try {
      if constexpr (any_future<Returned>) {
        answer_later(answer, future_of<future_value<Returned>>(call()));
        return;
      } else if constexpr (std::is_void_v<Returned>) {
        call();
      } else {
        result.put_answer(call());
      }
    } catch (...) {
      answer.send_error(std::current_exception());
      return;
    }
    if (answer.expected()) answer.send(result.take());
  }

  template <typename T>
  static void answer_later(const RpcAnswer& answer, const future_of<T>& result) {
    if (!FutureAccess::settled(result)) {
      FutureAccess::follow(result, [answer, result] { answer_later(answer, result); });
      return;
    }
    if (const std::exception_ptr error = FutureAccess::take_error(result)) {
      answer.send_error(error);
    } else if (answer.expected()) {
      RpcWriter bytes;
      try {
        if constexpr (!std::is_void_v<T>) bytes.put_answer(FutureAccess::value(result));
      } catch (...) {
        return answer.send_error(std::current_exception());
      }
      answer.send(bytes.take());
    }
  }

  static constinit const RpcEntry entry;
};
template <typename F, typename... Args>
constinit const RpcEntry RpcKind<F, Args...>::entry{RpcEntry::kMagic, &RpcKind::run};

/// Ends the job if captures and arguments take more than an RPC carries.
void check_rpc_bytes(const RpcFrom& from, rank_t target, size_t bytes);
/// Ends the job: an argument is at a null pointer.
[[noreturn]] void fail_rpc_null(const RpcFrom& from, rank_t target);

/// Nothing is copied if it is too much, or not there.
template <typename F, typename... Args>
std::vector<std::byte> rpc_arguments(const RpcFrom& from, rank_t target, const F& function,
                                     const Args&... arguments) {
  const auto each = [&](const auto& use) {
    if constexpr (!rpc_function_is_empty<F>) use(function);
    (use(RpcWriter::as_sent(arguments)), ...);
  };
  if ((RpcWriter::is_at_null(arguments) || ...)) [[unlikely]]
    fail_rpc_null(from, target);
  size_t bytes = 0;
  each([&bytes](const auto& value) {
    const size_t more = RpcWriter::bytes_of(value);
    bytes = more > kTooManyBytes - bytes ? kTooManyBytes : bytes + more;
  });
  check_rpc_bytes(from, target, bytes);
  RpcWriter writer;
  writer.reserve(bytes);
  each([&writer](const auto& value) { writer.put(value); });
  return writer.take();
}

}  // namespace detail

/// Runs function(arguments...) at `target`, this rank included; the answer. `from` is the Context;
/// messages name the place of the call.
template <typename F, typename... Args>
auto rpc(detail::RpcFrom from, rank_t target, F function, const Args&... arguments) {
  using Kind = detail::RpcKind<F, detail::rpc_arrives<Args>...>;
  using Value = typename Kind::Value;
  auto state = std::make_shared<detail::ValueState<Value>>(&from.context);
  detail::send_rpc(from, target, Kind::entry,
                   detail::rpc_arguments(from, target, function, arguments...),
                   std::make_unique<detail::TypedRpcCall<Value>>(state));
  return detail::FutureAccess::make(std::move(state));
}

/// The same without an answer ("fire and forget"). Context::am_quiesce() says when all have run.
template <typename F, typename... Args>
void rpc_ff(detail::RpcFrom from, rank_t target, F function, const Args&... arguments) {
  using Kind = detail::RpcKind<F, detail::rpc_arrives<Args>...>;
  detail::send_rpc(from, target, Kind::entry,
                   detail::rpc_arguments(from, target, function, arguments...), nullptr);
}

/// The most that captures, arguments or an answer may take together, with 8 bytes for the length of
/// each string and vector.
size_t rpc_max_bytes(const Context& context);

}  // namespace stripline
