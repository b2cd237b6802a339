#include "suites/results/recovery.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::suites::results {
namespace {

fabric::Profile opteron() {
  auto request = fabric::resolve_profile("emulated:opteron-vapi");
  EXPECT_TRUE(request.ok());
  return request->profile;
}

// A model that says of every parameter exactly what the profile says.
model::OperationModel exact(const fabric::OperationProfile& truth, double queue_depth) {
  const auto parameter = [](double value) { return model::example_parameter(value, 0.01); };
  model::OperationModel fitted;
  for (size_t i = 0; i < truth.segments.size(); ++i) {
    const fabric::ProfileSegment& s = truth.segments[i];
    model::Segment segment;
    segment.from_bytes = s.from_bytes;
    segment.to_bytes =
        i + 1 < truth.segments.size() ? truth.segments[i + 1].from_bytes : uint64_t{8} << 20;
    segment.o_base_s = parameter(s.o_base_s);
    segment.L_s = parameter(s.L_s);
    segment.G_s_per_byte = parameter(s.G_s_per_byte);
    segment.r_base_s = parameter(s.r_base_s);
    fitted.segments.push_back(segment);
  }
  fitted.queue_depth = parameter(queue_depth);
  return fitted;
}

const Recovered* find(const std::vector<Recovered>& all, size_t segment, const char* parameter) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Recovered& one) {
    return one.segment == segment && one.parameter == parameter;
  });
  return found == all.end() ? nullptr : &*found;
}

TEST(Recovery, ComparesSegmentsThatMeetInTheMiddle) {
  const fabric::Profile profile = opteron();
  ASSERT_EQ(profile.get.segments.size(), 2U);
  model::PathModel path;
  path.get = exact(profile.get, profile.queue_depth);
  // The break was found a little off.
  path.get->segments[0].to_bytes = path.get->segments[1].from_bytes = 28000;
  const auto found = compare_with_truth(profile, path, 8, 4 << 20, 8);
  EXPECT_EQ(found.size(), 9U) << "two segments of four parameters, and Q";
  for (const Recovered& one : found) {
    EXPECT_TRUE(one.inside()) << one.parameter;
    EXPECT_NEAR(one.half_width(), 0.01, 1e-9);
  }
  EXPECT_DOUBLE_EQ(find(found, 1, "L")->truth, profile.get.segments[1].L_s);
}

TEST(Recovery, AWrongParameterIsOutside) {
  const fabric::Profile profile = opteron();
  model::PathModel path;
  path.put = exact(profile.put, profile.queue_depth);
  path.put->segments[1].G_s_per_byte =
      model::example_parameter(profile.put.segments[1].G_s_per_byte * 1.05, 0.01);
  const auto found = compare_with_truth(profile, path, 8, 4 << 20, 8);
  EXPECT_FALSE(find(found, 1, "G")->inside());
  EXPECT_TRUE(find(found, 0, "G")->inside());
}

TEST(Recovery, AQueueThatNeverFilledIsNotIdentified) {
  const fabric::Profile profile = opteron();
  model::PathModel path;
  path.get = exact(profile.get, 16);
  path.get->queue_depth->at_least = true;
  EXPECT_EQ(find(compare_with_truth(profile, path, 8, 4 << 20, 8), 0, "Q"), nullptr);
}

TEST(Recovery, TheHandlerOfAMessageCountsAsLatency) {
  const fabric::Profile profile = opteron();
  model::PathModel path;
  path.am = exact(profile.am, profile.queue_depth);
  const auto found = compare_with_truth(profile, path, 8, 4 << 20, 8);
  const fabric::ProfileSegment& s = profile.am.segments[0];
  EXPECT_DOUBLE_EQ(find(found, 0, "L")->truth,
                   s.L_s + s.r_base_s + 8 * (s.G_s_per_byte + s.r_per_byte_s));
  EXPECT_DOUBLE_EQ(find(found, 0, "G")->truth, s.G_s_per_byte + s.r_per_byte_s);
  EXPECT_EQ(find(found, 0, "r_base"), nullptr);
}

TEST(Recovery, TheWindowOfAPairLimitsMessagesBeforeTheQueueDoes) {
  const fabric::Profile profile = opteron();
  ASSERT_LT(profile.injection_limit, profile.queue_depth);
  model::PathModel path;
  path.am = exact(profile.am, profile.injection_limit);
  const auto found = compare_with_truth(profile, path, 8, 4 << 20, 8);
  EXPECT_TRUE(find(found, 0, "Q")->inside());
}

}  // namespace
}  // namespace stripline::suites::results
