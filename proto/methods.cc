#include "proto/methods.h"

#include <exception>

#include <google/protobuf/descriptor.h>

namespace stripline {

const google::protobuf::MethodDescriptor& method_taking(
    const google::protobuf::Descriptor& request) {
  const google::protobuf::FileDescriptor& file = *request.file();
  for (int s = 0; s < file.service_count(); ++s) {
    for (int m = 0; m < file.service(s)->method_count(); ++m) {
      const google::protobuf::MethodDescriptor& method = *file.service(s)->method(m);
      if (method.input_type() == &request) return method;
    }
  }
  std::terminate();
}

std::string path_of(const google::protobuf::MethodDescriptor& method) {
  return "/" + method.service()->full_name() + "/" + method.name();
}

}  // namespace stripline
