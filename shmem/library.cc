#include "shmem/library.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

#include <stripline/progress.h>

#include "base/memory_limits.h"
#include "base/quantity.h"
#include "base/settings.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/rma/program_trace.h"
#include "shmem/collectives.h"
#include "shmem/environment.h"
#include "shmem/global_exit.h"
#include "shmem/order.h"
#include "shmem/static_data.h"

namespace stripline::shmem {
namespace {

// The largest page that Linux runs on: what begins at its multiples begins on a page everywhere.
constexpr size_t kPageBytes = size_t{64} << 10;

// Static data begin on a page of the segment, the heap on a huge one.
constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr size_t kSpareBytes = kHugePageBytes + 2 * kPageBytes;

// What the heap's addresses are aligned to, and so the most that shmem_align can align to.
constexpr size_t kHeapAlignment = size_t{256} << 20;

int initialized_times = 0;
bool has_ended = false;  // a program may say twice that it is at its end

// An error before this PE has joined the job: its launcher shows it once for all PEs.
Error refused(const Error& error) {
  const auto job = bootstrap::from_environment();
  return job.ok() ? stripline::detail::ContextState::refuse(**job, error) : error;
}

[[noreturn]] void end_unstarted(const Error& error) {
  const int code = report(error);
  std::fflush(stdout);
  std::_Exit(code);
}

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }
size_t whole_pages(size_t bytes) { return round_up(bytes, kPageBytes); }

// The room for static data. A few sizes: ranks of other sizes are not joined, and what differs
// would not be named (compare_layouts()). Room that is not used is not touched.
size_t static_room(size_t bytes) {
  if (bytes == 0) return 0;
  return round_up(bytes, std::max(size_t{4} << 20, std::bit_floor(bytes) / 8));
}

// The standard expects operations to complete while their target computes.
std::string default_progress(const Options& options) {
  if (options.clock != "real" || options.fabric.starts_with("emulated:")) return "manual";
  // Where PEs reach each other by loads and stores, no thread is needed; where they do not, one
  // serves them as soon as a PE stays away from calls.
  return options.same_node.starts_with("mapped") ? "tuned" : "thread";
}

struct Start {
  Options options;
  size_t static_bytes = 0;
  size_t heap_bytes = 0;
};

Result<Start> prepare(const Environment& environment, int thread_level, size_t static_bytes) {
  Start start;
  STRIPLINE_ASSIGN_OR_RETURN(start.options, Options::from_environment());
  start.static_bytes = static_bytes;
  start.heap_bytes =
      whole_pages(environment.heap_bytes ? *environment.heap_bytes : start.options.segment_bytes);
  // A launcher has looked for all PEs of the host; of PEs that no launcher started no one has.
  const std::string overcommit = value_with({}, "STRIPLINE_OVERCOMMIT");
  const bool insists = !overcommit.empty() && overcommit != "0";
  if (const auto limits = MemoryLimits::read();
      environment.heap_bytes && !insists && start.heap_bytes > limits.allocatable_bytes()) {
    return Error(ErrorCode::resource_exhausted,
                 "SHMEM_SYMMETRIC_SIZE asks for a symmetric heap of " +
                     bytes_text(start.heap_bytes) + ", and " + limits.limited_by() + " has " +
                     bytes_text(limits.allocatable_bytes()) + " to give; ask for a smaller one");
  }
  start.options.segment_bytes = static_room(static_bytes) + start.heap_bytes + kSpareBytes;
  start.options.segment_setting = "SHMEM_SYMMETRIC_SIZE=" + std::to_string(start.heap_bytes) +
                                  " with room for " + std::to_string(static_room(static_bytes)) +
                                  " bytes of static data,";
  if (start.options.bulk && thread_level == SHMEM_THREAD_MULTIPLE) {
    return Error(ErrorCode::invalid_argument,
                 "STRIPLINE_BULK (stripline run --bulk) in a program that asks for "
                 "SHMEM_THREAD_MULTIPLE: puts and gets of several threads at a time all wait; "
                 "start it without");
  }
  start.options.debug = start.options.debug || environment.debug;
  if (std::getenv("STRIPLINE_PROGRESS") == nullptr) {  // NOLINT(concurrency-mt-unsafe)
    start.options.progress = default_progress(start.options);
  }
  start.options.threads =
      thread_level >= SHMEM_THREAD_SERIALIZED ? thread_mode::serialized : thread_mode::single;
  return start;
}

// Collective: ends the program where static data of PEs are laid out differently.
void compare_layouts(World& world, const std::string& mine) {
  Context& context = world.context();
  const uint64_t length = context.broadcast(uint64_t{mine.size()}, 0);
  std::string theirs(world.me() == 0 ? mine : std::string(length, '\0'));
  if (length > 0) {
    context.broadcast(std::as_writable_bytes(std::span(theirs.data(), theirs.size())), 0);
  }
  if (const std::string differs = difference(mine, theirs); !differs.empty()) {
    world.state().fail(Error(
        ErrorCode::failed_precondition,
        differs +
            ": static data are symmetric only where all PEs run the same program with the same "
            "libraries"));
  }
  context.barrier();  // no PE writes to another one before all have agreed
}

// Names of networks that read and write by addresses of the process, and keep no pages.
bool keeps_no_pages(const std::string& provider) {
  for (const char* const known : {"tcp", "net", "sockets", "udp", "shm", "sm2", "emulated"}) {
    if (provider.starts_with(known)) return true;
  }
  return false;
}

// Collective: gives static data and the heap their memory.
Status make_symmetric(World& world, const Start& start, std::span<const StaticObject> objects,
                      bool others_run) {
  Context& context = world.context();
  STRIPLINE_ASSIGN_OR_RETURN(const auto all,
                             context.new_symmetric_array<std::byte>(start.options.segment_bytes));
  // The segment begins on a page.
  const uint64_t static_offset = whole_pages(all.offset());
  const uint64_t heap_offset = round_up(static_offset + start.static_bytes, kHugePageBytes);
  const auto here = [&](uint64_t offset) {
    return context.local(global_ptr<std::byte>(world.me(), offset));
  };
  const bool pinned = !keeps_no_pages(world.state().job.fabric().info().provider);
  compare_layouts(world, describe(objects));
  if (start.static_bytes > 0) {
    const handlers_paused paused(context);  // a thread of the runtime stays out
    STRIPLINE_RETURN_IF_ERROR(
        move_to({here(static_offset), start.static_bytes}, objects, pinned, others_run));
  }
  std::byte* const heap = aligned({here(heap_offset), start.heap_bytes}, kHeapAlignment, pinned);
  const auto heap_begin = reinterpret_cast<uintptr_t>(heap);
  // An alignment is had by all PEs or by none.
  const uint64_t alignment =
      context.reduce_all(uint64_t{heap_begin & (~heap_begin + 1)}, Context::ReduceOp::min);
  world.set_heap(heap, start.heap_bytes, alignment);
  Addresses& addresses = world.addresses();
  addresses.add({heap_begin, start.heap_bytes, heap_offset});
  uint64_t offset = static_offset;
  for (const StaticObject& object : objects) {
    for (const StaticPages& part : object.pages) {
      addresses.add({part.begin, part.bytes, offset});
      offset += part.bytes;
    }
  }
  context.barrier();  // all have moved theirs
  return {};
}

// Collective: atomic operations are atomic with each other only where all PEs carry them out alike.
Status agree_on_coalescing(World& world) {
  const uint64_t own = world.coalesces() ? 1 : 0;
  const uint64_t all = world.context().reduce_all(own, Context::ReduceOp::sum);
  if (all == own * world.pes()) return {};
  return Error(ErrorCode::failed_precondition, "STRIPLINE_COALESCE is 1 on " + std::to_string(all) +
                                                   " of " + std::to_string(world.pes()) +
                                                   " PEs; set it on all of them, or on none");
}

void say_what_is_asked_for(const Environment& environment) {
  if (environment.version) {
    std::printf("%s, OpenSHMEM %d.%d\n", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION,
                SHMEM_MINOR_VERSION);
  }
  if (environment.info) std::fputs(environment_help().data(), stdout);
  std::fflush(stdout);
}

// The end of a program that does not call shmem_finalize. Other PEs are not waited for where this
// one has failed: who started it ends them.
void at_exit(int status, void*) {
  if (the_world == nullptr || the_world->state().job.in_child()) return;
  if (status != 0) {
    flush_streams();
    ::_exit(status);
  }
  while (the_world != nullptr) finalize("exit");
}

Status start_world(int thread_level) {
  // Threads of the program and of its libraries, which may write static data while these move.
  // Those that are started here do not.
  const bool others_run = threads_of_process() != 1;
  const auto environment = read_environment();
  if (!environment.ok()) return refused(environment.error());
  const std::vector<StaticObject> objects = static_objects();
  const size_t static_bytes = total_bytes(objects);
  const auto start = prepare(*environment, thread_level, static_bytes);
  if (!start.ok()) return refused(start.error());
  STRIPLINE_ASSIGN_OR_RETURN(auto context, Context::init(start->options));
  auto world = std::make_unique<World>(std::move(context), thread_level);
  if (const Status made = make_symmetric(*world, *start, objects, others_run); !made.ok()) {
    world->state().fail(made.error());
  }
  world->make_predefined_teams();
  if (const Status agreed = agree_on_coalescing(*world); !agreed.ok()) {
    world->state().fail(agreed.error());
  }
  if (world->coalesces()) world->coalesce(world->default_context());
  watch_for_global_exit(*world);
  world->context().barrier();
  if (world->me() == 0) say_what_is_asked_for(*environment);
  the_world = world.release();
  static bool registered = false;
  if (!registered) ::on_exit(at_exit, nullptr);
  registered = true;
  return {};
}

}  // namespace

void init(const char* call) {
  int provided = 0;
  init_thread(call, SHMEM_THREAD_SINGLE, &provided);
}

int init_thread(const char* call, int requested, int* provided) {
  if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE) {
    end_unstarted(Error(ErrorCode::invalid_argument,
                        std::string(call) + " with thread level " + std::to_string(requested) +
                            ", which is not one of SHMEM_THREAD_SINGLE to SHMEM_THREAD_MULTIPLE"));
  }
  if (the_world == nullptr) {
    if (has_ended) {
      end_unstarted(Error(ErrorCode::failed_precondition,
                          std::string(call) +
                              " behind the last shmem_finalize, by which this PE has left its job, "
                              "which it can join once; call it as often as shmem_finalize before"));
    }
    if (const Status started = start_world(requested); !started.ok()) {
      end_unstarted(started.error());
    }
  }
  ++initialized_times;
  if (provided != nullptr) *provided = the_world->thread_level();
  return 0;
}

void start_pes(const char* call, int) {
  if (the_world == nullptr) init(call);
}

void finalize(const char* call) {
  if (the_world == nullptr && has_ended) return;
  World& here = world(call);
  if (--initialized_times > 0) return barrier_all(call);
  here.complete_all();
  {
    const Turn turn(here);
    here.context().barrier();
  }
  the_world = nullptr;
  has_ended = true;
  // Its teams go with it: a program that has not destroyed them has not agreed on an order to do
  // so.
  delete &here;
}

void query_thread(const char* call, int* provided) { *provided = world(call).thread_level(); }

void query_initialized(int* initialized) { *initialized = the_world != nullptr ? 1 : 0; }

int pe_accessible(const char* call, int pe) {
  return pe >= 0 && static_cast<rank_t>(pe) < world(call).pes() ? 1 : 0;
}

int addr_accessible(const char* call, const void* address, int pe) {
  World& here = world(call);
  return pe_accessible(call, pe) == 1 &&
                 here.addresses().offset_of(address, 1) != Addresses::kNowhere
             ? 1
             : 0;
}

void* pointer_to(const char* call, shmem_team_t handle, const void* address, int pe) {
  World& here = world(call);
  Team* const team = here.team_or_null(handle);
  if (team == nullptr || pe < 0 || pe >= team->pes) return nullptr;
  const uint64_t offset = here.addresses().offset_of(address, 1);
  if (offset == Addresses::kNowhere) return nullptr;
  const rank_t rank = team->group.world_rank(static_cast<rank_t>(pe));
  if (rank == here.me()) return const_cast<void*>(address);
  std::byte* const base = here.segment_of(rank);
  return base == nullptr ? nullptr : base + offset;
}

void pcontrol(int level) {
  if (the_world == nullptr) return;
  World& here = *the_world;
  const Turn turn(here);
  const auto inside = here.state().exclusive();
  rma::ProgramTrace* const trace = here.state().job.observers().trace();
  if (trace != nullptr) trace->set_noting(level > 0);
}

void info_get_version(int* major, int* minor) {
  *major = SHMEM_MAJOR_VERSION;
  *minor = SHMEM_MINOR_VERSION;
}

void info_get_name(char* name) { std::strncpy(name, SHMEM_VENDOR_STRING, SHMEM_MAX_NAME_LEN); }

}  // namespace stripline::shmem
