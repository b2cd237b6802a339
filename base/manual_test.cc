#include "base/manual.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bash_completion.h"
#include "base/command_line.h"
#include "base/exit_codes.h"
#include "base/testing/processes.h"

namespace stripline {
namespace {

// A program with commands of two levels, one of which another program carries out.
struct Documented {
  Documented() {
    app.footer(
        "Text that is filled.\n\nExit codes:\n  0  done\n\nExample:\n  example measure -n 2\n");
    app.add_option("--server", text, "Address of the server")
        ->type_name("HOST:PORT")
        ->envname("EXAMPLE_SERVER")
        ->default_str("127.0.0.1:7411");
    measure = app.add_subcommand("measure", "Measure this machine");
    measure->fallthrough();
    measure->add_option("plan", text, "What to measure")->type_name("FILE")->required();
    measure->add_option("--clock", text, "Time of a network")
        ->type_name("C")
        ->check(one_of({"real", "virtual"}))
        ->required();
    measure->add_flag("--trace{sites}", text, "Say what was chosen")
        ->check(one_of({"off", "sites"}));
    measure->add_option("--folder", text, "Where to")->type_name("DIR");
    model = app.add_subcommand("model", "Look at models");
    model->add_subcommand("show", "Show one; it's -5 °C\\here")
        ->add_option("--unit", text, ".dot first (default: s)")
        ->default_str("host-1");
    app.add_subcommand("run", "Run a program")
        ->add_option("--path", text)
        ->type_name("PATH[:NAME]")
        ->check(one_of({"NAME", "any"}));
    app.add_subcommand("internal", "For another program")->group("");
    add_version(app);
  }

  std::vector<ManPage> pages() const { return man_pages(app, 1, delegates); }

  std::string text;
  CLI::App app{"Does what examples do. More of it,\nin two lines.", "example"};
  CLI::App* measure;
  CLI::App* model;
  Delegates delegates = {{"run", "example-run"}};
};

bool contains(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) ADD_FAILURE() << "no '" << part << "' in:\n" << text;
  return found;
}

TEST(ManPage, OneForTheProgramAndForEachCommandOfTheFirstLevel) {
  const auto pages = Documented().pages();
  ASSERT_EQ(pages.size(), 3U);
  EXPECT_EQ(pages[0].name, "example");
  EXPECT_EQ(pages[1].name, "example-measure");
  EXPECT_EQ(pages[2].name, "example-model");
  EXPECT_EQ(pages[0].text.find("internal"), std::string::npos) << "it is not for people";
}

TEST(ManPage, HasTheSectionsOfManuals) {
  const std::string page = Documented().pages()[0].text;
  contains(page, "\n.TH EXAMPLE 1 ");
  contains(page, "\n.SH NAME\nexample \\- Does what examples do\n");
  contains(page, "\n.SH SYNOPSIS\n.PP\nexample [OPTIONS] [SUBCOMMAND]\n");
  contains(page, "\n.SH DESCRIPTION\n.PP\nMore of it, in two lines.\n.PP\nText that is filled.\n");
  contains(page,
           "\n.TP\n\\fB\\-\\-server\\fR \\fIHOST:PORT\\fR\nAddress of the server\n"
           "(default: 127.0.0.1:7411; environment: EXAMPLE_SERVER)\n");
  contains(page, "\n.TP\n\\fBexample run\\fR\nRun a program: example\\-run(1)\n");
  contains(page, "\n.SH EXIT STATUS\n.PP\n.nf\n  0  done\n.fi\n");
  contains(page, "\n.SH EXAMPLES\n.PP\n.nf\n  example measure \\-n 2\n.fi\n");
  contains(page, "example\\-model(1),\n");
}

TEST(ManPage, CommandsSayWhatTheyTake) {
  const auto pages = Documented().pages();
  contains(pages[1].text, "\n.TP\n\\fIFILE\\fR\nWhat to measure\n");
  contains(pages[1].text,
           "\n.TP\n\\fB\\-\\-clock\\fR \\fIC\\fR\nTime of a network\n"
           "(one of real, virtual; required)\n");
  contains(pages[1].text, "\n.TP\n\\fB\\-\\-trace\\fR\nSay what was chosen\n(one of off, sites)\n");
  // A command takes the options of its parents as well.
  contains(pages[1].text, "\\-\\-server");
  contains(pages[2].text, "\n.SS example model show [OPTIONS]\n");
}

TEST(ManPage, PagesAreReferredToWhereTheyAre) {
  const Documented example;
  const std::string page = man_pages(example.app, 8, example.delegates)[0].text;
  contains(page, "\n.TP\n\\fBexample measure\\fR\nMeasure this machine: example\\-measure(8)\n");
  contains(page, "\nexample\\-measure(8),\nexample\\-model(8),\nexample\\-run(1),\n");
}

TEST(ManPage, TypesMayHaveColonsAndOptionsNoDescription) {
  const Documented example;
  const auto pages = man_pages(example.app, 1);
  ASSERT_EQ(pages.size(), 4U);
  contains(pages[3].text, "\n.TP\n\\fB\\-\\-path\\fR \\fIPATH[:NAME]\\fR\n(one of NAME, any)\n");
}

TEST(ManPage, EscapesWhatGroffWouldTake) {
  const std::string page = Documented().pages()[2].text;
  contains(page, "Show one; it\\(aqs \\-5 \\[u00B0]C\\ehere\n");
  // A default that its description speaks of is not said twice.
  contains(page, "\n\\&.dot first (default: s)\n");
  EXPECT_EQ(page.find("host"), std::string::npos) << page;
}

// What bash offers behind these words, the last of which is being written.
std::string completed(const std::string& script, const std::vector<std::string>& words,
                      const std::filesystem::path& folder) {
  std::ofstream(folder / "example") << script;
  std::string line = "cd '" + folder.string() + "' && source ./example && COMP_WORDS=(";
  for (const std::string& word : words) line += "'" + word + "' ";
  line += ") COMP_CWORD=" + std::to_string(words.size() - 1) +
          " && _example && printf '%s\\n' \"${COMPREPLY[@]}\" | LC_ALL=C sort | tr '\\n' ' '";
  const Finished finished = run_program({"bash", "--norc", "-c", line});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  return finished.out.substr(0, finished.out.find_last_not_of(' ') + 1);
}

TEST(BashCompletion, OffersCommandsOptionsAndValues) {
  Documented example;
  const std::string script = bash_completion(example.app, example.delegates);
  const TempFolder folder;
  const auto offered = [&](const std::vector<std::string>& words) {
    return completed(script, words, folder.path());
  };
  EXPECT_EQ(offered({"example", ""}), "measure model run");
  EXPECT_EQ(offered({"example", "me"}), "measure");
  EXPECT_EQ(offered({"example", "--s"}), "--server");
  EXPECT_EQ(offered({"example", "--server", "host", ":", "7411", "mo"}), "model");
  EXPECT_EQ(offered({"example", "--server", "model", ""}), "measure model run");
  EXPECT_EQ(offered({"example", "model", ""}), "show");
  EXPECT_EQ(offered({"example", "model", "show", "--u"}), "--unit");
  EXPECT_EQ(offered({"example", "measure", "--cl"}), "--clock");
  EXPECT_EQ(offered({"example", "measure", "--se"}), "--server") << "it is taken there, too";
  EXPECT_EQ(offered({"example", "measure", "--clock", ""}), "real virtual");
  EXPECT_EQ(offered({"example", "measure", "--clock", "="}), "real virtual");
  EXPECT_EQ(offered({"example", "measure", "--clock", "=", "v"}), "virtual");
  EXPECT_EQ(offered({"example", "measure", "--trace", "=", ""}), "off sites");
  const std::string alone = bash_completion(example.app);
  EXPECT_EQ(completed(alone, {"example", "run", "--path", ""}, folder.path()), "NAME any");
}

TEST(BashCompletion, OffersFilesWhereTheyAreMeant) {
  Documented example;
  const std::string script = bash_completion(example.app, example.delegates);
  const TempFolder folder;
  std::ofstream(folder / "plan.json") << "{}";
  std::filesystem::create_directory(folder / "plans");
  const auto offered = [&](const std::vector<std::string>& words) {
    return completed(script, words, folder.path());
  };
  EXPECT_EQ(offered({"example", "measure", "pl"}), "plan.json plans");
  EXPECT_EQ(offered({"example", "measure", "--trace", "plan."}), "plan.json")
      << "a flag's value is behind '='";
  EXPECT_EQ(offered({"example", "measure", "--folder", "pl"}), "plans");
  EXPECT_EQ(offered({"example", "--", "x", "pl"}), "plan.json plans");
}

TEST(BashCompletion, LeavesWhatAnotherProgramDoesToIt) {
  Documented example;
  const std::string script = bash_completion(example.app, {{"run", "example-run start"}});
  const TempFolder folder;
  std::ofstream(folder / "example-run")
      << "_example_run() { COMPREPLY=(\"${COMP_WORDS[*]} at $COMP_CWORD\"); }\n";
  EXPECT_EQ(completed(script, {"example", "--server", "s", "run", "-n", "2"}, folder.path()),
            "example-run start -n 2 at 3");
  // Also when the file was read by a relative name, and the shell is elsewhere by now.
  const Finished elsewhere = run_program(
      {"bash", "--norc", "-c",
       "cd '" + folder.path().string() +
           "' && PATH=.:$PATH source example && cd / && "
           "COMP_WORDS=(example run '') COMP_CWORD=2 && _example && echo \"$COMPREPLY\""});
  EXPECT_EQ(elsewhere.out, "example-run start  at 2\n") << elsewhere.err;
  std::filesystem::remove(folder / "example-run");
  EXPECT_EQ(completed(script, {"example", "run", "-n"}, folder.path()), "");
}

TEST(Manual, IsWrittenWhenItIsAskedFor) {
  const Documented example;
  const TempFolder folder;
  const std::string to = folder.path().string();
  EXPECT_EQ(write_manual_if_asked(example.app, {}), std::nullopt);
  EXPECT_EQ(write_manual_if_asked(example.app, {"--server", to, "1"}), std::nullopt);
  EXPECT_EQ(write_manual_if_asked(example.app, {kWriteManual, to, "9"}), kExitUsage);
  EXPECT_EQ(write_manual_if_asked(example.app, {kWriteManual, "/dev/null/x", "1"}),
            kExitUnavailable);
  ASSERT_EQ(write_manual_if_asked(example.app, {kWriteManual, to, "8"}), kExitOk);
  contains(read_file(folder / "man/man8/example-model.8"), "\n.TH EXAMPLE\\-MODEL 8 ");
  contains(read_file(folder / "bash-completion/completions/example"),
           "\ncomplete -F _example example\n");
}

}  // namespace
}  // namespace stripline
