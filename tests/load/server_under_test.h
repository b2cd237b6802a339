// The real server, on this host, under the load of this process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/subprocess.h"

namespace stripline::load {

class ServerUnderTest {
 public:
  /// Its data and its log are in the folder, which is there; `options` are added to every start.
  ServerUnderTest(std::filesystem::path folder, std::vector<std::string> options);

  /// Returns when it listens.
  void start(const std::string& listen);
  void kill();
  bool running() { return !process_->poll(); }
  const std::string& address() const { return address_; }
  pid_t pid() const { return process_->pid(); }
  /// The port that its log names after this text.
  int port_after(const std::string& mark) const;

  double resident_mib() const;
  /// The most that was resident of it, in any of its processes so far.
  double peak_mib();
  std::string log() const;

 private:
  std::filesystem::path folder_;
  std::filesystem::path log_;
  std::vector<std::string> options_;
  std::unique_ptr<Subprocess> process_;
  std::string address_;
  double peak_mib_ = 0;
};

}  // namespace stripline::load
