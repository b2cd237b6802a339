#include "server/store/compression.h"

#include <memory>
#include <zstd.h>

namespace stripline::server {
namespace {

using Compressor = std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)>;

Error damaged(const std::string& why) {
  return {ErrorCode::data_loss, "stored samples are damaged: " + why};
}

}  // namespace

Result<std::string> compressed(std::string_view bytes) {
  const Compressor context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  size_t size = 0;
  if (context) {
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
    size = ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(), bytes.size());
  }
  if (!context || ZSTD_isError(size) != 0) {
    return Error(ErrorCode::resource_exhausted, "no memory to compress samples with");
  }
  frame.resize(size);
  return frame;
}

Result<std::string> decompressed(std::string_view frame, size_t most_bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    return damaged("they are not a zstd frame");
  }
  if (size > most_bytes) return damaged("their frame claims " + std::to_string(size) + " bytes");
  std::string bytes(static_cast<size_t>(size), '\0');
  const size_t got = ZSTD_decompress(bytes.data(), bytes.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0) return damaged(ZSTD_getErrorName(got));
  if (got != bytes.size()) return damaged("their frame is cut");
  return bytes;
}

}  // namespace stripline::server
