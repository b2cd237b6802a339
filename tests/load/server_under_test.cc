#include "tests/load/server_under_test.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sstream>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/testing/processes.h"
#include "base/whole_file.h"
#include "tests/load/give_up.h"

namespace stripline::load {
namespace {

constexpr double kServerPatience_s = 120;

// A value of /proc/PID/status, which the kernel writes in kB; 0: it is not there.
double status_mib(pid_t pid, const std::string& name) {
  std::istringstream status(read_file("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return std::stod(line.substr(name.size())) / 1024;
  }
  return 0;
}

}  // namespace

ServerUnderTest::ServerUnderTest(std::filesystem::path folder, std::vector<std::string> options)
    : folder_(std::move(folder)), log_(folder_ / "server.log"), options_(std::move(options)) {}

void ServerUnderTest::start(const std::string& listen) {
  std::filesystem::remove(folder_ / "port");
  SubprocessOptions options;
  options.argv = {executable_folder() + "/stripline-server",
                  "--listen",
                  listen,
                  "--data-dir",
                  folder_ / "data",
                  "--port-file",
                  folder_ / "port"};
  options.argv.insert(options.argv.end(), options_.begin(), options_.end());
  const UniqueFd log(::open(log_.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600));
  options.stdout_fd = log.get();
  options.stderr_fd = log.get();
  auto spawned = Subprocess::spawn(options);
  if (!spawned.ok()) give_up(spawned.error().message());
  process_ = std::make_unique<Subprocess>(std::move(*spawned));
  const double end = steady_seconds() + kServerPatience_s;
  while (!std::filesystem::exists(folder_ / "port")) {
    if (!running() || steady_seconds() > end) give_up("no server: " + this->log());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  address_ = first_line(folder_ / "port");
}

void ServerUnderTest::kill() {
  (void)peak_mib();
  process_->signal(SIGKILL);
  if (const auto ended = process_->wait(kServerPatience_s); !ended.ok())
    give_up(ended.error().message());
}

int ServerUnderTest::port_after(const std::string& mark) const {
  const double end = steady_seconds() + kServerPatience_s;
  while (steady_seconds() < end) {
    const std::string text = log();
    if (const size_t at = text.find(mark); at != std::string::npos) {
      return std::atoi(text.c_str() + at + mark.size());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  give_up("the server's log names no '" + mark + "': " + log());
}

double ServerUnderTest::resident_mib() const { return status_mib(pid(), "VmRSS:"); }

double ServerUnderTest::peak_mib() {
  return peak_mib_ = std::max(peak_mib_, status_mib(pid(), "VmHWM:"));
}

std::string ServerUnderTest::log() const { return read_file(log_); }

}  // namespace stripline::load
