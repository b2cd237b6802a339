#include "cli/recording_file.h"

#include <iostream>
#include <iterator>
#include <memory>
#include <string_view>
#include <zstd.h>

#include "base/whole_file.h"

namespace stripline::cli {
namespace {

constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr size_t kMaxBytes = size_t{1} << 30;

Error too_large(const std::string& path) {
  return {ErrorCode::resource_exhausted, "'" + path + "' holds more than 1 GiB; record less"};
}

Result<std::string> decompressed(const std::string& path, std::string_view frames) {
  using Stream = std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)>;
  const Stream stream(ZSTD_createDStream(), &ZSTD_freeDStream);
  if (!stream) return Error(ErrorCode::resource_exhausted, "no memory to decompress with");
  std::string text;
  std::string part(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{frames.data(), frames.size(), 0};
  size_t rest = 0;
  bool full = false;  // more may come of what was read
  while (in.pos < in.size || full) {
    ZSTD_outBuffer out{part.data(), part.size(), 0};
    rest = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(rest) != 0) {
      return Error(ErrorCode::data_loss, "'" + path + "' is damaged: " + ZSTD_getErrorName(rest));
    }
    text.append(part.data(), out.pos);
    if (text.size() > kMaxBytes) return too_large(path);
    full = out.pos == out.size;
  }
  if (rest != 0) return Error(ErrorCode::data_loss, "'" + path + "' is cut off");
  return text;
}

}  // namespace

Result<std::string> read_recording_file(const std::string& path) {
  std::string bytes;
  if (path == "-") {
    bytes.assign(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  } else {
    STRIPLINE_ASSIGN_OR_RETURN(bytes, read_whole_file(path, kMaxBytes));
  }
  if (!bytes.starts_with(kZstdMagic)) return bytes;
  return decompressed(path, bytes);
}

}  // namespace stripline::cli
