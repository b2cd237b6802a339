// The server's calls for campaigns that are measured without it.
#include "cli/service_impl.h"
#include "optimizer/campaign/plan_bundle.h"

namespace stripline::cli {
namespace {

// Bytes of a file that are sent at a time.
constexpr size_t kUploadBytes = size_t{1} << 20;

}  // namespace

Result<std::string> Service::export_plan(const v1::ExportPlanRequest& request) {
  return impl_->at_some_server([&]() -> Result<std::string> {
    grpc::ClientContext context;
    context.set_deadline(deadline_after(impl_->timeout_s));
    STRIPLINE_RETURN_IF_ERROR(impl_->door().show(context));
    const auto reader = impl_->door().campaigns->ExportPlan(&context, request);
    std::string text;
    v1::PlanChunk chunk;
    while (reader->Read(&chunk)) {
      text += chunk.data();
      if (text.size() <= campaign::kMaxBundleBytes) continue;
      context.TryCancel();
      return Error(ErrorCode::data_loss, "what the server sent is larger than any plan");
    }
    const grpc::Status status = reader->Finish();
    if (!status.ok()) return impl_->error_of(status);
    return text;
  });
}

// Sent again, the file is the same campaign: so it may go to another server.
Result<v1::Campaign> Service::import_results(const std::string& text) {
  return impl_->at_some_server([&]() -> Result<v1::Campaign> {
    grpc::ClientContext context;
    STRIPLINE_RETURN_IF_ERROR(impl_->door().show(context));
    v1::Campaign campaign;
    const auto writer = impl_->door().campaigns->ImportResults(&context, &campaign);
    v1::ResultsChunk chunk;
    for (size_t sent = 0; sent < text.size(); sent += kUploadBytes) {
      chunk.set_data(text.substr(sent, kUploadBytes));
      if (!writer->Write(chunk)) break;  // Finish() says why.
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (!status.ok()) return impl_->error_of(status);
    return campaign;
  });
}

}  // namespace stripline::cli
