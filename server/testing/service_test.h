// A real server on a loopback port with short times, and stubs to call it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "base/testing/processes.h"
#include "proto/rpc_error.h"
#include "server/process/server.h"
#include "server/testing/agent_client.h"
#include "stripline/v1/campaigns.grpc.pb.h"
#include "stripline/v1/fleet.grpc.pb.h"
#include "stripline/v1/models.grpc.pb.h"

namespace stripline::server {

// How much longer than usual an agent may take to answer: ThreadSanitizer reports thousands of
// races inside gRPC meanwhile.
#ifdef STRIPLINE_TSAN
inline constexpr double kSlowness = 5;
#else
inline constexpr double kSlowness = 1;
#endif

class ServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.data_dir = folder_.path();
    options_.listen = {"127.0.0.1", 0};
    options_.coordinator.heartbeat_interval_s = 0.3 * kSlowness;
    options_.coordinator.lease_s = 0.8 * kSlowness;
    options_.coordinator.join_timeout_s = 1.0 * kSlowness;
    options_.coordinator.retry_pause_s = 0.02;
    start();
  }

  void start() {
    auto server = Server::start(options_);
    ASSERT_TRUE(server.ok()) << server.error().message();
    server_ = std::make_unique<Server>(std::move(*server));
    connect(server_->address().text());
  }

  void connect(const std::string& address) {
    address_ = address;
    channel_ = grpc::CreateChannel(address_, grpc::InsecureChannelCredentials());
    campaigns_ = v1::Campaigns::NewStub(channel_);
    models_ = v1::Models::NewStub(channel_);
    fleet_ = v1::Fleet::NewStub(channel_);
  }

  /// A spec whose campaign makes two runs of one experiment that feeds no model.
  static v1::CampaignSpec small_spec(uint32_t runs = 1) {
    v1::CampaignSpec spec = model_spec(runs);
    spec.add_experiments("kernel.loop");
    return spec;
  }

  /// A spec whose campaign makes a model, of this number of runs; 0: as budgets allow.
  static v1::CampaignSpec model_spec(uint32_t runs = 0) {
    v1::CampaignSpec spec;
    spec.set_fabric("tcp");
    spec.set_runs(runs);
    return spec;
  }

  grpc::Status create(const v1::CampaignSpec& spec, v1::Campaign& campaign,
                      const std::string& request_id = "", bool validate_only = false) {
    v1::CreateCampaignRequest request;
    *request.mutable_spec() = spec;
    request.set_request_id(request_id);
    request.set_validate_only(validate_only);
    grpc::ClientContext context;
    return campaigns_->CreateCampaign(&context, request, &campaign);
  }

  v1::Campaign created(const v1::CampaignSpec& spec) {
    v1::Campaign campaign;
    const grpc::Status status = create(spec, campaign);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return campaign;
  }

  v1::Campaign get(const std::string& name) {
    v1::GetCampaignRequest request;
    request.set_name(name);
    v1::Campaign campaign;
    grpc::ClientContext context;
    const grpc::Status status = campaigns_->GetCampaign(&context, request, &campaign);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return campaign;
  }

  grpc::Status cancel(const std::string& name, v1::Campaign& campaign) {
    v1::CancelCampaignRequest request;
    request.set_name(name);
    grpc::ClientContext context;
    return campaigns_->CancelCampaign(&context, request, &campaign);
  }

  /// All events from `cursor` to the end of the campaign.
  std::vector<v1::CampaignEvent> watch(const std::string& name, uint64_t cursor = 0) {
    v1::WatchCampaignRequest request;
    request.set_name(name);
    request.set_cursor(cursor);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::duration_cast<std::chrono::system_clock::duration>(
                             std::chrono::duration<double>(kSlowness * 40)));
    const auto reader = campaigns_->WatchCampaign(&context, request);
    std::vector<v1::CampaignEvent> events;
    v1::CampaignEvent event;
    while (reader->Read(&event)) events.push_back(event);
    const grpc::Status status = reader->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return events;
  }

  /// The exported series.
  std::vector<Json> exported(const std::string& name) {
    v1::ExportSamplesRequest request;
    request.set_name(name);
    grpc::ClientContext context;
    const auto reader = campaigns_->ExportSamples(&context, request);
    std::string text;
    v1::SampleChunk chunk;
    while (reader->Read(&chunk)) text += chunk.data();
    EXPECT_TRUE(reader->Finish().ok());
    std::vector<Json> series;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      series.push_back(Json::parse(text.substr(begin, end - begin)));
      begin = end + 1;
    }
    return series;
  }

  /// An empty one if there is none.
  v1::Node node(const std::string& name) {
    v1::GetNodeRequest request;
    request.set_name(name);
    v1::Node node;
    grpc::ClientContext context;
    return fleet_->GetNode(&context, request, &node).ok() ? node : v1::Node();
  }
  v1::Node::State node_state(const std::string& name) { return node(name).state(); }

  /// Polls until it holds; false after the tests' patience.
  static bool eventually(const std::function<bool()>& condition) {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(kTestPatienceS);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
  }

  bool connected(const std::vector<std::string>& nodes) {
    return eventually([&] {
      for (const std::string& node : nodes) {
        const auto state = node_state("nodes/" + node);
        if (state != v1::Node::IDLE && state != v1::Node::BUSY) return false;
      }
      return true;
    });
  }

  /// Agents of the nodes a and b.
  void start_agents(const AutoAgent::Options& options = {}) {
    for (const char* node : {"a", "b"}) {
      agents_.push_back(std::make_unique<AutoAgent>(address_, node, options));
    }
    ASSERT_TRUE(connected({"a", "b"}));
  }

  /// The file of a version.
  std::string fetched(const std::string& version) {
    v1::FetchModelVersionRequest request;
    request.set_name(version);
    grpc::ClientContext context;
    const auto reader = models_->FetchModelVersion(&context, request);
    std::string text;
    v1::ModelChunk chunk;
    while (reader->Read(&chunk)) text += chunk.data();
    EXPECT_TRUE(reader->Finish().ok());
    return text;
  }

  static std::string reason_of(const grpc::Status& status) { return rpc_error_from(status).reason; }

  TempFolder folder_;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
  std::string address_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Campaigns::Stub> campaigns_;
  std::unique_ptr<v1::Models::Stub> models_;
  std::unique_ptr<v1::Fleet::Stub> fleet_;
  std::vector<std::unique_ptr<AutoAgent>> agents_;  // which end before their server
};

}  // namespace stripline::server
