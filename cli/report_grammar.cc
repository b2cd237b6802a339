#include "cli/grammar_parts.h"
#include "cli/grammars.h"
#include "optimizer/report/curves_svg.h"

namespace stripline::cli {

void define_reports(CLI::App& app, CLI::App& model, Action& result) {
  const auto diff = leaf_command<ModelDiff>(model, "diff", "Say in what two models differ", result);
  add_required(diff.command, "a", diff->a, "The baseline: a model file, or a name: tcp@1",
               "FILE|NAME");
  add_required(diff.command, "b", diff->b, "What is compared with it", "FILE|NAME");
  end_help(
      diff.command,
      "Parameters are FASTER or SLOWER where the interval of the difference, which both their\n"
      "95 % intervals give, lies on one side of zero; EQUIVALENT where it lies within 2 %; "
      "else\n"
      "INCONCLUSIVE. Values other than times are SMALLER or LARGER. INCOMPARABLE: one side "
      "does\n"
      "not have it, or a bound alone. Among many some differ by chance: at most one in\n"
      "twenty of what is reported is such. Then the usual decisions that come out otherwise, "
      "as\n"
      "'explain' is asked for them. --json has all parameters.\n\n"
      "Exit codes: 0 also where they differ, 2 no such model or file, 3 malformed file,\n"
      "4 no server.\n\n"
      "Examples:\n"
      "  stripline model diff tcp@1 tcp@2\n"
      "  stripline model diff old.stripline.json tcp\n");

  const auto plot =
      leaf_command<ModelPlot>(model, "plot", "Draw what transfers take by size", result);
  add_required(plot.command, "model", plot->source, "A model file, or a name: tcp, tcp@2",
               "FILE|NAME");
  add_value(*plot.command, "-o,--output", plot->output,
            "File to write, - for standard output (default)", "FILE");
  add_value(*plot.command, "--quantity", plot->quantity,
            "blocking: one operation, waited for; stream: one of a long stream; issue: the "
            "processor's time to issue one",
            "NAME")
      ->check(one_of(reports::quantity_names()))
      ->capture_default_str();
  add_value(*plot.command, "--path", plot->path, "Only this path of the model (default: all)",
            "NAME");
  end_help(plot.command,
           "SVG: curves of each operation with the bands of its parameters' "
           "intervals, both axes\n"
           "logarithmic; dashed where the network changes its protocol.\n\n"
           "Exit codes: 0, 2 no such model, path or file, 3 malformed file, "
           "4 no server, or the\n"
           "output cannot be written.\n\n"
           "Example:\n"
           "  stripline model plot tcp -o curves.svg\n");

  const auto report = leaf_command<Report>(
      app, "report", "Write pages about a model or a campaign as one file", result);
  add_required(report.command, "what", report->source,
               "A model file, a model's name (tcp, tcp@2) or a campaign's (c3)", "FILE|NAME");
  add_value(*report.command, "-o,--output", report->output, "File to write, - for standard output",
            "FILE")
      ->capture_default_str();
  end_help(report.command,
           "The pages of the dashboard with all that they show in one HTML file, for clusters\n"
           "without a server and to attach. A file needs no server, and then has no samples. A\n"
           "model that is called like a campaign is named models/c3.\n\n"
           "Exit codes: 0, 2 no such model, campaign or file, or this build has no dashboard,\n"
           "3 malformed file, 4 no server, or the output cannot be written.\n\n"
           "Examples:\n"
           "  stripline report tcp -o tcp.html\n"
           "  stripline report tcp.stripline.json\n");
}

}  // namespace stripline::cli
