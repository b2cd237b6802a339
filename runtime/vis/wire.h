// What the messages of packed transfers look like.
//
//   put    Head, places and data        answered by Done where `answers` is not 0
//   get    Head, places                 answered by Data and the data
// Chunks that go by the bulk transport (am::Bulk):
//   put    a parcel; its head: Head, and places of a strided transfer; its body: the data, with
//          those of a list. Done when its slot is given back
//   get    Head, Landing, places        answered through the slot
// A Signal follows the Head of every put of a transfer with a signal.
// Places of a strided transfer: a StridedHead and `dimensions` pairs {count, stride} of 64 bits say
// how the whole of it lies; a message is about the bytes of the stream from `begin` on. Those of a
// list: words {offset << 20 | bytes}, each followed by its data in a put.
//
// What arrives is checked before it is used: no place lies outside of the segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/vis/strided.h"

namespace stripline::vis::wire {

/// Head::format
inline constexpr uint8_t kStrided = 0;
inline constexpr uint8_t kList = 1;
inline constexpr uint8_t kLanding = 2;  ///< or-ed to that of a get: a Landing follows
inline constexpr uint8_t kSignal = 8;   ///< or-ed to that of a put: a Signal follows

struct Head {
  uint32_t token = 0;  ///< of the transfer at its initiator
  uint8_t format = kStrided;
  uint8_t dimensions = 0;
  uint16_t answers = 0;  ///< put: this and how many messages before it the target says are done
};
static_assert(sizeof(Head) == 8);

/// The target raises the flag once it has unpacked all messages of the transfer, which need not
/// come in the order in which they were packed.
struct Signal {
  uint64_t offset = 0;  ///< of the flag
  uint64_t value = 0;
  uint32_t messages = 0;  ///< of the transfer, in the last one packed; 0 in the others
  uint32_t reserved = 0;
};
static_assert(sizeof(Signal) == 24);

struct StridedHead {
  uint64_t base = 0;
  uint64_t region_bytes = 0;
  uint64_t begin = 0;
  uint64_t bytes = 0;  ///< that this message is about
};
static_assert(sizeof(StridedHead) == 32);

/// Where the data that a message asks for are to come: a slot of the initiator at the target.
struct Landing {
  uint32_t slot = 0;
  uint32_t bytes = 0;
};
static_assert(sizeof(Landing) == 8);

struct Done {
  uint32_t token = 0;
  uint16_t messages = 0;  ///< as Head::answers
  uint16_t reserved = 0;
};
static_assert(sizeof(Done) == 8);

struct Data {
  uint32_t token = 0;
  uint32_t reserved = 0;
};
static_assert(sizeof(Data) == 8);

inline constexpr size_t kMaxDimensions = 255;
inline constexpr unsigned kLengthBits = 20;
inline constexpr uint64_t kMaxPlaceBytes = (uint64_t{1} << kLengthBits) - 1;
inline constexpr size_t kWordBytes = sizeof(uint64_t);

constexpr uint64_t word_of(uint64_t offset, uint64_t bytes) {
  return offset << kLengthBits | bytes;
}

/// Length of the places of a strided transfer.
inline size_t strided_places_bytes(const Side& side) {
  return sizeof(StridedHead) + side.dimensions.size() * 2 * sizeof(uint64_t);
}
/// Writes them; returns the end.
std::byte* write_strided_places(const Side& side, uint64_t begin, uint64_t bytes, std::byte* out);

/// A part of a side.
struct Part {
  Side side;
  uint64_t begin = 0;
  uint64_t bytes = 0;
};

/// Takes the head from a message; false if it is too short.
bool read_head(std::span<const std::byte>& message, Head& head);
bool read_landing(std::span<const std::byte>& message, Landing& landing);
/// Takes a signal from a message; false if it is cut off, or its flag is not an aligned word of the
/// segment.
bool read_signal(std::span<const std::byte>& message, uint64_t segment_bytes, Signal& signal);
/// Takes the places of a strided transfer from a message; false if it is not well formed or leaves
/// the segment. `part` is then undefined.
bool read_strided_places(std::span<const std::byte>& message, const Head& head,
                         uint64_t segment_bytes, Part& part);

/// A place of a list.
struct Place {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};
/// Takes a word from a message; false if it is cut off or leaves the segment.
inline bool read_place(std::span<const std::byte>& message, uint64_t segment_bytes, Place& place) {
  uint64_t word = 0;
  if (message.size() < kWordBytes) return false;
  std::memcpy(&word, message.data(), kWordBytes);
  message = message.subspan(kWordBytes);
  place = {word >> kLengthBits, word & kMaxPlaceBytes};
  return place.offset <= segment_bytes && place.bytes <= segment_bytes - place.offset;
}

}  // namespace stripline::vis::wire
