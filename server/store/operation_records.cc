#include "server/store/operation_records.h"

#include <array>
#include <charconv>

#include "base/enum_names.h"

namespace stripline::server {
namespace {

constexpr std::array<std::string_view, 4> kOperationStates = {"RUNNING", "SUCCEEDED", "FAILED",
                                                              "CANCELLED"};
constexpr std::string_view kOperationPrefix = "operations/o";

}  // namespace

std::string_view to_string(OperationState state) { return enum_name(kOperationStates, state); }

std::optional<OperationState> operation_state_from_string(std::string_view name) {
  return enum_named<OperationState>(kOperationStates, name);
}

std::string operation_name(int64_t number) {
  return std::string(kOperationPrefix) + std::to_string(number);
}

std::optional<int64_t> parse_operation_name(std::string_view name) {
  if (!name.starts_with(kOperationPrefix)) return std::nullopt;
  int64_t number = 0;
  const std::string_view digits = name.substr(kOperationPrefix.size());
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  // There is one form of each name: no sign, no leading zero.
  if (failure != std::errc() || number < 1 || operation_name(number) != name) return std::nullopt;
  return number;
}

Problem operation_not_found(const std::string& name) {
  return {
      ErrorCode::not_found,
      "OPERATION_NOT_FOUND",
      "no operation is named '" + name + "'; 'stripline operation list' names those that are kept",
      {{"name", name}}};
}

}  // namespace stripline::server
