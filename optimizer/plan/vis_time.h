// Predicted times of the methods of vis.h, in seconds from the call until the transfer is complete
// at the initiator, or, of a put with a signal, until the target sees the flag. For the files of
// this folder, the fit and their tests.
//
// The flag of what packed messages carry is raised where they are unpacked, so that the return of
// the last answer does not count. Operations of the network are completed first, and a put of one
// word follows; only where one put is all, and the network can, the flag travels with the data. How
// long the target lets messages wait does not count: it sees the flag when it looks for it, and
// serves them while it waits for it.
//
// All of them are pipelines: the time of one piece through all stages, and for every further piece
// the time of the slowest stage, or, where no more than a window may be in flight, its share of a
// round trip. The parameters are those of docs/measurement.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "optimizer/plan/vis.h"
#include "optimizer/plan/vis_costs.h"

namespace stripline::plan::detail {

/// Data bytes of the transfer.
inline uint64_t vis_bytes(const VisRequest& request) {
  return request.regions * request.region_bytes;
}

/// Contiguous operations that it takes: no piece crosses a region boundary on either side.
inline uint64_t vis_pieces(const VisRequest& request) {
  return std::max<uint64_t>({request.regions, request.local_regions, 1});
}

/// True if the regions lie far apart.
inline bool vis_spread(const VisRequest& request) {
  return request.extent_bytes >= model::kSpreadFactor * std::max<uint64_t>(vis_bytes(request), 1);
}

/// True if the data are contiguous at the target. Those of a list of several regions might overlap
/// or come in another order.
inline bool one_place(const VisRequest& request) {
  return (request.region_header_bytes == 0 || request.regions == 1) &&
         request.extent_bytes == vis_bytes(request);
}

/// What the local pieces span; nothing says how far they lie apart, so they count as close.
inline uint64_t local_span(const VisRequest& request) { return vis_bytes(request); }

/// What the target lets a request for its attention wait beyond what was measured for the class.
inline double unexpected_delay(const VisRequest& request, const VisTuning& tuning) {
  if (request.signalled) return 0.0;
  return std::max(0.0, request.surroundings.service_delay_s -
                           tuning.service_delay_s[static_cast<size_t>(request.compute)]);
}

/// The same of contiguous operations, which only some networks make wait for it.
inline double contiguous_delay(const VisRequest& request, const VisCosts& costs) {
  return request.surroundings.target_polls_only
             ? unexpected_delay(request, costs.tuning(request.direction))
             : 0.0;
}

/// Operations that may be outstanding before issuing blocks. A put leaves the queue when it is sent
/// (optimizer/fit/hinge.h), so that its depth limits none.
inline uint64_t most_outstanding(const cost::LinkCosts& link, Direction direction) {
  return direction == Direction::get ? link.queue_depth() : std::numeric_limits<uint32_t>::max();
}

/// `count` contiguous operations of `bytes` each on average, at most `window` in flight, each of
/// which waits `delay_s` at the target. They go by the protocol of the largest one; all but the
/// last are that large.
inline double windowed(const cost::LinkCosts& link, Direction direction, double bytes,
                       double largest, uint64_t count, uint32_t window, double delay_s,
                       double extra_o = 0) {
  const cost::MessageCosts& m = link.at(static_cast<uint64_t>(largest));
  const double o = m.o(bytes) + extra_o;
  const double one = o + m.round_trip(bytes) + delay_s + m.r(bytes);
  if (count <= 1) return one;
  const uint64_t in_flight = std::min<uint64_t>(window, most_outstanding(link, direction));
  const double r = m.r_batched(bytes);
  // Up to a window, or what the queue holds, is issued while nothing has to be retired yet.
  const double early = std::max({o, m.gap(bytes), r});
  const double late = std::max({o + r, m.gap(bytes), one / static_cast<double>(in_flight)});
  const uint64_t ahead = std::min<uint64_t>(count, in_flight) - 1;
  return one + static_cast<double>(ahead) * early + static_cast<double>(count - 1 - ahead) * late;
}

/// The flag of a put with a signal, from when all data are known to be visible: o + L + G S of one
/// word.
inline double flag_time(const VisRequest& request, const VisCosts& costs) {
  if (!request.signalled) return 0.0;
  constexpr uint64_t kFlagBytes = 8;
  const cost::MessageCosts& m = costs.link(Direction::put).at(kFlagBytes);
  return m.o(kFlagBytes) + m.L + m.G * kFlagBytes;
}

inline double pipelined_time(const VisRequest& request, const VisCosts& costs, uint32_t window) {
  const uint64_t pieces = vis_pieces(request);
  const double bytes = static_cast<double>(vis_bytes(request)) / static_cast<double>(pieces);
  return windowed(costs.link(request.direction), request.direction, bytes, bytes, pieces, window,
                  contiguous_delay(request, costs)) +
         flag_time(request, costs);
}

inline uint64_t iov_operations(const VisRequest& request) {
  const uint64_t limit = std::max<uint64_t>(request.iov_limit, 1);
  return (vis_pieces(request) + limit - 1) / limit;
}

/// Data of one that takes as many pieces as it may; the last one may have fewer.
inline double iov_bytes(const VisRequest& request) {
  const uint64_t pieces = vis_pieces(request);
  const uint64_t taken = std::min<uint64_t>(std::max<uint64_t>(request.iov_limit, 1), pieces);
  return static_cast<double>(vis_bytes(request)) * static_cast<double>(taken) /
         static_cast<double>(pieces);
}

/// What native operations take beside the cost of their pieces, iov_piece_s.
inline double native_iov_time(const VisRequest& request, const VisCosts& costs, uint32_t window,
                              double iov_piece_s) {
  const uint64_t operations = iov_operations(request);
  const double pieces = static_cast<double>(vis_pieces(request)) / static_cast<double>(operations);
  return windowed(costs.link(request.direction), request.direction,
                  static_cast<double>(vis_bytes(request)) / static_cast<double>(operations),
                  iov_bytes(request), operations, window, contiguous_delay(request, costs),
                  pieces * iov_piece_s) +
         flag_time(request, costs);
}

inline double bounding_box_time(const VisRequest& request, const VisCosts& costs) {
  return costs.link(Direction::get).blocking(request.extent_bytes) +
         contiguous_delay(request, costs) +
         costs.pack().unpack(static_cast<double>(vis_pieces(request)),
                             static_cast<double>(vis_bytes(request)), request.extent_bytes);
}

/// Packed messages, or chunks that land, averaged: what one of them holds and how many there are.
struct PackedShape {
  bool lands = false;
  uint64_t messages = 1;
  double data = 0;           ///< bytes of data in one
  double remote_pieces = 1;  ///< regions of which it holds data, at the target
  double local_pieces = 1;   ///< and at the initiator
  double metadata = 0;       ///< bytes that say where the data belong
};

/// Where the plan says `chunk_bytes`.
inline PackedShape packed_shape(const VisRequest& request, uint64_t chunk_bytes) {
  PackedShape shape;
  shape.lands = vis_lands(request, chunk_bytes);
  shape.messages = vis_message_count(
      request, shape.lands ? chunk_bytes : std::min(chunk_bytes, request.message_bytes));
  const auto messages = static_cast<double>(shape.messages);
  shape.data = static_cast<double>(vis_bytes(request)) / messages;
  shape.remote_pieces = std::max(1.0, static_cast<double>(request.regions) / messages);
  shape.local_pieces = std::max(1.0, static_cast<double>(request.local_regions) / messages);
  shape.metadata = request.message_header_bytes + shape.remote_pieces * request.region_header_bytes;
  return shape;
}

/// The pipeline of packed pieces: `busiest` is what the slowest of its stages takes for one.
inline double packed_pipeline(uint64_t pieces, uint32_t window, double round, double busiest) {
  const uint64_t first = std::min<uint64_t>(pieces, window) - 1;
  const double stage = std::max(busiest, round / window);
  return round + static_cast<double>(first) * busiest +
         static_cast<double>(pieces - 1 - first) * stage;
}

/// What one packed piece takes of each part of the machine, in seconds.
struct PackedParts {
  uint64_t pieces = 1;
  double issue = 0;            ///< of the initiator's CPU, before the piece is in flight
  double retire = 0;           ///< and once it has come back
  double serve = 0;            ///< of the target's CPU, for messages
  double serve_operation = 0;  ///< and for the data that land, where its calls serve operations
  double gap = 0;              ///< of the NIC
  double queued = 0;  ///< of the queue of messages, in which it keeps a place until it is answered
  double away = 0;    ///< of no CPU of the initiator's, from issue to return; serve included
  double answer = 0;  ///< of all that, what follows when the target can see a put's data
  double initiator() const { return issue + retire; }
};

/// True if the flag is with the data of one put that goes to its place at once.
inline bool takes_flag_along(const VisRequest& request, uint64_t pieces) {
  return request.signalled && request.surroundings.flag_with_data && pieces == 1;
}

/// Chunks that go through a landing zone: a put of the data and a message that says so, answered
/// when they are unpacked; or a message that asks for them, answered when they are packed, and a
/// get. Data that are contiguous at the target need neither messages nor its help. Networks that
/// tell the target of puts save a round trip of each, which residuals account for.
inline PackedParts landing_parts(const VisRequest& request, const VisCosts& costs,
                                 const PackedShape& shape, double local, double remote,
                                 double delay_s) {
  const bool put = request.direction == Direction::put;
  const double header = request.message_header_bytes;
  // The places of a list travel with the data of a put.
  const double data = put ? shape.data + shape.metadata - header : shape.data;
  const double asking = put ? header : shape.metadata;
  const cost::MessageCosts& there = costs.am().at(static_cast<uint64_t>(asking));
  const cost::MessageCosts& back = costs.am().at(static_cast<uint64_t>(header));
  const cost::MessageCosts& move = costs.link(request.direction).at(static_cast<uint64_t>(data));
  PackedParts parts;
  parts.pieces = shape.messages;
  (put ? parts.issue : parts.retire) = local;
  parts.issue += move.o(data);
  parts.retire += move.r(data);
  parts.serve_operation = move.s(data);
  parts.gap = move.gap(data);
  parts.away = move.round_trip(data);
  if (one_place(request)) {
    if (takes_flag_along(request, shape.messages)) parts.answer = parts.retire + move.L;
    return parts;
  }
  parts.issue += there.o(asking);
  parts.retire += back.r(header);
  parts.serve = there.r(asking) + remote + back.o(header);
  parts.away += there.L + there.G * asking + delay_s + parts.serve + back.L + back.G * header;
  parts.queued = parts.away / costs.am().queue_depth();
  parts.answer = back.one_way(header);
  return parts;
}

/// Chunks that travel in messages. A put sends its data with the metadata and waits for a word; a
/// get sends the metadata and waits for its data.
inline PackedParts message_parts(const VisRequest& request, const VisCosts& costs,
                                 const PackedShape& shape, double local, double remote,
                                 double delay_s) {
  const bool put = request.direction == Direction::put;
  const double header = request.message_header_bytes;
  const double request_bytes = put ? shape.metadata + shape.data : shape.metadata;
  const double reply_bytes = put ? header : header + shape.data;
  const cost::MessageCosts& there = costs.am().at(static_cast<uint64_t>(request_bytes));
  const cost::MessageCosts& back = costs.am().at(static_cast<uint64_t>(reply_bytes));
  PackedParts parts;
  parts.pieces = shape.messages;
  (put ? parts.issue : parts.retire) = local;
  parts.issue += there.o(request_bytes);
  parts.retire += back.r(reply_bytes);
  parts.serve = there.r(request_bytes) + remote + back.o(reply_bytes);
  parts.gap = std::max(there.gap(request_bytes), back.gap(reply_bytes));
  parts.away =
      there.L + there.G * request_bytes + delay_s + parts.serve + back.L + back.G * reply_bytes;
  parts.queued = parts.away / costs.am().queue_depth();
  parts.answer = back.one_way(reply_bytes);
  return parts;
}

/// `delay_s`: how long a message waits until the target looks for it.
inline PackedParts packed_parts(const VisRequest& request, const VisCosts& costs,
                                const PackedShape& shape, double delay_s) {
  const cost::PackCosts& pack = costs.pack();
  const bool put = request.direction == Direction::put;
  const double local = put ? pack.pack(shape.local_pieces, shape.data, local_span(request))
                           : pack.unpack(shape.local_pieces, shape.data, local_span(request));
  const double remote = put ? pack.unpack(shape.remote_pieces, shape.data, request.extent_bytes)
                            : pack.pack(shape.remote_pieces, shape.data, request.extent_bytes);
  return shape.lands ? landing_parts(request, costs, shape, local, remote, delay_s)
                     : message_parts(request, costs, shape, local, remote, delay_s);
}

/// With the parts of packed_parts().
inline double packed_time(const VisRequest& request, const VisCosts& costs,
                          const PackedParts& parts, bool lands, uint32_t window) {
  const double complete = packed_pipeline(parts.pieces, window, parts.initiator() + parts.away,
                                          std::max({parts.initiator(), parts.serve, parts.gap}));
  if (!request.signalled) return complete;
  const bool flag_follows = lands && one_place(request) && !takes_flag_along(request, parts.pieces);
  return complete - parts.answer + (flag_follows ? flag_time(request, costs) : 0.0);
}

inline double packed_time(const VisRequest& request, const VisCosts& costs, uint64_t chunk_bytes,
                          uint32_t window, double delay_s) {
  const PackedShape shape = packed_shape(request, chunk_bytes);
  return packed_time(request, costs, packed_parts(request, costs, shape, delay_s), shape.lands,
                     window);
}

/// How long the target lets packed pieces wait.
inline double packed_delay(const VisRequest& request, const VisTuning& tuning) {
  if (request.signalled) return 0.0;
  return tuning.service_delay_s[static_cast<size_t>(request.compute)] +
         unexpected_delay(request, tuning);
}

/// The time of a candidate by the cost model alone.
inline double model_time(const VisRequest& request, const VisCosts& costs,
                         const VisCandidate& candidate) {
  const VisTuning& tuning = costs.tuning(request.direction);
  switch (candidate.method) {
    case VisMethod::pipelined:
      return pipelined_time(request, costs, candidate.window);
    case VisMethod::native_iov:
      return native_iov_time(request, costs, candidate.window, tuning.iov_piece_s);
    case VisMethod::bounding_box:
      return bounding_box_time(request, costs);
    case VisMethod::packed:
    case VisMethod::best:
      break;
  }
  return packed_time(request, costs, candidate.chunk_bytes, candidate.window,
                     packed_delay(request, tuning));
}

/// A transfer as one of several that follow each other: not how long it takes alone, but what each
/// part of the machine spends on it. Seconds. Without a signal.
struct VisStage {
  double issue = 0;             ///< of the initiator's CPU, before it is in flight
  double retire = 0;            ///< of the initiator's CPU, once it has come back
  double serve = 0;             ///< of the target's CPU, for messages
  double serve_operations = 0;  ///< and where its calls serve operations, for these
  double round_trip = 0;        ///< from injection to completion, nothing else being in flight
  double gap = 0;               ///< of the NIC
  double queued = 0;            ///< of the queue of messages
};

/// The stage in which pieces travel packed.
inline VisStage packed_stage(const PackedParts& parts) {
  const auto count = static_cast<double>(parts.pieces);
  return {count * parts.issue,
          count * parts.retire,
          count * parts.serve,
          count * parts.serve_operation,
          parts.away + (count - 1) * std::max(parts.gap, parts.serve),
          count * parts.gap,
          count * parts.queued};
}

/// The stage of a candidate, by the cost model alone.
inline VisStage vis_stage(const VisRequest& request, const VisCosts& costs,
                          const VisCandidate& candidate) {
  const VisTuning& tuning = costs.tuning(request.direction);
  const auto data = static_cast<double>(vis_bytes(request));
  const auto pieces = static_cast<double>(vis_pieces(request));
  const auto operations = [&](double count, double bytes, double largest, double extra_o) {
    const cost::MessageCosts& m = costs.link(request.direction).at(static_cast<uint64_t>(largest));
    const double gap = m.gap(bytes);
    return VisStage{count * (m.o(bytes) + extra_o),
                    count * m.r(bytes),
                    0,
                    count * m.s(bytes),
                    m.round_trip(bytes) + (count - 1) * gap + contiguous_delay(request, costs),
                    count * gap};
  };
  switch (candidate.method) {
    case VisMethod::pipelined:
      return operations(pieces, data / pieces, data / pieces, 0);
    case VisMethod::native_iov: {
      const auto count = static_cast<double>(iov_operations(request));
      return operations(count, data / count, iov_bytes(request),
                        pieces / count * tuning.iov_piece_s);
    }
    case VisMethod::bounding_box: {
      const auto extent = static_cast<double>(request.extent_bytes);
      VisStage stage = operations(1, extent, extent, 0);
      stage.retire += costs.pack().unpack(pieces, data, request.extent_bytes);
      return stage;
    }
    case VisMethod::packed:
    case VisMethod::best:
      break;
  }
  return packed_stage(packed_parts(request, costs, packed_shape(request, candidate.chunk_bytes),
                                   packed_delay(request, tuning)));
}

}  // namespace stripline::plan::detail
