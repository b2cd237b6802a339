#include "server/testing/postgres_server.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "server/postgres_store.h"

namespace stripline::server {
namespace {

constexpr const char* kPackages = "/usr/lib/postgresql";
constexpr const char* kUser = "postgres";
constexpr double kLimit_s = 60;
// A test that is killed does not end it.
constexpr const char* kLongestLife_s = "600";

// Debian keeps the programs of each version apart, and out of PATH.
std::filesystem::path programs() {
  std::error_code none;
  for (const auto& version : std::filesystem::directory_iterator(kPackages, none)) {
    if (std::filesystem::exists(version.path() / "bin/initdb")) return version.path() / "bin";
  }
  return {};
}

}  // namespace

std::string PostgresServer::missing() {
  if (!postgres_missing().empty()) return postgres_missing();
  if (programs().empty()) return "no PostgreSQL in /usr/lib/postgresql: install postgresql";
  return {};
}

PostgresServer& PostgresServer::shared() {
  // A measurement of steps wants them on the disk.
  static PostgresServer server(std::getenv("STRIPLINE_TEST_DURABLE") !=
                               nullptr);  // NOLINT(concurrency-mt-unsafe)
  return server;
}

// It refuses to run as root.
std::vector<std::string> PostgresServer::as_its_user(std::vector<std::string> argv) const {
  if (::geteuid() != 0) return argv;
  std::vector<std::string> all = {"setpriv", "--reuid", kUser, "--regid", kUser, "--clear-groups"};
  all.insert(all.end(), argv.begin(), argv.end());
  return all;
}

PostgresServer::PostgresServer(bool durable) : durable_(durable) {
  const std::filesystem::path data = folder_ / "data";
  std::filesystem::create_directory(data);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0711));
  if (::geteuid() == 0) {
    const passwd* user = ::getpwnam(kUser);  // NOLINT(concurrency-mt-unsafe)
    EXPECT_NE(user, nullptr) << "there is no user " << kUser;
    if (user != nullptr) {
      EXPECT_EQ(::chown(data.c_str(), user->pw_uid, user->pw_gid), 0);
    }
  }
  const Finished made = run_program(
      as_its_user({programs() / "initdb", "--pgdata", data, "--username", "stripline", "--auth",
                   "trust", "--encoding", "UTF8", "--no-locale", "--no-sync"}),
      kLimit_s);
  EXPECT_EQ(made.exit_code, 0) << made.err;
  start();
}

PostgresServer::~PostgresServer() {
  if (!process_) return;
  // To the guard and what it guards, which ends its own at once.
  process_->signal(SIGQUIT);
  (void)process_->wait(kLimit_s);
}

void PostgresServer::start() {
  const std::filesystem::path data = folder_ / "data";
  // What a killed one has left behind names a process that may be another's by now.
  std::error_code none;
  std::filesystem::remove(data / "postmaster.pid", none);
  const UniqueFd log(
      ::open((folder_ / "log").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
  SubprocessOptions options;
  options.argv = as_its_user({"timeout", "--signal", "QUIT", kLongestLife_s,
                              programs() / "postgres", "-D", data, "-c", "listen_addresses=", "-c",
                              "unix_socket_directories=" + data.string(), "-c",
                              std::string("fsync=") + (durable_ ? "on" : "off")});
  options.stdout_fd = log.get();
  options.stderr_fd = log.get();
  auto spawned = Subprocess::spawn(options);
  ASSERT_TRUE(spawned.ok()) << spawned.error().message();
  process_ = std::make_unique<Subprocess>(std::move(*spawned));
  const auto answers = [&] {
    return run_program({programs() / "pg_isready", "--quiet", "--dbname", url()}, kLimit_s)
               .exit_code == 0;
  };
  ASSERT_TRUE(eventually(answers, kLimit_s)) << read_file(folder_ / "log");
}

std::string PostgresServer::url() const {
  return "postgresql://stripline@/postgres?host=" + (folder_ / "data").string();
}

std::string PostgresServer::run(const std::string& sql) const {
  const Finished done = run_program({programs() / "psql", "--no-psqlrc", "--quiet", "--tuples-only",
                                     "--no-align", "--set", "ON_ERROR_STOP=1", "--dbname", url(),
                                     "--command", "SET search_path = stripline", "--command", sql},
                                    kLimit_s);
  EXPECT_EQ(done.exit_code, 0) << sql << ": " << done.err;
  return done.out;
}

void PostgresServer::signal(int number) {
  // Each of its processes leads a group of its own.
  const pid_t guard = process_->pid();
  for (const pid_t postmaster : children_of(guard)) {
    for (const pid_t child : children_of(postmaster)) ::kill(child, number);
    ::kill(postmaster, number);
  }
}

void PostgresServer::kill() {
  if (!process_) return;
  signal(SIGKILL);
  // Processes that were just starting end when they find that their parent has.
  process_->terminate();
  process_.reset();
}

}  // namespace stripline::server
