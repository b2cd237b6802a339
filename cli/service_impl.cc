#include "cli/service_impl.h"

#include <algorithm>
#include <cstdlib>

#include <grpcpp/create_channel.h>

#include "base/pki/dev_token.h"
#include "base/pki/token.h"
#include "cli/issued_token.h"
#include "cli/server_errors.h"
#include "proto/rpc_error.h"

namespace stripline::cli {
namespace {

// Where there are several servers, one that is not reached within this time is passed over.
constexpr double kConnectPatience_s = 3;
// From one try to the next where a server asks for a moment.
constexpr double kLongestNap_s = 5;

grpc::ChannelArguments channel_arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // A server that restarts is noticed soon.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // So is a network that loses packets without a word, and its return: a connection that nothing
  // comes back on ends, and an attempt at another one is given up before TCP's own next try is far
  // off.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 5000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // any number
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetMaxReceiveMessageSize(64 << 20);
  return arguments;
}

std::shared_ptr<grpc::ChannelCredentials> credentials_for(
    const Result<std::optional<Context>>& login) {
  if (!login.ok() || !*login) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = (*login)->authority_pem;
  return grpc::SslCredentials(options);
}

}  // namespace

std::chrono::system_clock::time_point deadline_after(double seconds) {
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(
             std::chrono::duration<double>(seconds));
}

Door::Door(std::string address, Result<std::optional<Context>> login)
    : server(std::move(address)),
      context_of_login(std::move(login)),
      channel(grpc::CreateCustomChannel(server, credentials_for(context_of_login),
                                        channel_arguments())),
      campaigns(v1::Campaigns::NewStub(channel)),
      models(v1::Models::NewStub(channel)) {}

Result<std::string> Door::secret() {
  if (!context_of_login.ok()) return context_of_login.error();
  // Before a login there is an authority alone.
  if (*context_of_login && (*context_of_login)->token.empty()) return std::string();
  if (*context_of_login && !(*context_of_login)->issuer.empty()) {
    // What cannot be renewed is shown as it is: the server judges.
    if ((*context_of_login)->refresh_token.empty()) return (*context_of_login)->token;
    return bearer_of(server, **context_of_login);
  }
  if (*context_of_login) {
    STRIPLINE_ASSIGN_OR_RETURN(const pki::Token token,
                               pki::parse_token((*context_of_login)->token));
    return token.secret;
  }
  const auto address = parse_host_and_port(server);
  return address.ok() ? pki::dev_secret(*address) : std::string();
}

bool Door::is_by_issuer() const {
  return context_of_login.ok() && *context_of_login && !(*context_of_login)->issuer.empty();
}

Status Door::show(grpc::ClientContext& context) {
  STRIPLINE_ASSIGN_OR_RETURN(shown, secret());
  if (!shown.empty()) context.AddMetadata("authorization", "Bearer " + shown);
  return {};
}

bool Door::secret_has_changed() {
  const auto now = secret();
  return now.ok() && *now != shown;
}

bool Door::connects() const {
  return channel->WaitForConnected(deadline_after(kConnectPatience_s));
}

Error Service::Impl::error_of(const grpc::Status& status) {
  const RpcError error = rpc_error_from(status);
  elsewhere = error.reason == "STANDBY" || (error.reason.empty() && may_be_repeated(error.error));
  const bool is_unknown = error.reason == "UNAUTHENTICATED";
  outdated = is_unknown && door().secret_has_changed();
  const auto wait = error.metadata.find("retry_after_s");
  const bool is_early = is_unknown && wait != error.metadata.end();
  soon_s =
      is_early ? std::clamp(std::strtod(wait->second.c_str(), nullptr), 0.0, kLongestNap_s) : 0;
  return explained(error, door().server, door().is_by_issuer());
}

}  // namespace stripline::cli
