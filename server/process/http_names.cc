#include "server/process/http_names.h"

#include "base/host_name.h"

namespace stripline::server {

Result<std::vector<std::string>> http_names(const ServerOptions& options,
                                            const std::optional<Authority>& authority) {
  std::vector<std::string> names = options.http_names;
  const std::string host = host_name();
  names.push_back(host);
  names.push_back(host.substr(0, host.find('.')));
  names.push_back(options.listen.host);
  if (!authority) return names;
  STRIPLINE_ASSIGN_OR_RETURN(const auto certified, authority->hosts());
  names.insert(names.end(), certified.begin(), certified.end());
  return names;
}

}  // namespace stripline::server
