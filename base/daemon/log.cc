#include "base/daemon/log.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/cut_text.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/rfc3339.h"
#include "base/suggest.h"

namespace stripline {
namespace {

std::string time_of(const spdlog::details::log_msg& message) {
  return rfc3339(std::chrono::duration<double>(message.time.time_since_epoch()).count());
}

std::string_view text_of(const spdlog::string_view_t& view) { return {view.data(), view.size()}; }

// What others have sent may be in it: it must not fill the disk.
std::string payload_of(const spdlog::details::log_msg& message) {
  return cut_text(text_of(message.payload), kLongestMessageBytes);
}

void append(spdlog::memory_buf_t& out, const std::string& text) {
  out.append(text.data(), text.data() + text.size());
}

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const Json line{{"time", time_of(message)},
                    {"level", text_of(spdlog::level::to_string_view(message.level))},
                    {"message", payload_of(message)}};
    append(out, dumped(line) + "\n");
  }

  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }
};

class TextFormatter final : public spdlog::formatter {
 public:
  explicit TextFormatter(std::string program) : program_(std::move(program)) {}

  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    append(out, time_of(message) + " " + program_ + " " +
                    std::string(text_of(spdlog::level::to_string_view(message.level))) + ": " +
                    printable_line(payload_of(message)) + "\n");
  }

  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<TextFormatter>(program_);
  }

 private:
  std::string program_;
};

// In the order of log_levels().
std::optional<spdlog::level::level_enum> level_from(const std::string& name) {
  if (name == "debug") return spdlog::level::debug;
  if (name == "info") return spdlog::level::info;
  if (name == "warning") return spdlog::level::warn;
  if (name == "error") return spdlog::level::err;
  return std::nullopt;
}

Error unknown(const std::string& what, const std::string& value,
              const std::vector<std::string>& known) {
  std::string list;
  for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
  return {ErrorCode::invalid_argument, "unknown " + what + " " + quoted_text(value) +
                                           did_you_mean(value, known) + "; choose of " + list};
}

}  // namespace

const std::vector<std::string>& log_formats() {
  static const std::vector<std::string> kFormats = {"text", "json"};
  return kFormats;
}

const std::vector<std::string>& log_levels() {
  static const std::vector<std::string> kLevels = {"debug", "info", "warning", "error"};
  return kLevels;
}

Status start_logging(const std::string& program, const std::string& format,
                     const std::string& level) {
  const auto chosen = level_from(level);
  if (!chosen) return unknown("log level", level, log_levels());
  auto logger =
      std::make_shared<spdlog::logger>(program, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (format == "json") {
    logger->set_formatter(std::make_unique<JsonFormatter>());
  } else if (format == "text") {
    logger->set_formatter(std::make_unique<TextFormatter>(program));
  } else {
    return unknown("log format", format, log_formats());
  }
  logger->set_level(*chosen);
  logger->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

Status set_log_level(const std::string& level) {
  const auto chosen = level_from(level);
  if (!chosen) return unknown("log level", level, log_levels());
  spdlog::default_logger()->set_level(*chosen);
  return {};
}

}  // namespace stripline
