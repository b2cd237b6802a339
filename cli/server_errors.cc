#include "cli/server_errors.h"

#include <map>

#include "cli/names.h"
#include "optimizer/campaign/spec.h"

namespace stripline::cli {
namespace {

// gRPC wraps the cause in what it tried: "failed to connect to all addresses; last error: ...:
// why".
std::string last_part(const std::string& message) {
  const size_t colon = message.rfind(": ");
  return colon == std::string::npos ? message : message.substr(colon + 2);
}

// The message and the hint, which it may hold already.
std::string with_hint(const std::string& message, const std::string& hint) {
  return message.find(hint) == std::string::npos ? message + "; " + hint : message;
}

// The server names the field of the request that is wrong; the user has written an option.
std::string with_options_named(const RpcError& error) {
  static const std::map<std::string, std::string> kOptions = {
      {"name", ""},
      {"campaign", "--campaign: "},
      {"margin", "--margin: "},
      {"false_discoveries", "--false-discoveries: "},
      {"campaigns", "--campaign: "},
      {"label", "--label: "},
      {"parent", "--model: "},
      {"without", "--without: "},
      {"results", ""},
      {"node_description", "--description: "}};
  const std::string& message = error.error.message();
  const auto field = error.metadata.find("field");
  if (field == error.metadata.end() || !message.starts_with(field->second + ": ")) return message;
  const std::string why = message.substr(field->second.size() + 2);
  for (const campaign::SpecField& member : campaign::spec_fields()) {
    if (field->second == std::string("spec.") + member.name) {
      return std::string(member.option) + ": " + why;
    }
  }
  const auto option = kOptions.find(field->second);
  return option == kOptions.end() ? message : option->second + why;
}

}  // namespace

Error explained(const RpcError& error, const std::string& server, bool by_issuer) {
  const std::string& message = error.error.message();
  const ErrorCode code = error.error.code();
  if (error.reason == "INVALID_FIELD") return {code, with_options_named(error)};
  if (error.reason == "UNAUTHENTICATED") {
    return {code,
            with_hint(message,
                      by_issuer ? "'stripline login --oidc --server " + server + "' signs in again"
                                : "'stripline login --server " + server + "' takes a token")};
  }
  if (error.reason == "UNSUPPORTED_FABRIC") {
    return {ErrorCode::invalid_argument,
            with_hint(message, "'stripline nodes' shows the fabrics of each node")};
  }
  if (error.reason == "UNKNOWN_EXPERIMENT") {
    return {ErrorCode::invalid_argument,
            with_hint(message, "'stripline bench list' describes them")};
  }
  if (error.reason == "NOT_ENOUGH_NODES") {
    return {ErrorCode::unavailable,
            with_hint(message, "'stripline-agent --server " + server +
                                   "' starts an agent, the first time with --enroll FILE, "
                                   "'stripline nodes' lists the nodes")};
  }
  for (const char* conflict :
       {"GATE", "FAILED_VALIDATION", "NO_EARLIER_VERSION", "NOTHING_TO_JUDGE", "OTHER_FABRIC",
        "NODE_CONNECTED", "TOO_FEW_RUNS", "CAMPAIGN_FINISHED", "CAMPAIGN_RUNNING",
        "CAMPAIGN_DRAINING", "CAMPAIGN_IN_USE", "OPERATION_FINISHED", "LAST_ADMIN"}) {
    if (error.reason == conflict) return {ErrorCode::already_exists, message};
  }
  if (error.reason == "BUDGET_USED_UP") {
    return {ErrorCode::already_exists,
            with_hint(message, "--time-budget and --node-budget say how much")};
  }
  if (error.reason == "CAMPAIGN_NOT_FOUND") {
    return {ErrorCode::not_found, with_hint(message, "'stripline campaign list' names them")};
  }
  if (error.reason == "MODEL_NOT_FOUND") {
    return {ErrorCode::not_found, with_hint(message, "'stripline model list' names them")};
  }
  if (error.reason == "MODEL_VERSION_NOT_FOUND") {
    const auto name = error.metadata.find("name");
    const std::string model = name == error.metadata.end() ? "" : " " + model_segment(name->second);
    return {ErrorCode::not_found,
            with_hint(message, "'stripline model list" + model + "' lists the versions")};
  }
  if (error.reason == "STANDBY") {
    return {code,
            with_hint("the server at " + server + " answers: " + message,
                      "name both with --server or STRIPLINE_SERVER, with a comma between them")};
  }
  if (!error.reason.empty()) return error.error;
  // Not the server's word but gRPC's.
  if (code == ErrorCode::unavailable && last_part(message) == "Socket closed") {
    return {code, "the server at " + server +
                      " closed the connection without a word; if it has certificates, 'stripline "
                      "login --server " +
                      server + "' takes a token"};
  }
  if (code == ErrorCode::unavailable) {
    return {code, "cannot reach the server at " + server + ": " + last_part(message) +
                      "; start one with 'stripline-server --dev', or name another with --server or "
                      "STRIPLINE_SERVER"};
  }
  if (code == ErrorCode::deadline_exceeded) {
    return {code, "the server at " + server +
                      " did not answer in time; see whether it is overloaded, or allow more with "
                      "--timeout"};
  }
  if (code == ErrorCode::unimplemented || code == ErrorCode::internal ||
      code == ErrorCode::failed_precondition) {
    return {ErrorCode::unavailable, "what answers at " + server +
                                        " is not a stripline-server of this version (" + message +
                                        "); name another with --server or STRIPLINE_SERVER"};
  }
  return error.error;
}

}  // namespace stripline::cli
