#include "server/process/initialise.h"

#include <algorithm>
#include <utility>

#include "base/host_name.h"
#include "base/pki/secret_file.h"
#include "server/security/access.h"
#include "server/store/data_folder.h"

namespace stripline::server {
namespace {

constexpr double kAdminTokenValid_s = 365.0 * 86400;

}  // namespace

Result<Initialised> initialise(const std::filesystem::path& data_dir,
                               std::vector<std::string> hosts, double now_unix_s,
                               const StoreLocation& location) {
  STRIPLINE_RETURN_IF_ERROR(make_data_folder(data_dir));
  if (hosts.empty()) hosts.push_back(host_name());
  for (const char* local : {"localhost", "127.0.0.1", "::1"}) {
    if (std::find(hosts.begin(), hosts.end(), local) == hosts.end()) hosts.emplace_back(local);
  }
  STRIPLINE_ASSIGN_OR_RETURN(auto store, open_store(location.or_folder(data_dir)));
  STRIPLINE_ASSIGN_OR_RETURN(Authority authority, Authority::create(data_dir, hosts, now_unix_s));
  STRIPLINE_ASSIGN_OR_RETURN(Access access, Access::with_authority(*store, std::move(authority)));
  const Caller installer{"users/installer", Role::admin};
  const auto admin =
      access.create_token(installer, Role::admin, "admin", kAdminTokenValid_s, now_unix_s);
  if (!admin) return Error(admin.problem().code, admin.problem().message);
  const auto node = access.create_token(installer, Role::agent, "", 0, now_unix_s);
  if (!node) return Error(node.problem().code, node.problem().message);
  Initialised made{hosts.front(), data_dir / "admin.token", data_dir / "node.token"};
  STRIPLINE_RETURN_IF_ERROR(pki::write_secret(made.admin_token_file, admin->text + "\n"));
  STRIPLINE_RETURN_IF_ERROR(pki::write_secret(made.node_token_file, node->text + "\n"));
  return made;
}

}  // namespace stripline::server
