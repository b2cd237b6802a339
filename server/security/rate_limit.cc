#include "server/security/rate_limit.h"

#include <algorithm>

namespace stripline::server {
namespace {

constexpr double kSweepEveryS = 10;

}  // namespace

void Allowance::refill(double now_s) {
  left_ = std::min(rate_.burst, left_ + rate_.per_s * std::max(0.0, now_s - at_s_));
  at_s_ = now_s;
}

double Allowance::take(double amount, double now_s) {
  refill(now_s);
  left_ -= amount;
  return left_ >= 0 ? 0 : -left_ / rate_.per_s;
}

bool Allowance::try_take(double amount, double now_s) {
  refill(now_s);
  if (left_ < amount) return false;
  left_ -= amount;
  return true;
}

bool Allowance::has(double amount, double now_s) const {
  return std::min(rate_.burst, left_ + rate_.per_s * std::max(0.0, now_s - at_s_)) >= amount;
}

bool Allowance::full(double now_s) const {
  return left_ + rate_.per_s * (now_s - at_s_) >= rate_.burst;
}

double Allowance::wait_s(double now_s) const {
  const double left = left_ + rate_.per_s * (now_s - at_s_);
  return left > 0 ? 0 : -left / rate_.per_s;
}

Allowance& PeerAllowances::of(const std::string& peer, double now_s) {
  if (now_s > swept_s_ + kSweepEveryS) {
    swept_s_ = now_s;
    std::erase_if(peers_, [&](const auto& entry) { return entry.second.full(now_s); });
  }
  return peers_.try_emplace(peer, rate_).first->second;
}

bool PeerAllowances::try_take(const std::string& peer, double amount, double now_s) {
  return of(peer, now_s).try_take(amount, now_s);
}

double PeerAllowances::take(const std::string& peer, double amount, double now_s) {
  return of(peer, now_s).take(amount, now_s);
}

double PeerAllowances::wait_s(const std::string& peer, double now_s) const {
  const auto known = peers_.find(peer);
  return known == peers_.end() ? 0 : known->second.wait_s(now_s);
}

bool CappedAllowances::try_take(const std::string& what, double now_s) {
  return all_.has(1, now_s) && each_.try_take(what, 1, now_s) && all_.try_take(1, now_s);
}

}  // namespace stripline::server
