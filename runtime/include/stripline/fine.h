// Single reads and writes of shared memory, and a scope in which they do not wait (Chen, Optimizing
// PGAS Programs for Cluster Architectures, 2007, chapter 6).
//
//   {
//     stripline::fine_region fine(ctx);
//     const auto left = fine.read(row + 1);   // in flight, together
//     const auto right = fine.read(row + 3);
//     const double mean = (left + right) / 2;  // waited for here
//     fine.write(row + 2, mean);               // in flight
//     fine.write(row + 2, fine.read(row + 2) + 1);
//   }                                          // written
//
// What a translator does for a program with its accesses in place, types do here: a read returns a
// lazy value, which is waited for when it is used, and a write is waited for when something could
// show that it is not complete. For the program itself all is as if each access were made where it
// stands.
//
//   * Reads that the program makes before it uses one of them are in flight together. Those that
//     lie close to each other are one get of all from the first to the last byte; the model says
//     how close, 1 KiB without one.
//   * What has been read once is not fetched again, until this rank writes there, makes an acquire
//     (docs/memory-model.md), or the region ends.
//   * Writes that follow each other in memory travel together. They are complete at the next
//     synchronisation, which is everything that communicates but reads and writes of a region,
//     memput(), memget() and memcpy() inside of a bulk_region, gets, progress() and stores into
//     memory in reach. An operation that reads what a write stores waits for that write alone.
//
// So a program may not wait in a loop of reads until another rank has changed something, nor signal
// by a write, or by a store into memory in reach, that an earlier write has come: docs/fine.md says
// more, and when a region pays. Memory that loads and stores reach is read and written at once. In
// debug mode (Options::debug) every access waits, and a lazy value must not be used after the end
// of its region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <stripline/context.h>

namespace stripline {

class fine_region;

/// How accesses inside of a fine_region may be carried out.
struct FineOptions {
  /// What was read is kept, so that it is not fetched again. False where a program reads nothing
  /// twice, or is to see what others write as soon as it reads.
  bool keeps = true;
  /// Memory for what was read, of this rank. Values that the program has not used yet may take
  /// more. It is kept when the region ends.
  size_t buffer_bytes = size_t{1} << 20;
  /// The region lasts for many barriers of the program, Context::barrier(): methods are decided for
  /// what lies between two of them, by the place of the first one, not for the region.
  bool across_barriers = false;
};

namespace detail {

/// What a lazy value waits for.
struct FineRead {
  static constexpr uint32_t kNoBox = UINT32_MAX;
  static constexpr uint32_t kMoved = kNoBox - 1;  ///< another lazy value waits for it
  Context* context = nullptr;                     ///< null: nothing, the value is here
  uint32_t box = kNoBox;  ///< where it will be; kNoBox: the value is here, and is checked
  uint32_t region = 0;    ///< that has made it
  uint64_t offset = 0;    ///< in its rank's segment
};

/// A region that has begun.
struct FineEntry {
  uint32_t region = 0;
  bool waits = false;   ///< for each access, which debug mode checks
  bool learns = false;  ///< loads may show that what was read elsewhere is old
};

FineEntry enter_fine(Context& context, const FineOptions& options, CallSite site);
void leave_fine(Context& context, uint32_t region);
/// What was read before may be older than what the program has loaded.
void learn_fine(Context& context);
void issue_fine(Context& context);
FineRead start_fine_read(Context& context, global_ptr<const std::byte> source, size_t bytes,
                         CallSite site);
/// Waits for it, and stores what was read into `value`. What it waited for is nothing from then on.
void take_fine_read(FineRead& read, std::byte* value, size_t bytes, CallSite site);
/// A read out of reach of loads and stores whose value is used at once.
void read_fine_now(Context& context, global_ptr<const std::byte> source, std::byte* value,
                   size_t bytes, CallSite site);
/// No one will ask for it.
void drop_fine_read(const FineRead& read);
void fine_write(Context& context, const std::byte* source, global_ptr<std::byte> destination,
                size_t bytes, CallSite site);

}  // namespace detail

/// A value that is being read: converts to it, for which it waits. What it holds is what the memory
/// held at some time between the read and the use, or the next synchronisation if that comes first,
/// after what this rank had written there before the read, and before what it writes there later.
/// Moves, and may be dropped. Used before its fine_region ends, which debug mode checks.
template <typename T>
class lazy {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// `other` is nothing from then on, and may only be dropped: to use it ends the process, unless
  /// the value was here already.
  lazy(lazy&& other) noexcept : value_(other.value_), read_(other.read_) {
    if (other.read_.context != nullptr) [[unlikely]]
      other.read_.box = detail::FineRead::kMoved;
  }
  /// Exchanges what the two hold.
  lazy& operator=(lazy&& other) noexcept {
    std::swap(value_, other.value_);
    std::swap(read_, other.read_);
    return *this;
  }
  lazy(const lazy&) = delete;
  lazy& operator=(const lazy&) = delete;
  ~lazy() {
    if (read_.context != nullptr && read_.box != detail::FineRead::kMoved) [[unlikely]]
      detail::drop_fine_read(read_);
  }

  /// The value. `site` is where the call stands, for messages; it need not be given.
  T get(CallSite site = CallSite::current()) const {
    if (read_.context != nullptr) [[unlikely]]
      detail::take_fine_read(read_, reinterpret_cast<std::byte*>(&value_), sizeof(T), site);
    return value_;
  }
  /// The value, as get().
  operator T() const { return get(); }  // NOLINT(google-explicit-constructor): it is the value

 private:
  friend class fine_region;
  lazy(const T& value, const detail::FineRead& read) : value_(value), read_(read) {}

  mutable T value_;
  mutable detail::FineRead read_;
};

/// While it lives, its reads and writes do not wait, but where waiting is found to be faster
/// (docs/fine.md). Not collective. Regions may be nested; the options of the outermost one count,
/// at whose end all writes are complete. The Context outlives it. Not thread-safe, as the Context.
class fine_region {
 public:
  /// Begins it.
  explicit fine_region(Context& context, const FineOptions& options = {},
                       CallSite site = CallSite::current())
      : context_(context), entry_(detail::enter_fine(context, options, site)) {}
  ~fine_region() { detail::leave_fine(context_, entry_.region); }
  fine_region(const fine_region&) = delete;
  fine_region& operator=(const fine_region&) = delete;

  /// Starts reading a value. Ends the job, as all operations, if it is not within the segment.
  template <typename T>
  lazy<std::remove_const_t<T>> read(global_ptr<T> source, CallSite site = CallSite::current()) {
    using Value = std::remove_const_t<T>;
    if (entry_.waits) [[unlikely]] {
      return lazy<Value>(context_.rget(source, site),
                         {&context_, detail::FineRead::kNoBox, entry_.region, 0});
    }
    // A load: a compiler sees that nothing is to be waited for.
    if (context_.is_local(source)) return lazy<Value>(context_.rget(source, site), {});
    return lazy<Value>(Value(), detail::start_fine_read(
                                    context_, global_ptr<const std::byte>::from_word(source.word()),
                                    sizeof(T), site));
  }
  /// Reads a value that is used at once, as where it decides what is read next: waits for it. Where
  /// the program has come back to memory near what it has read, a block around it is fetched, and
  /// kept as what read() has fetched is; but a value that is read twice in a row is fetched, and if
  /// it has changed, in reach of loads or not, all that is kept is given up. Ends the job as read()
  /// does.
  template <typename T>
  std::remove_const_t<T> value(global_ptr<T> source, CallSite site = CallSite::current()) {
    using Value = std::remove_const_t<T>;
    static_assert(std::is_trivially_copyable_v<Value>);
    if (entry_.waits || context_.is_local(source)) {
      const Value loaded = context_.rget(source, site);
      if (entry_.learns) [[unlikely]]
        note_load(source.word(), loaded);
      return loaded;
    }
    Value fetched = Value();
    detail::read_fine_now(context_, global_ptr<const std::byte>::from_word(source.word()),
                          reinterpret_cast<std::byte*>(&fetched), sizeof(T), site);
    return fetched;
  }
  /// Starts writing a value, which may be a lazy one, for which it waits. Ends the job likewise.
  template <typename T>
  void write(global_ptr<T> destination, const std::type_identity_t<T>& value,
             CallSite site = CallSite::current()) {
    if (entry_.waits || context_.is_local(destination)) {
      return context_.rput(value, destination, site);
    }
    detail::fine_write(context_, reinterpret_cast<const std::byte*>(&value),
                       global_ptr<std::byte>::from_word(destination.word()), sizeof(T), site);
  }
  /// Sends what is held back to travel together, for a program that computes before it uses what it
  /// has read, or goes on with something else. Does not wait.
  void issue() { detail::issue_fine(context_); }

 private:
  // As a value that is fetched twice in a row: one that has changed in between says that what is
  // kept may be old.
  template <typename Value>
  void note_load(uint64_t place, const Value& loaded) {
    uint64_t word = 0;
    std::memcpy(&word, &loaded, sizeof loaded < sizeof word ? sizeof loaded : sizeof word);
    const bool again = std::exchange(last_place_, place) == place;
    const uint64_t before = std::exchange(last_loaded_, word);
    if (again && (before != word || sizeof loaded > sizeof word)) detail::learn_fine(context_);
  }

  Context& context_;
  const detail::FineEntry entry_;
  uint64_t last_place_ = global_ptr<std::byte>().word();
  uint64_t last_loaded_ = 0;
};

}  // namespace stripline
