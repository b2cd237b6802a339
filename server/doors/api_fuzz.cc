// Requests as the door hands them on, one after the other, to a server that asks for no token and
// has stored nothing: whatever they say, each is answered, by what its caller can read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <google/protobuf/stubs/logging.h>
#include <spdlog/spdlog.h>

#include "base/json.h"
#include "server/doors/api.h"
#include "server/doors/http/request_reader.h"
#include "server/doors/http/response_head.h"
#include "server/store/sqlite_store.h"

namespace {

using namespace stripline::server;  // NOLINT(google-build-using-namespace)
using stripline::Json;

constexpr size_t kRefusalBytes = size_t{16} << 10;
constexpr size_t kRememberedBytes = size_t{1} << 20;
// A stream goes on until its caller has gone.
constexpr int kPiecesOfStream = 3;

void require(bool holds) {
  if (!holds) std::abort();
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "stripline-api-XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class OpenServer {
 public:
  OpenServer() { require(coordinator_.start().ok()); }
  ~OpenServer() {
    reading_.stop();
    coordinator_.stop();
    hub_.shutdown();
  }
  OpenServer(const OpenServer&) = delete;
  OpenServer& operator=(const OpenServer&) = delete;

  http::Response answer(http::Request request) {
    request.peer = "127.0.0.1";
    std::promise<http::Response> replied;
    api_.answer(std::move(request),
                [&](http::Response response) { replied.set_value(std::move(response)); });
    return replied.get_future().get();
  }

 private:
  static std::unique_ptr<Store> opened(const std::filesystem::path& folder) {
    auto store = open_sqlite_store(folder / "stripline.db");
    require(store.ok());
    return *std::move(store);
  }

  Folder folder_;
  std::unique_ptr<Store> store_ = opened(folder_.path());
  Access access_ = Access::open_to_all(*store_);
  WatchHub hub_;
  Meters meters_;
  // An hour passes between two calls: none is refused for those before it.
  CallLimits limits_{[now_s = 0.0]() mutable { return now_s += 3600; }};
  RunResults results_{kRememberedBytes};
  ReadingPool reading_{ReadingPool::Options{}};
  Coordinator coordinator_{
      *store_, hub_, meters_,
      [](const FitJob& /*job*/, const std::stop_token& /*stop*/) -> stripline::Result<FittedModel> {
        return stripline::Error(stripline::ErrorCode::cancelled, "none");
      },
      CoordinatorOptions{}};
  Api api_{Core{coordinator_, *store_, access_, results_}, hub_, meters_, limits_, reading_};
};

void check_pieces(http::Pieces& pieces) {
  pieces.on_news([] {});
  int left = kPiecesOfStream;
  while (pieces.next()) {
    if (pieces.endless() && --left == 0) return;
  }
}

void check(const http::Response& response) {
  require(response.status >= http::kOk && response.status != http::kInternalError);
  const std::string head = head_of(response, {});
  require(head.find("\r\n\r\n") == head.size() - 4);
  if (response.pieces) return check_pieces(*response.pieces);
  if (response.status == http::kNotModified || response.type != "application/json") return;
  const Json body = Json::parse(response.content(), nullptr, false);
  require(!body.is_discarded());
  if (response.status == http::kOk) return;
  require(response.content().size() < kRefusalBytes);
  require(body.contains("code") && body.contains("reason") && body.contains("message"));
}

}  // namespace

// What is said of each input takes longer than reading it.
extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  google::protobuf::SetLogHandler(nullptr);
  spdlog::set_level(spdlog::level::off);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static OpenServer server;
  static const http::Bounds kBounds;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  bool more = true;
  while (more && !bytes.empty()) {
    http::RequestReader reader(kBounds);
    bytes.remove_prefix(reader.take(bytes));
    if (reader.state() != http::RequestReader::State::whole) break;
    more = reader.keep_alive();
    check(server.answer(reader.request()));
  }
  return 0;
}
