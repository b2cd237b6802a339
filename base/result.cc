#include "base/result.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/exit_codes.h"

namespace stripline {
namespace {

struct NamedCode {
  ErrorCode code;
  std::string_view name;
};

constexpr std::array kNames = {
    NamedCode{ErrorCode::invalid_argument, "invalid_argument"},
    NamedCode{ErrorCode::not_found, "not_found"},
    NamedCode{ErrorCode::already_exists, "already_exists"},
    NamedCode{ErrorCode::failed_precondition, "failed_precondition"},
    NamedCode{ErrorCode::resource_exhausted, "resource_exhausted"},
    NamedCode{ErrorCode::unavailable, "unavailable"},
    NamedCode{ErrorCode::deadline_exceeded, "deadline_exceeded"},
    NamedCode{ErrorCode::cancelled, "cancelled"},
    NamedCode{ErrorCode::aborted, "aborted"},
    NamedCode{ErrorCode::data_loss, "data_loss"},
    NamedCode{ErrorCode::unimplemented, "unimplemented"},
    NamedCode{ErrorCode::internal, "internal"},
};

// As what it is: the program's stack says nothing that the message does not.
[[noreturn]] void end(const std::string& message, ErrorCode code) {
  std::fflush(stdout);  // what the program printed explains how far it came
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::_Exit(exit_code_for(code));
}

}  // namespace

void detail::fail_without_value(const Error& error) {
  end(error.message() + " (a Result was used without asking whether it is ok())", error.code());
}

void detail::fail_without_error() {
  end("a Result that is ok() was asked for its error", ErrorCode::internal);
}

std::string_view to_string(ErrorCode code) {
  for (const NamedCode& entry : kNames) {
    if (entry.code == code) return entry.name;
  }
  return "internal";
}

std::optional<ErrorCode> error_code_from_string(std::string_view name) {
  for (const NamedCode& entry : kNames) {
    if (entry.name == name) return entry.code;
  }
  return std::nullopt;
}

Error Error::with_context(std::string_view context) const {
  Error error = *this;
  error.message_ = std::string(context) + ": " + message_;
  return error;
}

Error Error::as_shown() const {
  Error error = *this;
  error.shown_ = true;
  return error;
}

}  // namespace stripline
