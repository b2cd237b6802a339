#include "optimizer/report/questions.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/shell_words.h"
#include "optimizer/model/example.h"
#include "optimizer/report/decision_tables.h"

namespace stripline::reports {
namespace {

const Json& command_named(const Json& description, const std::string& name) {
  for (const Json& command : description["commands"]) {
    if (command["command"] == name) return command;
  }
  ADD_FAILURE() << "no command " << name;
  return description;
}

TEST(DescribeQuestions, NamesEveryOptionWithWhatItTakes) {
  const Json description = describe_questions();
  const Json& loop = command_named(description, "loop");
  EXPECT_EQ(loop["takes_path"], true);
  EXPECT_EQ(loop["baseline"], "the vectorised loop");
  std::set<std::string> names;
  for (const Json& option : loop["options"]) {
    EXPECT_TRUE(names.insert(option["name"]).second) << option;
    EXPECT_FALSE(option["help"].get<std::string>().empty()) << option;
    EXPECT_EQ(option["unit"] == "choice", !option["choices"].empty()) << option;
  }
  const auto& options = loop["options"];
  const auto bytes =
      std::ranges::find_if(options, [](const Json& one) { return one["name"] == "bytes"; });
  ASSERT_NE(bytes, options.end());
  EXPECT_EQ((*bytes)["required"], true);
  EXPECT_EQ((*bytes)["unit"], "bytes");
  EXPECT_EQ((*bytes)["option"], "--bytes");
  EXPECT_TRUE(names.contains("nic-ranks"));
  EXPECT_EQ(command_named(description, "nest")["options"][0]["option"], "nest");
}

TEST(DescribeQuestions, EveryTableIsAnsweredByTheExample) {
  const model::TunedModel model = model::full_example();
  for (const DecisionTable& table : decision_tables()) {
    const auto questions = questions_of(table);
    EXPECT_GE(questions.size(), 2U);
    const auto answer = tabulate_decisions(model, table.command, questions.front());
    ASSERT_TRUE(answer.ok()) << answer.error().message();
    EXPECT_EQ((*answer)["decisions"].size(), table.x.values.size() * table.y.values.size());
    EXPECT_FALSE((*answer)["decisions"][0]["text"].get<std::string>().empty());
  }
}

TEST(ExplainDecision, AlternativesCanBeRead) {
  const model::TunedModel model = model::full_example();
  const auto answer = explain_decision(&model, "loop", {{"bytes", "4MiB"}, {"compute", "20ms"}});
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  const Json& json = *answer;
  const auto chosen = std::ranges::find_if(
      json["alternatives"], [&](const Json& one) { return one["text"] == json["plan"]["text"]; });
  ASSERT_NE(chosen, json["alternatives"].end()) << "the plan is one of them";
  EXPECT_EQ((*chosen)["predicted_s"], json["plan"]["predicted_s"]);
}

// By the example of each command, but for the nest, which is a document.
TEST(ExplainDecision, SaysWhatIsDoneWithoutAModel) {
  const Json description = describe_questions();
  for (const Json& command : description["commands"]) {
    const auto name = command["command"].get<std::string>();
    if (name == "nest") continue;
    const auto words = split_words(command["example"].get<std::string>());
    ASSERT_TRUE(words.ok()) << command["example"];
    Question question;
    for (size_t i = 0; i < words->size(); ++i) {
      const bool is_flag = i + 1 == words->size() || (*words)[i + 1].starts_with("--");
      const std::string option = (*words)[i].substr(2);
      question[option] = is_flag ? "true" : (*words)[++i];
    }
    const auto answer = explain_decision(nullptr, name, question);
    ASSERT_TRUE(answer.ok()) << name << ": " << answer.error().message();
    EXPECT_FALSE((*answer)["plan"]["brief"].get<std::string>().empty()) << *answer;
    if (name == "call") {
      EXPECT_EQ((*answer)["plan"]["reason"], "no_model");
    }
  }
}

}  // namespace
}  // namespace stripline::reports
