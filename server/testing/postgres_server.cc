#include "server/testing/postgres_server.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "server/store/postgres_store.h"

namespace stripline::server {
namespace {

constexpr const char* kPackages = "/usr/lib/postgresql";
constexpr const char* kUser = "postgres";
constexpr double kLimit_s = 60;

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
  const char* const durable =
      std::getenv("STRIPLINE_TEST_DURABLE");  // NOLINT(concurrency-mt-unsafe)
  static PostgresServer server(durable != nullptr);
  return server;
}

// It refuses to run as root, and ends with the test, however that ends.
std::vector<std::string> PostgresServer::as_its_user(std::vector<std::string> argv) const {
  std::vector<std::string> all = {"setpriv", "--pdeathsig", "QUIT"};
  if (::geteuid() == 0) {
    all.insert(all.end(), {"--reuid", kUser, "--regid", kUser, "--clear-groups"});
  }
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
  // It ends its own at once.
  process_->signal(SIGQUIT);
  (void)process_->wait(kLimit_s);
}

void PostgresServer::start() {
  // One that was killed may have left a process which is still ending, and keeps it from starting.
  const auto answers = [&] {
    if (!process_ || process_->poll()) spawn();
    return run_program({programs() / "pg_isready", "--quiet", "--dbname", url()}, kLimit_s)
               .exit_code == 0;
  };
  ASSERT_TRUE(eventually(answers, kLimit_s)) << read_file(folder_ / "log");
}

void PostgresServer::spawn() {
  const std::filesystem::path data = folder_ / "data";
  const UniqueFd log(
      ::open((folder_ / "log").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
  SubprocessOptions options;
  options.argv = as_its_user({programs() / "postgres", "-D", data, "-c", "listen_addresses=", "-c",
                              "unix_socket_directories=" + data.string(), "-c",
                              std::string("fsync=") + (durable_ ? "on" : "off")});
  options.stdout_fd = log.get();
  options.stderr_fd = log.get();
  auto spawned = Subprocess::spawn(options);
  ASSERT_TRUE(spawned.ok()) << spawned.error().message();
  process_ = std::make_unique<Subprocess>(std::move(*spawned));
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
  for (const pid_t child : children_of(process_->pid())) ::kill(child, number);
  process_->signal(number);
}

void PostgresServer::kill() {
  if (!process_) return;
  signal(SIGKILL);
  (void)process_->wait(kLimit_s);
  process_.reset();
}

}  // namespace stripline::server
