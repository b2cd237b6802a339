// What a service call answers when it cannot do what was asked: an error code, a stable reason for
// programs and a message for people. rpc_status.h turns it into a gRPC status.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>

#include "base/result.h"

namespace stripline::server {

/// See common.proto, ErrorInfo: `reason` is UPPER_SNAKE_CASE and part of the interface.
struct Problem {
  ErrorCode code = ErrorCode::internal;
  std::string reason;
  std::string message;
  std::map<std::string, std::string> metadata;
};

/// INVALID_ARGUMENT / INVALID_FIELD with the field's path, e.g. "spec.fabric".
Problem invalid_field(const std::string& field, const std::string& message);

/// NOT_FOUND / CAMPAIGN_NOT_FOUND with the name that was asked for, e.g. "campaigns/c7".
Problem campaign_not_found(const std::string& name);

/// UNAVAILABLE / SERVER_STOPPING: what has not ended yet does not.
Problem stopping_problem();

/// The problem of a storage failure or another error that has no reason of its own; the reason is
/// the code's name in upper case, "INTERNAL" or "DATA_LOSS".
Problem problem_from(const Error& error);

/// A value or a Problem. Accessing the wrong one is a programming error and terminates.
template <typename T>
class [[nodiscard]] Answer {
 public:
  Answer(T value) : state_(std::in_place_index<0>, std::move(value)) {}            // NOLINT
  Answer(Problem problem) : state_(std::in_place_index<1>, std::move(problem)) {}  // NOLINT
  Answer(const Error& error) : Answer(problem_from(error)) {}                      // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Problem& problem() const { return std::get<1>(state_); }

  /// What STRIPLINE_ASSIGN_OR_RETURN and STRIPLINE_RETURN_IF_ERROR ask of a result.
  T&& value() && { return std::get<0>(std::move(state_)); }
  const Problem& error() const { return problem(); }

 private:
  std::variant<T, Problem> state_;
};

}  // namespace stripline::server
