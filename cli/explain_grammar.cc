#include "cli/explain_grammar.h"

#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include "base/command_line.h"
#include "cli/grammar_parts.h"
#include "optimizer/plan/request_fields.h"

namespace stripline::cli {
namespace {

void add_model(CLI::App& command, std::string& source) {
  command.add_option("model", source, "A model file, or a name: tcp, tcp@2")
      ->required()
      ->type_name("FILE|NAME");
}
void add_path(CLI::App& command, std::string& path) {
  command.add_option("--path", path, "Path of the model, e.g. inter-node (default: its first)")
      ->type_name("NAME");
}

constexpr const char* kExitCodes =
    "Exit codes: 0, 2 no such model or path, 3 malformed file, 4 no server.\n\n";

// The option of one member of a request, or of its surroundings.
template <typename Object>
void add_field(CLI::App& command, const plan::Field<Object>& field, Object& object) {
  const plan::FieldText& text = field.text;
  const plan::FieldValue usual = field.get(object);
  const auto set = [&object, set = field.set](const auto& value) { set(object, value); };
  CLI::Option* option = nullptr;
  switch (text.unit) {
    case plan::Unit::flag:
      command.add_flag_callback(
          text.option, [set] { set(true); }, text.help);
      return;
    case plan::Unit::number:
      option = command.add_option_function<uint64_t>(text.option, set, text.help)
                   ->type_name("N")
                   ->transform(whole_number(text.least, text.most));
      break;
    case plan::Unit::bytes:
      option = command.add_option_function<uint64_t>(text.option, set, text.help)
                   ->type_name("BYTES")
                   ->transform(size_from(text.least));
      break;
    case plan::Unit::seconds:
      option = command.add_option_function<double>(text.option, set, text.help)
                   ->type_name("TIME")
                   ->transform(time_within({}));
      break;
    case plan::Unit::choice: {
      const auto choices = text.choices;
      const auto choose = [set, choices](const std::string& said) {
        set(*std::ranges::find(choices, std::string_view(said)));
      };
      option = command.add_option_function<std::string>(text.option, choose, text.help)
                   ->type_name("NAME")
                   ->check(one_of({choices.begin(), choices.end()}))
                   ->default_str(std::string(std::get<std::string_view>(usual)));
      break;
    }
    case plan::Unit::numbers:
      option = command.add_option_function<std::vector<uint64_t>>(text.option, set, text.help)
                   ->type_name("N,N,...")
                   ->transform(whole_number(text.least, text.most))
                   ->delimiter(',')
                   ->expected(1, static_cast<int>(std::get<std::vector<uint64_t>>(usual).size()));
      break;
  }
  option->required(text.required);
  // Limits that are none, and what is worked out otherwise, are told in the help.
  const auto* const number = std::get_if<uint64_t>(&usual);
  if (number != nullptr && !text.required && *number >= text.least && *number < text.most) {
    option->default_str(std::to_string(*number));
  }
}

// What the request is about, and its surroundings.
template <typename Request>
void add_request(CLI::App& command, Explain<Request>& explain) {
  add_model(command, explain.source);
  for (const auto& field : plan::fields_of<Request>()) add_field(command, field, explain.request);
  plan::Surroundings& surroundings = explain.request.surroundings;
  for (const auto& [fact, field] : plan::surroundings_fields()) {
    if (has(Request::kFacts, fact)) add_field(command, field, surroundings);
  }
  add_path(command, explain.path);
}

}  // namespace

void ExplainGrammar::define(CLI::App& app, Action& result) {
  CLI::App* explain =
      app.add_subcommand("explain", "Say how a program's communication would run, and why");
  explain->require_subcommand(1);
  explain->fallthrough();
  explain->footer(
      "Runs the planners of the runtime with a tuned model, and shows every alternative with "
      "its\n"
      "predicted time, the parameters that matter, and the margin. 'stripline run --trace' "
      "writes\n"
      "these commands for what a program does.\n\n"
      "Examples:\n"
      "  stripline explain loop tcp.stripline.json --bytes 1MiB --compute 400us\n"
      "  stripline explain nest tcp.stripline.json nest.json\n"
      "  stripline explain call tcp.stripline.json --regions 256 --region-bytes 64\n"
      "  stripline explain sweep tcp.stripline.json --stages 8 --lines 64 --line-bytes 640 "
      "--compute 50us\n");
  define_loop(*explain, result);
  define_nest(*explain, result);
  define_call(*explain, result);
  define_sweep(*explain, result);
}

void ExplainGrammar::define_loop(CLI::App& explain, Action& result) {
  CLI::App* loop = leaf_command(explain, "loop", "A loop that goes through remote data (strip_for)",
                                loop_, result);
  add_request(*loop, loop_);
  loop->footer(std::string(kExitCodes) +
               "Example:\n"
               "  stripline explain loop tcp --bytes 512KiB --fp-ops 2 --local-refs 1\n" +
               kServiceOptions);
}

void ExplainGrammar::define_nest(CLI::App& explain, Action& result) {
  CLI::App* nest =
      leaf_command(explain, "nest", "A nest of loops over remote arrays (for_nest)", nest_, result);
  add_model(*nest, nest_.source);
  nest->add_option("nest", nest_.nest, "A file with the nest, or the nest itself: {...}")
      ->required()
      ->type_name("FILE|JSON");
  nest->footer(
      std::string(
          "The nest is a JSON object: loops, the outermost first, and references with the bytes\n"
          "that they move by loop. docs/cli.md shows one, docs/schema/nest-v1.schema.json has "
          "all\n"
          "members, docs/schema/nests more examples.\n\n"
          "Exit codes: 0, 2 no such model or file, 3 malformed file or nest, 4 no server.\n\n"
          "Example:\n"
          "  stripline explain nest tcp '{\"loops\":[{\"count\":4096}],\"compute_s\":1e-4,\n"
          "    \"references\":[{\"mode\":\"read\",\"stride_bytes\":[64]}]}'\n") +
      kServiceOptions);
}

void ExplainGrammar::define_call(CLI::App& explain, Action& result) {
  CLI::App* call = leaf_command(explain, "call", "A put or get of many regions (<stripline/vis.h>)",
                                call_, result);
  add_request(*call, call_);
  call->add_option("--stride", call_.stride_bytes,
                   "From region to region; the mean for lists (default: twice --region-bytes)")
      ->type_name("BYTES")
      ->transform(size_from(0))
      ->excludes("--extent");
  call->add_option("--kind", call_.kind,
                   "strided: one shape says where they are; indexed: a list of addresses")
      ->type_name("KIND")
      ->check(one_of({"strided", "indexed"}))
      ->capture_default_str();
  call->add_option("--dimensions", call_.dimensions, "Of a shape, beside that within a region")
      ->type_name("N")
      ->transform(count())
      ->capture_default_str();
  call->get_option("--flag-with-data")->needs("--signal");
  call->footer(std::string(kExitCodes) +
               "Example:\n"
               "  stripline explain call tcp --regions 1024 --region-bytes 8 --stride 8KiB\n" +
               kServiceOptions);
}

void ExplainGrammar::define_sweep(CLI::App& explain, Action& result) {
  CLI::App* sweep =
      leaf_command(explain, "sweep", "The stages of a sweep over ranks (<stripline/wavefront.h>)",
                   sweep_, result);
  add_request(*sweep, sweep_);
  sweep->footer(
      std::string(kExitCodes) +
      "Example:\n"
      "  stripline explain sweep tcp --stages 8 --lines 64 --line-bytes 640 --compute 50us "
      "--kind pipeline\n" +
      kServiceOptions);
}

}  // namespace stripline::cli
