// The server streams of Campaigns. Each reactor deletes itself when its stream has ended. Include
// from .cc files of the services.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <grpcpp/support/server_callback.h>

#include "server/core/watch_hub.h"
#include "server/doors/long_streams.h"
#include "server/problem.h"
#include "server/store/store.h"
#include "stripline/v1/campaigns.pb.h"

namespace stripline::server {

/// Why a stream that was let through may not go on any more; nullopt: it may. Called from any
/// thread.
using StreamRefusal = std::function<std::optional<Problem>()>;

/// Events after `cursor` until the campaign has ended and all are written. Reads events from the
/// store one page at a time, so a slow reader costs no memory. `place` is held until it ends.
grpc::ServerWriteReactor<v1::CampaignEvent>* watch_campaign(Store& store, WatchHub& hub,
                                                            int64_t campaign, uint64_t cursor,
                                                            StreamRefusal refusal,
                                                            std::shared_ptr<void> place);
grpc::ServerWriteReactor<v1::CampaignEvent>* reject_watch(const Problem& problem);

/// All stored samples as JSON lines, of a few batches at a time.
grpc::ServerWriteReactor<v1::SampleChunk>* export_samples(Store& store, LongStreams& streams,
                                                          LongStreams::Admitted admitted,
                                                          int64_t campaign, StreamRefusal refusal);
grpc::ServerWriteReactor<v1::SampleChunk>* reject_export(const Problem& problem);

/// What becomes of a file that has come whole.
using TakeResults = std::function<Answer<v1::Campaign>(const std::string& text)>;
/// Bytes of files that are coming in, over all streams: twice the largest file at most.
inline constexpr size_t kMaxIncomingBytes = size_t{512} << 20;
/// Reads the file, and gives it to `take`, in the pool, if it is not too large. `incoming` counts
/// bytes of all such streams, and must outlive them: one for which there is no room ends with BUSY.
grpc::ServerReadReactor<v1::ResultsChunk>* read_results(v1::Campaign* response, TakeResults take,
                                                        std::atomic<size_t>& incoming,
                                                        ReadingPool& reading, std::string payer);
grpc::ServerReadReactor<v1::ResultsChunk>* reject_results(const Problem& problem);

}  // namespace stripline::server
