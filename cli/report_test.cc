// Reports of files, which need no server.
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/testing/processes.h"
#include "cli/parse.h"
#include "cli/report_data.h"
#include "cli/report_page.h"
#include "dashboards/bundle.h"
#include "optimizer/model/example.h"
#include "optimizer/model/model_json.h"
#include "optimizer/report/decision_tables.h"

namespace stripline::cli {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(ReportContent, OfAFileHoldsWhatItsPageAsks) {
  const TempFolder folder;
  const auto file = folder / "m.stripline.json";
  ASSERT_TRUE(model::save_model(model::full_example(), file).ok());
  const auto content = report_content({}, file.string(), 1e9);
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->start, "/models/example");
  EXPECT_EQ(content->made, "2001-09-09T01:46:40.000Z");
  const Json& answers = content->answers;
  const std::string version = "models/example/versions/file";
  EXPECT_EQ(answers["models/example"]["latest_version"], version);
  EXPECT_EQ(answers[version + "/file"]["name"], "example");
  const auto table = reports::decision_tables().front();
  const auto question = reports::questions_of(table).front();
  const std::string key = version + "/decisions/loop?bytes=" + question.at("bytes") +
                          "&compute=" + question.at("compute") + "&direction=get";
  ASSERT_TRUE(answers.contains(key)) << key;
  EXPECT_EQ(answers[key]["decisions"].size(), table.x.values.size() * table.y.values.size());
}

TEST(ReportContent, OfWhatIsNoModelSaysSo) {
  const TempFolder folder;
  const auto file = folder / "poem.json";
  std::ofstream(file) << "roses";
  const auto poem = report_content({}, file.string(), 0);
  EXPECT_EQ(poem.error().code(), ErrorCode::data_loss);
  EXPECT_NE(poem.error().message().find("poem.json"), std::string::npos);
  const auto none = report_content({}, (folder / "none.json").string(), 0);
  EXPECT_EQ(none.error().code(), ErrorCode::not_found);
}

TEST(ReportPage, IsOneFileThatNothingInItsDataBreaks) {
  ReportContent content;
  content.title = "<b>m</b>";
  content.answers = {{"models", "</script><script>alert(1)</script>"}};
  const auto page = report_page(content);
  if (!dashboards::bundled_file("/app.js")) {
    EXPECT_EQ(page.error().code(), ErrorCode::unimplemented);
    EXPECT_NE(page.error().message().find("STRIPLINE_DASHBOARD"), std::string::npos);
    return;
  }
  ASSERT_TRUE(page.ok()) << page.error().message();
  EXPECT_EQ(count(*page, "<script"), 2U) << "the data and the program";
  EXPECT_EQ(count(*page, "</script"), 2U);
  EXPECT_EQ(page->find("alert(1)</script>"), std::string::npos);
  EXPECT_NE(page->find("<title>&lt;b&gt;m&lt;/b&gt; "), std::string::npos);
  EXPECT_EQ(page->find("src=\"/"), std::string::npos) << "nothing from elsewhere";
  EXPECT_EQ(page->find("href=\"/"), std::string::npos);
  // The data are read as they were.
  const size_t begin = page->find("id=\"report\">") + 12;
  const Json read = Json::parse(page->substr(begin, page->find("</script>", begin) - begin));
  EXPECT_EQ(read["answers"], content.answers);
}

TEST(ReportGrammar, ReadsItsCommands) {
  const auto plot = parse_command_line({"model", "plot", "tcp", "--quantity", "stream"});
  ASSERT_TRUE(plot.command) << plot.err;
  EXPECT_EQ(std::get<ModelPlot>(plot.command->action).quantity, "stream");
  EXPECT_EQ(parse_command_line({"model", "plot", "tcp", "--quantity", "fast"}).exit_code, 2);
  const auto diff = parse_command_line({"model", "diff", "tcp@1", "b.json"});
  ASSERT_TRUE(diff.command) << diff.err;
  EXPECT_EQ(std::get<ModelDiff>(diff.command->action).b, "b.json");
  EXPECT_EQ(parse_command_line({"model", "diff", "tcp@1"}).exit_code, 2);
  const auto report = parse_command_line({"report", "c3"});
  ASSERT_TRUE(report.command) << report.err;
  EXPECT_EQ(std::get<Report>(report.command->action).output, "report.html");
}

}  // namespace
}  // namespace stripline::cli
