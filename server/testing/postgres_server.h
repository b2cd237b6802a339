// A PostgreSQL server of the test's own, of Debian's package: in a temporary folder, reachable by a
// socket in it alone, and gone when its object is, or the test.
#pragma once

#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/subprocess.h"
#include "base/testing/processes.h"

namespace stripline::server {

class PostgresServer {
 public:
  /// Why there can be none: the build or the machine lacks PostgreSQL. Empty: there can.
  static std::string missing();
  /// One that all tests of a program share; it ends with the program.
  static PostgresServer& shared();

  /// Makes an empty database and serves it. Commits go to the disk only if `durable`: what a test
  /// kills is the server, not the host.
  explicit PostgresServer(bool durable = false);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  std::string url() const;
  /// Runs statements with psql, and returns what they print.
  std::string run(const std::string& sql) const;
  /// Ends it at once, as a crash would, with all its processes.
  void kill();
  /// All its processes at once.
  void signal(int number);
  /// Serves again what it has served before.
  void start();

 private:
  void spawn();
  std::vector<std::string> as_its_user(std::vector<std::string> argv) const;

  TempFolder folder_;
  const bool durable_;
  std::unique_ptr<Subprocess> process_;
};

}  // namespace stripline::server
