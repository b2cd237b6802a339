// The emulated fat tree beside SimGrid's fluid model (Casanova et al. 2014, "Versatile, scalable,
// and accurate simulation of distributed applications and platforms"): the same nodes, links and
// routes, the same flows, two independent programs. Prints a table, and fails where they differ by
// more than the models do. scripts/check.sh simgrid builds and runs it; nothing that is installed
// knows SimGrid.
//
// What is the same. Links are shared, latency and bandwidth are as written: SimGrid's correction
// factors are 1, acknowledgements take no room, windows do not bound a flow. Overheads and gaps are
// zero here: they are not of the network. Latency is a constant of a flow in both; SimGrid's links
// have none, as it would weigh the shares of flows by it, and it is added to its times.
//
// What differs. Ours passes messages on first come, first served, a link at a time, with room for
// those that wait between links; SimGrid shares every link among all flows that need it (max-min
// fairness), and a flow has the same rate on all of its links.
//
// What follows for the makespan of messages of one size on links of one speed.
// * Neither ends before the busiest link has carried all that must cross it: `bound`.
// * A message of ours waits at each link for the others there at most, and takes its own time once,
//   as heads go on while the rest follows. A fluid flow is held up at any time by one of its links,
//   which is full: with the others there, once each, and with itself. Hence both end within the
//   largest sum, over the links of a message, of what the others on it take, and its own time:
//   `longest`. The ratio is in [bound / longest, longest / bound].
// * Where messages that hinder each other, directly or through others, have one link in common, no
//   message of ours waits for one that is not in transit through that link, and no flow is held up
//   by a link that does not fill that one: both keep it busy to the end, and the ratio is 1.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <simgrid/s4u.hpp>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "runtime/fabric/emulated/profile.h"
#include "runtime/fabric/emulated/testing/emulated_ranks.h"

namespace stripline::fabric {
namespace {

namespace sg = simgrid::s4u;

constexpr size_t kBytes = size_t{1} << 19;
constexpr Rank kMostNodes = 64;

struct Flow {
  Rank source;
  Rank target;
};
/// Flows of one phase start together, when those of the phase before have ended.
using Phases = std::vector<std::vector<Flow>>;

struct Times {
  double last_s = 0;  // sum over phases, latency included
  double mean_s = 0;  // of all flows; of the emulator only where no rank has two
};

struct Tree {
  const char* name;
  std::string file;
  Profile profile;
};

Json of(double value) { return {{"value", value}, {"assumed", "for comparison"}}; }

/// The congested tree with as many links upwards as `up` says, and a network without overheads.
Tree make_tree(const char* name, const std::vector<int>& up) {
  Json profile = *parse_json(builtin_profile_text("congested-tree"), "congested-tree");
  for (const char* operation : {"put", "get", "am"}) {
    Json segment = profile[operation]["segments"].back();
    segment["from_bytes"] = 0;
    for (const char* zero : {"o_base_s", "o_per_byte_s", "g_s", "r_base_s", "r_per_byte_s"}) {
      segment[zero] = of(0);
    }
    profile[operation]["segments"] = Json::array({segment});
  }
  for (size_t level = 0; level < up.size(); ++level) {
    profile["fat_tree"]["levels"][level]["up"] = up[level];
  }
  std::string file =
      testing::TempDir() + "stripline_" + name + "_" + std::to_string(::getpid()) + ".json";
  EXPECT_TRUE(write_json_file(file, profile).ok());
  Profile parsed = resolve_profile("emulated:" + file)->profile;
  return {name, std::move(file), std::move(parsed)};
}

double latency_s(const Tree& tree, const Flow& flow) {
  return tree.profile.put.at(kBytes).L_s +
         tree.profile.tree.hops(flow.source, flow.target) * tree.profile.tree.hop_s();
}

/// The links of a flow, with names that are the same for the same link, and what each takes for a
/// byte. All trees reach as far, whatever part of them has nodes: links have the numbers of 64.
std::vector<std::pair<std::string, double>> route(const Tree& tree, const Flow& flow) {
  const double nic_G = tree.profile.put.at(kBytes).G_s_per_byte;
  std::vector<std::pair<std::string, double>> links;
  links.emplace_back(std::string(tree.name) + " out " + std::to_string(flow.source), nic_G);
  for (uint32_t i = 0; i < tree.profile.tree.hops(flow.source, flow.target); ++i) {
    const FatTree::Hop hop = tree.profile.tree.hop(flow.source, flow.target, i, kMostNodes);
    links.emplace_back(std::string(tree.name) + " link " + std::to_string(hop.link),
                       hop.G_s_per_byte);
  }
  links.emplace_back(std::string(tree.name) + " in " + std::to_string(flow.target), nic_G);
  return links;
}

struct Load {
  double bound_s = 0;
  double longest_s = 0;
  bool same = true;  // the last of the cases above, in every phase
};

// The flows that hinder each other: the number of the set of each.
std::vector<size_t> sets_of(const Tree& tree, const std::vector<Flow>& flows) {
  std::vector<size_t> set(flows.size());
  std::iota(set.begin(), set.end(), size_t{0});
  std::map<std::string, size_t> first_user;
  for (size_t i = 0; i < flows.size(); ++i) {
    for (const auto& [link, G] : route(tree, flows[i])) {
      const size_t other = set[first_user.emplace(link, i).first->second];
      const size_t own = set[i];
      std::replace(set.begin(), set.end(), own, other);
    }
  }
  return set;
}

void add_phase(const Tree& tree, const std::vector<Flow>& flows, Load& load) {
  std::map<std::string, double> busy_s;
  std::map<std::string, size_t> users;
  for (const Flow& flow : flows) {
    for (const auto& [link, G] : route(tree, flow)) {
      busy_s[link] += G * kBytes;
      ++users[link];
    }
  }
  const std::vector<size_t> set = sets_of(tree, flows);
  double bound_s = 0;
  double longest_s = 0;
  for (size_t i = 0; i < flows.size(); ++i) {
    const auto members = static_cast<size_t>(std::count(set.begin(), set.end(), set[i]));
    bool in_common = false;
    double own_s = 0;
    double others_s = 0;
    for (const auto& [link, G] : route(tree, flows[i])) {
      bound_s = std::max(bound_s, busy_s[link]);
      own_s = G * kBytes;
      others_s += busy_s[link] - own_s;
      in_common = in_common || users[link] == members;
    }
    longest_s = std::max(longest_s, own_s + others_s);
    load.same = load.same && in_common;
  }
  load.bound_s += bound_s;
  load.longest_s += longest_s;
}

Load load_of(const Tree& tree, const Phases& phases) {
  Load load;
  for (const auto& flows : phases) add_phase(tree, flows, load);
  return load;
}

Times emulate(const Tree& tree, Rank nodes, const Phases& phases) {
  Times times;
  size_t flows_of_all = 0;
  for (const auto& flows : phases) {
    std::vector<double> last_s(nodes);
    std::vector<double> sum_s(nodes);
    run_emulated_ranks(nodes, "emulated:" + tree.file + ",compute=none,jitter=off", "virtual", 1,
                       kBytes, [&](Fabric& fabric, Rank rank) {
                         const std::vector<std::byte> data(kBytes);
                         std::vector<Flow> mine;
                         for (const Flow& flow : flows) {
                           if (flow.source == rank) mine.push_back(flow);
                         }
                         std::vector<Counter> counters(mine.size());
                         for (size_t i = 0; i < mine.size(); ++i) {
                           fabric.put(mine[i].target, 0, {data.data(), kBytes}, counters[i]);
                         }
                         for (size_t i = 0; i < mine.size(); ++i) {
                           fabric.wait_for(counters[i]);
                           // The acknowledgement has taken the latency once more.
                           const double there_s = fabric.now_s() - latency_s(tree, mine[i]);
                           last_s[rank] = std::max(last_s[rank], there_s);
                           sum_s[rank] += there_s;
                         }
                       });
    times.last_s += *std::max_element(last_s.begin(), last_s.end());
    for (const double sum : sum_s) times.mean_s += sum;
    flows_of_all += flows.size();
  }
  times.mean_s /= static_cast<double>(flows_of_all);
  return times;
}

/// SimGrid has one simulation in a process: all patterns are simulated in it one after the other.
class Simulation {
 public:
  Simulation(int* argc, char** argv) : engine_(argc, argv) {
    sg::Engine::set_config("network/model:CM02");
    sg::Engine::set_config("network/latency-factor:1");
    sg::Engine::set_config("network/bandwidth-factor:1");
    sg::Engine::set_config("network/crosstraffic:0");
    sg::Engine::set_config("network/TCP-gamma:1e15");
    sg::Engine::set_config("maxmin/precision:1e-9");
    zone_ = sg::create_full_zone("all");
  }

  void build(const Tree& tree) {
    std::vector<sg::Host*>& hosts = hosts_[tree.name];
    for (Rank node = 0; node < kMostNodes; ++node) {
      hosts.push_back(
          zone_->create_host(std::string(tree.name) + " node " + std::to_string(node), 1e9));
    }
    std::map<std::string, sg::Link*> links;
    for (Rank source = 0; source < kMostNodes; ++source) {
      for (Rank target = 0; target < kMostNodes; ++target) {
        if (source == target) continue;
        std::vector<sg::LinkInRoute> links_of_route;
        for (const auto& [name, G] : route(tree, {source, target})) {
          sg::Link*& link = links[name];
          if (link == nullptr) link = zone_->create_link(name, 1 / G)->set_latency(0.0)->seal();
          links_of_route.emplace_back(link);
        }
        zone_->add_route(hosts[source]->get_netpoint(), hosts[target]->get_netpoint(), nullptr,
                         nullptr, links_of_route, false);
      }
    }
  }

  /// Simulates what was asked for until now; results are where `into` pointed to.
  void add(const Tree& tree, const Phases& phases, Times* into) {
    jobs_.emplace_back([this, &tree, phases, into] {
      const std::vector<sg::Host*>& hosts = hosts_[tree.name];
      size_t flows_of_all = 0;
      for (const auto& flows : phases) {
        const double begin_s = sg::Engine::get_clock();
        std::vector<sg::CommPtr> in_flight;
        for (const Flow& flow : flows) {
          in_flight.push_back(
              sg::Comm::sendto_async(hosts[flow.source], hosts[flow.target], kBytes));
        }
        std::vector<double> there_s(flows.size());
        for (size_t i = 0; i < flows.size(); ++i) in_flight[i]->wait();
        for (size_t i = 0; i < flows.size(); ++i) {
          there_s[i] = in_flight[i]->get_finish_time() - begin_s + latency_s(tree, flows[i]);
          into->mean_s += there_s[i];
        }
        into->last_s += *std::max_element(there_s.begin(), there_s.end());
        flows_of_all += flows.size();
      }
      into->mean_s /= static_cast<double>(flows_of_all);
    });
  }

  void run() {
    zone_->seal();
    sg::Actor::create("all", hosts_.begin()->second[0], [this] {
      for (const auto& job : jobs_) job();
    });
    engine_.run();
  }

 private:
  sg::Engine engine_;
  sg::NetZone* zone_ = nullptr;
  std::map<std::string, std::vector<sg::Host*>> hosts_;
  std::vector<std::function<void()>> jobs_;
};

struct Pattern {
  std::string name;
  Phases phases;
  bool single = true;  // no rank has two flows in a phase
};

std::vector<Flow> shift(Rank nodes, Rank distance) {
  std::vector<Flow> flows;
  for (Rank node = 0; node < nodes; ++node) flows.push_back({node, (node + distance) % nodes});
  return flows;
}

std::vector<Pattern> patterns(Rank nodes) {
  std::vector<Pattern> all;
  for (const Rank distance : {Rank{1}, Rank{4}, nodes / 2}) {
    if (distance == 4 && nodes / 2 == 4) continue;
    all.push_back({"shift by " + std::to_string(distance), {shift(nodes, distance)}});
  }
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    std::vector<Rank> targets(nodes);
    for (Rank node = 0; node < nodes; ++node) targets[node] = node;
    std::mt19937_64 random(seed);
    // Sattolo's, so that no node sends to itself.
    for (Rank i = nodes - 1; i > 0; --i) std::swap(targets[i], targets[random() % i]);
    std::vector<Flow> flows;
    for (Rank node = 0; node < nodes; ++node) flows.push_back({node, targets[node]});
    all.push_back({"permutation " + std::to_string(seed), {flows}});
  }
  std::vector<Flow> incast;
  for (Rank node = 1; node < nodes; ++node) incast.push_back({node, 0});
  all.push_back({"incast", {incast}});
  Pattern phases{"all-to-all, in phases", {}};
  Pattern at_once{"all-to-all, at once", {{}}, false};
  for (Rank distance = 1; distance < nodes; ++distance) {
    phases.phases.push_back(shift(nodes, distance));
    for (const Flow& flow : phases.phases.back()) at_once.phases[0].push_back(flow);
  }
  all.push_back(phases);
  all.push_back(at_once);
  return all;
}

// What SimGrid's solver is exact to, and more.
constexpr double kSame = 0.001;

int compare(int* argc, char** argv) {
  const std::vector<Tree> trees = {make_tree("congested", {2, 4}), make_tree("full", {4, 16})};
  Simulation simulation(argc, argv);
  struct Row {
    const Tree* tree;
    Rank nodes;
    Pattern pattern;
    Load load;
    Times theirs;
  };
  std::vector<Row> rows;
  for (const Tree& tree : trees) {
    simulation.build(tree);
    for (const Rank nodes : {8U, 16U, 32U, 64U}) {
      for (const Pattern& pattern : patterns(nodes)) {
        rows.push_back({&tree, nodes, pattern, load_of(tree, pattern.phases), {}});
      }
    }
  }
  for (Row& row : rows) simulation.add(*row.tree, row.pattern.phases, &row.theirs);
  simulation.run();
  std::printf("| tree | nodes | pattern | bound | ours | SimGrid | ratio | of means | at most |\n");
  std::printf("|---|---:|---|---:|---:|---:|---:|---:|---|\n");
  bool met = true;
  for (const Row& row : rows) {
    const Times ours = emulate(*row.tree, row.nodes, row.pattern.phases);
    const double ratio = ours.last_s / row.theirs.last_s;
    const double band = row.load.same ? 1 + kSame : row.load.longest_s / row.load.bound_s;
    const bool within = ratio <= band && ratio >= 1 / band &&
                        ours.last_s >= row.load.bound_s * (1 - kSame) &&
                        row.theirs.last_s >= row.load.bound_s * (1 - kSame);
    met = met && within;
    const std::string means =
        row.pattern.single ? std::to_string(ours.mean_s / row.theirs.mean_s).substr(0, 5) : "";
    std::printf("| %s | %u | %s | %.3f ms | %.3f ms | %.3f ms | %.4f | %s | %.3f%s |\n",
                row.tree->name, row.nodes, row.pattern.name.c_str(), row.load.bound_s * 1e3,
                ours.last_s * 1e3, row.theirs.last_s * 1e3, ratio, means.c_str(), band,
                within ? "" : ": NOT MET");
  }
  for (const Tree& tree : trees) std::filesystem::remove(tree.file);
  return met ? 0 : 1;
}

}  // namespace
}  // namespace stripline::fabric

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);  // for its assertions
  const int outcome = stripline::fabric::compare(&argc, argv);
  return testing::Test::HasFailure() ? 1 : outcome;
}
