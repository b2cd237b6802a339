#include "agent/model_orders.h"

#include <utility>

#include <spdlog/spdlog.h>

#include "agent/model_offer.h"
#include "base/result.h"
#include "optimizer/experiment/tuning.h"

namespace stripline::agent {

ModelOrders::ModelOrders(std::filesystem::path models_folder, TargetOptions targets,
                         const Description& description, std::function<void()> wake)
    : models_folder_(std::move(models_folder)),
      targets_(std::move(targets)),
      description_(description),
      beside_(std::move(wake)) {}

void ModelOrders::add(ModelOffer offer) { orders_.emplace_back(std::move(offer)); }

void ModelOrders::add(ModelWithdrawal withdrawal) {
  if (!models_folder_.empty()) orders_.emplace_back(std::move(withdrawal));
}

template <typename Order>
void ModelOrders::begin(const Order& order) {
  if (experiment::target_of_settings(order.fabric).empty()) return carry_out(order)();
  beside_.begin([this, order] { return carry_out(order); });
}

std::vector<ModelAck> ModelOrders::follow(bool may_begin) {
  beside_.finish();
  while (may_begin && !beside_.runs() && !orders_.empty()) {
    const auto order = std::move(orders_.front());
    orders_.pop_front();
    std::visit([this](const auto& one) { begin(one); }, order);
  }
  return std::exchange(answers_, {});
}

SideTask::Then ModelOrders::carry_out(const ModelOffer& offer) {
  const Status accepted = accept_offer(offer, models_folder_, description_, targets_);
  return [this, accepted, version = offer.version, fabric = offer.fabric] {
    if (accepted.ok()) {
      spdlog::info("programs here use {} over {} from now on", version, fabric);
    } else {
      spdlog::warn("rejected {}: {}", version, accepted.error().message());
    }
    answers_.push_back({version, accepted.ok(), accepted.ok() ? "" : accepted.error().message()});
  };
}

SideTask::Then ModelOrders::carry_out(const ModelWithdrawal& withdrawal) const {
  const Result<bool> removed = remove_offered(withdrawal, models_folder_, targets_);
  return [removed, fabric = withdrawal.fabric, reason = withdrawal.reason] {
    if (!removed.ok()) {
      spdlog::error("{}", removed.error().message());
    } else if (*removed) {
      spdlog::info("programs here use no model over {} from now on: {}", fabric, reason);
    }
  };
}

}  // namespace stripline::agent
