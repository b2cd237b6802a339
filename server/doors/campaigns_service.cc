// Campaigns: the unary calls. The streams are in campaign_streams.cc.
#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "proto/campaign_messages.h"
#include "server/clock.h"
#include "server/core/actions.h"
#include "server/core/reads.h"
#include "server/core/wire.h"
#include "server/doors/campaign_streams.h"
#include "server/doors/grpc_access.h"
#include "server/doors/rpc_status.h"
#include "server/doors/services.h"
#include "server/doors/unary.h"
#include "server/security/call_limits.h"
#include "stripline/v1/campaigns.grpc.pb.h"

namespace stripline::server {
namespace {

constexpr size_t kMostWatchers = 4096;

class CampaignsService final : public v1::Campaigns::CallbackService {
 public:
  CampaignsService(Coordinator& coordinator, Store& store, WatchHub& hub, const Access& access,
                   CallLimits& limits, ReadingPool& reading, RunResults& results)
      : coordinator_(coordinator),
        store_(store),
        hub_(hub),
        access_(access),
        limits_(limits),
        reading_(reading),
        results_(results) {}

  grpc::ServerUnaryReactor* CreateCampaign(grpc::CallbackServerContext* context,
                                           const v1::CreateCampaignRequest* request,
                                           v1::Campaign* response) override {
    const std::string payer = payer_of(*context, access_);
    if (const auto refusal = limits_.refusal(payer)) return finish(context, rpc_status(*refusal));
    // It is what operators are here for: charged as a call, not by the time that planning takes.
    limits_.charge(payer, kPlanCost_s);
    return finish(context,
                  coordinator_.planning().create_campaign(
                      from_message(request->spec()), request->request_id(),
                      request->validate_only(), caller_of(*context, access_).name),
                  response);
  }

  grpc::ServerUnaryReactor* GetCampaign(grpc::CallbackServerContext* context,
                                        const v1::GetCampaignRequest* request,
                                        v1::Campaign* response) override {
    return finish(context, get_campaign(coordinator_, store_, *request), response);
  }

  grpc::ServerUnaryReactor* CancelCampaign(grpc::CallbackServerContext* context,
                                           const v1::CancelCampaignRequest* request,
                                           v1::Campaign* response) override {
    return finish(context,
                  cancel_campaign(coordinator_, *request, caller_of(*context, access_).name),
                  response);
  }

  grpc::ServerUnaryReactor* EstimateCampaign(grpc::CallbackServerContext* context,
                                             const v1::EstimateCampaignRequest* request,
                                             v1::CampaignEstimate* response) override {
    const std::string payer = payer_of(*context, access_);
    if (const auto refusal = limits_.refusal(payer)) return finish(context, rpc_status(*refusal));
    const MeteredCall metered(limits_, payer, kPlanCost_s);
    return finish(context, estimate_campaign(coordinator_, *request), response);
  }

  grpc::ServerUnaryReactor* CompareCampaigns(grpc::CallbackServerContext* context,
                                             const v1::CompareCampaignsRequest* request,
                                             v1::CompareCampaignsResponse* response) override {
    const std::string payer = payer_of(*context, access_);
    if (const auto refusal = limits_.refusal(payer)) return finish(context, rpc_status(*refusal));
    auto* const reactor = context->DefaultReactor();
    const auto compare = [this, context, request, response, reactor, payer](bool stopping) {
      if (stopping || context->IsCancelled()) {
        return reactor->Finish({grpc::StatusCode::UNAVAILABLE, "the server is stopping"});
      }
      const MeteredCall metered(limits_, payer, kCompareCost_s);
      auto compared = compare_campaigns(store_, results_, *request);
      if (!compared) return reactor->Finish(rpc_status(compared.problem()));
      *response = std::move(*compared);
      reactor->Finish(grpc::Status::OK);
    };
    // It ends on a thread of the pool, unless that has no room.
    if (const auto refusal = reading_.submit(payer, compare)) {
      reactor->Finish(rpc_status(*refusal));
    }
    return reactor;
  }

  grpc::ServerUnaryReactor* PauseCampaign(grpc::CallbackServerContext* context,
                                          const v1::PauseCampaignRequest* request,
                                          v1::Campaign* response) override {
    return finish(context,
                  pause_campaign(coordinator_, *request, caller_of(*context, access_).name),
                  response);
  }

  grpc::ServerUnaryReactor* ResumeCampaign(grpc::CallbackServerContext* context,
                                           const v1::ResumeCampaignRequest* request,
                                           v1::Campaign* response) override {
    return finish(context,
                  resume_campaign(coordinator_, *request, caller_of(*context, access_).name),
                  response);
  }

  grpc::ServerUnaryReactor* RetryCampaign(grpc::CallbackServerContext* context,
                                          const v1::RetryCampaignRequest* request,
                                          v1::Campaign* response) override {
    return finish(context,
                  retry_campaign(coordinator_, *request, caller_of(*context, access_).name),
                  response);
  }

  grpc::ServerUnaryReactor* LabelCampaign(grpc::CallbackServerContext* context,
                                          const v1::LabelCampaignRequest* request,
                                          v1::Campaign* response) override {
    return finish(context,
                  label_campaign(coordinator_, *request, caller_of(*context, access_).name),
                  response);
  }

  grpc::ServerUnaryReactor* DeleteCampaign(grpc::CallbackServerContext* context,
                                           const v1::DeleteCampaignRequest* request,
                                           v1::DeleteCampaignResponse* response) override {
    return finish(context,
                  delete_campaign(coordinator_, *request, caller_of(*context, access_).name),
                  response);
  }

  grpc::ServerUnaryReactor* ListCampaigns(grpc::CallbackServerContext* context,
                                          const v1::ListCampaignsRequest* request,
                                          v1::ListCampaignsResponse* response) override {
    const std::string payer = payer_of(*context, access_);
    if (const auto refusal = limits_.refusal(payer)) return finish(context, rpc_status(*refusal));
    const MeteredCall metered(limits_, payer);
    return finish(context, list_campaigns(coordinator_, *request), response);
  }

  grpc::ServerUnaryReactor* ListPoints(grpc::CallbackServerContext* context,
                                       const v1::ListPointsRequest* request,
                                       v1::ListPointsResponse* response) override {
    const std::string payer = payer_of(*context, access_);
    if (const auto refusal = limits_.refusal(payer)) return finish(context, rpc_status(*refusal));
    const MeteredCall metered(limits_, payer);
    return finish(context, list_points(coordinator_, store_, *request), response);
  }

  grpc::ServerWriteReactor<v1::CampaignEvent>* WatchCampaign(
      grpc::CallbackServerContext* context, const v1::WatchCampaignRequest* request) override {
    const std::string payer = payer_of(*context, access_);
    if (const auto refusal = limits_.refusal(payer)) return reject_watch(*refusal);
    limits_.charge(payer, kCallCost_s);
    if (hub_.listeners() >= kMostWatchers) {
      return reject_watch({ErrorCode::resource_exhausted,
                           "TOO_MANY_WATCHERS",
                           std::to_string(kMostWatchers) +
                               " watch campaigns already; ask for the campaign's state instead",
                           {}});
    }
    const auto number = campaign_number(request->name());
    const auto campaign = number ? coordinator_.campaigns().campaign(*number) : number.problem();
    if (!campaign) return reject_watch(campaign.problem());
    return watch_campaign(store_, hub_, *number, request->cursor(), refusal_for(*context));
  }

  grpc::ServerWriteReactor<v1::SampleChunk>* ExportSamples(
      grpc::CallbackServerContext* context, const v1::ExportSamplesRequest* request) override {
    const std::string payer = payer_of(*context, access_);
    if (const auto refusal = limits_.refusal(payer)) return reject_export(*refusal);
    limits_.charge(payer, kCallCost_s);
    const auto number = campaign_number(request->name());
    const auto campaign = number ? coordinator_.campaigns().campaign(*number) : number.problem();
    if (!campaign) return reject_export(campaign.problem());
    return export_samples(store_, *number, refusal_for(*context));
  }

  grpc::ServerWriteReactor<v1::PlanChunk>* ExportPlan(
      grpc::CallbackServerContext* context, const v1::ExportPlanRequest* request) override {
    const std::string payer = payer_of(*context, access_);
    if (const auto refusal = limits_.refusal(payer)) return reject_plan(*refusal);
    const MeteredCall metered(limits_, payer, kPlanCost_s);
    const auto plan = export_plan(coordinator_, *request);
    return plan ? write_plan(*plan) : reject_plan(plan.problem());
  }

  grpc::ServerReadReactor<v1::ResultsChunk>* ImportResults(grpc::CallbackServerContext* context,
                                                           v1::Campaign* response) override {
    const std::string payer = payer_of(*context, access_);
    // Before anything of it is kept.
    if (const auto refusal = limits_.refusal(payer)) return reject_results(*refusal);
    return read_results(
        response,
        [this, context, payer](const std::string& text) {
          const MeteredCall metered(limits_, payer, kCompareCost_s);
          return import_results(coordinator_, text, caller_of(*context, access_).name);
        },
        incoming_);
  }

 private:
  // A stream ends with the rights of who has opened it.
  StreamRefusal refusal_for(const grpc::CallbackServerContext& context) const {
    return [this, caller = caller_of(context, access_)] {
      return access_.refusal_of_stream(caller, unix_seconds());
    };
  }

  Coordinator& coordinator_;
  Store& store_;
  WatchHub& hub_;
  const Access& access_;
  CallLimits& limits_;
  ReadingPool& reading_;
  RunResults& results_;
  std::atomic<size_t> incoming_ = 0;  // bytes of results that are being read
};

}  // namespace

std::unique_ptr<grpc::Service> make_campaigns_service(Coordinator& coordinator, Store& store,
                                                      WatchHub& hub, const Access& access,
                                                      CallLimits& limits, ReadingPool& reading,
                                                      RunResults& results) {
  return std::make_unique<CampaignsService>(coordinator, store, hub, access, limits, reading,
                                            results);
}

}  // namespace stripline::server
