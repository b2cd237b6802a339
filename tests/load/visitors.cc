#include "tests/load/visitors.h"

#include <httplib.h>
#include <memory>
#include <poll.h>
#include <random>
#include <utility>
#include <variant>

#include <grpcpp/grpcpp.h>

#include "agent/credentials.h"
#include "agent/link.h"
#include "base/clock.h"
#include "base/json.h"
#include "server/testing/http_attacks.h"
#include "stripline/v1/agents.grpc.pb.h"
#include "stripline/v1/campaigns.grpc.pb.h"
#include "stripline/v1/fleet.grpc.pb.h"
#include "tests/load/visitor_calls.h"

namespace stripline::load {
namespace {

constexpr double kLookEvery_s = 5;  // a page that is open asks again
constexpr double kStream_s = 60;    // then another campaign is followed
constexpr size_t kMostFailuresKept = 10;

// The name of the first campaign of a list in JSON; empty: there is none.
std::string first_campaign(const std::string& list) {
  const auto json = parse_json(list, "campaigns");
  if (!json.ok() || !json->contains("campaigns") || json->at("campaigns").empty()) return "";
  return json->at("campaigns").front().value("name", "");
}

std::string browser_address(size_t browser) {
  return "127.0.3." + std::to_string(1 + browser % 250);
}

}  // namespace

const char* name_of(Attacker attacker) {
  switch (attacker) {
    case Attacker::stranger:
      return "a stranger";
    case Attacker::node:
      return "a node";
    case Attacker::viewer:
      return "a viewer";
    case Attacker::operating:
      return "an operator";
    case Attacker::page:
      return "a page of elsewhere";
  }
  return "";
}

Visitors::Visitors(Visited visited) : visited_(std::move(visited)) {}

Visitors::~Visitors() { stop(); }

void Visitors::begin_browsers() {
  for (size_t browser = 0; browser < visited_.browser_secrets.size(); ++browser) {
    threads_.emplace_back([this, browser](const std::stop_token& stop) { browse(stop, browser); });
    threads_.emplace_back([this, browser](const std::stop_token& stop) { follow(stop, browser); });
  }
}

void Visitors::begin(Attacker attacker) {
  switch (attacker) {
    case Attacker::stranger:
      threads_.emplace_back([this](const std::stop_token& stop) { attack_as_stranger(stop); });
      return;
    case Attacker::node:
      threads_.emplace_back([this](const std::stop_token& stop) { attack_as_node(stop); });
      return;
    case Attacker::viewer:
      for (size_t thread = 0; thread < WorstViewer::kThreads; ++thread) {
        threads_.emplace_back(
            [this, thread](const std::stop_token& stop) { viewer_.act(thread, stop); });
      }
      return;
    case Attacker::operating:
      threads_.emplace_back([this](const std::stop_token& stop) { attack_as_operator(stop); });
      return;
    case Attacker::page:
      threads_.emplace_back([this](const std::stop_token& stop) { attack_as_page(stop); });
      return;
  }
}

std::string Visitors::newest() {
  const std::lock_guard lock(mutex_);
  return newest_;
}

void Visitors::stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();  // joins
}

// What the pages ask for, one after the other on one connection.
void Visitors::browse(const std::stop_token& stop, size_t browser) {
  lower_priority();
  httplib::Client client =
      client_of(pages_of(visited_), browser_address(browser), visited_.browser_secrets[browser]);
  // The body; empty if there is none.
  const auto look = [&](const std::string& path) -> std::string {
    const double began_s = steady_seconds();
    httplib::Result answer = client.Get(path);
    // As browsers do where a connection that was kept has been closed meanwhile.
    if (!answer && !stop.stop_requested()) answer = client.Get(path);
    const double took_s = steady_seconds() - began_s;
    if (stop.stop_requested()) return "";
    const int status = answer ? answer->status : -1;
    const std::lock_guard lock(mutex_);
    if (status == 200) {
      page_loads_.answers.push_back({began_s + took_s, took_s});
      return answer->body;
    }
    if (status == 429 || status == 503) {
      ++page_loads_.deferred;
    } else {
      ++page_loads_.failed;
      if (page_loads_.failures.size() < kMostFailuresKept) {
        page_loads_.failures.push_back(path + ": " + std::to_string(status));
      }
    }
    return "";
  };
  std::mt19937 random(static_cast<uint32_t>(browser));
  std::uniform_real_distribution<double> spread(0.5, 1.5);
  // Not all at once.
  if (!pause(stop, kLookEvery_s * (spread(random) - 0.5))) return;
  look("/");
  do {
    look("/api/v1/whoami");
    look("/api/v1/status");
    look("/api/v1/nodes?page_size=100");
    const std::string campaign = first_campaign(look("/api/v1/campaigns?page_size=50"));
    if (campaign.empty()) continue;
    {
      const std::lock_guard lock(mutex_);
      newest_ = campaign.substr(campaign.find('/') + 1);
    }
    look("/api/v1/" + campaign);
    look("/api/v1/" + campaign + "/points/summary");
    look("/api/v1/" + campaign + "/runs");
  } while (pause(stop, kLookEvery_s * spread(random)));
}

// The one stream that a browser holds.
void Visitors::follow(const std::stop_token& stop, size_t browser) {
  lower_priority();
  while (pause(stop, 1)) {
    const std::string campaign = newest();
    if (campaign.empty()) continue;
    httplib::Client client =
        client_of(pages_of(visited_), browser_address(browser), visited_.browser_secrets[browser]);
    const std::stop_callback end(stop, [&] { client.stop(); });
    const double until_s = steady_seconds() + kStream_s;
    const std::string path = "/api/v1/events?after=" + campaign + ":0";
    const httplib::Result answer =
        client.Get(path, httplib::ContentReceiver([&](const char* /*data*/, size_t /*size*/) {
                     const std::lock_guard lock(mutex_);
                     ++page_loads_.streamed;
                     return !stop.stop_requested() && steady_seconds() < until_s;
                   }));
    if (!answer || answer->status == 200) continue;
    const std::lock_guard lock(mutex_);
    ++page_loads_.failed;
    if (page_loads_.failures.size() < kMostFailuresKept) {
      page_loads_.failures.push_back(path + ": " + std::to_string(answer->status));
    }
  }
}

// Everything that is tried against doors of HTTP, at both, and names of megabytes to enrol.
void Visitors::attack_as_stranger(const std::stop_token& stop) {
  lower_priority();
  const std::string from = "127.0.2.1";
  const std::array doors = {
      server::HttpDoor{"pages", visited_.pages_port, true, "/", from},
      server::HttpDoor{"metrics", visited_.metrics_port, false, "/metrics", from}};
  const auto agents = v1::Agents::NewStub(channel_to(visited_));
  const auto attacks = server::http_attacks();
  while (!stop.stop_requested()) {
    for (const server::HttpAttack& attack : attacks) {
      for (const server::HttpDoor& door : doors) {
        const server::RudeCallers callers = attack.act(door);
        if (!pause(stop, 0.2)) return;
      }
    }
    for (int i = 0; i < 20; ++i) {
      v1::EnrollRequest request;
      request.set_token("stripline.none");
      request.set_node(std::string(size_t{1} << 20, 'n'));
      grpc::ClientContext context;
      show(context, "");
      v1::EnrollResponse response;
      (void)agents->Enroll(&context, request, &response);
      if (!pause(stop, kBetweenCalls_s)) return;
    }
    count_round(Attacker::stranger);
  }
}

// Signs of life, samples and failures of a run that is another's, and reports of runs without end.
void Visitors::attack_as_node(const std::stop_token& stop) {
  lower_priority();
  const agent::Credentials credentials(visited_.node_identity);
  agent::Link link({visited_.agents}, credentials);
  const AssignmentId foreign{"campaigns/c3/runs/1", 1};
  const auto samples = std::make_shared<const std::string>(std::string(size_t{100} << 10, '['));
  const std::string report(size_t{100} << 10, 'r');
  while (!stop.stop_requested()) {
    link.open(visited_.hello);
    const double end_s = steady_seconds() + 5;
    uint64_t seq = 0;
    for (bool open = true; open && steady_seconds() < end_s && !stop.stop_requested();) {
      // What the server does not take is not piled up here.
      if (link.is_drained()) {
        link.send(Heartbeat{foreign});
        link.send(SampleBatch{foreign, ++seq, samples, 1, 1});
        link.send(FeedbackReport{report});
        link.send(AssignmentUpdate{foreign, AssignmentUpdate::State::failed, "internal", report});
      }
      pollfd waits{link.fd(), link.poll_events(), 0};
      if (::poll(&waits, 1, 10) > 0) link.on_ready();
      for (const agent::LinkEvent& event : link.take_events()) {
        if (std::holds_alternative<agent::LinkClosed>(event)) open = false;
      }
    }
    link.abandon();
    count_round(Attacker::node);
    if (!pause(stop, 0.1)) return;
  }
}

// Plans of many points, and campaigns under the names of requests that the server makes itself.
void Visitors::attack_as_operator(const std::stop_token& stop) {
  lower_priority();
  const auto channel = channel_to(visited_);
  const auto campaigns = v1::Campaigns::NewStub(channel);
  const auto fleet = v1::Fleet::NewStub(channel);
  const std::string node = "nodes/" + visited_.hello.node;
  v1::CampaignSpec large;
  large.set_fabric("tcp");
  large.add_experiments(visited_.large_experiment);
  large.set_effort(v1::CampaignSpec::FULL);
  large.set_time_budget_s(86400);
  v1::CampaignSpec own = large;
  own.set_fabric(visited_.hello.fabrics.front());
  own.add_only_nodes(node);
  own.set_nodes(1);
  while (!stop.stop_requested()) {
    {
      v1::EstimateCampaignRequest request;
      *request.mutable_spec() = large;
      grpc::ClientContext context;
      show(context, visited_.operator_secret);
      v1::CampaignEstimate estimate;
      (void)campaigns->EstimateCampaign(&context, request, &estimate);
    }
    for (int i = 0; i < 10; ++i) {
      v1::CreateCampaignRequest request;
      *request.mutable_spec() = i % 2 == 0 ? large : own;
      request.set_validate_only(i % 2 == 0);
      request.set_request_id("models/tcp/versions/1/sentinels/1-" + std::to_string(i));
      grpc::ClientContext context;
      show(context, visited_.operator_secret);
      v1::Campaign created;
      const bool made = campaigns->CreateCampaign(&context, request, &created).ok();
      if (!pause(stop, kBetweenCalls_s)) return;
      if (!made || request.validate_only()) continue;
      v1::CancelCampaignRequest cancel;
      cancel.set_name(created.name());
      grpc::ClientContext cancelling;
      show(cancelling, visited_.operator_secret);
      (void)campaigns->CancelCampaign(&cancelling, cancel, &created);
      v1::DeleteCampaignRequest remove;
      remove.set_name(created.name());
      grpc::ClientContext removing;
      show(removing, visited_.operator_secret);
      v1::DeleteCampaignResponse removed;
      (void)campaigns->DeleteCampaign(&removing, remove, &removed);
    }
    v1::CordonNodeRequest cordon;
    cordon.set_name(node);
    cordon.set_reason(std::string(size_t{1} << 20, 'r'));
    grpc::ClientContext context;
    show(context, visited_.operator_secret);
    v1::Node held;
    (void)fleet->CordonNode(&context, cordon, &held);
    count_round(Attacker::operating);
    if (!pause(stop, kBetweenCalls_s)) return;
  }
}

// What a page of another site can have a browser send: it has no token, and cannot leave out
// Origin.
void Visitors::attack_as_page(const std::stop_token& stop) {
  lower_priority();
  const std::string from = "127.0.2.5";
  httplib::Client client = client_of(pages_of(visited_), from, "");
  httplib::Client metrics =
      client_of("http://127.0.0.1:" + std::to_string(visited_.metrics_port), from, "");
  const httplib::Headers rebound = {{"Host", "evil.example:8000"},
                                    {"Origin", "http://evil.example:8000"}};
  const httplib::Headers elsewhere = {{"Origin", "http://evil.example"}};
  while (!stop.stop_requested()) {
    for (const httplib::Headers& headers : {rebound, elsewhere}) {
      (void)client.Post("/api/v1/nodes/n0/cordon", headers, "{}", "application/json");
      (void)client.Post("/api/v1/campaigns", headers, std::string(size_t{60} << 10, '['),
                        "text/plain");
      (void)client.Get("/api/v1/nodes", headers);
      (void)client.Get("/api/v1/events?after=c1:0", headers);
      (void)metrics.Get("/metrics", headers);
      if (!pause(stop, kBetweenCalls_s)) return;
    }
    count_round(Attacker::page);
  }
}

}  // namespace stripline::load
