#include "optimizer/plan/request_fields.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "optimizer/plan/mechanisms.h"

namespace stripline::plan {
namespace {

constexpr Fact kAll = Fact::nic_ranks | Fact::target_polls_only | Fact::alone |
                      Fact::flag_with_data | Fact::service_delay | Fact::load;

// Another value of the same kind, within the limits.
FieldValue other_than(const FieldText& text, const FieldValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return !*flag;
  if (const auto* seconds = std::get_if<double>(&value)) return *seconds + 2.5;
  if (const auto* number = std::get_if<uint64_t>(&value)) {
    return *number < text.most ? *number + 1 : text.most - 1;
  }
  if (const auto* word = std::get_if<std::string_view>(&value)) {
    return text.choices[*word == text.choices[0] ? 1 : 0];
  }
  auto numbers = std::get<std::vector<uint64_t>>(value);
  ++numbers.back();
  return numbers;
}

template <typename Object>
void check(const Field<Object>& field, const Object& usual, std::set<std::string>& names) {
  EXPECT_TRUE(names.insert(field.text.name).second) << field.text.name;
  EXPECT_TRUE(names.insert(field.text.option).second) << field.text.option;
  EXPECT_GT(std::string_view(field.text.help).size(), 5U);
  Object changed = usual;
  const FieldValue other = other_than(field.text, field.get(usual));
  field.set(changed, other);
  EXPECT_EQ(field.get(changed), other) << field.text.name;
  EXPECT_FALSE(changed == usual) << field.text.name;
  field.set(changed, field.get(usual));
  EXPECT_TRUE(changed == usual) << field.text.name << " sets another member, too";
}

template <typename M>
void check_all() {
  std::set<std::string> names;
  const auto usual = M::usual();
  for (const auto& field : M::fields()) {
    if (field.text.unit == Unit::text) continue;  // a document: nest_json_test.cc
    check(field, usual, names);
  }
  for (const auto& [fact, field] : surroundings_fields()) {
    check(field, Surroundings{}, names);
    EXPECT_TRUE(has(kAll, fact));
  }
}

template <typename... M>
struct EachMechanism {
  static void check() { (check_all<M>(), ...); }
};

TEST(RequestFields, EachIsAMemberOfItsOwn) { OfEachMechanism<EachMechanism, Itself>::check(); }

TEST(RequestFields, CommandsHoldWhatIsNotUsual) {
  EXPECT_EQ(options_text<StripMechanism>(StripMechanism::usual()), " --bytes 0");
  StripRequest request = StripMechanism::usual();
  request.direction = Direction::put;
  request.total_bytes = 4096;
  request.compute_s = 1.25e-5;
  request.uneven = true;
  request.surroundings.load.nodes = 3;
  request.surroundings.load.add(1);
  request.surroundings.alone = true;  // which this planner does not look at
  EXPECT_EQ(options_text<StripMechanism>(request),
            " --direction put --bytes 4096 --compute 1.25e-05 --uneven --nodes 3 --distances "
            "0,1,0,0,0,0,0,0");
}

TEST(RequestFields, JsonHasAllThatIsKnown) {
  const Json json = to_json(explain<StripMechanism>(StripMechanism::usual(), nullptr));
  EXPECT_EQ(json["direction"], "get");
  EXPECT_EQ(json["fp_ops"], 1);
  EXPECT_EQ(json["target_polls_only"], false);
  EXPECT_FALSE(json.contains("compute_s")) << "it is estimated";
  EXPECT_FALSE(json.contains("max_buffer_bytes")) << "there is no limit";
  EXPECT_FALSE(json.contains("service_delay_s")) << "this planner does not look at it";
}

TEST(RequestFields, TextSaysWhatIsNotUsual) {
  Surroundings around;
  EXPECT_EQ(surroundings_text(around, kAll), "");
  around = {.nic_ranks = 2, .target_polls_only = true, .alone = true, .service_delay_s = 5e-6};
  around.load.nodes = 3;
  EXPECT_EQ(surroundings_text(around, kAll),
            ", 2 ranks sharing a NIC, targets only poll, no other rank does the same, peers answer "
            "after 5.000 us, while 3 nodes communicate");
  EXPECT_EQ(surroundings_text(around, Fact::alone), ", no other rank does the same");
}

}  // namespace
}  // namespace stripline::plan
