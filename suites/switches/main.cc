// stripline-switches: finds out from latencies which nodes are at the same switches, for clusters
// that do not tell. A program like any other, of one rank or more on each node; start it by any
// launcher (docs/launching.md).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <stripline/context.h>
#include <stripline/team.h>

#include "base/atomic_file.h"
#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/host_name.h"
#include "optimizer/model/sections/service_levels.h"
#include "runtime/fabric/fabric.h"
#include "runtime/fabric/network_place.h"
#include "runtime/rma/context_state.h"
#include "suites/join_to_measure.h"
#include "suites/nodes.h"
#include "suites/switches/switch_tree.h"

namespace {

using namespace stripline;          // NOLINT(google-build-using-namespace)
using namespace stripline::suites;  // NOLINT(google-build-using-namespace)

using HostName = std::array<char, 256>;

// Below what a clock tells apart nothing is nearer than anything else.
constexpr double kLeastSeconds = 1e-9;

HostName name_of_host(Context& context) {
  const auto& fabric = context.state().job.fabric();
  // The nodes of an emulated network are all this host.
  const std::string text = fabric.info().provider == "emulated"
                               ? "node" + std::to_string(fabric.place(context.rank_me()).node)
                               : host_name();
  HostName name{};
  text.copy(name.data(), name.size() - 1);
  return name;
}

// The lower quartile of the times of `repetitions` gets of a word, after a first one. The shortest
// time varies more between measurements where the network's own times vary; the mean, where other
// traffic disturbs it.
double latency_to(Context& context, global_ptr<uint64_t> there, size_t repetitions) {
  std::vector<double> seconds(repetitions);
  uint64_t word = 0;
  context.rget(there, &word, 1).wait();
  for (double& one_s : seconds) {
    const double start_s = context.now_s();
    context.rget(there, &word, 1).wait();
    one_s = context.now_s() - start_s;
  }
  const auto quarter = seconds.begin() + static_cast<std::ptrdiff_t>(repetitions / 4);
  std::ranges::nth_element(seconds, quarter);
  return std::max(*quarter, kLeastSeconds);
}

// Between the first ranks of all nodes, on rank 0. Collective.
Result<Latencies> measure(Context& context, const Nodes& nodes, size_t repetitions) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto words, context.new_symmetric_array<uint64_t>(1));
  const size_t count = nodes.rank.size();
  const auto mine = std::ranges::find(nodes.rank, context.rank_me()) - nodes.rank.begin();
  const auto node = static_cast<size_t>(mine);
  std::vector<double> from_here(count);
  for (size_t round = 0; round < rounds_of_pairs(count); ++round) {
    const size_t partner = node < count ? partner_in_round(count, round, node) : count;
    // One after the other, so that no rank is busy with a get of its own.
    for (const bool first : {true, false}) {
      context.barrier();
      if (partner < count && (node < partner) == first) {
        from_here[partner] =
            latency_to(context, context.on_rank(words, nodes.rank[partner]), repetitions);
      }
    }
  }
  context.barrier();
  Latencies latencies(count);
  const bool measures = node < count;
  const team firsts =
      team::world(context).split(measures ? 0 : team::no_colour, static_cast<int64_t>(node));
  if (measures) firsts.gather(from_here, latencies.all(), 0);
  context.delete_symmetric_array(words);
  return latencies;
}

// Pairs of nodes whose switches the job was given, and those that are as far from each other by
// latencies as by that.
struct Comparison {
  size_t told = 0;
  size_t alike = 0;
};

Comparison compare(const Nodes& nodes, const SwitchTree& tree) {
  Comparison found;
  for (size_t a = 0; a < nodes.place.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      constexpr auto kScale = model::DistanceScale::switches;
      const auto told = fabric::distance(nodes.place[a], nodes.place[b], kScale);
      if (!told) continue;
      ++found.told;
      if (told == fabric::distance({0, tree.switches[a]}, {1, tree.switches[b]}, kScale)) {
        ++found.alike;
      }
    }
  }
  return found;
}

std::string text_of(const Nodes& nodes, const std::vector<HostName>& hosts,
                    const SwitchTree& tree) {
  std::ostringstream text;
  text << "# Switches above each host, from the uppermost down, by latencies of gets of 8 bytes;\n"
          "# for STRIPLINE_SWITCHES_FILE. The two directions differ by "
       << std::round(1000 * tree.noise) / 10 << " %.\n";
  for (size_t distance = 0; distance < tree.levels.size(); ++distance) {
    const SwitchTree::Level& level = tree.levels[distance];
    if (level.pairs == 0) continue;
    std::array<char, 128> line{};
    std::snprintf(line.data(), line.size(), "# distance %zu: %zu pair%s, %.3f to %.3f us\n",
                  distance, level.pairs, level.pairs == 1 ? "" : "s", level.least_s * 1e6,
                  level.most_s * 1e6);
    text << line.data();
  }
  for (size_t node = 0; node < nodes.rank.size(); ++node) {
    text << hosts[nodes.rank[node]].data() << ' ' << tree.switches[node] << '\n';
  }
  return text.str();
}

// What rank 0 does with the latencies.
Status tell(const Nodes& nodes, const std::vector<HostName>& hosts, const Latencies& latencies,
            const std::string& path) {
  if (nodes.rank.size() < 2) {
    return Error(ErrorCode::invalid_argument,
                 "all ranks are on one node; start one on each of several nodes");
  }
  std::set<std::string_view> names;
  for (const rank_t rank : nodes.rank) {
    if (!names.insert(hosts[rank].data()).second) {
      return Error(ErrorCode::failed_precondition,
                   "two nodes have the name '" + std::string(hosts[rank].data()) +
                       "': programs could not tell which they are on; give each node its own, or "
                       "set STRIPLINE_SWITCHES on each");
    }
  }
  STRIPLINE_ASSIGN_OR_RETURN(const SwitchTree tree, switch_tree(latencies));
  const std::string text = text_of(nodes, hosts, tree);
  if (path.empty()) {
    if (!(std::cout << text << std::flush)) {
      return Error(ErrorCode::unavailable, "cannot write to the output; is its disk full?");
    }
  } else {
    STRIPLINE_RETURN_IF_ERROR(write_atomically(path, text));
  }
  std::cerr << "stripline-switches: " << nodes.rank.size() << " nodes, ";
  if (tree.levels.size() == 1) {
    std::cerr << "and no latency tells one switch from another";
  } else {
    std::cerr << tree.levels.size() << " distances";
  }
  const Comparison found = compare(nodes, tree);
  if (found.told > 0) {
    std::cerr << "; of " << found.told << " pairs, " << found.alike
              << " are as far from each other as the job's own list of switches says";
  }
  std::cerr << '\n';
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  prepare_descriptors();
  size_t repetitions = 200;
  std::string path;
  CLI::App app(
      "Tells from the latencies between nodes which of them are at the same switches, for\n"
      "clusters where neither STRIPLINE_SWITCHES nor Slurm says so. A program of ranks: start it\n"
      "like any other, one rank on each node, while no other job uses the network:\n\n"
      "  srun --mpi=pmix --ntasks-per-node=1 stripline-switches --out switches.txt\n"
      "  export STRIPLINE_SWITCHES_FILE=$PWD/switches.txt      # of agents and programs",
      "stripline-switches");
  app.add_option("--repetitions", repetitions, "Gets of each pair, in each direction")
      ->type_name("N")
      ->capture_default_str()
      ->transform(whole_number(1, 1000000));
  app.add_option("--out", path, "Write the hosts and their switches there (default: to the output)")
      ->type_name("FILE");
  app.footer(
      "\nExit codes: 0, 2 wrong usage, 3 the latencies tell no tree of switches, or two nodes "
      "have\n"
      "one name, 4 a peer cannot be reached or the file not written, 5 a rank died, 6 ranks did "
      "not\n"
      "come, 7 stopped on request. STRIPLINE_SWITCHES_FILE is not read: this writes it.");
  if (const auto end = read_command_line(app, argc, argv)) return *end;
  // What an earlier run found, or half of it, is not a reason to skip measuring. No threads yet.
  ::unsetenv("STRIPLINE_SWITCHES_FILE");  // NOLINT(concurrency-mt-unsafe)
  auto joined = join_to_measure();
  if (!joined.ok()) return report(joined.error());
  Context& context = **joined;
  const Nodes nodes = nodes_of(context);
  const auto latencies = measure(context, nodes, repetitions);
  if (!latencies.ok()) return report(latencies.error());
  const HostName host = name_of_host(context);
  std::vector<HostName> hosts(context.rank_me() == 0 ? context.rank_n() : 0);
  team::world(context).gather(std::span(&host, 1), hosts, 0);
  int code = kExitOk;
  if (context.rank_me() == 0) {
    const Status told = tell(nodes, hosts, *latencies, path);
    if (!told.ok()) code = report(told.error());
  }
  return context.broadcast(code, 0);
}
