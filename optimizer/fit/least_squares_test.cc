#include "optimizer/fit/least_squares.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

namespace stripline::fit {
namespace {

TEST(FitLine, ExactOnALine) {
  std::vector<LinePoint> points;
  for (double x = 8; x <= 4194304; x *= 2) points.push_back({x, 3e-6 + 1e-9 * x, 1.0 / (x * x)});
  const auto fit = fit_line(points);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit->intercept, 3e-6, 1e-15);
  EXPECT_NEAR(fit->slope, 1e-9, 1e-18);
  EXPECT_EQ(fit->points, points.size());
}

// The closed form against Eigen's QR decomposition of the weighted design, coefficients and their
// covariance (X'WX)^-1 s^2.
TEST(FitLine, AgreesWithQrOnRandomData) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 50; ++trial) {
    const int n = 5 + trial % 20;
    std::vector<LinePoint> points;
    Eigen::MatrixXd design(n, 2);
    Eigen::VectorXd response(n);
    for (int i = 0; i < n; ++i) {
      const double x = std::exp2(i % 12);
      const double y = 2.0 + 0.5 * x + normal(random);
      const double weight = 0.1 + std::abs(normal(random));
      points.push_back({x, y, weight});
      design.row(i) << std::sqrt(weight), std::sqrt(weight) * x;
      response(i) = std::sqrt(weight) * y;
    }
    const Eigen::VectorXd expected = design.colPivHouseholderQr().solve(response);
    const double scale = (response - design * expected).squaredNorm() / (n - 2);
    const Eigen::MatrixXd covariance = (design.transpose() * design).inverse() * scale;
    const auto fit = fit_line(points);
    ASSERT_TRUE(fit.ok());
    EXPECT_NEAR(fit->intercept, expected(0), 1e-9);
    EXPECT_NEAR(fit->slope, expected(1), 1e-9);
    EXPECT_NEAR(fit->intercept_variance, covariance(0, 0), 1e-6 * covariance(0, 0));
    EXPECT_NEAR(fit->slope_variance, covariance(1, 1), 1e-6 * covariance(1, 1));
  }
}

TEST(FitLine, RelativeWeightsKeepLargeSizesFromOwningTheFit) {
  std::vector<LinePoint> plain;
  std::vector<LinePoint> weighted;
  for (double x = 1; x <= 1048576; x *= 2) {
    const double y = (10.0 + 0.01 * x) * (x == 1048576 ? 1.05 : 1.0);
    plain.push_back({x, y, 1.0});
    weighted.push_back({x, y, 1.0 / (y * y)});
  }
  EXPECT_GT(std::abs(fit_line(plain)->intercept - 10.0), 5.0);
  EXPECT_NEAR(fit_line(weighted)->intercept, 10.0, 0.1);
}

TEST(FitLine, HuberResistsOutliers) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  std::vector<LinePoint> points;
  for (int i = 1; i <= 30; ++i) {
    points.push_back({static_cast<double>(i), 1.0 + 2.0 * i + 0.1 * normal(random), 1.0});
  }
  points[10].y += 50.0;
  points[25].y += 80.0;
  const auto plain = fit_line(points);
  const auto robust = fit_line(points, {.huber_k = kHuber});
  ASSERT_TRUE(plain.ok() && robust.ok());
  EXPECT_GT(std::abs(plain->slope - 2.0), 0.1);
  EXPECT_NEAR(robust->slope, 2.0, 0.02);
}

TEST(FitLine, RefusesWhatIsNotALine) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(fit_line({}).error().code(), ErrorCode::failed_precondition);
  EXPECT_EQ(fit_line(std::vector<LinePoint>{{1, 1, 1}}).error().code(),
            ErrorCode::failed_precondition);
  EXPECT_FALSE(fit_line(std::vector<LinePoint>{{1, 1, 1}, {1, 2, 1}}).ok());
  EXPECT_FALSE(fit_line(std::vector<LinePoint>{{1, 1, 1}, {2, 2, 0}}).ok());
  EXPECT_EQ(fit_line(std::vector<LinePoint>{{1, nan, 1}, {2, 2, 1}}).error().code(),
            ErrorCode::invalid_argument);
  EXPECT_FALSE(fit_line(std::vector<LinePoint>{{1, 1, -1}, {2, 2, 1}}).ok());
}

}  // namespace
}  // namespace stripline::fit
