#include "server/doors/unary.h"

#include <google/protobuf/descriptor.h>

namespace stripline::server {

std::optional<Problem> begin_charge(const GrpcContext& context, const Core& core,
                                    CallLimits& limits, const GrpcCharge& charge,
                                    std::optional<MeteredCall>& metered) {
  if (charge.least_s == 0) return std::nullopt;
  const std::string payer = payer_of(context, core.access);
  if (auto refusal = limits.refusal(payer)) return refusal;
  if (charge.by_call) {
    limits.charge(payer, charge.least_s);
  } else {
    metered.emplace(limits, payer, charge.least_s);
  }
  return std::nullopt;
}

std::vector<std::pair<int, UnaryHandler>> unary_handlers(const std::string& service,
                                                         const Core& core, CallLimits& limits) {
  const std::string prefix = "/" + service + "/";
  const auto* const described =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(service);
  std::vector<std::pair<int, UnaryHandler>> handlers;
  for (const Api::Entry& entry : Api::entries()) {
    if (entry.handler == nullptr || !entry.route.method.starts_with(prefix)) continue;
    const auto* const method =
        described->FindMethodByName(entry.route.method.substr(prefix.size()));
    handlers.emplace_back(method->index(), entry.handler(core, limits, entry.charge));
  }
  return handlers;
}

}  // namespace stripline::server
