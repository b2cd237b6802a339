#include "cli/explain_grammar.h"

#include "base/command_line.h"
#include "cli/grammar_parts.h"
#include "optimizer/model/service_model.h"

namespace stripline::cli {
namespace {

void add_model(CLI::App& command, std::string& source) {
  command.add_option("model", source, "A model file, or a name: tcp, tcp@2")
      ->required()
      ->type_name("FILE|NAME");
}
void add_direction(CLI::App& command, std::string& direction) {
  command.add_option("--direction", direction, "Of the transfers")
      ->type_name("DIRECTION")
      ->check(one_of({"get", "put"}))
      ->capture_default_str();
}
void add_path(CLI::App& command, std::string& path) {
  command.add_option("--path", path, "Path of the model, e.g. inter-node (default: its first)")
      ->type_name("NAME");
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
  add_model(*loop, loop_.source);
  const CLI::Validator as_bytes = size_from(0);
  loop->add_option("--bytes", loop_.bytes, "Remote data of the whole loop, e.g. 1MiB")
      ->type_name("BYTES")
      ->required()
      ->transform(as_bytes);
  add_direction(*loop, loop_.direction);
  add_path(*loop, loop_.path);
  loop->add_option("--compute", loop_.compute_s,
                   "Computation of the whole loop, e.g. 400us (default: "
                   "estimated from the options below)")
      ->type_name("TIME")
      ->transform(time_within({}));
  loop->add_option("--fp-ops", loop_.fp_ops, "Floating-point operations per element")
      ->type_name("N")
      ->transform(amount())
      ->capture_default_str();
  loop->add_option("--int-ops", loop_.int_ops, "Integer operations per element")
      ->type_name("N")
      ->transform(amount())
      ->capture_default_str();
  loop->add_option("--divisions", loop_.divisions, "Divisions per element")
      ->type_name("N")
      ->transform(amount())
      ->capture_default_str();
  loop->add_option("--local-refs", loop_.local_refs, "References to local memory per element")
      ->type_name("N")
      ->transform(amount())
      ->capture_default_str();
  loop->add_option("--local-bytes", loop_.local_bytes, "Footprint of the local references")
      ->type_name("BYTES")
      ->transform(as_bytes)
      ->capture_default_str();
  loop->add_option("--sweeps", loop_.sweeps, "How often each element is used")
      ->type_name("N")
      ->transform(count())
      ->capture_default_str();
  loop->add_option("--element", loop_.element_bytes, "Bytes of an element")
      ->type_name("BYTES")
      ->transform(size_from(1))
      ->capture_default_str();
  loop->add_option("--granule", loop_.granule_elements, "Strips are a multiple of so many elements")
      ->type_name("N")
      ->transform(large_count())
      ->capture_default_str();
  loop->add_option("--halo", loop_.halo_bytes, "Bytes that a strip of a get needs beyond its end")
      ->type_name("BYTES")
      ->transform(as_bytes)
      ->capture_default_str();
  loop->add_option("--buffer", loop_.buffer_bytes,
                   "Memory that the plan may use (default: no limit)")
      ->type_name("BYTES")
      ->transform(as_bytes);
  loop->add_option("--blocks", loop_.blocks, "Contiguous regions that the data are in")
      ->type_name("N")
      ->transform(count())
      ->capture_default_str();
  loop->add_option("--peers", loop_.peers, "Ranks that the blocks are of, one after the other")
      ->type_name("N")
      ->transform(count())
      ->capture_default_str();
  loop->add_flag("--uneven", loop_.uneven, "The blocks differ in size");
  loop->add_option("--nic-ranks", loop_.nic_ranks, "Ranks that share a NIC")
      ->type_name("N")
      ->transform(count())
      ->capture_default_str();
  loop->add_flag("--served-between-strips", loop_.served_between_strips,
                 "Peers go through such a loop, too, and serve this one between strips (tcp)");
  loop->add_option("--nodes", loop_.nodes, "Nodes that communicate at the same time")
      ->type_name("N")
      ->transform(count())
      ->capture_default_str();
  loop->add_option("--distances", loop_.distances,
                   "Of the peers, those at distance 0, 1, ... of the model's service levels")
      ->type_name("N,N,...")
      ->transform(amount())
      ->delimiter(',')
      ->expected(1, static_cast<int>(model::kDistances));
  loop->add_option("--own", loop_.own_bytes,
                   "Local data that the loop goes through while the first transfers are under way")
      ->type_name("BYTES")
      ->transform(as_bytes)
      ->capture_default_str();
  loop->add_flag("--placed", loop_.placed, "The data have a place in the program's memory");
  loop->footer(
      std::string("Exit codes: 0, 2 no such model or path, 3 malformed file, 4 no server.\n\n"
                  "Example:\n"
                  "  stripline explain loop tcp --bytes 512KiB --fp-ops 2 --local-refs 1\n") +
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
  add_model(*call, call_.source);
  const CLI::Validator as_bytes = size_from(0);
  call->add_option("--regions", call_.regions, "Contiguous remote pieces")
      ->type_name("N")
      ->required()
      ->transform(large_count());
  call->add_option("--region-bytes", call_.region_bytes, "Bytes of each; the mean for lists")
      ->type_name("BYTES")
      ->required()
      ->transform(size_from(1));
  CLI::Option* stride =
      call->add_option("--stride", call_.stride_bytes,
                       "From region to region; the mean for lists (default: twice --region-bytes)")
          ->type_name("BYTES")
          ->transform(as_bytes);
  call->add_option("--extent", call_.extent_bytes,
                   "From the first byte of all regions to the last (default: by --stride)")
      ->type_name("BYTES")
      ->transform(size_from(1))
      ->excludes(stride);
  call->add_option("--kind", call_.kind,
                   "strided: one shape says where they are; indexed: a list of addresses")
      ->type_name("KIND")
      ->check(one_of({"strided", "indexed"}))
      ->capture_default_str();
  call->add_option("--dimensions", call_.dimensions, "Of a shape, beside that within a region")
      ->type_name("N")
      ->transform(count())
      ->capture_default_str();
  add_direction(*call, call_.direction);
  add_path(*call, call_.path);
  call->add_option("--local-regions", call_.local_regions, "Contiguous local pieces")
      ->type_name("N")
      ->transform(large_count())
      ->capture_default_str();
  call->add_option("--class", call_.compute_class, "What the program computes meanwhile")
      ->type_name("CLASS")
      ->check(one_of({"communication_only", "light", "heavy"}))
      ->capture_default_str();
  call->add_flag("--bounding-box", call_.bounding_box,
                 "Gets may read what lies between the regions");
  call->add_option("--iov-limit", call_.iov_limit,
                   "Remote pieces that one operation of the network takes")
      ->type_name("N")
      ->transform(count())
      ->capture_default_str();
  call->add_option("--peers", call_.peers, "Ranks that this rank has such transfers with at once")
      ->type_name("N")
      ->transform(count())
      ->capture_default_str();
  call->add_option("--service-delay", call_.service_delay_s,
                   "How long messages wait at the target until it looks for them")
      ->type_name("TIME")
      ->transform(time_within({}));
  call->add_flag("--needs-target", call_.needs_target,
                 "Operations of single regions wait for the target likewise (tcp)");
  CLI::Option* signal = call->add_flag(
      "--signal", call_.signalled, "The put raises a flag at the target when its data are visible");
  call->add_flag("--flag-with-data", call_.flag_with_data,
                 "The network takes the flag of a contiguous put along with its data, as emulated "
                 "ones do (default: it follows)")
      ->needs(signal);
  call->footer(
      std::string("Exit codes: 0, 2 no such model or path, 3 malformed file, 4 no server.\n\n"
                  "Example:\n"
                  "  stripline explain call tcp --regions 1024 --region-bytes 8 --stride 8KiB\n") +
      kServiceOptions);
}

void ExplainGrammar::define_sweep(CLI::App& explain, Action& result) {
  CLI::App* sweep =
      leaf_command(explain, "sweep", "The stages of a sweep over ranks (<stripline/wavefront.h>)",
                   sweep_, result);
  add_model(*sweep, sweep_.source);
  sweep->add_option("--stages", sweep_.stages, "Stages of the sweep, one after the other")
      ->type_name("N")
      ->required()
      ->transform(count());
  sweep->add_option("--lines", sweep_.lines, "Lines of a stage, of which none needs a later one")
      ->type_name("N")
      ->required()
      ->transform(large_count());
  sweep->add_option("--line-bytes", sweep_.line_bytes, "What a line leaves for the next stage")
      ->type_name("BYTES")
      ->required()
      ->transform(size_from(0));
  sweep
      ->add_option("--compute", sweep_.compute_s, "Computation of all lines of a stage, e.g. 100us")
      ->type_name("TIME")
      ->required()
      ->transform(time_within({}));
  sweep
      ->add_option("--kind", sweep_.kind,
                   "multipartition: every rank has a part of each stage; pipeline: each stage "
                   "is another rank's")
      ->type_name("KIND")
      ->check(one_of({"multipartition", "pipeline"}))
      ->capture_default_str();
  add_path(*sweep, sweep_.path);
  sweep->add_option("--nic-ranks", sweep_.nic_ranks, "Ranks that share a NIC")
      ->type_name("N")
      ->transform(count())
      ->capture_default_str();
  sweep->add_flag("--flag-with-data", sweep_.flag_with_data,
                  "The network takes the flag of a piece along with its data, as emulated ones "
                  "do (default: it follows)");
  sweep->add_flag("--served-between-pieces", sweep_.served_between_pieces,
                  "The rank of the next stage serves a piece while it waits for one, and between "
                  "its own ones (tcp)");
  sweep->footer(
      std::string(
          "Exit codes: 0, 2 no such model or path, 3 malformed file, 4 no server.\n\n"
          "Example:\n"
          "  stripline explain sweep tcp --stages 8 --lines 64 --line-bytes 640 --compute 50us "
          "--kind pipeline\n") +
      kServiceOptions);
}

}  // namespace stripline::cli
