#include "tests/load/loaded_server.h"

#include <cstdio>
#include <unistd.h>
#include <utility>

#include "base/clock.h"
#include "base/pki/secret_file.h"
#include "base/pki/token.h"
#include "base/process_state.h"
#include "server/clock.h"
#include "server/process/initialise.h"
#include "server/security/authority.h"
#include "server/store/sqlite_store.h"
#include "tests/load/give_up.h"

namespace stripline::load {
namespace {

double cpu_s(pid_t pid) {
  const auto state = process_state(pid);
  if (!state) give_up("cannot read /proc/" + std::to_string(pid) + "/stat");
  return static_cast<double>(state->cpu_ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

server::Authority authority_in(const std::filesystem::path& data) {
  return need(server::Authority::open(data, server::unix_seconds()));
}

}  // namespace

LoadedServer::LoadedServer(const LoadOptions& options, Setting setting)
    : server_(folder_.path(), std::move(setting.server_options)),
      points_of_run_(static_cast<uint32_t>(setting.run_s * options.pace.points_per_s)),
      description_(node_description(points_of_run_)) {
  const auto made = need(server::initialise(data(), {"localhost"}, server::unix_seconds()));
  if (setting.fill) need(setting.fill(data() / server::kDatabaseFile));
  server_.start("127.0.0.1:0");
  const auto token =
      need(pki::parse_token(need(pki::read_secret_line(made.admin_token_file.string()))));
  administrator_.emplace(server_.address(), read_file(data() / "tls" / "authority.pem"),
                         token.secret);
  cluster_.emplace(need(parse_host_and_port(server_.address())), authority_in(data()),
                   folder_.path(), description_, options.agents, options.pace);
}

std::filesystem::path LoadedServer::identity_of(const std::string& node) const {
  return new_identity(authority_in(data()), folder_.path(), node);
}

uint64_t LoadedServer::stored_bytes() const {
  uint64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(data())) {
    if (file.path().filename().string().starts_with(server::kDatabaseFile)) {
      bytes += file.file_size();
    }
  }
  return bytes;
}

LoadedServer::Spent LoadedServer::spent() const {
  return {steady_seconds(), cpu_s(server_.pid()), cpu_s(::getpid())};
}

void LoadedServer::print(const char* what, const Spent& since) const {
  const Spent end = spent();
  std::printf("%-31s %8.2f s; processor time of the server %.2f s, of the agents %.2f s\n", what,
              end.at_s - since.at_s, end.server_s - since.server_s, end.here_s - since.here_s);
}

}  // namespace stripline::load
