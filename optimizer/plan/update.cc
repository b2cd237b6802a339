#include "optimizer/plan/update.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "optimizer/model/paths.h"
#include "optimizer/plan/perturbed.h"
#include "optimizer/plan/strip_costs.h"
#include "optimizer/plan/update_mechanism.h"
#include "optimizer/plan/vis.h"

namespace stripline::plan {
namespace {

using cost::Corner;
using cost::MessageCosts;

// The size of the message that asks for an atomic operation, and of its answer.
constexpr uint64_t kSmallMessageBytes = 32;
// Hops that a program has set are within nodes first, unless that takes more than this number of
// times as many destinations.
constexpr uint32_t kMostOfNodes = 2;

// The smallest number whose power `hops` is not below `ranks`.
uint32_t side_of(uint32_t ranks, uint32_t hops) {
  if (hops == 1) return ranks;
  const double root = hops == 2 ? std::sqrt(ranks) : std::cbrt(ranks);
  // What was rounded may be too small, or too large.
  auto side = std::max(static_cast<uint64_t>(root), uint64_t{1});
  const auto holds = [&] { return (hops == 2 ? side * side : side * side * side) >= ranks; };
  while (!holds()) ++side;
  return static_cast<uint32_t>(side);
}

MessageCosts message_at(const cost::LinkCosts& link, double bytes, const Ends& ends) {
  const auto corners = link.corners_at(static_cast<uint64_t>(bytes));
  return detail::at_ends(corners[0], corners[static_cast<size_t>(ends.corner)], ends);
}

// How many times as much as the mean comes to the busiest owner.
double busiest(const UpdateRequest& request) {
  return std::max(1.0, 0.01 * request.hottest_percent * request.ranks);
}

double others(const UpdateRequest& request) { return std::max(request.ranks, 2U) - 1; }

// Different cells of other ranks that are updated.
double remote_cells(const UpdateRequest& request) {
  const uint64_t cells = request.cells == 0 ? request.updates : request.cells;
  const uint64_t own = cells * request.local_percent / 100;
  return std::max(1.0, static_cast<double>(cells - own));
}

// What a byte of a buffer takes, as there are many.
uint64_t memory_per_byte(const UpdateRequest& request, const UpdateCandidate& candidate) {
  return update_buffers(request.ranks, candidate.hops, update_row(request, candidate)) *
         (candidate.merges ? kMergingUpdateBuffers : 1);
}

uint64_t memory_of(const UpdateRequest& request, const UpdateCandidate& candidate) {
  if (candidate.method != UpdateMethod::buffers) return 0;
  return memory_per_byte(request, candidate) * candidate.buffer_bytes;
}

// True if the request allows this candidate; a model that knows everything is assumed.
bool allowed(const UpdateRequest& request, const UpdateCandidate& candidate) {
  if (request.buffers_only && candidate.method != UpdateMethod::buffers) return false;
  switch (candidate.method) {
    case UpdateMethod::cell_locks:
    case UpdateMethod::owner_locks:
      return true;
    case UpdateMethod::provider:
      return request.provider && !request.ordered;
    case UpdateMethod::messages:
      return !request.ordered;
    case UpdateMethod::automatic:
      return false;
    case UpdateMethod::buffers:
      break;
  }
  // A grid of one rank in some direction is one of fewer dimensions.
  if (candidate.hops < 1 || candidate.hops > std::min(request.most_hops, kMostUpdateHops))
    return false;
  if (candidate.hops > 1 && request.ranks < 1U << candidate.hops) return false;
  if (candidate.by_nodes && !update_grid_has_row(request.ranks, candidate.hops, request.node_ranks))
    return false;
  if (candidate.merges && (request.separate || request.fetches)) return false;
  if (candidate.sums && !(request.sums && candidate.merges && candidate.hops == 1)) return false;
  return candidate.buffer_bytes > 0 && candidate.buffer_bytes <= request.message_bytes &&
         memory_of(request, candidate) <= request.max_buffer_bytes;
}

bool known(const UpdateCosts& costs, UpdateMethod method) {
  switch (method) {
    case UpdateMethod::cell_locks:
    case UpdateMethod::owner_locks:
      return costs.has_locks();
    case UpdateMethod::provider:
      return costs.has_provider();
    case UpdateMethod::messages:
      return costs.has_messages();
    case UpdateMethod::buffers:
      return costs.has_buffers();
    case UpdateMethod::automatic:
      break;
  }
  return false;
}

// Evaluates one candidate after the other at some ends of the parameters.
class Evaluator {
 public:
  Evaluator(const UpdateRequest& request, const UpdateCosts& costs, const Ends& ends)
      : request_(request),
        costs_(costs),
        ends_(ends),
        items_(ends.of(Source::compute)),
        remote_(static_cast<double>(request.remote())),
        own_(static_cast<double>(request.updates - request.remote())),
        hot_(busiest(request)),
        apply_s_(costs.apply(request.span_bytes, items_)),
        small_(message_at(costs.am(), kSmallMessageBytes, ends)),
        node_small_(message_at(costs.node_am(), kSmallMessageBytes, ends)) {}

  double seconds(const UpdateCandidate& candidate) const {
    const double own_s = own_ * apply_s_;
    if (remote_ == 0) return own_s;
    switch (candidate.method) {
      case UpdateMethod::cell_locks:
        return own_s + cell_locks();
      case UpdateMethod::owner_locks:
        return own_s + owner_locks();
      case UpdateMethod::provider:
        return own_s + provider();
      case UpdateMethod::messages:
        return own_s + messages();
      case UpdateMethod::buffers:
      case UpdateMethod::automatic:
        break;
    }
    return buffers(candidate);
  }

  // True if updates are merged in buffers of the candidate beyond the few that find out: of those
  // that fill a buffer, enough are of the same cells.
  bool merges(const UpdateCandidate& candidate) const {
    if (!candidate.merges) return false;
    const double destinations = this->destinations(candidate);
    const double room = items_of_buffer(candidate);
    const double cells = remote_cells(request_) / destinations;
    const double updates = remote_ / destinations;
    // This many updates of random cells fill a buffer.
    const double filling = room < cells ? -cells * std::log1p(-room / cells) : updates;
    const double left = filling < updates ? room / filling : cells / updates;
    return 1 - left >= 1.0 / kMergesWorthwhile;
  }

  // True if a candidate that may do so sums updates up.
  bool sums(const UpdateCandidate& candidate) const {
    return candidate.sums && remote_cells(request_) * kUpdatesOfASum <= remote_ &&
           array_bytes() <= kCellsForAnUpdate * remote_ * request_.item_bytes &&
           static_cast<double>(memory_of(request_, candidate)) + 2 * array_bytes() <=
               static_cast<double>(request_.max_buffer_bytes);
  }

 private:
  // What stands for the memory of all owners.
  double array_bytes() const { return others(request_) * static_cast<double>(request_.span_bytes); }

  double destinations(const UpdateCandidate& candidate) const {
    return update_destinations(request_.ranks, candidate.hops, update_row(request_, candidate));
  }

  // A small message and its answer, each of which waits until it is looked for.
  double trip() const { return trip(small_); }
  double trip(const MessageCosts& small) const {
    return 2 * (small.one_way(kSmallMessageBytes) + request_.surroundings.service_delay_s);
  }
  // What serving such a message takes of its target.
  double serve_trip() const { return serve_trip(small_); }
  double serve_trip(const MessageCosts& small) const {
    return small.r(kSmallMessageBytes) + small.o(kSmallMessageBytes);
  }
  double serve(const MessageCosts& message, double bytes) const {
    return request_.surroundings.target_polls_only ? message.s(bytes) : 0;
  }
  double delay() const {
    return request_.surroundings.target_polls_only ? request_.surroundings.service_delay_s : 0;
  }

  double cell_locks() const {
    const double bytes = request_.item_bytes;
    const MessageCosts get = message_at(costs_.get(), bytes, ends_);
    const MessageCosts put = message_at(costs_.put(), bytes, ends_);
    const double wait_s = 2 * trip() + get.blocking(bytes) + put.blocking(bytes) + 2 * delay();
    return remote_ * (wait_s + hot_ * (2 * serve_trip() + serve(get, bytes) + serve(put, bytes)));
  }

  // Ranks go from owner to owner, and wait for each other at the busiest one.
  double owner_locks() const {
    const double bytes = request_.item_bytes;
    const MessageCosts get = message_at(costs_.get(), bytes, ends_);
    const MessageCosts put = message_at(costs_.put(), bytes, ends_);
    const double owners = std::min(others(request_), remote_);
    const double cells = std::min(remote_cells(request_), remote_) / owners;
    const double hold_s =
        get.blocking(bytes) + put.blocking(bytes) + 2 * delay() +
        cells * (get.stream(bytes) + put.stream(bytes) + serve(get, bytes) + serve(put, bytes)) +
        remote_ / owners * costs_.apply(request_.span_bytes, items_);
    return owners * hot_ * (2 * trip() + hold_s);
  }

  double provider() const {
    const double served = request_.surroundings.target_polls_only ? hot_ : 0;
    return remote_ * (1 + served) * costs_.provider(ends_.of(Source::issue)) + trip();
  }

  double messages() const {
    return remote_ * (costs_.messages(ends_.of(Source::issue)) + hot_ * (serve_trip() + apply_s_)) +
           trip();
  }

  // What leaves a rank: items, and how many bytes and cells each of them is.
  struct Leaving {
    double items = 0;
    double item_bytes = 0;
    double cells = 1;
  };
  Leaving leaving(const UpdateCandidate& candidate, double destinations) const {
    const EncodingCosts encoding = encoding_costs(request_, costs_, candidate.buffer_bytes);
    const double pair_bytes = encoding.address_bytes + encoding.value_bytes;
    const bool summing = sums(candidate);
    if (!summing && !merges(candidate)) {
      return {remote_, request_.one_value ? encoding.address_bytes : pair_bytes, 1};
    }
    const double room =
        summing ? std::numeric_limits<double>::infinity() : items_of_buffer(candidate);
    const double cells = remote_cells(request_) / destinations;  // behind each of them
    double items = std::min(remote_, remote_cells(request_));
    if (room < cells) {
      // This many updates of random cells fill a buffer.
      const double full = room / cells;
      items = std::min(remote_, remote_ * full / -std::log1p(-full));
    }
    const uint64_t owned = request_.span_bytes / request_.item_bytes;
    const double behind = static_cast<double>(owned) * others(request_) / destinations;
    const double density = std::min(1.0, std::min(room, cells) / std::max(behind, 1.0));
    const ExpectedEncoding expected = expected_encoding(density, !request_.no_identity, encoding);
    return {items, expected.item_bytes, expected.cells};
  }

  // Updates that a buffer holds, if none are merged. What it takes does not depend on how it is
  // encoded.
  double items_of_buffer(const UpdateCandidate& candidate) const {
    return std::max(1.0, static_cast<double>(candidate.buffer_bytes) /
                             (kUpdateAddressBytes + request_.item_bytes));
  }

  // How long messages that are sent to each of `peers` wait for those before them, whatever the
  // processor and the NIC could do: an owner has some slots for each rank, each of which is taken
  // until the message in it has been applied and the slot has come back; the network has let go of
  // all but some of what a rank sends before it takes more; and of small messages, of which one
  // says that something is in a slot, it takes some at a time to each peer. As all of them come
  // back at about the same time, those that follow wait for a whole round.
  double waiting(double messages, double peers, const MessageCosts& put, double bytes,
                 const cost::LinkCosts& am, const MessageCosts& small) const {
    const auto rounds = [](double count, uint64_t at_a_time) {
      return std::floor(std::max(0.0, count - 1) / static_cast<double>(at_a_time));
    };
    const double to_peer = std::ceil(messages / peers);
    const double put_s = put.blocking(bytes) + delay();
    const uint64_t words_at_a_time = std::max<uint64_t>(am.queue_depth(), 1);
    return std::max({rounds(to_peer, kLandingSlots) * (put_s + trip(small)),
                     rounds(messages, kSpareUpdateBuffers) * put_s,
                     rounds(to_peer, words_at_a_time) * small.blocking(kSmallMessageBytes)});
  }

  double buffers(const UpdateCandidate& candidate) const {
    const auto grid = update_grid(request_.ranks, candidate.hops, update_row(request_, candidate));
    const double destinations = this->destinations(candidate);
    const bool summing = sums(candidate);
    const bool merging = summing || merges(candidate);
    UpdateCandidate carried_out = candidate;
    carried_out.merges = merging;
    const uint64_t memory_bytes = memory_of(request_, carried_out);
    const Leaving leaving = this->leaving(candidate, destinations);
    const double append_s = costs_.append(memory_bytes, items_);
    const double in_s = summing   ? costs_.apply(static_cast<uint64_t>(array_bytes()), items_)
                        : merging ? costs_.merge(memory_bytes, items_)
                                  : append_s;
    const double ranks = std::max(request_.ranks, 2U);
    const double room = items_of_buffer(candidate);
    double sent_s = remote_ * in_s + (summing ? leaving.items * append_s : 0);
    // What leaves has not found another one of its cell.
    if (merging && !summing && costs_.has_misses()) {
      sent_s += leaving.items * (costs_.miss(memory_bytes, items_) - in_s);
    }
    const double own_s = own_ * apply_s_;
    double came_s = leaving.items * leaving.cells * apply_s_;
    double nic_s = 0;
    double last_s = 0;  // of the NIC, for what is counted where the last messages travel
    double wait_s = 0;
    double tail_s = small_.one_way(kSmallMessageBytes) + request_.surroundings.service_delay_s;
    double moves = 0;  // of all items, over hops
    for (uint32_t hop = 0; hop < candidate.hops; ++hop) {
      const double peers = grid[hop] - 1;
      if (peers < 1) continue;
      const double items = leaving.items * (1 - 1.0 / grid[hop]) * ranks / others(request_);
      const double total_bytes = items * leaving.item_bytes;
      const double of_peer = items / peers;
      const double messages = of_peer > room ? peers * std::ceil(of_peer / room)
                                             : std::min(peers, std::max(items, 1.0));
      const double bytes = total_bytes / messages;
      // A put into a slot of the owner, a message that says so, and one that gives the slot back.
      const bool in_node = candidate.by_nodes && hop == 0;
      const bool by_nic = !in_node || !costs_.has_node();
      const MessageCosts put = message_at(in_node ? costs_.node_put() : costs_.put(), bytes, ends_);
      const MessageCosts& small = in_node ? node_small_ : small_;
      const cost::LinkCosts& am = in_node ? costs_.node_am() : costs_.am();
      moves += items;
      sent_s += messages * (put.o(bytes) + put.r(bytes) + serve_trip(small));
      came_s += messages * (serve(put, bytes) + serve_trip(small));
      if (by_nic) {
        nic_s += messages * (put.gap(bytes) + 2 * small.gap(kSmallMessageBytes));
        last_s += put.G * bytes;
      }
      wait_s = std::max(wait_s, waiting(messages, peers, put, bytes, am, small));
      tail_s += put.o(bytes) + put.L + put.G * bytes + small.one_way(kSmallMessageBytes) +
                request_.surroundings.service_delay_s;
      if (!request_.fetches) continue;
      // The answer has the old values, which go to where the program wants them.
      const double answer_bytes = items / messages * request_.item_bytes;
      const MessageCosts answer = message_at(am, answer_bytes, ends_);
      came_s += messages * answer.o(answer_bytes);
      sent_s += messages * answer.r(answer_bytes);
      if (by_nic) nic_s += messages * answer.gap(answer_bytes);
      tail_s += answer.one_way(answer_bytes) + request_.surroundings.service_delay_s;
    }
    const double forwarded = std::max(0.0, moves - leaving.items);
    sent_s += forwarded * append_s;
    if (request_.fetches) sent_s += leaving.items * append_s;
    const double shared = std::max(request_.surroundings.nic_ranks, 1U);
    return std::max({sent_s + own_s + hot_ * came_s, hot_ * shared * nic_s - last_s, wait_s}) +
           tail_s;
  }

  const UpdateRequest& request_;
  const UpdateCosts& costs_;
  Ends ends_;
  Corner items_;
  double remote_;
  double own_;
  double hot_;
  double apply_s_;
  MessageCosts small_;
  MessageCosts node_small_;
};

UpdateCandidate baseline_candidate(const UpdateRequest& request) {
  UpdateCandidate candidate{.merges = !request.separate && !request.fetches};
  const uint64_t message = std::min(request.message_bytes, kMostUpdateBufferBytes);
  const auto affordable = [&] { return largest_update_buffer(request, candidate); };
  const uint32_t most_hops = std::min(request.most_hops, kMostUpdateHops);
  while (affordable() < message / 4 && candidate.hops < most_hops &&
         request.ranks >= 2U << candidate.hops) {
    ++candidate.hops;
  }
  candidate.buffer_bytes =
      std::max<uint64_t>(affordable(), kUpdateAddressBytes + uint64_t{request.item_bytes});
  candidate.sums = request.sums && candidate.merges && candidate.hops == 1;
  return candidate;
}

}  // namespace

bool update_grid_has_row(uint32_t ranks, uint32_t hops, uint32_t row) noexcept {
  if (row < 2 || hops < 2) return false;
  const uint64_t rows = (uint64_t{ranks} + row - 1) / row;
  return rows >= uint64_t{1} << (hops - 1);
}

std::array<uint32_t, kMostUpdateHops> update_grid(uint32_t ranks, uint32_t hops,
                                                  uint32_t row) noexcept {
  std::array<uint32_t, kMostUpdateHops> grid{1, 1, 1};
  uint32_t hop = 0;
  if (update_grid_has_row(ranks, hops, row)) {
    grid[hop++] = row;
    ranks = (ranks + row - 1) / row;
  }
  for (; hop < hops; ++hop) {
    grid[hop] = side_of(std::max(ranks, 1U), hops - hop);
    ranks = (ranks + grid[hop] - 1) / grid[hop];
  }
  return grid;
}

uint32_t update_destinations(uint32_t ranks, uint32_t hops, uint32_t row) noexcept {
  uint32_t destinations = 0;
  for (const uint32_t side : update_grid(ranks, hops, row)) destinations += side - 1;
  return std::max(destinations, 1U);
}

uint32_t update_buffers(uint32_t ranks, uint32_t hops, uint32_t row) noexcept {
  return update_destinations(ranks, hops, row) * (hops > 1 ? 2 : 1) + 1 + kSpareUpdateBuffers;
}

uint64_t largest_update_buffer(const UpdateRequest& request,
                               const UpdateCandidate& candidate) noexcept {
  return std::min({request.message_bytes, kMostUpdateBufferBytes,
                   request.max_buffer_bytes / memory_per_byte(request, candidate)});
}

EncodingCosts encoding_costs(const UpdateRequest& request, const UpdateCosts& costs,
                             uint64_t message_bytes) noexcept {
  const MessageCosts& message = costs.put().at(message_bytes);
  return {.value_bytes = request.item_bytes,
          .address_bytes = kUpdateAddressBytes,
          .write_byte_s = message.o_per_byte,
          .send_byte_s = message.G,
          .read_byte_s = message.r_per_byte,
          .apply_s = costs.apply(request.span_bytes, Corner::nominal),
          .look_s = costs.merge(message_bytes, Corner::nominal)};
}

ExpectedEncoding expected_encoding(double density, bool has_identity,
                                   const EncodingCosts& costs) noexcept {
  const double pair_bytes = costs.address_bytes + costs.value_bytes;
  const ExpectedEncoding pairs{UpdateEncoding::pairs, pair_bytes, 1};
  if (!(density > 0)) return pairs;
  // The gap before the next cell that is updated has j cells with probability d (1 - d)^j.
  const uint64_t widest = has_identity ? widest_covered_gap(costs) : 0;
  const double empty = 1 - std::min(density, 1.0);
  const double beyond = std::pow(empty, static_cast<double>(widest));  // gaps of this many or more
  const double filled =
      empty > 0
          ? empty / (1 - empty) * (1 - beyond * (1 + static_cast<double>(widest) * (1 - empty)))
          : 0;
  const double boxes = beyond * empty;  // that begin behind a gap
  const double cells = 1 + filled;
  const ExpectedEncoding covered{filled > 0 ? UpdateEncoding::boxes : UpdateEncoding::runs,
                                 cells * costs.value_bytes + boxes * costs.box_bytes, cells};
  const auto seconds = [&](const ExpectedEncoding& one) {
    return one.item_bytes * costs.byte_s() + one.cells * costs.apply_s;
  };
  return seconds(covered) < seconds(pairs) ? covered : pairs;
}

template <typename ParameterOf>
UpdateCosts::Tables UpdateCosts::compile(const model::TunedModel& model,
                                         const ParameterOf& parameter_of) {
  Tables tables;
  if (!model.update) return tables;
  for (size_t corner = 0; corner < cost::kCorners; ++corner) {
    std::vector<cost::CurveValue> values;
    for (const model::UpdatePoint& point : model.update->items) {
      values.push_back(
          {point.span_bytes, cost::at_corner(parameter_of(point), static_cast<Corner>(corner))});
    }
    tables[corner] = cost::OctaveTable(values);
  }
  return tables;
}

UpdateCosts::UpdateCosts(const model::TunedModel& model, const model::PathModel& path)
    : has_buffers_(path.am && path.put && model.update),
      has_locks_(path.am && path.get && path.put),
      am_(path.am.value_or(model::OperationModel{})),
      get_(path.get.value_or(model::OperationModel{})),
      put_(path.put.value_or(model::OperationModel{})),
      append_(compile(model, [](const auto& point) { return point.append_s; })),
      merge_(compile(model, [](const auto& point) { return point.merge_s; })),
      miss_(compile(model, [](const auto& point) { return point.miss_s.value_or(point.merge_s); })),
      apply_(compile(model, [](const auto& point) { return point.apply_s; })),
      minimum_gain_(kDefaultMinimumGain) {
  const auto node = model.network.find(std::string(model::path_name(model::Path::mapped)));
  if (node != model.network.end() && node->second.am && node->second.put) {
    node_am_.emplace(*node->second.am);
    node_put_.emplace(*node->second.put);
  }
  if (!model.update) return;
  has_misses_ = std::ranges::any_of(model.update->items, [](const model::UpdatePoint& point) {
    return point.miss_s.has_value();
  });
  provider_ = model.update->provider_s;
  messages_ = model.update->message_s;
  if (model.update->minimum_gain) minimum_gain_ = model.update->minimum_gain->value;
}

bool UpdateMechanism::allowed(const UpdateRequest& request, const UpdateCandidate& candidate) {
  return plan::allowed(request, candidate);
}

UpdateCandidate UpdateMechanism::baseline(const UpdateRequest& request) {
  return baseline_candidate(request);
}

UpdatePlan UpdateMechanism::unfold(const UpdateRequest& request, const UpdateCandidate& candidate,
                                   const Verdict& verdict) {
  return {candidate,          memory_of(request, candidate),
          verdict.reason,     verdict.predicted_s,
          verdict.baseline_s, verdict.gain_low};
}

double UpdateMechanism::seconds(const UpdateRequest& request, const UpdateCosts& costs,
                                const UpdateCandidate& candidate, const Ends& ends) {
  if (!known(costs, candidate.method)) return std::numeric_limits<double>::infinity();
  return Evaluator(request, costs, ends).seconds(candidate);
}

bool possible_update(const UpdateRequest& request, const UpdateCosts* costs,
                     const UpdateCandidate& candidate) noexcept {
  return allowed(request, candidate) && costs != nullptr && costs->has_buffers() &&
         known(*costs, candidate.method);
}

double predict_update(const UpdateRequest& request, const UpdateCosts& costs,
                      const UpdateCandidate& candidate, Corner corner) noexcept {
  return UpdateMechanism::seconds(request, costs, candidate, {corner, std::nullopt});
}

UpdatePlan plan_update(const UpdateRequest& request, const UpdateCosts* costs) noexcept {
  NoRecord record;
  return choose<UpdateMechanism>(request, costs, record);
}

UpdatePlan plan_update(const UpdateRequest& request, const UpdateCosts* costs,
                       UpdateRecord& record) {
  return choose<UpdateMechanism>(request, costs, record);
}

UpdatePlan force_update(const UpdateRequest& request, const UpdateCosts* costs,
                        const UpdateCandidate& candidate, Reason reason) noexcept {
  return plan_of<UpdateMechanism>(request, costs, candidate, reason);
}

UpdatePlan baseline_of_update(const UpdateRequest& request, const UpdateCosts* costs) noexcept {
  return baseline_of<UpdateMechanism>(request, costs);
}

UpdatePlan set_update(const UpdateRequest& request, const UpdateSetting& set) noexcept {
  UpdateCandidate candidate = baseline_candidate(request);
  if (set.hops != 0) {
    candidate.hops = std::min(set.hops, request.most_hops);
    // Unless that takes far more buffers.
    candidate.by_nodes = update_grid_has_row(request.ranks, candidate.hops, request.node_ranks) &&
                         update_destinations(request.ranks, candidate.hops, request.node_ranks) <=
                             kMostOfNodes * update_destinations(request.ranks, candidate.hops);
    candidate.buffer_bytes = largest_update_buffer(request, candidate);
    candidate.sums = request.sums && candidate.merges && candidate.hops == 1;
  }
  if (set.buffer_bytes != 0)
    candidate.buffer_bytes = std::min(candidate.buffer_bytes, set.buffer_bytes);
  if (set.method != UpdateMethod::automatic) candidate.method = set.method;
  if (candidate.method != UpdateMethod::buffers) {
    candidate.hops = 1;
    candidate.by_nodes = candidate.sums = false;
  }
  return force_update(request, nullptr, candidate);
}

size_t rivals_of_update(const UpdateRequest& request, const UpdateCosts* costs,
                        std::span<UpdateCandidate, kMostUpdateRivals> rivals) noexcept {
  if (costs == nullptr || !costs->has_buffers()) return 0;
  struct Fastest {
    UpdateCandidate candidate;
    double seconds = std::numeric_limits<double>::infinity();
  };
  // By method, those that merge and those that sum up being others; of buffers by size, two sizes
  // together.
  constexpr size_t kSizes = 4;
  std::array<Fastest, kUpdateMethods + 3 * kSizes> fastest;
  const Evaluator evaluator(request, *costs, {});
  const auto kind_of = [&](const UpdateCandidate& candidate) {
    if (candidate.method != UpdateMethod::buffers) return static_cast<size_t>(candidate.method);
    const auto size =
        static_cast<size_t>(std::bit_width(candidate.buffer_bytes / kLeastUpdateBufferBytes));
    const size_t group = evaluator.sums(candidate) ? 2 : evaluator.merges(candidate) ? 1 : 0;
    return kUpdateMethods + group * kSizes + std::min(size / 2, kSizes - 1);
  };
  UpdateMechanism::each_candidate(request, [&](const UpdateCandidate& candidate) {
    if (!known(*costs, candidate.method)) return;
    Fastest& of_kind = fastest[kind_of(candidate)];
    const double seconds = evaluator.seconds(candidate);
    if (seconds < of_kind.seconds) of_kind = {candidate, seconds};
  });
  std::ranges::sort(fastest, {}, &Fastest::seconds);
  const double least_s =
      std::min(fastest[0].seconds, evaluator.seconds(baseline_candidate(request)));
  const auto is_other_size = [&](size_t i) {
    const UpdateCandidate& one = fastest[i].candidate;
    return std::ranges::any_of(std::span(fastest).first(i), [&one](const Fastest& faster) {
      return faster.candidate.method == one.method && faster.candidate.merges == one.merges &&
             faster.candidate.sums == one.sums;
    });
  };
  // Other sizes get the places that other methods leave.
  std::array<bool, fastest.size()> taken{};
  size_t count = 0;
  for (const bool sizes : {false, true}) {
    for (size_t i = 0; i < fastest.size() && count < rivals.size(); ++i) {
      if (is_other_size(i) != sizes) continue;
      if (!(fastest[i].seconds <= (sizes ? kSizeFactor : kRivalFactor) * least_s)) break;
      taken[i] = true;
      ++count;
    }
  }
  size_t next = 0;
  for (size_t i = 0; i < fastest.size(); ++i) {
    if (taken[i]) rivals[next++] = fastest[i].candidate;
  }
  return count;
}

}  // namespace stripline::plan
