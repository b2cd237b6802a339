// Campaigns: what begins streams (campaign_streams.h). The table of calls has the rest.
#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "server/clock.h"
#include "server/core/actions.h"
#include "server/core/coordinator.h"
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

constexpr size_t kMaxWatchers = 4096;
constexpr size_t kWatchesOfPayer = 512;

using Generated = v1::Campaigns;
using CampaignsTable = TableService<Generated::WithCallbackMethod_WatchCampaign<
    Generated::WithCallbackMethod_ExportSamples<Generated::WithCallbackMethod_ExportPlan<
        Generated::WithCallbackMethod_ImportResults<Generated::Service>>>>>;

class CampaignsService final : public CampaignsTable {
 public:
  CampaignsService(const GrpcDoor& door, WatchHub& hub, LongStreams& streams)
      : CampaignsTable(Generated::service_full_name(), door),
        door_(door),
        hub_(hub),
        streams_(streams) {}

  grpc::ServerWriteReactor<v1::CampaignEvent>* WatchCampaign(
      GrpcContext* context, const v1::WatchCampaignRequest* request) override {
    const auto caller = admitted<v1::WatchCampaignRequest>(*context, door_);
    if (!caller) return reject_watch(caller.problem());
    const std::string payer = payer_of(*context, *caller);
    if (const auto refusal = door_.limits.refusal(payer)) return reject_watch(*refusal);
    door_.limits.charge(payer, kCallCost_s);
    if (hub_.listeners() >= kMaxWatchers) {
      return reject_watch({ErrorCode::resource_exhausted,
                           "TOO_MANY_WATCHERS",
                           std::to_string(kMaxWatchers) +
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
    const auto number = number_of_existing(request->name());
    if (!number) return reject_watch(number.problem());
    return watch_campaign(door_.core.store, hub_, *number, request->cursor(), refusal_for(*caller),
                          std::move(place));
  }

  grpc::ServerWriteReactor<v1::SampleChunk>* ExportSamples(
      GrpcContext* context, const v1::ExportSamplesRequest* request) override {
    const auto caller = admitted<v1::ExportSamplesRequest>(*context, door_);
    if (!caller) return reject_export(caller.problem());
    auto place = streams_.admit(payer_of(*context, *caller));
    if (!place) return reject_export(place.problem());
    const auto number = number_of_existing(request->name());
    if (!number) return reject_export(number.problem());
    return export_samples(door_.core.store, streams_, std::move(*place), *number,
                          refusal_for(*caller));
  }

  grpc::ServerWriteReactor<v1::PlanChunk>* ExportPlan(
      GrpcContext* context, const v1::ExportPlanRequest* request) override {
    using Plan = TextReactor<v1::PlanChunk>;
    // NOLINTBEGIN(cppcoreguidelines-owning-memory): reactors own themselves
    const auto caller = admitted<v1::ExportPlanRequest>(*context, door_);
    if (!caller)
      return new RejectReactor<grpc::ServerWriteReactor<v1::PlanChunk>>(caller.problem());
    auto place = streams_.admit(payer_of(*context, *caller));
    if (!place) return new RejectReactor<grpc::ServerWriteReactor<v1::PlanChunk>>(place.problem());
    return new Plan(
        streams_, std::move(*place), [this, asked = *request]() -> Answer<Plan::Content> {
          STRIPLINE_ASSIGN_OR_RETURN(auto text, export_plan(door_.core.coordinator, asked));
          return Plan::Content{{}, std::move(text)};
        });
    // NOLINTEND(cppcoreguidelines-owning-memory)
  }

  grpc::ServerReadReactor<v1::ResultsChunk>* ImportResults(GrpcContext* context,
                                                           v1::Campaign* response) override {
    const auto caller = admitted<v1::ResultsChunk>(*context, door_);
    if (!caller) return reject_results(caller.problem());
    const std::string payer = payer_of(*context, *caller);
    // Before anything of it is kept.
    if (const auto refusal = door_.limits.refusal(payer)) return reject_results(*refusal);
    return read_results(
        response,
        [this, actor = caller->name, payer](const std::string& text) {
          const MeteredCall metered(door_.limits, payer, kCompareCost_s);
          return import_results(door_.core.coordinator, text, actor);
        },
        incoming_, door_.reading, payer);
  }

 private:
  // Problems: INVALID_FIELD, CAMPAIGN_NOT_FOUND.
  Answer<int64_t> number_of_existing(const std::string& name) const {
    STRIPLINE_ASSIGN_OR_RETURN(const auto number, campaign_number(name));
    STRIPLINE_RETURN_IF_ERROR(door_.core.coordinator.campaigns().campaign(number));
    return number;
  }

  // A stream ends with the rights of who has opened it.
  StreamRefusal refusal_for(const Caller& caller) const {
    return [this, caller] { return door_.core.access.refusal_of_stream(caller, unix_seconds()); };
  }

  const GrpcDoor door_;
  WatchHub& hub_;
  LongStreams& streams_;
  Places watches_{kWatchesOfPayer};
  std::atomic<size_t> incoming_ = 0;  // bytes of results that are being read
};

}  // namespace

std::unique_ptr<grpc::Service> make_campaigns_service(const GrpcDoor& door, WatchHub& hub,
                                                      LongStreams& streams) {
  return std::make_unique<CampaignsService>(door, hub, streams);
}

}  // namespace stripline::server
