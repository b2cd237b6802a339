// Errors as values. Every fallible call at a boundary returns Status or Result<T>; nothing throws
// across a folder of ours.
//
// A message says what happened, to what, and what to do about it, in that order:
//   "cannot read model file 'a.stripline.json': no such file; fetch one with 'stripline model
//   fetch'"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace stripline {

/// Why a call failed. The set follows the canonical gRPC codes, so that an error keeps its meaning
/// when it crosses a wire, without this header knowing gRPC.
enum class ErrorCode {
  invalid_argument,     ///< The caller's input is wrong, whatever the state of the system.
  not_found,            ///< The named thing does not exist.
  already_exists,       ///< The thing to create exists, with other content.
  failed_precondition,  ///< The state of the system forbids it (foreign model, host cannot do it).
  resource_exhausted,   ///< Memory, queue, quota or registration limit reached.
  unavailable,          ///< A peer or server cannot be reached now; trying again may help.
  deadline_exceeded,    ///< It took longer than the stated time.
  cancelled,            ///< The caller asked to stop.
  aborted,              ///< Another party ended it: a rank died, a fence was passed.
  data_loss,            ///< A file or message is truncated or corrupt.
  unimplemented,        ///< The provider or build lacks the feature.
  internal,             ///< A bug of ours.
};

/// The code's name as it appears in messages and JSON, e.g. "failed_precondition".
std::string_view to_string(ErrorCode code);

/// The code with this name, if there is one.
std::optional<ErrorCode> error_code_from_string(std::string_view name);

/// A code and a message for a person.
class Error {
 public:
  /// `message` says what happened, to what, and what to do about it.
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  ErrorCode code() const { return code_; }                 ///< what callers branch on
  const std::string& message() const { return message_; }  ///< for a person

  /// This error with "context: " in front of its message.
  Error with_context(std::string_view context) const;

  /// This error, which a person is shown by somebody else (e.g. the launcher of a job, once for all
  /// its ranks): who receives it acts on it, but does not print it again.
  Error as_shown() const;
  bool shown() const { return shown_; }  ///< true for as_shown()

 private:
  ErrorCode code_;
  std::string message_;
  bool shown_ = false;
};

namespace detail {
/// Ends the process because the program took the value of a Result that holds this error: prints
/// its message, and exits with its exit code (exit_codes.h).
[[noreturn]] void fail_without_value(const Error& error);
/// The same for the error of one that holds a value, or of a Status that is success.
[[noreturn]] void fail_without_error();
}  // namespace detail

/// A value of type T or an Error. Accessing the wrong one is a programming error, and ends the
/// process with a message; that of the error, where it was to be a value.
template <typename T>
class [[nodiscard]] Result {
 public:
  /// Success, with this value.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT
  /// Failure.
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }  ///< true if there is no error
  explicit operator bool() const { return ok(); }  ///< as ok()

  /// The value; ends the process if there is none.
  T& value() & {
    require_value();
    return *std::get_if<0>(&state_);
  }
  /// The value; ends the process if there is none.
  const T& value() const& {
    require_value();
    return *std::get_if<0>(&state_);
  }
  T&& value() && { return std::move(value()); }    ///< the value; ends the process if there is none
  T& operator*() & { return value(); }             ///< as value()
  const T& operator*() const& { return value(); }  ///< as value()
  T&& operator*() && { return std::move(*this).value(); }  ///< as value()
  T* operator->() { return &value(); }                     ///< as value()
  const T* operator->() const { return &value(); }         ///< as value()

  /// The error; ends the process if there is none.
  const Error& error() const {
    const Error* const error = std::get_if<1>(&state_);
    if (error == nullptr) [[unlikely]]
      detail::fail_without_error();
    return *error;
  }

 private:
  void require_value() const {
    if (!ok()) [[unlikely]]
      detail::fail_without_value(error());
  }

  std::variant<T, Error> state_;
};

/// Success or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  /// Failure.
  Result(Error error) : error_(std::move(error)) {}  // NOLINT

  bool ok() const { return !error_; }              ///< true if there is no error
  explicit operator bool() const { return ok(); }  ///< as ok()
  /// The error; ends the process if there is none.
  const Error& error() const {
    if (!error_) [[unlikely]]
      detail::fail_without_error();
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace stripline

/// Returns the error of `expr` (a Status or Result) from the enclosing function if it failed.
#define STRIPLINE_RETURN_IF_ERROR(expr)                           \
  do {                                                            \
    if (auto stripline_status_ = (expr); !stripline_status_.ok()) \
      return stripline_status_.error();                           \
  } while (false)

#define STRIPLINE_CONCAT_INNER_(a, b) a##b
#define STRIPLINE_CONCAT_(a, b) STRIPLINE_CONCAT_INNER_(a, b)

/// `STRIPLINE_ASSIGN_OR_RETURN(auto x, f());` binds the value or returns the error.
#define STRIPLINE_ASSIGN_OR_RETURN(lhs, expr) \
  STRIPLINE_ASSIGN_OR_RETURN_(STRIPLINE_CONCAT_(stripline_result_, __LINE__), lhs, expr)
// `lhs` is a declaration and cannot be parenthesised. NOLINTBEGIN(bugprone-macro-parentheses)
#define STRIPLINE_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                                \
  if (!tmp.ok()) return tmp.error();                \
  lhs = std::move(tmp).value()
// NOLINTEND(bugprone-macro-parentheses)
