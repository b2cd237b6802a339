#include "runtime/rma/mechanisms.h"

#include <string>

#include <gtest/gtest.h>

#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline::rma {
namespace {

/// What has left, one letter for each mechanism.
std::string& left() {
  static thread_local std::string letters;
  return letters;
}

template <char kLetter>
class Leaving final : public Mechanism {
 public:
  static constexpr const char kName[] = {kLetter, 0};
  explicit Leaving(detail::ContextState&) {}
  void leaves() override { left() += kLetter; }
};

/// Needs others when it leaves, as communication does.
class Late final : public Mechanism {
 public:
  static constexpr const char kName[] = "late";
  explicit Late(detail::ContextState& state) : state_(state) {}
  void leaves() override {
    left() += 'a';
    state_.mechanisms.of<Leaving<'b'>>(state_);
    state_.mechanisms.of<Leaving<'c'>>(state_);
    state_.mechanisms.of<Leaving<'d'>>(state_);
    state_.mechanisms.of<Leaving<'e'>>(state_);
  }

 private:
  detail::ContextState& state_;
};

TEST(Mechanisms, ThoseThatAreMadeWhileOthersLeaveDoLeaveToo) {
  const auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 1);
  bootstrap::on_ranks(group, [](Context& context) {
    detail::ContextState& state = context.state();
    state.mechanisms.of<Late>(state);
    state.mechanisms.leave();
    EXPECT_EQ(left(), "abcde");
  });
}

}  // namespace
}  // namespace stripline::rma
