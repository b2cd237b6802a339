#include "server/problem.h"

#include "base/cut_text.h"

namespace stripline::server {

Problem invalid_field(const std::string& field, const std::string& message) {
  return {ErrorCode::invalid_argument,
          "INVALID_FIELD",
          field + ": " + cut_text(message, kLongestMessageBytes),
          {{"field", field}}};
}

Problem campaign_not_found(const std::string& name) {
  return {ErrorCode::not_found,
          "CAMPAIGN_NOT_FOUND",
          "no campaign is named '" + name + "'; 'stripline campaign list' names them",
          {{"name", name}}};
}

Problem stopping_problem() {
  return {ErrorCode::unavailable, "SERVER_STOPPING", "the server is stopping", {}};
}

Problem problem_from(const Error& error) {
  std::string reason(to_string(error.code()));
  for (char& c : reason) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return {error.code(), reason, error.message(), {}};
}

}  // namespace stripline::server
