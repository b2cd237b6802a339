#include "runtime/rma/vis_calls.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "optimizer/access/saturate.h"
#include "optimizer/plan/vis_mechanism.h"
#include "runtime/decide/execution.h"
#include "runtime/decide/surroundings.h"
#include "runtime/fabric/atomic_apply.h"
#include "runtime/vis/copy_rows.h"

namespace stripline::detail {
namespace {

using Kind = rma::CompletionSlots::Kind;

static_assert(vis::Transfers::kMaxBoxBytes == plan::kUsualBoxBytes);
static_assert(sizeof(vis::wire::Head) + sizeof(vis::wire::StridedHead) ==
              plan::kStridedHeaderBytes);
static_assert(2 * sizeof(uint64_t) == plan::kDimensionHeaderBytes);
static_assert(sizeof(vis::wire::Head) == plan::kListHeaderBytes);
static_assert(vis::wire::kWordBytes == plan::kListRegionHeaderBytes);
static_assert(sizeof(vis::wire::Signal) == plan::kSignalHeaderBytes);

[[noreturn]] void refuse(const ContextState& state, const std::string& what) {
  state.fail(Error(ErrorCode::invalid_argument, what));
}

vis::Strided shape_of(const ContextState& state, rma::Call call, const VisStrided& transfer) {
  if (transfer.local_strides.size() != transfer.extents.size() ||
      transfer.remote_strides.size() != transfer.extents.size()) {
    refuse(state, text(call) + " with " + std::to_string(transfer.local_strides.size()) +
                      " local strides, " + std::to_string(transfer.remote_strides.size()) +
                      " remote strides and " + std::to_string(transfer.extents.size()) +
                      " extents; each dimension has one of each");
  }
  if (!transfer.extents.empty() &&
      (transfer.extents.data() == nullptr || transfer.local_strides.data() == nullptr ||
       transfer.remote_strides.data() == nullptr)) {
    refuse(state, text(call) + " with extents or strides at a null pointer");
  }
  vis::Strided shape{static_cast<int64_t>(transfer.offset), 0, transfer.element_bytes, {}};
  shape.dimensions.reserve(transfer.extents.size());
  for (size_t i = 0; i < transfer.extents.size(); ++i) {
    shape.dimensions.push_back(
        {transfer.extents[i], transfer.remote_strides[i], transfer.local_strides[i]});
  }
  if (!vis::normalise(shape)) {
    refuse(state, text(call) +
                      " of a shape that no memory holds; its strides are in bytes, and its extents "
                      "in elements");
  }
  const vis::Extent extent = vis::remote_extent(shape);
  if (shape.bytes != 0 &&
      (extent.low < 0 || static_cast<uint64_t>(extent.high) > state.memory.segment().size())) {
    refuse(state, text(call) + " of offsets " + std::to_string(extent.low) + " to " +
                      std::to_string(extent.high) + " of rank " + std::to_string(transfer.target) +
                      " is out of bounds: the segment has " +
                      std::to_string(state.memory.segment().size()) +
                      " bytes; the global pointer, a stride or an extent is wrong");
  }
  return shape;
}

rma::Access access_of(VisDirection direction) {
  return direction == VisDirection::put ? rma::Access::put : rma::Access::get;
}

// Visits each region: offset, memory, bytes.
template <typename Visit>
void for_each_region(const vis::Strided& shape, std::byte* local, const Visit& visit) {
  vis::PairCursor cursor;
  for (cursor.start(shape); !cursor.done();) {
    const vis::RunPair run = cursor.next(UINT64_MAX);
    for (uint64_t i = 0; i < run.count; ++i) {
      const auto index = static_cast<int64_t>(i);
      visit(static_cast<uint64_t>(run.remote + index * run.remote_stride),
            local + run.local + index * run.local_stride, run.bytes);
    }
  }
}
template <typename Visit>
void for_each_region(const vis::RegionList& regions, std::byte*, const Visit& visit) {
  vis::RegionCursor cursor;
  for (cursor.start(regions); !cursor.done();) {
    const vis::Region region = cursor.peek(UINT64_MAX);
    cursor.skip(region.bytes);
    visit(region.offset, region.memory, region.bytes);
  }
}

void copy_here(const vis::Strided& shape, VisDirection direction, std::byte* segment,
               std::byte* local, Work* work) {
  vis::PairCursor cursor;
  for (cursor.start(shape); !cursor.done();) {
    const vis::RunPair run = cursor.next(UINT64_MAX);
    count_copy(work, run.count, run.bytes);
    if (direction == VisDirection::put) {
      vis::copy_rows(segment + run.remote, run.remote_stride, local + run.local, run.local_stride,
                     run.count, run.bytes);
    } else {
      vis::copy_rows(local + run.local, run.local_stride, segment + run.remote, run.remote_stride,
                     run.count, run.bytes);
    }
  }
}

// Checks the pieces and pairs them.
std::vector<vis::Region> regions_of(const ContextState& state, rma::Call call,
                                    VisDirection direction, const VisPieces& pieces) {
  std::vector<vis::LocalPiece> local;
  std::vector<vis::RemotePiece> remote;
  local.reserve(pieces.local.size());
  remote.reserve(pieces.remote.size());
  for (const VisPieces::Local& piece : pieces.local) {
    rma::check_private(state, call, piece.memory, piece.bytes);
    local.push_back({piece.memory, piece.bytes});
  }
  for (const VisPieces::Remote& piece : pieces.remote) {
    state.operations.check(call, piece.target, piece.offset, piece.bytes, access_of(direction));
    if (piece.target != pieces.remote.front().target) {
      refuse(state, text(call) + " of pieces on rank " +
                        std::to_string(pieces.remote.front().target) + " and on rank " +
                        std::to_string(piece.target) + "; one call is for one rank");
    }
    remote.push_back({piece.offset, piece.bytes});
  }
  const uint64_t local_bytes = vis::total_bytes(local);
  const uint64_t remote_bytes = vis::total_bytes(remote);
  if (local_bytes != remote_bytes || local_bytes == kTooManyBytes) {
    refuse(state, text(call) + " of " + rma::byte_count_text(local_bytes) + " of local and " +
                      rma::byte_count_text(remote_bytes) +
                      " of remote pieces; both sides have the same elements, as many as memory "
                      "holds");
  }
  std::vector<vis::Region> regions;
  regions.reserve(std::max(local.size(), remote.size()));
  vis::match(remote, local, regions);
  return regions;
}

void check_options(const ContextState& state, rma::Call call, const VisOptions& options) {
  if (options.method <= VisMethod::best && options.compute <= VisCompute::heavy) return;
  refuse(state, text(call) + ": VisOptions::method is " +
                    std::to_string(static_cast<int>(options.method)) + " and VisOptions::compute " +
                    std::to_string(static_cast<int>(options.compute)) +
                    ", one of which is not a valid enumerator");
}

// For a call with a signal; the flag itself is checked when it is raised.
void check_flag(const ContextState& state, rma::Call call, rank_t target, const VisSignal& signal) {
  if (!signal.flag.is_null() && signal.flag.where() == target) return;
  refuse(state, text(call) + " to rank " + std::to_string(target) +
                    " with a flag that is not on that rank; data and flag have one target");
}

std::optional<fabric::Signal> signal_of(const VisSignal* signal) {
  if (signal == nullptr) return {};
  return fabric::Signal{signal->flag.offset(), signal->value};
}

// After copies to a segment that stores reach.
void raise_here(const VisSignal* signal, std::byte* segment) {
  if (signal != nullptr) fabric::raise_flag(segment + signal->flag.offset(), signal->value);
}

}  // namespace

plan::VisRequest vis_request_to(ContextState& state, plan::Direction direction, rank_t target,
                                bool signalled) {
  const bool gets = direction == plan::Direction::get;
  plan::VisRequest request;
  request.direction = direction;
  request.bounding_box_allowed = gets;
  request.iov_limit = state.job.fabric().info().iov_limit;
  request.max_buffer_bytes = vis::Transfers::kMaxBoxBytes;
  request.medium_bytes = state.operations.vis().max_chunk_bytes();
  request.message_bytes = state.operations.messages().max_payload_bytes();
  request.message_header_bytes =
      static_cast<uint32_t>(sizeof(vis::wire::Head) + (signalled ? sizeof(vis::wire::Signal) : 0));
  request.signalled = signalled;
  request.surroundings = decide::surroundings_of(
      state.job.fabric().info(), plan::VisRequest::kFacts,
      {.path = state.job.path_to(target), .gets = gets, .puts = !gets, .signals = signalled});
  // Plans of puts with a signal do not depend on it.
  if (!signalled)
    request.surroundings.service_delay_s = state.operations.service_delays().expected_s(target);
  return request;
}

uint32_t strided_header_bytes(size_t dimensions) {
  return static_cast<uint32_t>(sizeof(vis::wire::StridedHead) + dimensions * 2 * sizeof(uint64_t));
}

plan::VisRequest VisCalls::request_for(ContextState& state, VisDirection direction, rank_t target,
                                       const vis::Extent& extent, const VisOptions& options,
                                       bool signalled) {
  plan::VisRequest request = vis_request_to(state, direction, target, signalled);
  request.extent_bytes = static_cast<uint64_t>(extent.high - extent.low);
  request.bounding_box_allowed = request.bounding_box_allowed && options.bounding_box;
  request.compute = options.compute;
  return request;
}

plan::VisPlan VisCalls::choose(ContextState& state, rank_t target, const plan::VisRequest& request,
                               const VisOptions& options, const decide::RunGuard::Call& call) {
  const model::Path path = state.job.path_to(target);
  std::optional<VisMethod> method;
  if (options.method == VisMethod::best) {
    if (!options.use_model) return plan::plan_vis(request, nullptr);
    const std::string_view forced = state.job.tuning().forced.forced(
        plan::VisMechanism::kWords.command, request.regions * request.region_bytes, {},
        [&](std::string_view name) {
          method = plan::method_named<VisMethod>(name, plan::kVisMethodNames);
          return plan::vis_allowed(request, *method);
        });
    if (forced == plan::kForcedBaseline) return plan::plan_vis(request, nullptr);
    if (forced.empty()) method.reset();
  } else {
    method = options.method;
  }
  if (!method) {
    rma::VisSite& site = state.mechanisms.vis_plans().site(request, path);
    decide::Execution<plan::VisPlan> execution;
    execution.begin(state.mechanisms.instruments(), site, site,
                    {.call = call, .guarded = options.self_check, .judges_itself = false});
    return execution.plan();
  }
  const plan::VisCosts* costs =
      options.use_model ? state.mechanisms.vis_plans().costs(path) : nullptr;
  return plan::force_vis(request, costs, *method, options.chunk_bytes, options.window);
}

// What observers want to know, in front of the transfer.
template <typename Regions>
void VisCalls::observe(rma::Operation& operation, const Regions& regions, std::byte* local,
                       const VisSignal* signal, CallSite site) {
  if (operation.is_observed()) {
    for_each_region(regions, local, [&](uint64_t offset, std::byte* memory, uint64_t bytes) {
      operation.touches(offset, bytes, memory);
    });
  }
  if (signal != nullptr) operation.raises({signal->name, site}, signal->flag.offset());
}

future VisCalls::contiguous(Context& context, VisDirection direction, rank_t target,
                            uint64_t offset, std::byte* memory, size_t bytes,
                            const VisSignal* signal, CallSite site) {
  ++context.state().operations.vis().statistics().contiguous;
  const global_ptr<std::byte> there(target, offset);
  if (signal != nullptr) {
    return context.rput_signal(memory, there, bytes, signal->flag, signal->value, site);
  }
  return direction == VisDirection::put ? context.rput(memory, there, bytes, site)
                                        : context.rget(there, memory, bytes, site);
}

// Transfers without a byte only signal.
future VisCalls::nothing(Context& context, const VisSignal* signal, CallSite site) {
  if (signal == nullptr) return {};
  // The put below would name itself.
  const ContextState& state = context.state();
  const rma::Call flag(signal->name, site);
  const rank_t target = signal->flag.where();
  state.operations.check(flag, target, signal->flag.offset(), sizeof(uint64_t));
  state.memory.check_alignment(flag, target, signal->flag.offset(), sizeof(uint64_t));
  return context.rput_signal<std::byte>(nullptr, signal->flag.reinterpret<std::byte>(), 0,
                                        signal->flag, signal->value, site);
}

future VisCalls::start(Context& context, const char* name, VisDirection direction,
                       const VisStrided& transfer, const VisOptions& options, CallSite site,
                       const VisSignal* signal) {
  const rma::Call call(name, site);
  ContextState& state = context.state();
  const auto inside = state.exclusive();
  state.job.activity() = name;
  check_options(state, call, options);
  state.memory.check_target(call, transfer.target);
  const vis::Strided shape = shape_of(state, call, transfer);
  state.operations.check(call, transfer.target, 0, 0);  // not in handlers
  if (signal != nullptr) check_flag(state, call, transfer.target, *signal);
  if (shape.bytes == 0) return nothing(context, signal, site);
  rma::check_private(state, call, transfer.local, shape.total_bytes());
  if (std::byte* const there = state.memory.reachable(transfer.target); there != nullptr) {
    ++state.operations.vis().statistics().local;
    rma::Operation operation(context, call, access_of(direction), transfer.target);
    observe(operation, shape, transfer.local, signal, site);
    copy_here(shape, direction, there, transfer.local, state.job.fabric().work());
    raise_here(signal, there);
    return operation.finish();
  }
  if (shape.dimensions.empty()) {
    return contiguous(context, direction, transfer.target, static_cast<uint64_t>(shape.remote),
                      transfer.local + shape.local, shape.bytes, signal, site);
  }
  const vis::Extent extent = vis::remote_extent(shape);
  if (direction == VisDirection::put) {
    state.memory.keepers().stored(transfer.target, static_cast<uint64_t>(extent.low),
                                  static_cast<uint64_t>(extent.high - extent.low));
  }
  plan::VisRequest request =
      request_for(state, direction, transfer.target, extent, options, signal != nullptr);
  vis::Side local;
  vis::local_side(shape, local);
  request.regions = shape.regions();
  request.region_bytes = shape.bytes;
  request.local_regions = local.regions();
  request.message_header_bytes += strided_header_bytes(shape.dimensions.size());
  // A message cannot describe that many.
  if (shape.dimensions.size() > vis::wire::kMaxDimensions) request.medium_bytes = 0;
  const double begun_s = state.job.observers().trace() != nullptr ? state.job.fabric().now_s() : 0;
  // Not by the place of the call, of which compilers make several.
  const plan::VisPlan plan =
      choose(state, transfer.target, request, options,
             {stripline::hash_of(direction, request.regions, request.region_bytes), transfer.target,
              transfer.offset});
  rma::Operation operation(context, call, access_of(direction), transfer.target);
  observe(operation, shape, transfer.local, signal, site);
  operation.planned({site, request, state.job.path_to(transfer.target), plan, begun_s});
  fabric::Counter& counter = operation.counter(Kind::message);
  state.operations.vis().start(request.direction, transfer.target, shape, transfer.local, plan,
                               counter, signal_of(signal),
                               &state.operations.source_free(operation.slot()));
  return operation.finish();
}

future VisCalls::start(Context& context, const char* name, VisDirection direction,
                       const VisPieces& pieces, const VisOptions& options, CallSite site,
                       const VisSignal* signal) {
  const rma::Call call(name, site);
  ContextState& state = context.state();
  const auto inside = state.exclusive();
  state.job.activity() = name;
  check_options(state, call, options);
  std::vector<vis::Region> regions = regions_of(state, call, direction, pieces);
  if (signal != nullptr && regions.empty()) check_flag(state, call, signal->flag.where(), *signal);
  if (regions.empty()) return nothing(context, signal, site);
  return start(context, call, direction, pieces.remote.front().target,
               vis::RegionList(std::move(regions)), pieces.remote.front().offset, options, signal);
}

future VisCalls::start(Context& context, const char* name, VisDirection direction,
                       const VisIndexed& transfer, const VisOptions& options, CallSite site,
                       const VisSignal* signal) {
  const rma::Call call(name, site);
  ContextState& state = context.state();
  const auto inside = state.exclusive();
  state.job.activity() = name;
  check_options(state, call, options);
  const indexed_list& local = *transfer.local_list;
  const indexed_list& remote = *transfer.remote_list;
  if (local.size() != remote.size()) {
    refuse(state, text(call) + " with lists of " + std::to_string(local.size()) + " and of " +
                      std::to_string(remote.size()) +
                      " elements; each element of one side has one of the other");
  }
  state.memory.check_target(call, transfer.target);
  if (remote.empty()) {
    if (signal != nullptr) check_flag(state, call, transfer.target, *signal);
    return nothing(context, signal, site);
  }
  rma::check_private(state, call, transfer.local, transfer.element_bytes);
  // Debug mode checks element by element what they conflict with.
  const uint64_t begin = access::saturating_multiply(remote.smallest(), transfer.element_bytes);
  const uint64_t end = access::saturating_multiply(remote.largest() + 1, transfer.element_bytes);
  state.operations.check(call, transfer.target, access::saturating_add(transfer.offset, begin),
                         end - begin);
  const auto low = static_cast<int64_t>(transfer.offset + begin);
  const vis::RegionList::Facts facts{.remote = {low, low + static_cast<int64_t>(end - begin)},
                                     .bytes = remote.size() * transfer.element_bytes,
                                     .remote_regions = remote.runs(),
                                     .local_regions = local.runs()};
  const vis::Elements elements{.offset = transfer.offset,
                               .memory = transfer.local,
                               .bytes = transfer.element_bytes,
                               .remote = remote.numbers(),
                               .local = local.numbers()};
  return start(context, call, direction, transfer.target,
               vis::RegionList(elements, remote.size(), facts), transfer.offset, options, signal);
}

// Starts a list whose remote side was checked. `offset`: a place that tells calls of one site
// apart.
future VisCalls::start(Context& context, rma::Call call, VisDirection direction, rank_t target,
                       vis::RegionList regions, uint64_t offset, const VisOptions& options,
                       const VisSignal* signal) {
  ContextState& state = context.state();
  const CallSite site = call.site();
  if (signal != nullptr) check_flag(state, call, target, *signal);
  if (std::byte* const segment = state.memory.reachable(target); segment != nullptr) {
    ++state.operations.vis().statistics().local;
    rma::Operation operation(context, call, access_of(direction), target);
    observe(operation, regions, nullptr, signal, site);
    for_each_region(regions, nullptr, [&](uint64_t at, std::byte* memory, uint64_t bytes) {
      direction == VisDirection::put ? state.memory.copy_here(segment + at, memory, bytes)
                                     : state.memory.copy_here(memory, segment + at, bytes);
    });
    raise_here(signal, segment);
    return operation.finish();
  }
  const vis::RegionList::Facts& facts = regions.facts();
  if (facts.remote_regions == 1 && facts.local_regions == 1) {
    const vis::Region first = regions[0];
    return contiguous(context, direction, target, first.offset, first.memory, facts.bytes, signal,
                      site);
  }
  if (direction == VisDirection::put) {
    state.memory.keepers().stored(target, static_cast<uint64_t>(facts.remote.low),
                                  static_cast<uint64_t>(facts.remote.high - facts.remote.low));
  }
  plan::VisRequest request =
      request_for(state, direction, target, facts.remote, options, signal != nullptr);
  request.regions = regions.in_one_place() ? 1 : regions.regions();
  request.region_bytes = facts.bytes / request.regions;
  request.local_regions = facts.local_regions;
  request.region_header_bytes = vis::wire::kWordBytes;
  const double begun_s = state.job.observers().trace() != nullptr ? state.job.fabric().now_s() : 0;
  // What lists hold may change from call to call.
  const plan::VisPlan plan =
      choose(state, target, request, options,
             {.what = stripline::hash_of(direction), .rank = target, .loose_offset = offset});
  rma::Operation operation(context, call, access_of(direction), target);
  observe(operation, regions, nullptr, signal, site);
  operation.planned({site, request, state.job.path_to(target), plan, begun_s});
  fabric::Counter& counter = operation.counter(Kind::message);
  state.operations.vis().start(request.direction, target, std::move(regions), plan, counter,
                               signal_of(signal), &state.operations.source_free(operation.slot()));
  return operation.finish();
}

future start_strided(Context& context, const char* name, VisDirection direction,
                     const VisStrided& transfer, const VisOptions& options, CallSite call,
                     const VisSignal* signal) {
  return VisCalls::start(context, name, direction, transfer, options, call, signal);
}

future start_indexed(Context& context, const char* name, VisDirection direction,
                     const VisIndexed& transfer, const VisOptions& options, CallSite call,
                     const VisSignal* signal) {
  return VisCalls::start(context, name, direction, transfer, options, call, signal);
}

future start_list(Context& context, const char* name, VisDirection direction,
                  const VisPieces& pieces, const VisOptions& options, CallSite call,
                  const VisSignal* signal) {
  return VisCalls::start(context, name, direction, pieces, options, call, signal);
}

}  // namespace stripline::detail
