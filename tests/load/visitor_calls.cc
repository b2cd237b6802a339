#include "tests/load/visitor_calls.h"

#include <algorithm>
#include <chrono>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "base/clock.h"
#include "server/testing/http_client.h"

namespace stripline::load {
namespace {

constexpr std::chrono::seconds kCall{20};
constexpr int kLowerPriority = 10;

}  // namespace

void lower_priority() {
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kLowerPriority);
}

bool pause(const std::stop_token& stop, double seconds) {
  const double end = steady_seconds() + seconds;
  while (!stop.stop_requested()) {
    const double left_s = end - steady_seconds();
    if (left_s <= 0) return true;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left_s, 0.05)));
  }
  return false;
}

std::string pages_of(const Visited& visited) {
  return "https://127.0.0.1:" + std::to_string(visited.pages_port);
}

httplib::Client client_of(const std::string& url, const std::string& from,
                          const std::string& secret) {
  httplib::Client client = server::http_client(url);
  client.enable_server_certificate_verification(false);
  client.set_keep_alive(true);
  client.set_interface(from);
  if (!secret.empty()) client.set_default_headers({{"Authorization", "Bearer " + secret}});
  return client;
}

std::shared_ptr<grpc::Channel> channel_to(const Visited& visited) {
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = visited.authority_pem;
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(visited.agents.text(), grpc::SslCredentials(options), arguments);
}

void show(grpc::ClientContext& context, const std::string& secret) {
  if (!secret.empty()) context.AddMetadata("authorization", "Bearer " + secret);
  context.set_deadline(std::chrono::system_clock::now() + kCall);
}

}  // namespace stripline::load
