// UCX through its UCP interface: remote memory access, atomics, and tagged messages.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <ucp/api/ucp.h>
#include <utility>
#include <vector>

#include "suites/harness/contender.h"
#include "suites/harness/pieces.h"

namespace stripline::suites::harness {
namespace {

constexpr ucp_tag_t kDataTag = 1;
constexpr ucp_tag_t kAnswerTag = 2;
constexpr ucp_tag_t kAllBits = ~ucp_tag_t{0};

Status check(ucs_status_t status, const std::string& call) {
  if (status == UCS_OK) return {};
  return Error(ErrorCode::unavailable, call + " failed: " + ucs_status_string(status));
}

class Ucx final : public Contender {
 public:
  static Opened open(const Place& place, bool by_pieces) {
    std::unique_ptr<Ucx> ucx(new Ucx(by_pieces));
    STRIPLINE_RETURN_IF_ERROR(ucx->open_worker(place));
    STRIPLINE_RETURN_IF_ERROR(ucx->open_memory());
    STRIPLINE_RETURN_IF_ERROR(ucx->connect(place));
    return std::unique_ptr<Contender>(std::move(ucx));
  }
  ~Ucx() override {
    if (key_ != nullptr) ucp_rkey_destroy(key_);
    if (peer_ != nullptr) {
      const ucp_request_param_t param{};
      ucs_status_ptr_t closing = ucp_ep_close_nbx(peer_, &param);
      // However it ends: the peer may have left first.
      if (UCS_PTR_IS_PTR(closing)) {
        while (ucp_request_check_status(closing) == UCS_INPROGRESS) ucp_worker_progress(worker_);
        ucp_request_free(closing);
      }
    }
    if (mapped_ != nullptr) ucp_mem_unmap(context_, mapped_);
    if (worker_ != nullptr) ucp_worker_destroy(worker_);
    if (context_ != nullptr) ucp_cleanup(context_);
  }
  Ucx(const Ucx&) = delete;
  Ucx& operator=(const Ucx&) = delete;

  const char* family() const override { return "UCX"; }
  const char* method() const override { return by_pieces_ ? "a put per piece" : ""; }
  bool offers(const Row& row) const override { return !by_pieces_ || row.is_strided(); }
  std::byte* memory() override { return memory_; }

  double initiate(const Row& row, Data& data) override {
    std::byte* const source = data.source.data();
    std::byte* const sink = data.sink.data();
    switch (row.operation) {
      case Operation::message:
        return message_s(row, data, [&](uint64_t word) {
          finish(send(&word, sizeof word, kDataTag));
          finish(receive(sink, sizeof word, kAnswerTag));
        });
      case Operation::put:
        return blocking_s(row, [&](size_t i) {
          finish(put(source, row.offset(i), row.bytes));
          flush();
        });
      case Operation::get:
        return blocking_s(row, [&](size_t i) { finish(get(sink, row.offset(i), row.bytes)); });
      case Operation::fetch_add: {
        const uint64_t addend = kAddend;
        uint64_t previous = 0;
        ucp_request_param_t param{};
        param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.datatype = ucp_dt_make_contig(sizeof addend);
        param.reply_buffer = &previous;
        const double seconds = blocking_s(row, [&](size_t) {
          finish(ucp_atomic_op_nbx(peer_, UCP_ATOMIC_OP_ADD, &addend, 1, there_ + kCounterOffset,
                                   key_, &param));
        });
        std::memcpy(sink, &previous, sizeof previous);
        return seconds;
      }
      case Operation::put_window:
        // A request of a put says that its source may be changed, that of a flush the rest.
        return batch_s(row, [&] {
          window(row, [&](size_t i) {
            drop(put(source, row.offset(i), row.bytes));
            const ucp_request_param_t param{};
            return ucp_ep_flush_nbx(peer_, &param);
          });
        });
      case Operation::put_flood:
        return batch_s(row, [&] {
          window(row, [&](size_t i) { return put(source, row.offset(i), row.bytes); });
          flush();
        });
      case Operation::get_flood:
        return batch_s(row, [&] {
          window(row, [&](size_t i) { return get(sink, row.offset(i), row.bytes); });
        });
      case Operation::put_fenced:
      case Operation::put_many:
        return fenced_s(
            row, [&](size_t i) { drop(put(source, row.offset(i), row.bytes)); }, [&] { flush(); });
      case Operation::get_fenced:
        return fenced_s(
            row, [&](size_t i) { drop(get(sink, row.offset(i), row.bytes)); }, [&] { flush(); });
      case Operation::strided_put:
        if (by_pieces_) return by_pieces_s(row, data);
        return blocking_s(row, [&](size_t) {
          gather(row, source, packed_.data());
          finish(send(packed_.data(), row.bytes * row.pieces, kDataTag));
          finish(receive(nullptr, 0, kAnswerTag));
        });
      case Operation::strided_get:
        if (by_pieces_) return by_pieces_s(row, data);
        return blocking_s(row, [&](size_t) {
          finish(send(nullptr, 0, kDataTag));
          finish(receive(packed_.data(), row.bytes * row.pieces, kAnswerTag));
          scatter(row, packed_.data(), sink);
        });
    }
    return 0;
  }

  void attend(const Row& row, const Turns& turns) override {
    const size_t payload = row.bytes * row.pieces;
    if (row.operation == Operation::message || (row.is_strided() && !by_pieces_)) {
      for (size_t i = 0; i < row.count; ++i) {
        if (row.operation == Operation::message) {
          finish(receive(packed_.data(), row.bytes, kDataTag));
          finish(send(packed_.data(), row.bytes, kAnswerTag));
        } else if (row.is_put()) {
          finish(receive(packed_.data(), payload, kDataTag));
          scatter(row, packed_.data(), memory_);
          finish(send(nullptr, 0, kAnswerTag));
        } else {
          finish(receive(nullptr, 0, kDataTag));
          gather(row, memory_, packed_.data());
          finish(send(packed_.data(), payload, kAnswerTag));
        }
      }
    }
    while (!turns.is_over()) ucp_worker_progress(worker_);
  }

 private:
  explicit Ucx(bool by_pieces) : by_pieces_(by_pieces), packed_(kMemoryBytes) {}

  Status open_worker(const Place& place) {
    ucp_config_t* config = nullptr;
    STRIPLINE_RETURN_IF_ERROR(check(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read"));
    std::vector<std::array<const char*, 2>> settings = {
        {"TLS", place.mapped ? "posix,sysv,cma,self" : "tcp,self"}};
    if (!place.mapped) settings.push_back({"NET_DEVICES", "lo"});
    for (const auto& [name, value] : settings) {
      STRIPLINE_RETURN_IF_ERROR(check(ucp_config_modify(config, name, value),
                                      std::string("setting UCX_") + name + "=" + value));
    }
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
    params.features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_TAG;
    params.estimated_num_eps = 1;
    const ucs_status_t initialised = ucp_init(&params, config, &context_);
    ucp_config_release(config);
    STRIPLINE_RETURN_IF_ERROR(check(initialised, "ucp_init"));
    ucp_worker_params_t worker{};
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = UCS_THREAD_MODE_SINGLE;
    return check(ucp_worker_create(context_, &worker, &worker_), "ucp_worker_create");
  }

  // Memory that the library allocates can be shared with the other process.
  Status open_memory() {
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    params.length = kAllBytes;
    params.flags = UCP_MEM_MAP_ALLOCATE;
    STRIPLINE_RETURN_IF_ERROR(check(ucp_mem_map(context_, &params, &mapped_), "ucp_mem_map"));
    ucp_mem_attr_t attributes{};
    attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    STRIPLINE_RETURN_IF_ERROR(check(ucp_mem_query(mapped_, &attributes), "ucp_mem_query"));
    memory_ = static_cast<std::byte*>(attributes.address);
    std::memset(memory_, 0, kAllBytes);
    return {};
  }

  Status connect(const Place& place) {
    const auto bytes_of = [](const void* data, size_t size) {
      const auto* bytes = static_cast<const std::byte*>(data);
      return std::vector<std::byte>(bytes, bytes + size);
    };
    ucp_address_t* address = nullptr;
    size_t length = 0;
    STRIPLINE_RETURN_IF_ERROR(
        check(ucp_worker_get_address(worker_, &address, &length), "ucp_worker_get_address"));
    const auto their_address = place.swap(bytes_of(address, length));
    ucp_worker_release_address(worker_, address);
    void* key = nullptr;
    STRIPLINE_RETURN_IF_ERROR(
        check(ucp_rkey_pack(context_, mapped_, &key, &length), "ucp_rkey_pack"));
    const auto their_key = place.swap(bytes_of(key, length));
    ucp_rkey_buffer_release(key);
    const auto their_base = place.swap(bytes_of(&memory_, sizeof memory_));
    std::memcpy(&there_, their_base.data(), sizeof there_);
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>(their_address.data());
    STRIPLINE_RETURN_IF_ERROR(check(ucp_ep_create(worker_, &params, &peer_), "ucp_ep_create"));
    return check(ucp_ep_rkey_unpack(peer_, their_key.data(), &key_), "ucp_ep_rkey_unpack");
  }

  // --- operations: null when complete, else a request ------------------------------------------

  static void stop_unless(bool good, ucs_status_t status) {
    if (good) return;
    (void)std::fprintf(stderr, "UCX: an operation failed: %s\n", ucs_status_string(status));
    std::_Exit(1);
  }
  void finish(ucs_status_ptr_t request) {
    if (request == nullptr) return;
    stop_unless(!UCS_PTR_IS_ERR(request), UCS_PTR_STATUS(request));
    ucs_status_t status = UCS_INPROGRESS;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
      ucp_worker_progress(worker_);
    }
    ucp_request_free(request);
    stop_unless(status == UCS_OK, status);
  }
  // For those that a flush completes.
  static void drop(ucs_status_ptr_t request) {
    if (request == nullptr) return;
    stop_unless(!UCS_PTR_IS_ERR(request), UCS_PTR_STATUS(request));
    ucp_request_free(request);
  }
  void flush() {
    const ucp_request_param_t param{};
    finish(ucp_ep_flush_nbx(peer_, &param));
  }
  ucs_status_ptr_t put(const std::byte* source, size_t offset, size_t bytes) {
    const ucp_request_param_t param{};
    return ucp_put_nbx(peer_, source + offset, bytes, there_ + offset, key_, &param);
  }
  ucs_status_ptr_t get(std::byte* sink, size_t offset, size_t bytes) {
    const ucp_request_param_t param{};
    return ucp_get_nbx(peer_, sink + offset, bytes, there_ + offset, key_, &param);
  }
  ucs_status_ptr_t send(const void* bytes, size_t size, ucp_tag_t tag) {
    const ucp_request_param_t param{};
    return ucp_tag_send_nbx(peer_, bytes, size, tag, &param);
  }
  ucs_status_ptr_t receive(void* bytes, size_t size, ucp_tag_t tag) {
    const ucp_request_param_t param{};
    return ucp_tag_recv_nbx(worker_, bytes, size, tag, kAllBits, &param);
  }
  template <typename Start>
  void window(const Row& row, const Start& start) {
    std::vector<ucs_status_ptr_t> requests(row.window, nullptr);
    for (size_t i = 0; i < row.count; ++i) {
      ucs_status_ptr_t& slot = requests[i % row.window];
      finish(slot);
      slot = start(i);
    }
    for (ucs_status_ptr_t request : requests) finish(request);
  }

  // All pieces at once, completed by one flush.
  double by_pieces_s(const Row& row, Data& data) {
    return blocking_s(row, [&](size_t) {
      for (size_t i = 0; i < row.pieces; ++i) {
        const size_t at = i * row.stride();
        drop(row.is_put() ? put(data.source.data(), at, row.bytes)
                          : get(data.sink.data(), at, row.bytes));
      }
      flush();
    });
  }

  bool by_pieces_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_mem_h mapped_ = nullptr;
  ucp_ep_h peer_ = nullptr;
  ucp_rkey_h key_ = nullptr;
  std::byte* memory_ = nullptr;
  uint64_t there_ = 0;
  std::vector<std::byte> packed_;
};

}  // namespace

Opened open_ucx(const Place& place, bool by_pieces) { return Ucx::open(place, by_pieces); }

}  // namespace stripline::suites::harness
