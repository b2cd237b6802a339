#include "agent/run_reports.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <spdlog/spdlog.h>

#include "optimizer/model/feedback.h"

namespace stripline::agent {
namespace {

// While there is no server, or the node measures.
constexpr size_t kMostWaiting = 16;

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

void RunReports::read() {
  while (auto report = socket_->take(model::kMostFeedbackBytes)) {
    if (waiting_.size() < kMostWaiting) waiting_.push_back(*std::move(report));
  }
}

std::vector<std::string> RunReports::take() { return std::exchange(waiting_, {}); }

}  // namespace stripline::agent
