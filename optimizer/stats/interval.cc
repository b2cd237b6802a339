#include "optimizer/stats/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "optimizer/stats/order.h"

namespace stripline::stats {
namespace {

Error too_few(std::size_t n, double confidence) {
  return Error(ErrorCode::failed_precondition,
               std::to_string(n) + " values are too few for an exact interval at confidence " +
                   std::to_string(confidence) + "; collect more or use a t interval");
}

// What is outside of a domain gives NaN and what is at its end infinity: nothing is thrown.
namespace policies = boost::math::policies;
using Quiet = policies::policy<policies::domain_error<policies::ignore_error>,
                               policies::overflow_error<policies::ignore_error>,
                               policies::evaluation_error<policies::ignore_error>>;

// P(Bin(n, p) <= k), also for k = -1.
double binomial_cdf(std::size_t n, double p, std::ptrdiff_t k) {
  if (k < 0) return 0.0;
  if (k >= static_cast<std::ptrdiff_t>(n)) return 1.0;
  return boost::math::cdf(
      boost::math::binomial_distribution<double, Quiet>(static_cast<double>(n), p),
      static_cast<double>(k));
}

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

}  // namespace

const char* to_string(IntervalMethod method) {
  switch (method) {
    case IntervalMethod::run_medians_exact:
      return "run_medians_exact";
    case IntervalMethod::run_medians_t:
      return "run_medians_t";
    case IntervalMethod::within_run:
      return "within_run";
    case IntervalMethod::range:
      return "range";
  }
  return "range";
}

Status check_finite(std::span<const double> values, const char* what) {
  if (values.empty()) {
    return Error(ErrorCode::invalid_argument, std::string(what) + " is empty; collect samples");
  }
  for (const double value : values) {
    if (!std::isfinite(value)) {
      return Error(ErrorCode::invalid_argument,
                   std::string(what) +
                       " holds a value that is not a finite number; drop it at its "
                       "source");
    }
  }
  return {};
}

Status check_confidence(double confidence) {
  if (confidence > 0.0 && confidence < 1.0) return {};
  return Error(ErrorCode::invalid_argument,
               "confidence " + std::to_string(confidence) + " is not between 0 and 1");
}

double normal_two_sided(double confidence) {
  return boost::math::quantile(boost::math::normal_distribution<double, Quiet>(),
                               (1.0 + confidence) / 2.0);
}

double t_two_sided(double confidence, double degrees_of_freedom) {
  return t_one_sided((1.0 + confidence) / 2.0, degrees_of_freedom);
}

double t_two_sided_p(double t, double degrees_of_freedom) {
  if (std::isinf(t)) return 0;
  return 2.0 *
         boost::math::cdf(boost::math::complement(
             boost::math::students_t_distribution<double, Quiet>(degrees_of_freedom), std::abs(t)));
}

double t_one_sided(double confidence, double degrees_of_freedom) {
  return boost::math::quantile(
      boost::math::students_t_distribution<double, Quiet>(degrees_of_freedom), confidence);
}

// The logarithm of the quantile is smooth in the reciprocal of the degrees of freedom, from 1 down
// to 0: a Chebyshev series has it. With these terms its error is below 1e-13.
TQuantile::TQuantile(double confidence) : confidence_(confidence) {
  const auto terms = coefficients_.size();
  const double step = std::numbers::pi / static_cast<double>(terms);
  for (std::size_t node = 0; node < terms; ++node) {
    const double angle = (static_cast<double>(node) + 0.5) * step;
    const double reciprocal = (1.0 + std::cos(angle)) / 2.0;
    const double log = std::log(t_one_sided(confidence, 1.0 / reciprocal));
    for (std::size_t term = 0; term < terms; ++term) {
      coefficients_[term] +=
          2.0 / static_cast<double>(terms) * log * std::cos(static_cast<double>(term) * angle);
    }
  }
}

// By Clenshaw's recurrence.
double TQuantile::at(double degrees_of_freedom) const {
  if (!(degrees_of_freedom >= 1.0)) return t_one_sided(confidence_, degrees_of_freedom);
  const double twice = 2.0 * (2.0 / degrees_of_freedom - 1.0);
  double next = 0.0;
  double after = 0.0;
  for (std::size_t term = coefficients_.size() - 1; term > 0; --term) {
    const double sum = twice * next - after + coefficients_[term];
    after = next;
    next = sum;
  }
  return std::exp(twice / 2.0 * next - after + coefficients_[0] / 2.0);
}

double detectable_errors(double degrees_of_freedom, double power) {
  if (!(degrees_of_freedom > 0)) return std::numeric_limits<double>::infinity();
  return t_two_sided(0.95, degrees_of_freedom) + t_one_sided(power, degrees_of_freedom);
}

double f_quantile(double confidence, double numerator_dof, double denominator_dof) {
  return boost::math::quantile(
      boost::math::fisher_f_distribution<double, Quiet>(numerator_dof, denominator_dof),
      confidence);
}

std::size_t median_interval_rank(std::size_t n, double confidence) {
  if (!(confidence > 0.0 && confidence < 1.0)) return 0;
  const double alpha = 1.0 - confidence;
  std::size_t rank = 0;
  // k grows until the tail is too heavy; the sum of the tail is what the exact test uses.
  while (2 * (rank + 1) <= n + 1 &&
         2.0 * binomial_cdf(n, 0.5, static_cast<std::ptrdiff_t>(rank)) <= alpha) {
    ++rank;
  }
  return rank;
}

Result<Interval> median_interval(std::span<const double> values, double confidence) {
  STRIPLINE_RETURN_IF_ERROR(check_finite(values, "sample"));
  STRIPLINE_RETURN_IF_ERROR(check_confidence(confidence));
  const std::size_t k = median_interval_rank(values.size(), confidence);
  if (k == 0) return too_few(values.size(), confidence);
  const std::vector<double> x = sorted(values);
  return Interval{x[k - 1], x[x.size() - k]};
}

Result<Interval> mean_interval(std::span<const double> values, double confidence) {
  STRIPLINE_RETURN_IF_ERROR(check_finite(values, "sample"));
  STRIPLINE_RETURN_IF_ERROR(check_confidence(confidence));
  if (values.size() < 2) {
    return Error(ErrorCode::failed_precondition,
                 "an interval over runs needs two or more, got one; measure another run");
  }
  const Moments moments = mean_and_variance(values);
  const auto n = static_cast<double>(values.size());
  const double half = t_two_sided(confidence, n - 1.0) * std::sqrt(moments.variance / n);
  return Interval{moments.mean - half, moments.mean + half};
}

Result<RunInterval> run_median_interval(std::span<const double> run_medians, double confidence) {
  STRIPLINE_RETURN_IF_ERROR(check_finite(run_medians, "run medians"));
  STRIPLINE_RETURN_IF_ERROR(check_confidence(confidence));
  if (median_interval_rank(run_medians.size(), confidence) > 0) {
    STRIPLINE_ASSIGN_OR_RETURN(const Interval exact, median_interval(run_medians, confidence));
    return RunInterval{exact, IntervalMethod::run_medians_exact};
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Interval by_t, mean_interval(run_medians, confidence));
  return RunInterval{by_t, IntervalMethod::run_medians_t};
}

}  // namespace stripline::stats
