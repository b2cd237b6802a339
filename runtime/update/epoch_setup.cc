// How an epoch begins, and how its updates are to travel: buffers and lanes for that.
#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "optimizer/plan/encoding_mechanism.h"
#include "optimizer/plan/update_mechanism.h"
#include "runtime/decide/surroundings.h"
#include "runtime/update/epoch.h"

namespace stripline::update {
namespace {

// FNV-1a.
uint32_t hash_of(std::string_view text) {
  uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

// Why updates cannot go by a method; null: they can.
const char* obstacle_to(Context& context, const detail::UpdateType& type, UpdateMethod method,
                        bool ordered) {
  if (method == UpdateMethod::provider && !Singly::has_provider(context, type)) {
    return "the network has no atomic operation that does the same";
  }
  if (method == UpdateMethod::messages && !Singly::has_messages(context.state(), type)) {
    return "no message takes a value";
  }
  if ((method == UpdateMethod::provider || method == UpdateMethod::messages) && ordered) {
    return "its updates have to be carried out in the order of their rank";
  }
  return nullptr;
}

bool is_ordered(const detail::UpdateType& type, UpdateMode mode) {
  return !type.commutes || (mode == UpdateMode::log && !type.exact && type.merges);
}

// With what a score map forces and the program does not set: a method that is possible.
UpdateOptions with_forced(Context& context, const detail::UpdateType& type, UpdateOptions options) {
  const plan::ScoreMap& map = context.state().job.tuning().forced;
  const std::string_view forced = map.forced(
      plan::UpdateMechanism::kWords.command, type.value_bytes, {}, [&](std::string_view name) {
        const auto method = plan::method_named<UpdateMethod>(name, plan::kUpdateMethodNames);
        return options.settings.method == UpdateMethod::automatic &&
               obstacle_to(context, type, *method, is_ordered(type, options.mode)) == nullptr;
      });
  if (forced == plan::kForcedBaseline) options.use_model = false;
  options.settings.method = plan::method_named<UpdateMethod>(forced, plan::kUpdateMethodNames)
                                .value_or(options.settings.method);
  return options;
}

// The encoding, likewise.
UpdateEncoding wanted_encoding(const rma::Job& job, const detail::UpdateType& type,
                               UpdateEncoding set) {
  if (set != UpdateEncoding::automatic) return set;
  const std::string_view forced =
      job.tuning().forced.forced(plan::EncodingMechanism::kWords.command, type.value_bytes);
  if (forced == plan::kForcedBaseline) return UpdateEncoding::pairs;
  return plan::method_named<UpdateEncoding>(forced, plan::kUpdateEncodingNames).value_or(set);
}

}  // namespace

Epoch::Epoch(Context& context, const detail::UpdateType& type, const UpdateOptions& options,
             CallSite site)
    : Epoch(context, type, site, with_forced(context, type, options)) {}

Epoch::Epoch(Context& context, const detail::UpdateType& type, CallSite site,
             const UpdateOptions& options)
    : context_(context),
      state_(context.state()),
      life_(state_.job.life()),
      site_(site),
      mode_(options.mode),
      engine_(state_.mechanisms.of<EpochEngine>(state_)),
      bulk_(state_.operations.bulk()),
      type_(type),
      settings_(options.settings),
      budget_bytes_(options.budget_bytes),
      merges_(options.mode == UpdateMode::accumulate && type.merges),
      sums_(merges_ && Accumulators::possible(type)),
      weighs_(options.use_model && options.settings.encoding == UpdateEncoding::automatic),
      me_(context.rank_me()),
      ranks_(context.rank_n()),
      cells_(state_.memory.segment().size() / type.unit + 1),
      type_hash_(hash_of(type.name) ^ (mode_ == UpdateMode::log ? 0x9E3779B9U : 0)),
      debug_(state_.job.observers().debug()),
      encoder_(type, wanted_encoding(state_.job, type, options.settings.encoding), merges_,
               options.fills_gaps),
      lanes_(ranks_),
      filling_(ranks_),
      accumulators_(type, ranks_),
      backlog_(me_, ranks_),
      order_(ranks_) {
  enter("UpdateEpoch", site);
  check_options(options, site);
  row_ = engine_.node_ranks(context, site);
  // As for most_hops().
  for (uint32_t hops = 2; hops <= most_hops(); ++hops) {
    if (cells_ > (uint64_t{1} << 32U) / Grid::numbers(ranks_, hops, row_)) row_ = 1;
  }
  const plan::UpdateRequest request = request_of(options);
  usual_ = plan::baseline_of_update(request, nullptr).candidate;
  plan::UpdateCandidate candidate = given(request, site);
  constexpr size_t kAlone = size_t{64} << 10;
  if (ranks_ == 1) candidate = {.merges = candidate.merges, .buffer_bytes = kAlone};
  const uint64_t most_bytes =
      ranks_ == 1
          ? candidate.buffer_bytes
          : std::min(candidate.buffer_bytes, plan::largest_update_buffer(request, candidate));
  if (most_bytes < least_bytes()) {
    state_.fail(Error(ErrorCode::invalid_argument,
                      text(rma::Call("UpdateEpoch", site)) + " of values of " +
                          std::to_string(type_.value_bytes) +
                          " bytes, for one of which a buffer of " + std::to_string(least_bytes()) +
                          " bytes is needed, but buffer_bytes, budget_bytes and the network allow "
                          "no more than " +
                          std::to_string(most_bytes) +
                          "; update parts of the values, or raise what is too small"));
  }
  if (state_.memory.segment().size() < type_.value_bytes) {
    state_.fail(Error(ErrorCode::invalid_argument,
                      text(rma::Call("UpdateEpoch", site)) + " of values of " +
                          std::to_string(type_.value_bytes) + " bytes, but a segment has " +
                          std::to_string(state_.memory.segment().size())));
  }
  last_offset_ = state_.memory.segment().size() - type_.value_bytes;
  const bool chooses = options.use_model && ranks_ > 1 && state_.job.model() != nullptr &&
                       state_.job.model()->update && settings_ == UpdateSettings{};
  if (chooses) {
    chooser_ =
        std::make_unique<Chooser>(context, engine_.sites(), request, type_hash_, type.unit, site);
    chooser_->begin();
    candidate = chosen_ = chooser_->candidate();
    closely_ = chooser_->closely();
  }
  tally_.restart(ranks_, closely_);
  configure(candidate);
  if (closely_) look_at_values();
  number_ = engine_.open(*this);
  singly_ = std::make_unique<Singly>(context, type_, type_hash_, number_);
  // Whoever sends may rely on it that this epoch is there.
  meet("UpdateEpoch", site);
}

// Numbers that a cast or an older header has made.
void Epoch::check_options(const UpdateOptions& options, CallSite site) const {
  const char* what = nullptr;
  uint64_t value = 0;
  const auto refuse_above = [&](const char* name, uint64_t is, uint64_t most) {
    if (is <= most || what != nullptr) return;
    what = name;
    value = is;
  };
  refuse_above("UpdateOptions::mode", static_cast<uint64_t>(options.mode),
               static_cast<uint64_t>(UpdateMode::log));
  refuse_above("UpdateSettings::encoding", static_cast<uint64_t>(settings_.encoding),
               static_cast<uint64_t>(UpdateEncoding::automatic));
  refuse_above("UpdateSettings::method", static_cast<uint64_t>(settings_.method),
               static_cast<uint64_t>(UpdateMethod::automatic));
  refuse_above("UpdateSettings::hops", settings_.hops, plan::kMostUpdateHops);
  if (what == nullptr) return;
  state_.fail(Error(ErrorCode::invalid_argument,
                    text(rma::Call("UpdateEpoch", site)) + " with " + what + " = " +
                        std::to_string(value) + ", which it cannot be; update.h says what can"));
}

// A barrier that is this call's, and says of which epoch: ranks end them, and destroy them, in one
// order.
void Epoch::meet(const char* name, CallSite site) {
  std::string what;
  if (debug_ != nullptr) [[unlikely]] {
    constexpr std::string_view kFirst = "T = ";  // of what name() shows in brackets
    const size_t types = type_.name.find(kFirst);
    what = "epoch " + std::to_string(number_) +
           (mode_ == UpdateMode::log ? ", UpdateMode::log" : ", UpdateMode::accumulate");
    if (types != std::string_view::npos) {
      what += ", of " + std::string(type_.name.substr(types + kFirst.size()));
      if (what.ends_with(']')) what.pop_back();
    }
  }
  const rma::CollectiveScope scope(state_, name, site, debug_ != nullptr ? what.c_str() : nullptr);
  context_.barrier(site);
}

std::string Epoch::description() const { return "the UpdateEpoch of " + rma::text(site_); }

// By what the model says of the buffers in use, and of memory like that which was updated lately.
void Epoch::weigh_encodings() {
  plan::AskedEncoding like;
  like.value_bytes = type_.value_bytes;
  like.span_bytes = chooser_ != nullptr ? chooser_->span_bytes()
                                        : std::max<uint64_t>(like.span_bytes, type_.value_bytes);
  like.message_bytes = lane_bytes_;
  const plan::UpdateCosts* const costs =
      weighs_ ? state_.job.compiled().update(path_of_updates(state_.job)) : nullptr;
  encoder_.weigh(like, plan::costs_of_message(like, costs));
}

// Sizes of a buffer for one update, and of a usual one.
size_t Epoch::least_bytes() const { return kPadding + item_bytes(); }
size_t Epoch::usual_bytes() const {
  const size_t wanted = settings_.buffer_bytes != 0 ? settings_.buffer_bytes : usual_.buffer_bytes;
  return std::max(least_bytes(), std::min<size_t>(wanted, usual_.buffer_bytes));
}

// What is known of the updates before there are any.
plan::UpdateRequest Epoch::request_of(const UpdateOptions& options) const {
  plan::UpdateRequest request;
  request.item_bytes = type_.value_bytes;
  request.span_bytes = std::max<uint64_t>(request.span_bytes, type_.value_bytes);
  request.ranks = std::max<rank_t>(ranks_, 2);
  request.separate = !merges_;
  request.ordered = is_ordered(type_, options.mode);
  request.sums = sums_ && debug_ == nullptr;
  request.no_identity = !options.fills_gaps || type_.fill == nullptr;
  request.provider = Singly::has_provider(context_, type_) && !state_.memory.any_shared();
  request.buffers_only = debug_ != nullptr || !Singly::has_messages(state_, type_);
  request.message_bytes = ranks_ == 1 ? plan::kMostUpdateBufferBytes : bulk_.room(sizeof(Head));
  request.max_buffer_bytes = options.budget_bytes;
  request.most_hops = most_hops();
  request.node_ranks = row_;
  request.surroundings = decide::surroundings_of(state_.job.fabric().info(),
                                                 plan::UpdateRequest::kFacts, {.puts = true});
  return request;
}

// The numbers that updates carry for their owners have to leave room for cells.
uint32_t Epoch::most_hops() const {
  uint32_t hops = plan::kMostUpdateHops;
  while (hops > 1 &&
         (ranks_ < 1U << hops || cells_ > (uint64_t{1} << 32U) / Grid::numbers(ranks_, hops))) {
    --hops;
  }
  return hops;
}

// What is done without a model, but for what the program has set.
plan::UpdateCandidate Epoch::given(const plan::UpdateRequest& request, CallSite site) const {
  const plan::UpdateSetting set{
      .method = settings_.method, .hops = settings_.hops, .buffer_bytes = settings_.buffer_bytes};
  const char* const why = obstacle_to(context_, type_, set.method, request.ordered);
  if (why != nullptr) {
    state_.fail(Error(ErrorCode::invalid_argument,
                      text(rma::Call("UpdateEpoch", site)) +
                          " by UpdateMethod::" + std::string(to_string(set.method)) + ", but " +
                          why + "; leave the method to the runtime, or take another one"));
  }
  return plan::set_update(request, set).candidate;
}

UpdateSettings Epoch::in_use() const {
  return {.method = current_.method,
          .buffer_bytes = lane_bytes_,
          .hops = current_.hops,
          .encoding = settings_.encoding};
}

// Buffers and lanes for a method; while nothing is in flight.
void Epoch::configure(const plan::UpdateCandidate& candidate) {
  current_ = candidate;
  const auto [hops, row] = std::pair(candidate.hops, candidate.by_nodes ? row_ : 1U);
  merging_ = merges_ && candidate.merges;
  const bool in_buffers = candidate.method == UpdateMethod::buffers;
  one_by_one_ = !in_buffers && candidate.method != UpdateMethod::owner_locks;
  // Other methods have lanes, too: of one update, or for what is brought together by owner.
  lane_bytes_ = in_buffers    ? candidate.buffer_bytes
                : one_by_one_ ? least_bytes()
                              : usual_.buffer_bytes;
  if (one_by_one_) merging_ = false;
  const uint32_t buffers = ranks_ == 1 ? 1 : plan::update_buffers(ranks_, hops, row);
  // Positions in a buffer have 16 bits.
  capacity_ = static_cast<uint32_t>(std::min<size_t>((lane_bytes_ - kPadding) / item_bytes(),
                                                     std::numeric_limits<uint16_t>::max()));
  const size_t stride = buffer_stride();
  const size_t needed = stride * buffers + 64;
  // What was allocated stays where the budget allows it, so that the next method does not begin
  // with pages that no one has touched. Positions take no more than the buffers they are of.
  const size_t positions =
      std::max(positions_.capacity() * sizeof(uint16_t), merging_ ? needed : size_t{0});
  if (memory_.size() < needed || memory_.size() + positions > budget_bytes_) {
    memory_.resize(needed);
    memory_.shrink_to_fit();
  }
  std::byte* const first = memory_.data() + (64 - reinterpret_cast<uintptr_t>(memory_.data()) % 64);
  more_buffers_ = 0;
  more_memory_bytes_ = 0;
  more_memory_.clear();
  buffers_.assign(buffers, {});
  free_.clear();
  sending_.clear();
  for (uint32_t i = 0; i < buffers; ++i) buffers_[i].memory = first + i * stride;
  for (uint32_t i = buffers; i > 0; --i) free_.push_back(i - 1);
  position_count_ = merging_ ? std::bit_ceil(2 * size_t{capacity_}) : 0;
  if (merging_) shift_ = static_cast<uint32_t>(32 - std::bit_width(position_count_ - 1));
  lanes_.assign(ranks_, {});
  const std::vector<Filling> before = std::exchange(filling_, std::vector<Filling>(ranks_));
  forwarder_.reset();
  if (hops > 1) {
    const Grid grid(me_, ranks_, hops, row);
    forwarder_ = std::make_unique<Forwarder>(*this, type_, grid, me_, ranks_, cells_, capacity_);
    lead_over(forwarder_->grid());
  }
  open_lanes();
  // What updates were summed up in stays for those that will be, as far as buffers leave room.
  may_sum_up_ = candidate.sums && sums_ && merging_ && debug_ == nullptr;
  if (memory_.size() + positions + accumulators_.bytes() > budget_bytes_) accumulators_.reset();
  for (rank_t owner = 0; owner < ranks_; ++owner) {
    filling_[owner].seen = before[owner].seen;
    filling_[owner].without_summing = before[owner].without_summing;
    if (may_sum_up_) accumulators_.attach(lanes_[owner], owner);
  }
  weigh_encodings();
}

// All updates of all ranks are complete. From when rank 0 has heard of this one, others may send
// what is for the new method. Where it hears nothing, neither method has hops, or there is no
// other.
void Epoch::choose_again() {
  if (chooser_->ended(tally_)) {
    changing_ = true;
    chooser_->next(tally_);
    closely_ = chooser_->closely();
    tally_.restart(ranks_, closely_);
    weigh_encodings();
  }
  if (chooser_->candidate() != chosen_) {
    configure(chooser_->candidate());
  } else {
    begin_lane(me_, true);
  }
  chosen_ = chooser_->candidate();
  if (closely_) look_at_values();
  if (!std::exchange(changing_, false)) return;
  for (const Forwarder::Held& parcel : std::exchange(too_early_, {})) forwarder_->hold(parcel);
  for (const auto& [source, number] : std::exchange(flushed_too_early_, {})) {
    flush_for(source, number);
  }
}

// Merged values differ: the first buffers are filled without that.
void Epoch::look_at_values() {
  for (rank_t rank = 0; rank < ranks_; ++rank) {
    if (lanes_[rank].positions == nullptr) continue;
    lanes_[rank].positions = nullptr;
    filling_[rank].without_merging = 1;
  }
}

void Epoch::lead_over(const Grid& grid) {
  for (rank_t owner = 0; owner < ranks_; ++owner) {
    if (owner == me_) continue;
    const Grid::Step step = grid.step_to(owner);
    if (step.next == owner) filling_[owner].onward = grid.meaning(owner);
    if (step.next == owner && step.number == 0) continue;
    lanes_[owner].via = &lanes_[step.next];
    lanes_[owner].number = step.number * cells_;
  }
}

// Opens the lanes that are filled.
void Epoch::open_lanes() {
  uint32_t filled = 0;
  const auto is_filled = [this](rank_t rank) {
    return forwarder_ == nullptr || rank == me_ || forwarder_->grid().is_next(rank);
  };
  for (rank_t rank = 0; rank < ranks_; ++rank) filled += is_filled(rank) ? 1 : 0;
  positions_.resize(position_count_ * filled);
  filled = 0;
  for (rank_t rank = 0; rank < ranks_; ++rank) {
    if (!is_filled(rank)) continue;
    filling_[rank].positions = merging_ ? &positions_[position_count_ * filled++] : nullptr;
    open_lane(rank, spare_buffer());
    begin_lane(rank, true);
  }
}

}  // namespace stripline::update
