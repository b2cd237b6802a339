#include "cli/report_commands.h"

#include <string>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/packed_export.h"
#include "cli/console.h"
#include "cli/find_model.h"
#include "cli/report_data.h"
#include "cli/report_page.h"
#include "cli/settings_text.h"
#include "optimizer/report/compare_models.h"
#include "optimizer/report/curves_svg.h"

namespace stripline::cli {
namespace {

// To a file, or to standard output: empty or "-".
Result<int> write_output(const Global& global, const std::string& output, const std::string& text) {
  if (output.empty() || output == "-") {
    print_data(text);
    return kExitOk;
  }
  STRIPLINE_RETURN_IF_ERROR(write_atomically(output, text));
  print(global.json ? Json{{"file", output}, {"bytes", text.size()}}.dump() + "\n"
                    : "wrote " + output + "\n");
  return kExitOk;
}

Result<int> diff_settings(const Global& global, const std::string& a, const ModelDiff& command) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto b, find_file(global, command.b));
  const auto diff = settings_diff(a, b, command.a, command.b);
  if (!diff.ok()) return diff.error().with_context(command.b);
  print(global.json ? Json{{"differences", *diff}}.dump() + "\n" : *diff);
  return kExitOk;
}

}  // namespace

Result<int> run(const Global& global, const ModelDiff& command) {
  const auto file_a = find_file(global, command.a);
  if (file_a.ok() && is_packed_export(*file_a)) return diff_settings(global, *file_a, command);
  STRIPLINE_ASSIGN_OR_RETURN(const auto a, model_in(command.a, file_a));
  STRIPLINE_ASSIGN_OR_RETURN(const auto b, find_model(global, command.b));
  STRIPLINE_ASSIGN_OR_RETURN(const auto comparison, reports::compare_models(a, b));
  print(global.json ? reports::to_json(comparison).dump() + "\n"
                    : reports::to_text(comparison, command.a, command.b));
  return kExitOk;
}

Result<int> run(const Global& global, const ModelPlot& command) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto model, find_model(global, command.source));
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto svg,
      reports::curves_svg(model, {reports::quantity_named(command.quantity), command.path}));
  return write_output(global, command.output, svg);
}

Result<int> run(const Global& global, const Report& command) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto content,
                             report_content(global, command.source, unix_seconds()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto page, report_page(content));
  return write_output(global, command.output, page);
}

}  // namespace stripline::cli
