// The real program in tests of what it does from its start to its end.
#pragma once

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <vector>

#include "base/subprocess.h"
#include "base/testing/processes.h"
#include "server/testing/service_test.h"

namespace stripline::server {

/// A stripline-server with its output in a file, started by a shell if a command that does so is
/// given.
class ServerProcess {
 public:
  ServerProcess(const std::filesystem::path& folder, std::vector<std::string> arguments,
                const std::string& shell = "",
                const std::map<std::string, std::string>& environment = {})
      : log_(folder / ("log" + std::to_string(++count_))),
        log_fd_(open(log_.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) {
    SubprocessOptions options;
    options.argv = {program("stripline-server")};
    options.environment = environment;
    if (!shell.empty()) options.argv = {"sh", "-c", shell, program("stripline-server")};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.stdout_fd = log_fd_.get();
    options.stderr_fd = log_fd_.get();
    auto spawned = Subprocess::spawn(options);
    EXPECT_TRUE(spawned.ok()) << spawned.error().message();
    process_ = std::make_unique<Subprocess>(std::move(*spawned));
  }

  int exit_code() {
    const auto status = process_->wait(kTestPatienceS);
    EXPECT_TRUE(status.ok()) << "still running: " << log();
    return status.ok() ? status->exit_code : -1;
  }
  bool running() { return !process_->poll(); }
  pid_t pid() const { return process_->pid(); }
  void signal(int number) { process_->signal(number); }
  void kill() {
    signal(SIGKILL);
    EXPECT_TRUE(process_->wait(kTestPatienceS).ok());
  }
  std::string log() const { return read_file(log_); }

 private:
  static inline int count_ = 0;
  std::filesystem::path log_;
  UniqueFd log_fd_;
  std::unique_ptr<Subprocess> process_;
};

/// Servers of the program, everybody let in, and stubs to call them.
class ServerE2eTest : public ServiceTest {
 protected:
  void SetUp() override {}

  std::filesystem::path data() const { return folder_.path() / "data"; }

  std::vector<std::string> open_to_all(const std::string& listen,
                                       const std::filesystem::path& data_dir) {
    return {"--insecure-listen", listen,        "--data-dir", data_dir,  "--port-file",
            port_file(),         "--heartbeat", "0.3",        "--lease", "1.0"};
  }

  // A connection on which nothing has been said.
  UniqueFd connect_raw() const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(parse_listen_address(address_)->port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::connect(fd.get(), generic, sizeof address), 0);
    return fd;
  }

  std::filesystem::path port_file() const { return folder_.path() / "port"; }

  // Starts a server and connects to it.
  std::unique_ptr<ServerProcess> serve(const std::string& listen, const std::string& shell = "",
                                       const std::vector<std::string>& more = {},
                                       const std::map<std::string, std::string>& environment = {}) {
    std::filesystem::remove(port_file());
    auto arguments = open_to_all(listen, data());
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto server =
        std::make_unique<ServerProcess>(folder_.path(), std::move(arguments), shell, environment);
    EXPECT_TRUE(
        eventually([&] { return std::filesystem::exists(port_file()) || !server->running(); }));
    EXPECT_TRUE(server->running()) << server->log();
    std::string address = read_file(port_file());
    if (!address.empty()) address.pop_back();
    connect(address);
    return server;
  }
};

}  // namespace stripline::server
