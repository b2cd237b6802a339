// Campaigns: what begins streams (campaign_streams.h), and a comparison, which is worked out in the
// pool for long reads. The table of calls has the rest.
#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "server/clock.h"
#include "server/core/actions.h"
#include "server/core/reads.h"
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
constexpr size_t kWatchesOfPayer = 512;

using Generated = v1::Campaigns;
using CampaignsTable = TableService<
    Generated::WithCallbackMethod_CompareCampaigns<Generated::WithCallbackMethod_WatchCampaign<
        Generated::WithCallbackMethod_ExportSamples<Generated::WithCallbackMethod_ExportPlan<
            Generated::WithCallbackMethod_ImportResults<Generated::Service>>>>>>;

class CampaignsService final : public CampaignsTable {
 public:
  CampaignsService(const Core& core, WatchHub& hub, CallLimits& limits, ReadingPool& reading,
                   LongStreams& streams, RunResults& results)
      : CampaignsTable(Generated::service_full_name(), core, limits, reading),
        core_(core),
        hub_(hub),
        limits_(limits),
        reading_(reading),
        streams_(streams),
        results_(results) {}

  Unary* CompareCampaigns(GrpcContext* context, const v1::CompareCampaignsRequest* request,
                          v1::CompareCampaignsResponse* response) override {
    return carry_out_in_pool(context, core_, limits_, reading_, kCompareCost_s,
                             [this, request, response]() -> grpc::Status {
                               auto compared = compare_campaigns(core_.store, results_, *request);
                               if (!compared) return rpc_status(compared.problem());
                               *response = std::move(*compared);
                               return grpc::Status::OK;
                             });
  }

  grpc::ServerWriteReactor<v1::CampaignEvent>* WatchCampaign(
      GrpcContext* context, const v1::WatchCampaignRequest* request) override {
    const std::string payer = payer_of(*context, core_.access);
    if (const auto refusal = limits_.refusal(payer)) return reject_watch(*refusal);
    limits_.charge(payer, kCallCost_s);
    if (hub_.listeners() >= kMostWatchers) {
      return reject_watch({ErrorCode::resource_exhausted,
                           "TOO_MANY_WATCHERS",
                           std::to_string(kMostWatchers) +
                               " watch campaigns already; ask for the campaign's state instead",
                           {}});
    }
    auto place = watches_.take(payer);
    if (!place) {
      return reject_watch({ErrorCode::resource_exhausted,
                           "TOO_MANY_WATCHERS",
                           payer + " watches campaigns by " + std::to_string(kWatchesOfPayer) +
                               " streams already, the maximum number for one caller; ask for the "
                               "campaign's state instead",
                           {}});
    }
    const auto number = campaign_number(request->name());
    const auto campaign =
        number ? core_.coordinator.campaigns().campaign(*number) : number.problem();
    if (!campaign) return reject_watch(campaign.problem());
    return watch_campaign(core_.store, hub_, *number, request->cursor(), refusal_for(*context),
                          std::move(place));
  }

  grpc::ServerWriteReactor<v1::SampleChunk>* ExportSamples(
      GrpcContext* context, const v1::ExportSamplesRequest* request) override {
    auto admitted = streams_.admit(payer_of(*context, core_.access));
    if (!admitted) return reject_export(admitted.problem());
    const auto number = campaign_number(request->name());
    const auto campaign =
        number ? core_.coordinator.campaigns().campaign(*number) : number.problem();
    if (!campaign) return reject_export(campaign.problem());
    return export_samples(core_.store, streams_, std::move(*admitted), *number,
                          refusal_for(*context));
  }

  grpc::ServerWriteReactor<v1::PlanChunk>* ExportPlan(
      GrpcContext* context, const v1::ExportPlanRequest* request) override {
    using Plan = TextReactor<v1::PlanChunk>;
    auto admitted = streams_.admit(payer_of(*context, core_.access));
    // NOLINTBEGIN(cppcoreguidelines-owning-memory): reactors own themselves
    if (!admitted) return new RejectReactor<v1::PlanChunk>(admitted.problem());
    return new Plan(streams_, std::move(*admitted),
                    [this, asked = *request]() -> Answer<Plan::Content> {
                      STRIPLINE_ASSIGN_OR_RETURN(auto text, export_plan(core_.coordinator, asked));
                      return Plan::Content{{}, std::move(text)};
                    });
    // NOLINTEND(cppcoreguidelines-owning-memory)
  }

  grpc::ServerReadReactor<v1::ResultsChunk>* ImportResults(GrpcContext* context,
                                                           v1::Campaign* response) override {
    const std::string payer = payer_of(*context, core_.access);
    // Before anything of it is kept.
    if (const auto refusal = limits_.refusal(payer)) return reject_results(*refusal);
    return read_results(
        response,
        [this, context, payer](const std::string& text) {
          const MeteredCall metered(limits_, payer, kCompareCost_s);
          return import_results(core_.coordinator, text, caller_of(*context, core_.access).name);
        },
        incoming_, reading_, payer);
  }

 private:
  // A stream ends with the rights of who has opened it.
  StreamRefusal refusal_for(const GrpcContext& context) const {
    return [this, caller = caller_of(context, core_.access)] {
      return core_.access.refusal_of_stream(caller, unix_seconds());
    };
  }

  const Core core_;
  WatchHub& hub_;
  CallLimits& limits_;
  ReadingPool& reading_;
  LongStreams& streams_;
  RunResults& results_;
  Places watches_{kWatchesOfPayer};
  std::atomic<size_t> incoming_ = 0;  // bytes of results that are being read
};

}  // namespace

std::unique_ptr<grpc::Service> make_campaigns_service(const Core& core, WatchHub& hub,
                                                      CallLimits& limits, ReadingPool& reading,
                                                      LongStreams& streams, RunResults& results) {
  return std::make_unique<CampaignsService>(core, hub, limits, reading, streams, results);
}

}  // namespace stripline::server
