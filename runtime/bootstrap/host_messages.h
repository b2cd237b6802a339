// What the launcher of a job on several hosts and its program on each of them say to each other, as
// values and as JSON (docs/worker-protocol.md, "Hosts"). Bytes of users (arguments, variables, what
// ranks print) travel as hexadecimal digits: they need not be UTF-8.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "runtime/bootstrap/launcher.h"

namespace stripline::bootstrap {

/// The first word of a host.
struct HostGreeting {
  std::string version;  ///< program_version()
  std::string address;  ///< of the host, by which ssh has reached it; empty: not by ssh
  std::string caller;   ///< of the launcher's host, as this one sees it; empty likewise
  bool operator==(const HostGreeting&) const = default;
};

/// What a host is to start.
struct HostOrder {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;
  std::string folder;   ///< to start ranks in
  std::string address;  ///< to communicate from unless the host's own environment says; or empty
  std::string job_id;
  uint32_t first_rank = 0;
  uint32_t ranks = 0;
  uint32_t job_ranks = 0;
  bool bind = true;
  bool records_points = false;
  bool label = false;
  bool input = false;          ///< rank 0 reads what the launcher sends it
  double silence_limit_s = 0;  ///< a launcher of which nothing is heard for this long is gone
  bool operator==(const HostOrder&) const = default;
};

/// How often each side says that it is there within the time after which its silence counts.
inline constexpr double kBeatsPerLimit = 8;

Json to_json(const HostGreeting& greeting);
Json to_json(const HostOrder& order);
Json to_json(const RankEvent& event);
/// {"type":`type`} with the code and the message of the error.
Json error_message(std::string_view type, const Error& error);
/// What a host sees of all its ranks, or of none; RankSight::stage and host stay behind.
Json sights_message(const std::vector<RankSight>& sights);
/// `stream` is "out", "err" or "in".
Json bytes_message(std::string_view stream, std::string_view bytes);

// Errors of all of these: data_loss.
Result<HostGreeting> greeting_from_json(const Json& message);
Result<HostOrder> order_from_json(const Json& message);
Result<RankEvent> event_from_json(const Json& message);
Result<std::vector<RankSight>> sights_from_json(const Json& message);
/// The error that a message tells; data_loss if it tells none.
Error error_from_json(const Json& message);
/// The bytes of a bytes_message().
Result<std::string> bytes_from_json(const Json& message);
/// Non-negative whole number of 32 bits.
Result<uint32_t> count_from_json(const Json& message, std::string_view key);

/// The type of a message; empty if it has none.
std::string type_of(const Json& message);

}  // namespace stripline::bootstrap
