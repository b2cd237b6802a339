// How much somebody may do in a time: allowances that refill. Pure: the caller passes the time.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace stripline::server {

struct Rate {
  double per_s = 0;
  double burst = 0;  ///< So much may come at once.
};

/// One allowance, full at first. Not thread-safe.
class Allowance {
 public:
  explicit Allowance(Rate rate) : rate_(rate), left_(rate.burst) {}

  /// Takes `amount`, which may lead into debt, and returns how long to wait until the debt is paid;
  /// 0: there is none.
  double take(double amount, double now_s);

  /// As take(), but takes nothing that is not there. False if it is not.
  bool try_take(double amount, double now_s);

  /// True if try_take() would take it now.
  bool has(double amount, double now_s) const;

  /// How long until something is there to be taken; 0: something is.
  double wait_s(double now_s) const;

  /// True if nothing has been taken, or all has been refilled since.
  bool full(double now_s) const;

 private:
  void refill(double now_s);

  Rate rate_;
  double left_;
  double at_s_ = 0;
};

/// An allowance of each peer. Remembers only those who have taken something lately. Not
/// thread-safe.
class PeerAllowances {
 public:
  explicit PeerAllowances(Rate rate) : rate_(rate) {}

  bool try_take(const std::string& peer, double amount, double now_s);
  /// As Allowance::take() and Allowance::wait_s().
  double take(const std::string& peer, double amount, double now_s);
  double wait_s(const std::string& peer, double now_s) const;
  size_t size() const { return peers_.size(); }

 private:
  Allowance& of(const std::string& peer, double now_s);

  Rate rate_;
  std::map<std::string, Allowance> peers_;
  double swept_s_ = 0;
};

/// What may happen at one rate each, and at another all together. Of what may not happen nothing is
/// remembered, and it takes nothing from the rest: whoever repeats himself, or thinks of ever new
/// things, fills no memory. Not thread-safe.
class CappedAllowances {
 public:
  CappedAllowances(Rate each, Rate all) : each_(each), all_(all) {}

  bool try_take(const std::string& what, double now_s);
  size_t size() const { return each_.size(); }

 private:
  PeerAllowances each_;
  Allowance all_;
};

}  // namespace stripline::server
