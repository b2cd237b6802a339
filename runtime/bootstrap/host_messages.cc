#include "runtime/bootstrap/host_messages.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/hex.h"

namespace stripline::bootstrap {
namespace {

using Kind = RankEvent::Kind;

constexpr std::array<std::pair<Kind, std::string_view>, 7> kKinds = {{{Kind::joined, "joined"},
                                                                      {Kind::message, "message"},
                                                                      {Kind::failed, "failed"},
                                                                      {Kind::left, "left"},
                                                                      {Kind::closed, "closed"},
                                                                      {Kind::exited, "exited"},
                                                                      {Kind::lost, "lost"}}};

constexpr std::string_view kMessage = "a message between hosts";

Error garbled(const std::string& what) {
  return {ErrorCode::data_loss, std::string(kMessage) + ": " + what};
}

/// Text of a user's that need not be UTF-8.
Result<std::string> bytes_of(const Json& value) {
  auto bytes = value.is_string() ? from_hex(value.get_ref<const std::string&>()) : std::nullopt;
  if (!bytes) return garbled("bytes that are not hexadecimal");
  return *std::move(bytes);
}

Result<std::string> bytes_of(const Json& message, const char* key) {
  const auto found = message.find(key);
  return bytes_of(found != message.end() ? *found : Json());
}

void add_error(Json& message, const std::optional<Error>& error) {
  if (!error) return;
  message["code"] = std::string(to_string(error->code()));
  message["message"] = error->message();
}

}  // namespace

std::string type_of(const Json& message) {
  const auto found = message.find("type");
  return found != message.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<uint32_t> count_from_json(const Json& message, std::string_view key) {
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t value, get_integer(message, key, kMessage));
  if (value < 0 || value > std::numeric_limits<uint32_t>::max()) {
    return garbled(std::string(key) + " is out of range");
  }
  return static_cast<uint32_t>(value);
}

Json to_json(const HostGreeting& greeting) {
  return {{"type", "host"},
          {"version", greeting.version},
          {"address", greeting.address},
          {"caller", greeting.caller}};
}

Result<HostGreeting> greeting_from_json(const Json& message) {
  HostGreeting greeting;
  STRIPLINE_ASSIGN_OR_RETURN(greeting.version, get_string(message, "version", kMessage));
  STRIPLINE_ASSIGN_OR_RETURN(greeting.address, get_string(message, "address", kMessage));
  STRIPLINE_ASSIGN_OR_RETURN(greeting.caller, get_string(message, "caller", kMessage));
  return greeting;
}

Json to_json(const HostOrder& order) {
  Json argv = Json::array();
  for (const std::string& word : order.argv) argv.push_back(to_hex(word));
  // A list of pairs: names need not be UTF-8 either.
  Json environment = Json::array();
  for (const auto& [name, value] : order.environment) {
    environment.push_back({to_hex(name), to_hex(value)});
  }
  return {{"type", "order"},
          {"argv", std::move(argv)},
          {"environment", std::move(environment)},
          {"folder", to_hex(order.folder)},
          {"address", order.address},
          {"job_id", order.job_id},
          {"first_rank", order.first_rank},
          {"ranks", order.ranks},
          {"job_ranks", order.job_ranks},
          {"bind", order.bind},
          {"records_points", order.records_points},
          {"label", order.label},
          {"input", order.input},
          {"silence_limit_s", order.silence_limit_s}};
}

Result<HostOrder> order_from_json(const Json& message) {
  HostOrder order;
  STRIPLINE_ASSIGN_OR_RETURN(const Json* argv, get_array(message, "argv", kMessage));
  for (const Json& word : *argv) {
    STRIPLINE_ASSIGN_OR_RETURN(std::string bytes, bytes_of(word));
    order.argv.push_back(std::move(bytes));
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* environment, get_array(message, "environment", kMessage));
  for (const Json& pair : *environment) {
    if (!pair.is_array() || pair.size() != 2) return garbled("a variable that is not a pair");
    STRIPLINE_ASSIGN_OR_RETURN(const std::string name, bytes_of(pair[0]));
    STRIPLINE_ASSIGN_OR_RETURN(order.environment[name], bytes_of(pair[1]));
  }
  STRIPLINE_ASSIGN_OR_RETURN(order.folder, bytes_of(message, "folder"));
  STRIPLINE_ASSIGN_OR_RETURN(order.address, get_string(message, "address", kMessage));
  STRIPLINE_ASSIGN_OR_RETURN(order.job_id, get_string(message, "job_id", kMessage));
  STRIPLINE_ASSIGN_OR_RETURN(order.first_rank, count_from_json(message, "first_rank"));
  STRIPLINE_ASSIGN_OR_RETURN(order.ranks, count_from_json(message, "ranks"));
  STRIPLINE_ASSIGN_OR_RETURN(order.job_ranks, count_from_json(message, "job_ranks"));
  STRIPLINE_ASSIGN_OR_RETURN(order.bind, get_bool(message, "bind", kMessage));
  STRIPLINE_ASSIGN_OR_RETURN(order.records_points, get_bool(message, "records_points", kMessage));
  STRIPLINE_ASSIGN_OR_RETURN(order.label, get_bool(message, "label", kMessage));
  STRIPLINE_ASSIGN_OR_RETURN(order.input, get_bool(message, "input", kMessage));
  STRIPLINE_ASSIGN_OR_RETURN(order.silence_limit_s,
                             get_number(message, "silence_limit_s", kMessage));
  return order;
}

Json to_json(const RankEvent& event) {
  Json message = {{"type", "rank"}, {"rank", event.rank}};
  for (const auto& [kind, name] : kKinds) {
    if (kind == event.kind) message["event"] = std::string(name);
  }
  if (event.kind == Kind::joined) {
    message["address"] = to_hex(event.address);
    message["host"] = event.host;
  }
  if (event.kind == Kind::message) message["said"] = event.message;
  if (event.kind == Kind::exited) {
    message["exit_code"] = event.status.exit_code;
    message["signal"] = event.status.signal;
    message["last_operation"] = event.last_operation;
  }
  if (event.points > 0) message["points"] = event.points;
  add_error(message, event.error);
  return message;
}

Result<RankEvent> event_from_json(const Json& message) {
  RankEvent event;
  STRIPLINE_ASSIGN_OR_RETURN(event.rank, count_from_json(message, "rank"));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string name, get_string(message, "event", kMessage));
  bool known = false;
  for (const auto& [kind, kind_name] : kKinds) {
    if (name != kind_name) continue;
    event.kind = kind;
    known = true;
  }
  if (!known) return garbled("an event '" + name + "' of a rank");
  if (event.kind == Kind::joined) {
    STRIPLINE_ASSIGN_OR_RETURN(event.address, bytes_of(message, "address"));
    STRIPLINE_ASSIGN_OR_RETURN(event.host, get_string(message, "host", kMessage));
  }
  if (event.kind == Kind::message) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* said, get_object(message, "said", kMessage));
    event.message = *said;
  }
  if (event.kind == Kind::exited) {
    STRIPLINE_ASSIGN_OR_RETURN(const uint32_t exit_code, count_from_json(message, "exit_code"));
    STRIPLINE_ASSIGN_OR_RETURN(const uint32_t signal, count_from_json(message, "signal"));
    event.status = {.exit_code = static_cast<int>(exit_code), .signal = static_cast<int>(signal)};
    STRIPLINE_ASSIGN_OR_RETURN(event.last_operation,
                               get_string(message, "last_operation", kMessage));
  }
  if (message.contains("points")) {
    STRIPLINE_ASSIGN_OR_RETURN(event.points, count_from_json(message, "points"));
  }
  if (message.contains("code")) event.error = error_from_json(message);
  return event;
}

Json error_message(std::string_view type, const Error& error) {
  Json message = {{"type", std::string(type)}};
  add_error(message, error);
  return message;
}

Error error_from_json(const Json& message) {
  const auto code = get_string(message, "code", kMessage);
  auto text = get_string(message, "message", kMessage);
  if (!code.ok()) return code.error();
  if (!text.ok()) return text.error();
  return {error_code_from_string(*code).value_or(ErrorCode::internal), *std::move(text)};
}

Json sights_message(const std::vector<RankSight>& sights) {
  Json ranks = Json::array();
  for (const RankSight& sight : sights) {
    ranks.push_back(
        {sight.pid, sight.state, sight.cpu_ticks, sight.waits, sight.points, sight.operation});
  }
  return {{"type", "sights"}, {"ranks", std::move(ranks)}};
}

Result<std::vector<RankSight>> sights_from_json(const Json& message) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json* ranks, get_array(message, "ranks", kMessage));
  std::vector<RankSight> sights;
  for (const Json& rank : *ranks) {
    const bool whole = rank.is_array() && rank.size() == 6 && rank[5].is_string() &&
                       std::all_of(rank.begin(), rank.end() - 1,
                                   [](const Json& one) { return one.is_number_integer(); });
    if (!whole) return garbled("a sight of a rank");
    RankSight sight;
    sight.pid = rank[0].get<pid_t>();
    sight.state = rank[1].get<char>();
    sight.cpu_ticks = rank[2].get<uint64_t>();
    sight.waits = rank[3].get<uint64_t>();
    sight.points = rank[4].get<uint64_t>();
    sight.operation = rank[5].get<std::string>();
    sights.push_back(std::move(sight));
  }
  return sights;
}

Json bytes_message(std::string_view stream, std::string_view bytes) {
  return {{"type", "bytes"}, {"stream", std::string(stream)}, {"bytes", to_hex(bytes)}};
}

Result<std::string> bytes_from_json(const Json& message) { return bytes_of(message, "bytes"); }

}  // namespace stripline::bootstrap
