// Loops over a[b[i]]: the engine of <stripline/indirect.h>. Two blocks are in use in turns: the
// elements of one are in flight while the other is computed.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <stripline/indexed_list.h>
#include <stripline/indirect.h>

#include "base/quantity.h"
#include "base/random.h"
#include "optimizer/plan/indirect_mechanism.h"
#include "runtime/decide/choice.h"
#include "runtime/decide/execution.h"
#include "runtime/decide/site_table.h"
#include "runtime/decide/surroundings.h"
#include "runtime/gather/inspector.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/explain_command.h"

namespace stripline::detail {
namespace {

// A cache line, as memory for elements of any alignment.
struct alignas(64) Line {
  std::array<std::byte, 64> bytes;
};

// What a loop is known by: its place and shape, and about how long it is.
struct IndirectKey {
  uint64_t place = 0;
  uint64_t shape = 0;
  friend bool operator==(const IndirectKey&, const IndirectKey&) = default;
};
uint64_t hash_of(const IndirectKey& key) { return stripline::hash_of(key.place, key.shape); }

struct IndirectSite : decide::Site<plan::IndirectPlan> {
  IndirectKey key;
  plan::IndirectRequest request;
  model::Path path = model::Path::network;
};

// What one owner has of a block.
struct OwnedElements {
  indexed_list there;
  indexed_list here;
  std::byte* memory = nullptr;
  rank_t owner = 0;
  future transfer;
};

// Elements of an array in a block.
struct Fetched {
  gathers::Inspection inspection;
  std::vector<Line> memory;
  std::vector<OwnedElements> owners;
};

struct Block {
  std::vector<std::byte*> pointers;
  std::vector<IndirectReads> reads;  // by array
  std::vector<Fetched> fetched;      // likewise
};

/// What loops keep for the life of a Context: what is known of their places, and buffers.
struct IndirectState final : rma::Mechanism {
  static constexpr const char kName[] = "indirect loops";
  explicit IndirectState(ContextState&) {}
  void add_to(rma::MechanismReport& report) const override { report.savings.add(sites.savings()); }

  decide::SiteTable<IndirectSite> sites;
  std::vector<std::unique_ptr<Block>> spare;
};

}  // namespace

class IndirectLoop::Engine {
 public:
  Engine(Context& context, const Shape& shape, const IndirectOptions& options, CallSite site)
      : context_(context),
        state_(context.state()),
        kept_(state_.mechanisms.of<IndirectState>(state_)),
        arrays_(shape.arrays.begin(), shape.arrays.end()),
        modified_(shape.modified.begin(), shape.modified.end()),
        iterations_(shape.iterations),
        reads_(shape.reads),
        options_(options),
        site_(site) {
    for (auto& block : blocks_) {
      if (kept_.spare.empty()) {
        block = std::make_unique<Block>();
      } else {
        block = std::move(kept_.spare.back());
        kept_.spare.pop_back();
      }
      block->reads.resize(arrays_.size());
      block->fetched.resize(arrays_.size());
    }
    check_members();
  }
  ~Engine() {
    settle();  // after a body that has thrown
    for (auto& block : blocks_) kept_.spare.push_back(std::move(block));
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Decides without a sample, or says that it takes one.
  bool begin();
  void plan_by_sample(uint64_t reads);
  uint64_t block() const { return execution_.plan().block; }

  std::vector<IndirectReads>* collect(size_t pointers);
  std::byte** pointers() { return filling().pointers.data(); }
  void fetch();
  std::byte* const* arrive();
  void leave();
  void look() { state_.operations.attend(); }
  void read(size_t array, const GatherPlace& unit, std::byte* to) {
    context_.rget(place(array, unit), to, arrays_[array].unit_bytes, site_).wait(site_);
  }
  void write(size_t array, const GatherPlace& unit, const std::byte* from) {
    context_.rput(from, place(array, unit), arrays_[array].unit_bytes, site_).wait(site_);
  }
  void finish();
  [[noreturn]] void fail(int64_t iteration, uint64_t element, uint64_t elements) const {
    state_.fail(Error(ErrorCode::invalid_argument,
                      text(rma::Call("for_each_indirect", site_)) + " reads element " +
                          std::to_string(element) + " of an array of " + std::to_string(elements) +
                          " in iteration " + std::to_string(iteration)));
  }

  // As a mechanism (runtime/decide/execution.h).
  plan::IndirectPlan make(decide::Arm, double compute_s) const {
    return plan::baseline_of_indirect(request_for(compute_s), costs());
  }
  bool fits(const plan::IndirectPlan&) const { return true; }
  void decide(decide::Site<plan::IndirectPlan>& site, double compute_s);
  void note(decide::Trace& trace, double seconds) const;

 private:
  Block& filling() { return *blocks_[collected_ % 2]; }
  Block& computed() { return *blocks_[computed_ % 2]; }
  Block& before_computed() { return *blocks_[(computed_ + 1) % 2]; }
  global_ptr<std::byte> place(size_t array, const GatherPlace& unit) const {
    const IndirectArray& of = arrays_[array];
    return {unit.rank, of.offset + uint64_t{unit.place} * of.unit_bytes};
  }

  void check_members() const;
  std::optional<plan::IndirectCandidate> given_candidate() const;
  void go(const plan::IndirectPlan& given) {
    given_.emplace(given);
    execution_.begin(state_.mechanisms.instruments(), *given_);
  }
  void carry_out(IndirectSite& site);
  const plan::CompiledPath* costs() const {
    return options_.use_model ? state_.job.compiled().path(path_) : nullptr;
  }
  IndirectKey key() const;
  plan::IndirectRequest request_for(double compute_s) const {
    plan::IndirectRequest request = request_;
    request.compute_s = std::max(compute_s, 0.0);
    return request;
  }
  void decide_on(decide::Site<plan::IndirectPlan>& site, double compute_s) const;
  void fetch(size_t array);
  void patch(const Fetched& from, Fetched& to, uint64_t unit_bytes) const;
  void settle();

  Context& context_;
  ContextState& state_;
  IndirectState& kept_;
  const std::vector<IndirectArray> arrays_;
  const std::vector<bool> modified_;
  const uint64_t iterations_;
  const uint32_t reads_;
  const IndirectOptions options_;
  const CallSite site_;

  plan::IndirectRequest request_;
  model::Path path_ = model::Path::network;
  std::optional<plan::IndirectPlan> given_;
  decide::Execution<plan::IndirectPlan> execution_;

  std::array<std::unique_ptr<Block>, 2> blocks_;
  uint64_t collected_ = 0;  // blocks
  rank_t owner_ = 0;        // of the most elements that were fetched last
  uint64_t computed_ = 0;
};

// What is written back is a part of an element, of which another read would have a copy.
void IndirectLoop::Engine::check_members() const {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (arrays_[i].offset != arrays_[j].offset || !(modified_[i] || modified_[j])) continue;
      state_.fail(Error(ErrorCode::invalid_argument,
                        text(rma::Call("for_each_indirect", site_)) +
                            " modifies an array, and names other members of it in another read; "
                            "name the same ones in both, or none"));
    }
  }
}

// By the program, or by a rule of a score map.
std::optional<plan::IndirectCandidate> IndirectLoop::Engine::given_candidate() const {
  std::optional<uint64_t> block = options_.block;
  if (!block && !arrays_.empty()) {
    const std::string_view forced = state_.job.tuning().forced.forced(
        plan::IndirectMechanism::kWords.command, arrays_.front().unit_bytes);
    if (forced == plan::kForcedBaseline) {
      return plan::IndirectMechanism::baseline({.iterations = iterations_, .reads = reads_});
    }
    block = plan::number_forced(forced);
  }
  if (!block) return std::nullopt;
  const uint64_t most = plan::kMostIndirectReads / std::max(reads_, 1U);
  return plan::IndirectCandidate{std::min(*block, std::max<uint64_t>(most, 1)), options_.use_model};
}

bool IndirectLoop::Engine::begin() {
  if (const auto given = given_candidate()) {
    go({.block = given->block, .tunes_lists = given->tunes_lists, .reason = plan::Reason::forced});
    return false;
  }
  if (state_.memory.all_shared() || iterations_ == 0) {
    go({.reason = plan::Reason::own_memory});
    return false;
  }
  if (IndirectSite* const known = kept_.sites.find(key())) {
    request_ = known->request;
    path_ = known->path;
    carry_out(*known);
    return false;
  }
  return true;
}

IndirectKey IndirectLoop::Engine::key() const {
  Hash shape(uint64_t{reads_});
  for (size_t i = 0; i < arrays_.size(); ++i) {
    shape.add(arrays_[i].unit_bytes ^ std::rotl(arrays_[i].part_bytes, 24) ^
              (modified_[i] ? uint64_t{1} << 63 : 0));
  }
  const auto length = static_cast<uint64_t>(std::bit_width(iterations_));
  shape.add(length << 1 | (options_.use_model ? 1 : 0));
  return {reinterpret_cast<uintptr_t>(site_.file) ^ (static_cast<uint64_t>(site_.line) << 40),
          shape.value()};
}

// The first execution is the baseline: what fetching costs can be hidden behind computation of
// which nothing is known yet, and what the baseline takes says how far the model may be trusted.
void IndirectLoop::Engine::decide_on(decide::Site<plan::IndirectPlan>& site,
                                     double compute_s) const {
  if (compute_s < 0 && costs() != nullptr) {
    return site.decide(decide::kBaseline, make(decide::kBaseline, compute_s));
  }
  const plan::IndirectPlan plan = plan::plan_indirect(request_for(compute_s), costs());
  const bool tuned = plan.reason == plan::Reason::tuned;
  const plan::IndirectPlan* const before = site.made(1);
  const bool same =
      before != nullptr && before->block == plan.block && before->tunes_lists == plan.tunes_lists;
  if (tuned && site.outweighs(plan)) {
    site.decide(decide::Arm{1}, plan, 2, decide::Race::Of::site, same);
  } else if (tuned) {
    site.compare(1, plan, decide::Race::Of::site);
  } else if (plan.predicted_s > 0) {
    // If only in the transfers that blocks are fetched by.
    const plan::IndirectPlan tie =
        plan::force_indirect(request_for(compute_s), costs(), {plan.block}, plan::Reason::tied);
    site.compare(1, tie, decide::Race::Of::tie);
  } else {
    return site.decide(decide::kBaseline, plan);
  }
  site.expect(site.plan(1));
}

// Messages that a fetch sends wait at their target, which is computing meanwhile.
void IndirectLoop::Engine::decide(decide::Site<plan::IndirectPlan>& site, double compute_s) {
  if (path_ == model::Path::network) {
    request_.surroundings.service_delay_s = state_.operations.service_delays().expected_s(owner_);
    static_cast<IndirectSite&>(site).request = request_;
  }
  decide_on(site, compute_s);
}

// What was added is a sample, of which nothing is fetched.
void IndirectLoop::Engine::plan_by_sample(uint64_t reads) {
  Block& sample = filling();
  uint64_t remote = 0;
  uint64_t elements = 0;
  uint64_t bytes = 0;
  std::vector<bool> is_owner(context_.rank_n(), false);
  for (size_t array = 0; array < arrays_.size(); ++array) {
    const std::vector<GatherPlace>& places = sample.reads[array].places;
    if (places.empty()) continue;
    const gathers::Inspection seen =
        gathers::inspect(places, context_.rank_me(), context_.rank_n());
    for (size_t number = 1; number < seen.owners.size(); ++number) {
      elements += seen.owners[number].places.size();
      is_owner[seen.owners[number].owner] = true;
      path_ = state_.job.path_to(seen.owners[number].owner);
    }
    remote += places.size();
    bytes += places.size() * arrays_[array].unit_bytes;
    request_.span_bytes = std::max(request_.span_bytes, arrays_[array].part_bytes);
    request_.modifies |= modified_[array];
  }
  if (remote == 0) return go({.reason = plan::Reason::own_memory});
  const auto percent = [](uint64_t part, uint64_t whole) {
    return static_cast<uint32_t>((100 * part + whole - 1) / whole);
  };
  request_.iterations = iterations_;
  request_.reads = reads_;
  request_.element_bytes = bytes / remote;
  request_.remote_percent = percent(remote, reads);
  request_.owners = static_cast<uint32_t>(std::ranges::count(is_owner, true));
  request_.distinct_percent = percent(elements, remote);
  request_.surroundings = decide::surroundings_of(
      state_.job.fabric().info(), plan::IndirectRequest::kFacts, {.path = path_, .gets = true});
  IndirectSite& site = kept_.sites.find_or_make(key(), [&](IndirectSite& made) {
    // How many loops of a length a rank carries out is its own business.
    made.race().share_budget(context_.rank_n());
    made.request = request_;
    made.path = path_;
    decide_on(made, -1);
  });
  carry_out(site);
}

void IndirectLoop::Engine::carry_out(IndirectSite& site) {
  const bool measures = costs() != nullptr && site.refinement.goes_on();
  // A loop that repeats on a rank need not do so on another one, and to the guard of iterations it
  // would look like an iteration of all: the time of the site alone decides.
  execution_.begin(state_.mechanisms.instruments(), *this, site,
                   {.call = {.what = hash_of(site.key)},
                    .guarded = options_.self_check,
                    .measures = measures,
                    .for_all = true});
}

std::vector<IndirectReads>* IndirectLoop::Engine::collect(size_t pointers) {
  Block& block = filling();
  for (Fetched& fetched : block.fetched) {
    for (OwnedElements& of : fetched.owners) of.transfer.wait(site_);  // written back
    fetched.owners.clear();
  }
  block.pointers.resize(pointers);
  for (IndirectReads& reads : block.reads) {
    reads.places.clear();
    reads.positions.clear();
  }
  return &block.reads;
}

void IndirectLoop::Engine::fetch() {
  for (size_t array = 0; array < arrays_.size(); ++array) {
    if (!filling().reads[array].places.empty()) fetch(array);
  }
  ++collected_;
  // What the block before computes begins once this one has been sent.
  execution_.begin_computing();
}

void IndirectLoop::Engine::fetch(size_t array) {
  Block& block = filling();
  Fetched& fetched = block.fetched[array];
  const IndirectReads& reads = block.reads[array];
  const uint64_t unit_bytes = arrays_[array].unit_bytes;
  const rank_t me = context_.rank_me();
  fetched.inspection = gathers::inspect(reads.places, me, context_.rank_n());
  const std::span<gathers::OwnerReads> owners = std::span(fetched.inspection.owners).subspan(1);
  uint64_t units = 0;
  for (const gathers::OwnerReads& of : owners) units += of.places.size();
  fetched.memory.resize((units * unit_bytes + sizeof(Line) - 1) / sizeof(Line));
  std::byte* memory = reinterpret_cast<std::byte*>(fetched.memory.data());
  // Lists stay where they are while transfers are in flight.
  fetched.owners.reserve(owners.size());
  size_t most = 0;
  for (gathers::OwnerReads& of : owners) {
    const size_t count = of.places.size();
    for (size_t k = of.begin; k < of.end; ++k) {
      const uint32_t position = reads.positions[fetched.inspection.order[k]];
      block.pointers[position] = memory + fetched.inspection.slots[k] * unit_bytes;
    }
    if (count > most) {
      most = count;
      owner_ = of.owner;
    }
    fetched.owners.push_back({indexed_list(std::move(of.places)), indexed_list::in_order(count),
                              memory, of.owner, future()});
    memory += count * unit_bytes;
  }
  // The next rank first, so that not all ask the same one.
  const auto next =
      std::ranges::find_if(fetched.owners, [&](const OwnedElements& of) { return of.owner > me; });
  const auto start = [&](OwnedElements& of) {
    of.transfer = start_indexed(context_, "for_each_indirect", VisDirection::get,
                                {.local = of.memory,
                                 .local_list = &of.here,
                                 .target = of.owner,
                                 .offset = arrays_[array].offset,
                                 .remote_list = &of.there,
                                 .element_bytes = unit_bytes},
                                {.use_model = execution_.plan().tunes_lists}, site_);
  };
  std::for_each(next, fetched.owners.end(), start);
  std::for_each(fetched.owners.begin(), next, start);
  // Each read is gone through while it is written down, counted, numbered and found again.
  if (Work* const work = state_.job.fabric().work()) {
    work->bytes += 4 * static_cast<double>(reads.places.size() * sizeof(GatherPlace));
    work->rows += static_cast<double>(reads.places.size());
  }
}

std::byte* const* IndirectLoop::Engine::arrive() {
  Block& block = computed();
  for (size_t array = 0; array < arrays_.size(); ++array) {
    Fetched& fetched = block.fetched[array];
    for (OwnedElements& of : fetched.owners) of.transfer.wait(site_);
    // The elements were in flight when the block before was computed.
    if (modified_[array] && computed_ > 0) {
      patch(before_computed().fetched[array], fetched, arrays_[array].unit_bytes);
    }
  }
  execution_.begin_computing();
  return block.pointers.data();
}

void IndirectLoop::Engine::patch(const Fetched& from, Fetched& to, uint64_t unit_bytes) const {
  auto newer = from.owners.begin();
  for (OwnedElements& of : to.owners) {
    while (newer != from.owners.end() && newer->owner < of.owner) ++newer;
    if (newer == from.owners.end()) return;
    if (newer->owner != of.owner) continue;
    const std::span<const uint32_t> changed = newer->there.numbers();
    size_t at = 0;
    for (size_t i = 0; i < of.there.size(); ++i) {
      const uint32_t number = of.there.numbers()[i];
      while (at < changed.size() && changed[at] < number) ++at;
      if (at == changed.size()) break;
      if (changed[at] != number) continue;
      std::memcpy(of.memory + i * unit_bytes, newer->memory + at * unit_bytes, unit_bytes);
    }
  }
}

void IndirectLoop::Engine::leave() {
  execution_.end_computing();
  Block& block = computed();
  // When the last block ends, the one before it may still be in flight: waiting keeps the later
  // value of an element that both write. A next block that is being fetched is patched instead.
  // Debug mode sees operations one by one, and would take that for a conflict: it always waits.
  const bool is_last = collected_ == computed_ + 1;
  if (is_last || state_.job.options().debug) {
    for (Fetched& fetched : before_computed().fetched) {
      for (OwnedElements& of : fetched.owners) of.transfer.wait(site_);
    }
  }
  for (size_t array = 0; array < arrays_.size(); ++array) {
    if (!modified_[array]) continue;
    for (OwnedElements& of : block.fetched[array].owners) {
      of.transfer = start_indexed(context_, "for_each_indirect", VisDirection::put,
                                  {.local = of.memory,
                                   .local_list = &of.here,
                                   .target = of.owner,
                                   .offset = arrays_[array].offset,
                                   .remote_list = &of.there,
                                   .element_bytes = arrays_[array].unit_bytes},
                                  {.use_model = execution_.plan().tunes_lists}, site_);
    }
  }
  ++computed_;
}

// Waits for all that is in flight, which is of memory that the next loop uses.
void IndirectLoop::Engine::settle() {
  for (const auto& block : blocks_) {
    for (Fetched& fetched : block->fetched) {
      for (OwnedElements& of : fetched.owners) of.transfer.wait(site_);
      fetched.owners.clear();
    }
  }
}

void IndirectLoop::Engine::finish() {
  settle();
  execution_.finish(*this, execution_.computed_s());
}

void IndirectLoop::Engine::note(decide::Trace& trace, double seconds) const {
  const plan::IndirectPlan& plan = execution_.plan();
  const plan::IndirectRequest request = request_for(execution_.compute_s());
  trace.note(site_, stripline::hash_of(key().shape),
             decide::choice_of<plan::IndirectMechanism>(request, plan), seconds,
             count_text(iterations_, "iteration") + " of " + count_text(reads_, "read"), [&] {
               return explain_command<plan::IndirectMechanism>(state_, request, plan.reason, path_);
             });
}

IndirectLoop::IndirectLoop(Context& context, const Shape& shape, const IndirectOptions& options,
                           CallSite site)
    : engine_(std::make_unique<Engine>(context, shape, options, site)) {
  wants_sample_ = engine_->begin();
  if (!wants_sample_) block_ = engine_->block();
}
IndirectLoop::~IndirectLoop() = default;

void IndirectLoop::plan_by_sample(uint64_t reads) {
  engine_->plan_by_sample(reads);
  block_ = engine_->block();
}
std::byte** IndirectLoop::collect(size_t pointers) {
  filling_ = engine_->collect(pointers);
  return engine_->pointers();
}
void IndirectLoop::fetch() { engine_->fetch(); }
std::byte* const* IndirectLoop::arrive() { return engine_->arrive(); }
void IndirectLoop::leave() { engine_->leave(); }
void IndirectLoop::look() { engine_->look(); }
void IndirectLoop::read(size_t array, const GatherPlace& unit, std::byte* to) {
  engine_->read(array, unit, to);
}
void IndirectLoop::write(size_t array, const GatherPlace& unit, const std::byte* from) {
  engine_->write(array, unit, from);
}
void IndirectLoop::finish() { engine_->finish(); }
void IndirectLoop::fail(int64_t iteration, uint64_t element, uint64_t elements) const {
  engine_->fail(iteration, element, elements);
}
void IndirectLoop::fail_entry(Context& context, int64_t iteration, size_t entries, CallSite site) {
  context.state().fail(Error(ErrorCode::invalid_argument,
                             text(rma::Call("for_each_indirect", site)) + " is in iteration " +
                                 std::to_string(iteration) + " of an index of " +
                                 std::to_string(entries) + " entries"));
}
void IndirectLoop::fail_index(Context& context, size_t entries, CallSite site) {
  context.state().fail(Error(ErrorCode::invalid_argument,
                             text(rma::Call("for_each_indirect", site)) + " through an index of " +
                                 count_text(entries, "entry", "entries") + " at a null pointer"));
}

}  // namespace stripline::detail
