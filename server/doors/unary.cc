#include "server/doors/unary.h"

#include <google/protobuf/descriptor.h>

namespace stripline::server {

std::optional<Problem> begin_charge(const std::string& payer, CallLimits& limits,
                                    const GrpcCharge& charge, std::optional<MeteredCall>& metered) {
  if (charge.least_s == 0) return std::nullopt;
  if (auto refusal = limits.refusal(payer)) return refusal;
  if (charge.by_call) {
    limits.charge(payer, charge.least_s);
  } else {
    metered.emplace(limits, payer, charge.least_s);
  }
  return std::nullopt;
}

Unary* carry_out_in_pool(GrpcContext* context, const GrpcDoor& door, const std::string& payer,
                         double least_s, std::function<grpc::Status()> work) {
  if (const auto refusal = door.limits.refusal(payer)) return finish(context, rpc_status(*refusal));
  auto* const reactor = context->DefaultReactor();
  const auto job = [context, reactor, &limits = door.limits, payer, least_s,
                    work = std::move(work)](bool stopping) {
    if (stopping || context->IsCancelled()) return reactor->Finish(rpc_status(stopping_problem()));
    const auto status = [&] {
      const MeteredCall metered(limits, payer, least_s);
      return work();
    }();
    reactor->Finish(status);
  };
  // It ends on a thread of the pool, unless that has no room.
  if (const auto refusal = door.reading.submit(payer, job)) reactor->Finish(rpc_status(*refusal));
  return reactor;
}

std::vector<std::pair<int, UnaryHandler>> unary_handlers(const std::string& service,
                                                         const GrpcDoor& door) {
  const std::string prefix = "/" + service + "/";
  const auto* const described =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(service);
  std::vector<std::pair<int, UnaryHandler>> handlers;
  for (const Api::Entry& entry : Api::entries()) {
    if (entry.handler == nullptr || !entry.route.method.starts_with(prefix)) continue;
    const auto* const method =
        described->FindMethodByName(entry.route.method.substr(prefix.size()));
    handlers.emplace_back(method->index(), entry.handler(door, entry.charge));
  }
  return handlers;
}

}  // namespace stripline::server
