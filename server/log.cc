#include "server/log.h"

#include <chrono>
#include <map>
#include <memory>
#include <string_view>

#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/json.h"
#include "server/clock.h"

namespace stripline::server {
namespace {

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const double time_s = std::chrono::duration<double>(message.time.time_since_epoch()).count();
    const auto level = spdlog::level::to_string_view(message.level);
    const Json line{{"time", rfc3339(time_s)},
                    {"level", std::string(level.data(), level.size())},
                    {"message", std::string(message.payload.data(), message.payload.size())}};
    const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    out.append(text.data(), text.data() + text.size());
  }

  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }
};

}  // namespace

Status start_logging(const std::string& format, const std::string& level) {
  static const std::map<std::string, spdlog::level::level_enum, std::less<>> kLevels = {
      {"debug", spdlog::level::debug},
      {"info", spdlog::level::info},
      {"warning", spdlog::level::warn},
      {"error", spdlog::level::err}};
  const auto chosen = kLevels.find(level);
  if (chosen == kLevels.end()) {
    return Error(ErrorCode::invalid_argument,
                 "unknown --log-level '" + level + "'; choose debug, info, warning or error");
  }
  auto logger = std::make_shared<spdlog::logger>("stripline-server",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (format == "json") {
    logger->set_formatter(std::make_unique<JsonFormatter>());
  } else if (format == "text") {
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l: %v", spdlog::pattern_time_type::utc);
  } else {
    return Error(ErrorCode::invalid_argument,
                 "unknown --log-format '" + format + "'; choose text or json");
  }
  logger->set_level(chosen->second);
  logger->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

}  // namespace stripline::server
