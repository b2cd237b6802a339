// What runs of this node tell of the models that they used, until the server is told.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/report_socket.h"

namespace stripline::agent {

class RunReports {
 public:
  /// In this folder of models; empty: takes none.
  explicit RunReports(std::string folder) : folder_(std::move(folder)) {}

  /// Takes reports from now on, once there is the folder, unless another agent does. To be called
  /// again when a model has been installed.
  void listen();

  /// For poll(): readable when read() has something to do; -1: never.
  int fd() const { return socket_ ? socket_->fd() : -1; }
  /// What there is no room for is dropped: runs do not wait, and the server can do without.
  void read();

  /// Those that have come since.
  std::vector<std::string> take();

 private:
  const std::string folder_;
  std::optional<ReportSocket> socket_;
  std::vector<std::string> waiting_;
};

}  // namespace stripline::agent
