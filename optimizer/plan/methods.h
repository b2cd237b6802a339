// The methods that planners choose among and programs may ask for, each list once: public headers,
// models, commands and documents have their names from here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stripline::plan {

/// Where the data of a transfer go, as seen from the rank that starts it.
enum class Direction : uint8_t { get, put };
inline constexpr std::array<std::string_view, 2> kDirectionNames = {"get", "put"};
constexpr std::span<const std::string_view> names_of(Direction) { return kDirectionNames; }
inline std::string_view to_string(Direction direction) {
  return kDirectionNames[static_cast<size_t>(direction)];
}

/// How a transfer of many regions is carried out (vis.h).
enum class VisMethod : uint8_t {
  pipelined,     ///< one contiguous put or get per remote region, several in flight
  native_iov,    ///< the network's scatter and gather lists
  bounding_box,  ///< gets: one contiguous get from the first to the last byte, then local copies
  packed,        ///< messages, or larger chunks, packed here and unpacked there
  best,          ///< the cheapest by the tuned model
};
inline constexpr std::array<std::string_view, 5> kVisMethodNames = {
    "pipelined", "native_iov", "bounding_box", "packed", "best"};
inline constexpr size_t kVisMethods = kVisMethodNames.size() - 1;
inline std::string_view to_string(VisMethod method) {
  return kVisMethodNames[static_cast<size_t>(method)];
}

/// What the program does while the transfer is in flight (Iancu et al., section 3). The target is
/// taken to run the same program: a target that computes without entering the library lets active
/// messages wait.
enum class ComputeClass : uint8_t { communication_only, light, heavy };
inline constexpr size_t kComputeClasses = 3;
inline constexpr std::array<std::string_view, kComputeClasses> kComputeClassNames = {
    "communication_only", "light", "heavy"};
constexpr std::span<const std::string_view> names_of(ComputeClass) { return kComputeClassNames; }
inline std::string_view to_string(ComputeClass compute) {
  return kComputeClassNames[static_cast<size_t>(compute)];
}

/// By which method updates reach cells of other ranks (update.h).
enum class UpdateMethod : uint8_t {
  cell_locks,   ///< under a lock for each cell: read, updated and written one by one
  owner_locks,  ///< under a lock of their owner: read together, updated, and written together
  provider,     ///< an atomic operation of the network each
  messages,     ///< an active message each, which the owner carries out
  buffers,      ///< collected for their owners, who carry them out
  automatic,    ///< by the tuned model, and by what is measured; in buffers without one
};
inline constexpr std::array<std::string_view, 6> kUpdateMethodNames = {
    "cell_locks", "owner_locks", "provider", "messages", "buffers", "automatic"};
/// The number of methods that a plan may have.
inline constexpr size_t kUpdateMethods = kUpdateMethodNames.size() - 1;
inline std::string_view to_string(UpdateMethod method) {
  return kUpdateMethodNames[static_cast<size_t>(method)];
}

/// How the updates of a buffer are written into their message (update_encoding.h).
enum class UpdateEncoding : uint8_t {
  pairs,      ///< a cell and a value each
  runs,       ///< neighbours that follow each other, where that takes less than pairs
  boxes,      ///< neighbours of all, where updates may be merged, likewise
  automatic,  ///< whatever takes least by the tuned model; fewest bytes without one
};
inline constexpr std::array<std::string_view, 4> kUpdateEncodingNames = {"pairs", "runs", "boxes",
                                                                         "automatic"};
inline constexpr size_t kUpdateEncodings = kUpdateEncodingNames.size() - 1;
inline std::string_view to_string(UpdateEncoding encoding) {
  return kUpdateEncodingNames[static_cast<size_t>(encoding)];
}

/// How what a rank needs of an owner gets to it (gather.h). Once its owner has called start(), what
/// is packed or bound needs no rank's help; by the other methods, ranks bring it on in next() and
/// wait().
enum class GatherMethod : uint8_t {
  pack,   ///< the owner sends the elements, packed
  bound,  ///< the owner sends all from the first to the last element, unpacked
  /// The reader is notified that it may, and fetches them. Of several arrays: in mapped memory.
  pull,
  /// Readers of an owner that need the same elements pass them on, in next() and wait().
  broadcast,
  share,  ///< one rank of a node gets what its ranks need of another node; all read it there
  best,   ///< by the tuned model, for each pair of ranks
};
inline constexpr std::array<std::string_view, 6> kGatherMethodNames = {
    "pack", "bound", "pull", "broadcast", "share", "best"};
inline constexpr size_t kGatherMethods = kGatherMethodNames.size() - 1;
inline std::string_view to_string(GatherMethod method) {
  return kGatherMethodNames[static_cast<size_t>(method)];
}

/// How a rank multiplies its rows of a sparse matrix (product.h).
enum class ProductMethod : uint8_t {
  by_owner,  ///< own elements first, then those of each owner as they arrive
  together,  ///< own elements first, then all others when the last ones are here
  whole,     ///< row by row, when all elements are here and copied side by side
};
inline constexpr std::array<std::string_view, 3> kProductMethodNames = {"by_owner", "together",
                                                                        "whole"};
inline std::string_view to_string(ProductMethod method) {
  return kProductMethodNames[static_cast<size_t>(method)];
}

/// How blocking puts and gets of a phase between two barriers are carried out (bulk.h).
enum class BulkMethod : uint8_t {
  blocking,  ///< each is waited for
  puts,      ///< puts are not waited for before the next synchronisation
  gets,      ///< gets are made at the beginning of the phase, as the phase before made them
  both,
};
inline constexpr std::array<std::string_view, 4> kBulkMethodNames = {"blocking", "puts", "gets",
                                                                     "both"};
inline std::string_view to_string(BulkMethod method) {
  return kBulkMethodNames[static_cast<size_t>(method)];
}

/// How single reads of a region are carried out (fine.h).
enum class FineMethod : uint8_t {
  blocking,  ///< each is waited for, and so is each write
  single,    ///< each is a get of its own, which is waited for when its value is used
  boxes,     ///< those that are near each other are one get of all from the first to the last
  lists,     ///< they are collected until a value is used, and are one transfer for each rank
};
inline constexpr std::array<std::string_view, 4> kFineMethodNames = {"blocking", "single", "boxes",
                                                                     "lists"};
inline std::string_view to_string(FineMethod method) {
  return kFineMethodNames[static_cast<size_t>(method)];
}

/// The first `count` names: those of methods that a plan may have.
template <size_t kNames>
constexpr std::span<const std::string_view> methods_of(
    const std::array<std::string_view, kNames>& names, size_t count) {
  return std::span(names).first(count);
}

}  // namespace stripline::plan
