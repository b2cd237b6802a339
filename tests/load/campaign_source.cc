#include "tests/load/campaign_source.h"

#include <chrono>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "stripline/v1/campaigns.grpc.pb.h"
#include "tests/load/campaign_request.h"

namespace stripline::load {

CampaignSource::CampaignSource(Options options)
    : options_(std::move(options)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

std::vector<std::string> CampaignSource::failures() const {
  const std::lock_guard lock(mutex_);
  return failures_;
}

void CampaignSource::fail(const std::string& why) {
  const std::lock_guard lock(mutex_);
  failures_.push_back(why);
}

void CampaignSource::run(const std::stop_token& stop) {
  grpc::SslCredentialsOptions credentials;
  credentials.pem_root_certs = options_.authority_pem;
  const auto stub = v1::Campaigns::NewStub(
      grpc::CreateChannel(options_.server, grpc::SslCredentials(credentials)));
  const auto show = [&](grpc::ClientContext& context) {
    context.AddMetadata("authorization", "Bearer " + options_.secret);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  };
  std::vector<std::string> open;
  while (!stop.stop_requested()) {
    std::erase_if(open, [&](const std::string& name) {
      v1::GetCampaignRequest request;
      request.set_name(name);
      grpc::ClientContext context;
      show(context);
      v1::Campaign campaign;
      if (const auto status = stub->GetCampaign(&context, request, &campaign); !status.ok()) {
        fail("GetCampaign: " + status.error_message());
        return false;
      }
      if (campaign.state() < v1::Campaign::SUCCEEDED) return false;
      if (campaign.state() != v1::Campaign::SUCCEEDED) {
        fail(name + " is " + v1::Campaign::State_Name(campaign.state()) + ": " +
             campaign.message());
      }
      samples_ += campaign.samples();
      return true;
    });
    while (!ending_ && open.size() < options_.at_a_time && !stop.stop_requested()) {
      const v1::CreateCampaignRequest request = campaign_request(options_.experiment);
      grpc::ClientContext context;
      show(context);
      v1::Campaign campaign;
      if (const auto status = stub->CreateCampaign(&context, request, &campaign); !status.ok()) {
        fail("CreateCampaign: " + status.error_message());
        break;
      }
      ++created_;
      open.push_back(campaign.name());
    }
    if (ending_ && open.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  ended_ = true;
}

}  // namespace stripline::load
