#include "tests/plans/cases.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/plan/mechanisms.h"
#include "tests/plans/draw.h"

namespace stripline::plan_corpus {
namespace {

// Builds a decision's line.
class Line {
 public:
  Line& word(std::string_view text) {
    text_ += (text_.empty() ? "" : " ") + std::string(text);
    return *this;
  }
  Line& whole(std::string_view name, uint64_t value) {
    return word(std::string(name) + "=" + std::to_string(value));
  }
  /// Six digits: the last ones of a double are the compiler's.
  Line& seconds(std::string_view name, double value) { return number(name, "%.6g", value); }
  /// A relative gain, which is a difference: absolute.
  Line& gain(std::string_view name, double value) {
    constexpr double kMillion = 1e6;
    return number(name, "%.0f", std::round(kMillion * value) + 0.0);
  }
  Line& yes(std::string_view name, bool value) { return value ? word(name) : *this; }
  /// The times of a plan that was compared with a baseline.
  template <typename Plan>
  Line& times(const Plan& plan) {
    return seconds("predicted", plan.predicted_s)
        .seconds("baseline", plan.baseline_s)
        .gain("gain", plan.gain_low);
  }
  const std::string& text() const { return text_; }

 private:
  Line& number(std::string_view name, const char* pattern, double value) {
    std::array<char, 48> buffer{};
    std::snprintf(buffer.data(), buffer.size(), pattern, value);
    return word(std::string(name) + "=" + buffer.data());
  }
  std::string text_;
};

cost::NetworkLoad draw_load(Draw& draw) {
  cost::NetworkLoad load;
  if (!draw.one_in(4)) return load;
  load.nodes = static_cast<uint32_t>(draw.between(2, 40));
  const uint64_t peers = draw.between(1, 6);
  for (uint64_t i = 0; i < peers; ++i) load.add(static_cast<uint32_t>(draw.below(4)));
  return load;
}

uint32_t draw_nic_ranks(Draw& draw) {
  return draw.one_in(3) ? static_cast<uint32_t>(draw.between(2, 16)) : 1;
}

cost::LoopClass draw_loop(Draw& draw) {
  return {static_cast<uint32_t>(draw.below(4)), static_cast<uint32_t>(draw.below(4)),
          static_cast<uint32_t>(draw.below(6)), static_cast<uint32_t>(draw.below(2))};
}

void add_plan(Line& line, const plan::StripPlan& plan) {
  line.word(to_string(plan.schedule))
      .word(to_string(plan.reason))
      .whole("strip", plan.strip_bytes)
      .whole("count", plan.count)
      .whole("burst", plan.burst)
      .whole("sync", plan.sync_burst)
      .times(plan);
}

plan::StripRequest draw_strip(Draw& draw) {
  plan::StripRequest r;
  r.direction = draw.one_in(2) ? plan::Direction::get : plan::Direction::put;
  const bool get = r.direction == plan::Direction::get;
  r.element_bytes = draw.one_in(4) ? 24 : 8;
  r.granule_elements = draw.one_in(4) ? draw.between(2, 200) : 1;
  const uint64_t granule = r.element_bytes * r.granule_elements;
  r.total_bytes = granule * (1 + draw.size(23) / granule);
  if (get && draw.one_in(3)) r.halo_bytes = r.element_bytes * draw.below(64);
  if (draw.one_in(3)) {
    r.blocks = static_cast<uint32_t>(draw.between(1, 12));
    r.total_bytes *= r.blocks;
    r.peers = static_cast<uint32_t>(draw.between(1, r.blocks));
    r.uneven = draw.one_in(2);
    if (get && draw.one_in(2)) r.own_bytes = r.total_bytes / r.blocks;
  }
  if (draw.one_in(3)) r.max_buffer_bytes = granule + r.halo_bytes + draw.below(2 * r.total_bytes);
  r.placed = draw.one_in(8);
  r.surroundings.nic_ranks = draw_nic_ranks(draw);
  r.surroundings.target_polls_only = draw.one_in(3);
  r.surroundings.load = draw_load(draw);
  r.loop = draw_loop(draw);
  r.sweeps = draw.one_in(4) ? static_cast<uint32_t>(draw.between(2, 5)) : 1;
  if (draw.one_in(3)) r.local_bytes = draw.size(24);
  const double bytes = static_cast<double>(r.total_bytes);
  if (!draw.one_in(4)) r.compute_s = bytes * draw.scaled(0.01e-9, 13);
  return r;
}

plan::StripCandidate draw_candidate(Draw& draw, uint64_t bytes) {
  return {static_cast<plan::Schedule>(draw.below(3)), 1 + draw.below(bytes),
          static_cast<uint32_t>(draw.between(1, 20))};
}

// A nest, and the distributed array that it may go through.
struct DrawnNest {
  plan::NestRequest request;
  std::vector<access::Piece> pieces;
};

access::Reference draw_reference(Draw& draw, const DrawnNest& drawn, uint32_t number) {
  const access::Nest& nest = drawn.request.nest;
  access::Reference reference;
  reference.mode = draw.one_in(3)   ? access::Mode::update
                   : draw.one_in(3) ? access::Mode::write
                                    : access::Mode::read;
  reference.owner = static_cast<uint32_t>(draw.between(1, 2));
  reference.element_bytes = draw.one_in(5) ? 24 : 8;
  reference.base = static_cast<int64_t>(draw.one_in(5) ? 0 : number) << 40;
  reference.base += 8 * static_cast<int64_t>(draw.below(3));
  // By row, by column, or by row with gaps; some loops do not move it.
  int64_t stride = int64_t{reference.element_bytes} * (draw.one_in(4) ? 16 : 1);
  const bool by_column = draw.one_in(4);
  for (uint32_t i = 0; i < nest.depth; ++i) {
    const uint32_t loop = by_column ? i : nest.depth - 1 - i;
    if (number > 0 && draw.one_in(3)) continue;
    reference.stride_bytes[loop] = draw.one_in(12) ? -stride : stride;
    stride *= static_cast<int64_t>(nest.counts[loop] + (draw.one_in(4) ? 2 : 0));
  }
  if (!drawn.pieces.empty() && draw.one_in(2)) {
    reference.pieces = drawn.pieces;
    reference.piece_loop = 0;
    reference.stride_bytes[0] = 0;
  }
  return reference;
}

void draw_nest(Draw& draw, const Network& network, DrawnNest& drawn) {
  plan::NestRequest& r = drawn.request;
  const auto depth = static_cast<uint32_t>(draw.between(1, 4));
  double iterations = 1;
  for (uint32_t loop = 0; loop < depth; ++loop) {
    r.nest.add_loop(draw.size(depth == 1 ? 19 : depth == 2 ? 10 : 6));
    iterations *= static_cast<double>(r.nest.counts[loop]);
  }
  if (draw.one_in(5)) {
    for (uint64_t i = 0; i < r.nest.counts[0]; ++i) {
      drawn.pieces.push_back({static_cast<uint32_t>(i % 4), static_cast<int64_t>(i) << 30});
    }
  }
  r.links[plan::kLocalLink].in_reach = true;
  plan::VisRequest many;
  many.iov_limit = draw.one_in(2) ? static_cast<uint32_t>(draw.between(2, 16)) : 1;
  many.medium_bytes = draw.one_in(3) ? plan::kUsualMessageBytes : plan::kLandingSlotBytes;
  many.message_bytes = plan::kUsualMessageBytes;
  many.max_buffer_bytes = plan::kUsualBoxBytes;
  many.message_header_bytes = plan::kStridedHeaderBytes;
  for (const model::Path path : {model::Path::network, model::Path::cma}) {
    r.links.at(plan::link_by(path)) = {
        .strip = network.strip_costs(), .vis = network.vis_costs(), .many = many};
  }
  const auto references = static_cast<uint32_t>(draw.between(1, 4));
  for (uint32_t i = 0; i < references; ++i) {
    r.nest.add(draw_reference(draw, drawn, i));
    r.link[i] = draw.one_in(8)   ? plan::kLocalLink
                : draw.one_in(8) ? plan::link_by(model::Path::cma)
                                 : plan::link_by(model::Path::network);
    if (r.nest.reference[i].in_pieces() && draw.one_in(2)) r.in_reach_part[i] = 0.25;
  }
  r.surroundings.nic_ranks = draw_nic_ranks(draw);
  r.surroundings.target_polls_only = draw.one_in(3);
  r.surroundings.alone = draw.one_in(6);
  r.surroundings.load = draw_load(draw);
  if (draw.one_in(3)) r.max_buffer_bytes = draw.size(26);
  r.loop = draw_loop(draw);
  if (draw.one_in(3)) r.local_bytes = draw.size(24);
  if (!draw.one_in(4)) r.compute_s = iterations * draw.scaled(0.1e-9, 10);
}

void add_plan(Line& line, const plan::NestPlan& plan) {
  if (plan.obstacle) {
    line.word("one by one:").word(plan.obstacle->text());
    return;
  }
  line.word(to_string(plan.schedule))
      .word(to_string(plan.reason))
      .whole("loop", plan.cut.loop)
      .whole("granule", plan.cut.granule)
      .whole("steps", plan.steps)
      .whole("window", plan.window)
      .whole("buffers", plan.buffer_bytes)
      .times(plan);
  for (uint32_t g = 0; g < plan.groups; ++g) {
    const plan::NestTransfer& t = plan.transfer[g];
    line.word("[").yes("moved", t.moved);
    if (t.many_regions) {
      line.word(to_string(t.method)).whole("window", t.vis_window).whole("chunk", t.chunk_bytes);
    }
    line.whole("count", t.count)
        .whole("bytes", t.bytes)
        .whole("burst", t.burst)
        .whole("init", t.init_level)
        .whole("at", t.sync_level)
        .whole("sync", t.sync_burst)
        .word("]");
  }
}

plan::VisRequest draw_vis(Draw& draw) {
  plan::VisRequest r;
  r.direction = draw.one_in(2) ? plan::Direction::get : plan::Direction::put;
  r.regions = draw.size(12);
  r.region_bytes = draw.size(15);
  r.extent_bytes = r.regions * r.region_bytes;
  if (!draw.one_in(6)) r.extent_bytes *= draw.between(1, 12);
  r.local_regions = draw.one_in(2) ? 1 : draw.size(10);
  r.bounding_box_allowed = draw.one_in(2);
  r.iov_limit = draw.one_in(2) ? static_cast<uint32_t>(draw.between(2, 16)) : 1;
  r.max_buffer_bytes = draw.one_in(4) ? draw.size(22) : plan::kUsualBoxBytes;
  r.medium_bytes = draw.one_in(6)   ? 0
                   : draw.one_in(3) ? plan::kUsualMessageBytes
                                    : plan::kLandingSlotBytes;
  r.message_bytes = plan::kUsualMessageBytes;
  r.compute = static_cast<plan::ComputeClass>(draw.below(3));
  if (draw.one_in(2)) {
    r.message_header_bytes = plan::kStridedHeaderBytes +
                             static_cast<uint32_t>(draw.below(3)) * plan::kDimensionHeaderBytes;
  } else {
    r.message_header_bytes = plan::kListHeaderBytes;
    r.region_header_bytes = plan::kListRegionHeaderBytes;
  }
  if (draw.one_in(3)) r.peers = static_cast<uint32_t>(draw.between(2, 40));
  if (draw.one_in(3)) r.surroundings.service_delay_s = draw.scaled(1e-6, 8);
  r.surroundings.target_polls_only = draw.one_in(3);
  if (r.direction == plan::Direction::put && draw.one_in(3)) {
    r.signalled = true;
    r.surroundings.flag_with_data = draw.one_in(2);
  }
  return r;
}

void add_plan(Line& line, const plan::VisPlan& plan) {
  line.word(to_string(plan.method))
      .word(to_string(plan.reason))
      .whole("window", plan.window)
      .whole("chunk", plan.chunk_bytes)
      .seconds("predicted", plan.predicted_s)
      .word(to_string(plan.runner_up))
      .seconds("runner-up", plan.runner_up_s)
      .yes("uncertain", plan.uncertain);
}

plan::WavefrontRequest draw_wavefront(Draw& draw) {
  plan::WavefrontRequest r;
  r.lines = draw.size(12);
  r.line_bytes = draw.size(13);
  r.compute_s = draw.one_in(10) ? 0 : draw.scaled(1e-6, 14);
  r.stages = static_cast<uint32_t>(draw.between(1, 64));
  r.all_busy = draw.one_in(2);
  r.surroundings.nic_ranks = draw_nic_ranks(draw);
  r.surroundings.flag_with_data = draw.one_in(2);
  r.surroundings.target_polls_only = draw.one_in(3);
  return r;
}

void add_plan(Line& line, const plan::WavefrontPlan& plan) {
  line.whole("pieces", plan.pieces).word(to_string(plan.reason)).times(plan);
}

plan::UpdateRequest draw_update(Draw& draw) {
  plan::UpdateRequest r;
  r.updates = draw.size(26);
  r.cells = draw.one_in(4) ? 0 : 1 + draw.below(r.updates);
  r.item_bytes = draw.one_in(4) ? static_cast<uint32_t>(draw.between(1, 64)) : 8;
  r.span_bytes = r.item_bytes * draw.size(26);
  r.ranks = static_cast<uint32_t>(1 + draw.size(13));
  if (draw.one_in(3)) r.local_percent = static_cast<uint32_t>(draw.below(101));
  if (draw.one_in(3)) r.hottest_percent = static_cast<uint32_t>(draw.below(101));
  r.separate = draw.one_in(4);
  r.ordered = draw.one_in(4);
  r.no_identity = draw.one_in(4);
  r.fetches = draw.one_in(5);
  r.provider = draw.one_in(2);
  r.buffers_only = draw.one_in(3);
  if (draw.one_in(3)) r.most_hops = static_cast<uint32_t>(draw.between(1, 3));
  if (draw.one_in(2)) r.max_buffer_bytes = 64 * draw.size(20);
  r.surroundings.nic_ranks = draw_nic_ranks(draw);
  r.surroundings.target_polls_only = draw.one_in(3);
  if (draw.one_in(3)) r.surroundings.service_delay_s = draw.scaled(1e-6, 8);
  return r;
}

void add_plan(Line& line, const plan::UpdatePlan& plan) {
  line.word(to_string(plan.candidate.method))
      .word(to_string(plan.reason))
      .yes("merges", plan.candidate.merges)
      .whole("hops", plan.candidate.hops)
      .whole("buffer", plan.candidate.buffer_bytes)
      .whole("memory", plan.memory_bytes)
      .times(plan);
}

plan::GatherRequest draw_gather(Draw& draw) {
  plan::GatherRequest r;
  r.elements = draw.size(20);
  r.element_bytes = draw.one_in(4) ? draw.between(1, 64) : 8;
  r.runs = draw.between(1, r.elements);
  const uint64_t thinness = r.runs == 1 ? 1 : draw.size(6);
  r.span_bytes = r.bytes() + r.runs * (thinness - 1) * r.element_bytes;  // of one array
  r.by_stores = draw.one_in(4);
  r.surroundings.nic_ranks = draw_nic_ranks(draw);
  if (draw.one_in(4)) r.vectors = draw.between(2, 8);
  if (draw.one_in(2)) r.readers = static_cast<uint32_t>(draw.between(2, 64));
  r.alike = draw.one_in(2);
  if (!r.by_stores && draw.one_in(4)) {
    r.node_ranks = static_cast<uint32_t>(draw.between(2, 16));
    r.node_elements = r.elements * draw.between(1, r.node_ranks);
  }
  if (r.alike && r.node_ranks == 1 && draw.one_in(3)) r.besides = draw.size(12);
  if (r.alike && draw.one_in(3)) r.owners = static_cast<uint32_t>(draw.between(2, 64));
  return r;
}

// A plan that is a method.
template <typename Plan>
void add_method(Line& line, const Plan& plan) {
  line.word(to_string(plan.method)).word(to_string(plan.reason)).times(plan);
}

void add_plan(Line& line, const plan::GatherDecision& plan) { add_method(line, plan); }

plan::IndirectRequest draw_indirect(Draw& draw) {
  plan::IndirectRequest r;
  r.iterations = draw.size(22);
  r.reads = draw.one_in(2) ? static_cast<uint32_t>(draw.between(2, 25)) : 1;
  r.element_bytes = draw.one_in(4) ? draw.between(1, 64) : 8;
  if (draw.one_in(2)) r.remote_percent = static_cast<uint32_t>(draw.below(101));
  r.owners = static_cast<uint32_t>(draw.size(12));
  if (draw.one_in(2)) r.distinct_percent = static_cast<uint32_t>(draw.between(1, 100));
  r.span_bytes = r.element_bytes * draw.size(20);
  if (draw.one_in(2)) r.compute_s = static_cast<double>(r.iterations) * draw.scaled(1e-9, 14);
  r.modifies = draw.one_in(4);
  r.surroundings.nic_ranks = draw_nic_ranks(draw);
  r.surroundings.target_polls_only = draw.one_in(3);
  return r;
}

void add_plan(Line& line, const plan::IndirectPlan& plan) {
  line.whole("block", plan.block).word(to_string(plan.reason)).times(plan);
}

plan::ProductRequest draw_product(Draw& draw) {
  plan::ProductRequest r;
  r.rows = draw.size(20);
  r.own_rows = draw.below(r.rows + 1);
  r.own_entries = r.own_rows * draw.between(1, 40);
  r.own_elements = draw.size(20);
  r.other_rows = draw.between(r.rows - r.own_rows, r.rows);
  r.owners = static_cast<uint32_t>(draw.between(1, 64));
  r.visits = r.other_rows * draw.between(1, r.owners);
  r.other_entries = r.visits * draw.between(1, 8);
  r.elements = draw.below(r.other_entries + 1);
  r.element_bytes = draw.one_in(4) ? draw.between(1, 64) : 8;
  if (draw.one_in(4)) r.vectors = draw.between(2, 8);
  r.reachable = draw.one_in(4);
  r.ordered = draw.one_in(4);
  r.surroundings.nic_ranks = draw_nic_ranks(draw);
  return r;
}

void add_plan(Line& line, const plan::ProductPlan& plan) { add_method(line, plan); }

plan::AskedEncoding draw_encoding(Draw& draw) {
  plan::AskedEncoding r;
  r.updates = draw.size(14);
  r.value_bytes = draw.one_in(4) ? static_cast<uint32_t>(draw.between(1, 64)) : 8;
  r.one_value = draw.one_in(4);
  if (draw.one_in(2)) r.runs = draw.between(1, r.updates);
  if (draw.one_in(2)) {
    r.boxes = draw.between(1, r.updates);
    r.cells = r.updates * draw.between(1, 3);
    if (draw.one_in(2)) r.among = r.cells * draw.between(1, 4);
  }
  r.span_bytes = r.value_bytes * draw.size(22);
  r.message_bytes = draw.size(17);
  return r;
}

void add_plan(Line& line, const plan::EncodingPlan& plan) {
  line.word(to_string(plan.encoding))
      .word(to_string(plan.reason))
      .whole("bytes", plan.bytes)
      .times(plan);
}

double draw_share(Draw& draw) { return static_cast<double>(draw.below(101)) / 100; }

plan::SharedCosts draw_shared_costs(Draw& draw) {
  plan::SharedCosts costs;
  costs.plain_s = draw.scaled(0.5e-9, 4);
  costs.atomic_s = costs.plain_s * draw.scaled(1, 5);
  costs.lock_s = costs.atomic_s * draw.scaled(1, 3);
  costs.transfer_s = draw.scaled(10e-9, 5);
  costs.box_s = costs.plain_s * draw.scaled(1, 3);
  costs.fold_s = draw.scaled(0.25e-9, 4);
  costs.barrier_s = draw.scaled(0.2e-6, 7);
  return costs;
}

plan::SharedRequest draw_shared(Draw& draw) {
  plan::SharedRequest r = plan::SharedMechanism::usual();
  plan::SpreadRequest& spread = r.spread;
  spread.workers = draw.one_in(3) ? 2 : static_cast<uint32_t>(draw.size(7));
  spread.updates = static_cast<double>(draw.size(24));
  spread.cells = draw.size(26);
  if (draw.one_in(4)) spread.cell_bytes = draw.between(1, 64);
  if (draw.one_in(3)) spread.budget_bytes = draw.size(28);
  spread.competing = static_cast<plan::Competing>(draw.below(3));
  spread.unordered = draw.one_in(2);
  if (spread.unordered) {
    if (!draw.one_in(4)) spread.hot_cells = draw.between(1, spread.cells);
    if (spread.hot_cells > 0) spread.hot_share = draw_share(draw);
  } else {
    spread.own_share = draw_share(draw);
    spread.mirror_share = draw_share(draw);
    spread.box_cells = draw.size(20);
    spread.sort_s = draw.scaled(1e-6, 14);
    spread.sort_every = draw.below(200);
  }
  r.placement = static_cast<model::SharedPlacement>(draw.below(3));
  r.type = static_cast<model::CellType>(draw.below(model::kCellTypeNames.size()));
  if (draw.one_in(2)) r.costs = draw_shared_costs(draw);
  return r;
}

void add_plan(Line& line, const plan::SharedPlan& plan) {
  line.word(to_string(plan.strategy))
      .word(to_string(plan.reason))
      .whole("sorted", plan.sort_interval)
      .times(plan);
}

plan::BulkRequest draw_bulk(Draw& draw) {
  plan::BulkRequest r;
  if (!draw.one_in(4)) r.gets = draw.size(10);
  if (r.gets == 0 || !draw.one_in(4)) r.puts = draw.size(10);
  r.put_bytes = r.puts > 0 ? draw.size(20) : 0;
  r.get_bytes = r.gets > 0 ? draw.size(20) : 0;
  if (!draw.one_in(4)) r.compute_s = draw.scaled(1e-6, 16);
  r.lead_s = draw_share(draw) * r.compute_s;
  r.stable_sources = draw.one_in(3);
  if (draw.one_in(3)) r.buffer_bytes = draw.size(26);
  if (draw.one_in(3)) r.in_flight = static_cast<uint32_t>(draw.between(1, 128));
  r.surroundings.nic_ranks = draw_nic_ranks(draw);
  return r;
}

void add_plan(Line& line, const plan::BulkPlan& plan) { add_method(line, plan); }

plan::FineRequest draw_fine(Draw& draw) {
  plan::FineRequest r;
  if (!draw.one_in(5)) r.reads = draw.size(16);
  if (r.reads == 0 || draw.one_in(2)) r.writes = draw.size(12);
  if (draw.one_in(4)) r.read_bytes = draw.between(1, 64);
  if (draw.one_in(4)) r.write_bytes = draw.size(10);
  if (r.reads > 0) {
    r.boxes = draw.between(1, r.reads);
    r.box_bytes = r.read_bytes * (r.reads / r.boxes) * draw.between(1, 4);
    r.bursts = draw.between(1, r.reads);
  }
  r.ranks = static_cast<uint32_t>(draw.between(1, 64));
  if (!draw.one_in(4)) r.compute_s = draw.scaled(1e-6, 16);
  if (draw.one_in(3)) r.in_flight = static_cast<uint32_t>(draw.between(1, 128));
  r.at_once = draw.one_in(4);
  r.surroundings.nic_ranks = draw_nic_ranks(draw);
  r.surroundings.target_polls_only = draw.one_in(3);
  return r;
}

void add_plan(Line& line, const plan::FinePlan& plan) { add_method(line, plan); }

// The explained decision is the planner's own one.
template <typename Explanation, typename Plan>
std::string explained(const Explanation& explanation, const Plan& plan, uint64_t number) {
  Line of_plan;
  Line of_explanation;
  add_plan(of_plan, plan);
  add_plan(of_explanation, explanation.decision);
  EXPECT_EQ(of_plan.text(), of_explanation.text()) << "request " << number;
  return to_text(explanation);
}

// The case of a request whose plan is on a line.
template <typename M>
Case case_of(const Line& line, const typename M::Request& request, const typename M::Costs* costs,
             const typename M::Plan& plan, uint64_t number, bool explain) {
  std::string text;
  if (explain) text = explained(plan::explain<M>(request, costs), plan, number);
  return {line.text(), std::move(text)};
}

// A plan whose line says nothing else.
template <typename M>
Case case_of(const typename M::Request& request, const typename M::Costs* costs,
             const typename M::Plan& plan, uint64_t number, bool explain) {
  Line line;
  add_plan(line, plan);
  return case_of<M>(line, request, costs, plan, number, explain);
}

}  // namespace

Case strip_case(const Network& network, uint64_t number, bool explain) {
  Draw draw(number);
  const plan::StripRequest request = draw_strip(draw);
  const plan::StripCosts* const costs = network.strip_costs();
  const plan::StripPlan plan = plan::plan_strip(request, costs);
  Line line;
  add_plan(line, plan);
  if (plan.reason != plan::Reason::tuned) {
    if (const auto tie = plan::tie_of_strip(request, costs)) add_plan(line.word("tie:"), *tie);
  }
  const plan::StripCandidate candidate = draw_candidate(draw, request.total_bytes);
  add_plan(line.word("forced:"), plan::force_strip(request, costs, candidate));
  return case_of<plan::StripMechanism>(line, request, costs, plan, number, explain);
}

Case nest_case(const Network& network, uint64_t number, bool explain) {
  Draw draw(number);
  DrawnNest drawn;
  draw_nest(draw, network, drawn);
  const plan::NestRequest& request = drawn.request;
  const plan::NestPlan plan = plan::plan_nest(request);
  Line line;
  add_plan(line, plan);
  const auto loop = static_cast<uint32_t>(draw.below(request.nest.depth));
  const plan::NestCandidate candidate{static_cast<plan::Schedule>(draw.below(3)),
                                      {loop, draw.between(1, request.nest.counts[loop])},
                                      static_cast<uint32_t>(draw.between(1, 20))};
  add_plan(line.word("forced:"), plan::force_nest(request, candidate));
  std::string text;
  if (explain) text = explained(plan::explain(request), plan, number);
  return {line.text(), std::move(text)};
}

Case vis_case(const Network& network, uint64_t number, bool explain) {
  Draw draw(number);
  const plan::VisRequest request = draw_vis(draw);
  const plan::VisCosts* const costs = network.vis_costs();
  const plan::VisPlan plan = plan::plan_vis(request, costs);
  Line line;
  add_plan(line, plan);
  const auto method = static_cast<plan::VisMethod>(draw.below(plan::kVisMethods));
  const uint64_t chunk_bytes = draw.one_in(2) ? 0 : draw.size(16);
  const auto window = static_cast<uint32_t>(draw.below(9));
  add_plan(line.word("forced:"), plan::force_vis(request, costs, method, chunk_bytes, window));
  return case_of<plan::VisMechanism>(line, request, costs, plan, number, explain);
}

Case wavefront_case(const Network& network, uint64_t number, bool explain) {
  Draw draw(number);
  const plan::WavefrontRequest request = draw_wavefront(draw);
  const plan::StripCosts* const costs = network.strip_costs();
  const plan::WavefrontPlan plan = plan::plan_wavefront(request, costs);
  Line line;
  add_plan(line, plan);
  if (costs != nullptr && costs->has_put()) {
    const auto pieces = static_cast<uint32_t>(draw.between(1, plan::kMostWavefrontPieces));
    const plan::WavefrontTime time = plan::predict_wavefront(request, *costs, pieces);
    line.whole("in", pieces)
        .seconds("first", time.first_s)
        .seconds("busy", time.busy_s)
        .seconds("step", time.step_s)
        .seconds("sweep", time.sweep_s);
  }
  return case_of<plan::WavefrontMechanism>(line, request, costs, plan, number, explain);
}

Case update_case(const Network& network, uint64_t number, bool explain) {
  Draw draw(number);
  const plan::UpdateRequest request = draw_update(draw);
  const plan::UpdateCosts* const costs = network.update_costs();
  const plan::UpdatePlan plan = plan::plan_update(request, costs);
  Line line;
  add_plan(line, plan);
  const plan::UpdateCandidate candidate{
      .method = static_cast<plan::UpdateMethod>(draw.below(plan::kUpdateMethods)),
      .merges = draw.one_in(2),
      .hops = static_cast<uint32_t>(draw.between(1, plan::kMostUpdateHops)),
      .buffer_bytes = draw.size(17)};
  add_plan(line.word("forced:"), plan::force_update(request, costs, candidate));
  std::array<plan::UpdateCandidate, plan::kMostUpdateRivals> rivals;
  const size_t count = plan::rivals_of_update(request, costs, rivals);
  for (size_t i = 0; i < count; ++i) {
    line.word("rival:").word(to_string(rivals[i].method)).whole("buffer", rivals[i].buffer_bytes);
  }
  return case_of<plan::UpdateMechanism>(line, request, costs, plan, number, explain);
}

Case gather_case(const Network& network, uint64_t number, bool explain) {
  Draw draw(number);
  const plan::GatherRequest request = draw_gather(draw);
  const plan::CompiledPath* const costs = network.costs();
  return case_of<plan::GatherMechanism>(request, costs, plan::plan_gather(request, costs), number,
                                        explain);
}

Case indirect_case(const Network& network, uint64_t number, bool explain) {
  Draw draw(number);
  const plan::IndirectRequest request = draw_indirect(draw);
  const plan::CompiledPath* const costs = network.costs();
  return case_of<plan::IndirectMechanism>(request, costs, plan::plan_indirect(request, costs),
                                          number, explain);
}

Case product_case(const Network& network, uint64_t number, bool explain) {
  Draw draw(number);
  const plan::ProductRequest request = draw_product(draw);
  const plan::CompiledPath* const costs = network.costs();
  return case_of<plan::ProductMechanism>(request, costs, plan::plan_product(request, costs), number,
                                         explain);
}

Case encoding_case(const Network& network, uint64_t number, bool explain) {
  Draw draw(number);
  const plan::AskedEncoding request = draw_encoding(draw);
  const plan::UpdateCosts* const costs = network.update_costs();
  return case_of<plan::EncodingMechanism>(
      request, costs, plan::plan_encoding(request, plan::costs_of_message(request, costs)), number,
      explain);
}

Case shared_case(const Network& network, uint64_t number, bool explain) {
  Draw draw(number);
  const plan::SharedRequest request = draw_shared(draw);
  const model::SharedUpdateModel* const costs = network.shared_costs();
  return case_of<plan::SharedMechanism>(request, costs, plan::plan_shared(request, costs), number,
                                        explain);
}

Case bulk_case(const Network& network, uint64_t number, bool explain) {
  Draw draw(number);
  const plan::BulkRequest request = draw_bulk(draw);
  const plan::CompiledPath* const costs = network.costs();
  return case_of<plan::BulkMechanism>(request, costs, plan::plan_bulk(request, costs), number,
                                      explain);
}

Case fine_case(const Network& network, uint64_t number, bool explain) {
  Draw draw(number);
  const plan::FineRequest request = draw_fine(draw);
  const plan::CompiledPath* const costs = network.costs();
  return case_of<plan::FineMechanism>(request, costs, plan::plan_fine(request, costs), number,
                                      explain);
}

}  // namespace stripline::plan_corpus
