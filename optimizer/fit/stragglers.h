// How much later than a typical operation the last one of several completes, if what delays them
// scatters: streams of a network with jitter take longer the more operations they hold, which is
// not what an operation costs in a stream.
//
// Times are taken to be lognormal and independent of each other; the expected largest of n standard
// normal variables is Blom's approximation (Statistical estimates and transformed beta-variables,
// 1958), and its variance that of the limiting distribution, pi^2 / (12 ln n). Pure.
#pragma once

namespace stripline::fit {

/// How streams of one size came out.
struct StreamScatter {
  double latency_s = 0.0;  ///< What one blocking operation takes.
  /// Standard deviation of the logarithm of that, within a run.
  double latency = 0.0;
  /// The same of a whole stream of this many operations: what delays all operations of a repetition
  /// alike, as a busy processor does, scatters as much in both, what delays each by itself less.
  double stream = 0.0;
  double operations = 1.0;
};

/// Seconds by which the last one of `operations` (1 or more) completes later than if none
/// scattered, where one more takes `each_s` (above zero) in the stream: of those issued long before
/// the last one, none is the latest.
double straggling_s(const StreamScatter& scatter, double operations, double each_s);

}  // namespace stripline::fit
