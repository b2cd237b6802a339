// What runs of this node tell of the models that they used, until the server is notified.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/report_socket.h"

namespace stripline::agent {

class RunReports {
 public:
  /// In this folder of models; empty: takes none.
  explicit RunReports(std::string folder) : folder_(std::move(folder)) {}

  /// Takes reports from now on, once there is the folder, unless another agent does. To be called
  /// again when a model has been installed.
  void listen();

  /// For poll(): readable when read() has something to do; -1: not now. What there is no room for
  /// stays where it is, and is refused to those who send more: any user may, and runs do not wait.
  int fd() const;
  /// Reads what has come and there is room for.
  void read();

  bool any() const { return !waiting_.empty(); }
  /// The one that came first; nullopt if none waits.
  std::optional<std::string> take();

 private:
  const std::string folder_;
  std::optional<ReportSocket> socket_;
  std::deque<std::string> waiting_;
};

}  // namespace stripline::agent
