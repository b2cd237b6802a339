#include "cli/contexts.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <toml++/toml.h>

#include "base/pki/secret_file.h"
#include "base/settings.h"

namespace stripline::cli {
namespace {

// Optional members.
constexpr std::array<std::pair<const char*, std::string Context::*>, 3> kOfIssuer{
    {{"issuer", &Context::issuer},
     {"client-id", &Context::client_id},
     {"refresh-token", &Context::refresh_token}}};

Error wrong(const std::string& what) { return {ErrorCode::data_loss, what}; }

}  // namespace

Result<Contexts> parse_contexts(std::string_view text) {
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return wrong("line " + std::to_string(error.source().begin.line) + ": " +
                 std::string(error.description()));
  }
  Contexts contexts;
  if (const auto* server = root.get("server")) {
    if (!server->is_string()) return wrong("'server' must be a string");
    contexts.server = server->ref<std::string>();
  }
  const toml::node* servers = root.get("servers");
  if (servers == nullptr) return contexts;
  if (!servers->is_table()) return wrong("'servers' must be a table");
  for (const auto& [name, node] : *servers->as_table()) {
    const toml::table* entry = node.as_table();
    const auto* authority = entry == nullptr ? nullptr : entry->get_as<std::string>("authority");
    const auto* token = entry == nullptr ? nullptr : entry->get_as<std::string>("token");
    if (authority == nullptr || token == nullptr) {
      return wrong("server '" + std::string(name.str()) +
                   "' needs the texts 'authority' and 'token'");
    }
    Context context{authority->get(), token->get()};
    for (const auto& [key, member] : kOfIssuer) {
      if (const auto* text = entry->get_as<std::string>(key)) context.*member = text->get();
    }
    contexts.servers[std::string(name.str())] = std::move(context);
  }
  return contexts;
}

std::string to_toml(const Contexts& contexts) {
  toml::table servers;
  for (const auto& [name, context] : contexts.servers) {
    toml::table entry{{"authority", context.authority_pem}, {"token", context.token}};
    for (const auto& [key, member] : kOfIssuer) {
      if (!(context.*member).empty()) entry.insert(key, context.*member);
    }
    servers.insert(name, std::move(entry));
  }
  toml::table root;
  if (!contexts.server.empty()) root.insert("server", contexts.server);
  root.insert("servers", std::move(servers));
  std::ostringstream text;
  text << "# Written by 'stripline login'. It holds tokens: keep it to yourself.\n" << root << "\n";
  return text.str();
}

std::filesystem::path contexts_file() {
  std::filesystem::path config = environment_value("XDG_CONFIG_HOME");
  if (config.empty()) config = std::filesystem::path(environment_value("HOME")) / ".config";
  return config / "stripline" / "config.toml";
}

Result<ContextsLock> ContextsLock::acquire() {
  // The longest that one holds it is for two requests to an issuer.
  constexpr std::chrono::seconds kPatience{30};
  constexpr std::chrono::milliseconds kNap{50};
  const std::filesystem::path file = contexts_file();
  STRIPLINE_RETURN_IF_ERROR(pki::make_private_folder(file.parent_path()));
  const std::string path = file.string() + ".lock";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!fd) {
    return Error(ErrorCode::unavailable,
                 "cannot open '" + path + "': " + std::generic_category().message(errno));
  }
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) break;
    if (std::chrono::steady_clock::now() > end) {
      return Error(ErrorCode::deadline_exceeded,
                   "another process of this user keeps '" + path + "' locked; try again");
    }
    std::this_thread::sleep_for(kNap);
  }
  return ContextsLock(std::move(fd));
}

Result<Contexts> read_contexts() {
  const std::filesystem::path file = contexts_file();
  const auto text = pki::read_secret(file);
  if (!text.ok()) {
    if (text.error().code() == ErrorCode::not_found) return Contexts{};
    return text.error();
  }
  auto contexts = parse_contexts(*text);
  if (!contexts.ok()) {
    return Error(ErrorCode::data_loss, "'" + file.string() + "': " + contexts.error().message() +
                                           "; mend it, or remove it and log in again");
  }
  return contexts;
}

Status write_contexts(const Contexts& contexts) {
  const std::filesystem::path file = contexts_file();
  STRIPLINE_RETURN_IF_ERROR(pki::make_private_folder(file.parent_path()));
  return pki::write_secret(file, to_toml(contexts));
}

}  // namespace stripline::cli
