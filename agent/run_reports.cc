#include "agent/run_reports.h"

#include <filesystem>
#include <system_error>

#include <spdlog/spdlog.h>

#include "optimizer/model/feedback.h"

namespace stripline::agent {
namespace {

// While there is no server, or the node measures.
constexpr size_t kMaxWaiting = 16;

}  // namespace

void RunReports::listen() {
  std::error_code ignored;
  if (socket_ || !std::filesystem::is_directory(folder_, ignored)) return;
  auto socket = ReportSocket::listen(folder_);
  if (socket.ok()) {
    socket_.emplace(*std::move(socket));
  } else {
    spdlog::info("{}", socket.error().message());
  }
}

int RunReports::fd() const { return socket_ && waiting_.size() < kMaxWaiting ? socket_->fd() : -1; }

void RunReports::read() {
  while (waiting_.size() < kMaxWaiting) {
    auto report = socket_->take(model::kMaxFeedbackBytes);
    if (!report) return;
    waiting_.push_back(*std::move(report));
  }
}

std::optional<std::string> RunReports::take() {
  if (waiting_.empty()) return std::nullopt;
  std::string first = std::move(waiting_.front());
  waiting_.pop_front();
  return first;
}

}  // namespace stripline::agent
