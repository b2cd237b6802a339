// What takes longer than a call, as it is stored. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/problem.h"

namespace stripline::server {

enum class OperationState { running, succeeded, failed, cancelled };
std::string_view to_string(OperationState state);  ///< "RUNNING"
std::optional<OperationState> operation_state_from_string(std::string_view name);

/// The kinds there are.
inline constexpr const char* kFitModel = "fit model";

struct OperationRecord {
  int64_t number = 0;  ///< "operations/o1"
  std::string kind;
  std::string subject;  ///< The full name of what it is about.
  std::string order;    ///< What is to be done, as JSON; the kind says of which form.
  OperationState state = OperationState::running;
  std::string message;
  std::string result;  ///< The full name of what came of it.
  std::string actor;
  std::string request_id;  ///< Empty: none. Unique among those of its actor otherwise.
  std::string request_sha256;
  double created_unix_s = 0;
  double updated_unix_s = 0;
  uint32_t failures = 0;  ///< How often it came to no answer.
  bool operator==(const OperationRecord&) const = default;
};

/// The newest are kept; those that have not ended are among them.
inline constexpr int64_t kMaxOperations = 1000;

std::string operation_name(int64_t number);  ///< "operations/o3"
/// Nullopt when it is not the name of an operation.
std::optional<int64_t> parse_operation_name(std::string_view name);
Problem operation_not_found(const std::string& name);  ///< OPERATION_NOT_FOUND

}  // namespace stripline::server
