// Owners for what OpenSSL allocates, and its errors as ours. For .cc files of this folder and of
// those that issue certificates; other headers only name the types.
#pragma once

#include <memory>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline::pki {

/// Calls the C function that frees.
template <auto kFree>
struct Freed {
  template <typename T>
  void operator()(T* thing) const {
    kFree(thing);
  }
};

using OwnedBio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using OwnedX509 = std::unique_ptr<X509, Freed<X509_free>>;
using OwnedRequest = std::unique_ptr<X509_REQ, Freed<X509_REQ_free>>;
using OwnedExtension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;
using OwnedNames = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;

/// A memory BIO that holds a copy of `text`.
inline OwnedBio bio_with(std::string_view text) {
  OwnedBio bio(BIO_new(BIO_s_mem()));
  if (bio) BIO_write(bio.get(), text.data(), static_cast<int>(text.size()));
  return bio;
}

/// What a memory BIO holds.
inline std::string text_in(BIO* bio) {
  const char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

/// The oldest error that OpenSSL remembers on this thread, which is the cause of the later ones, as
/// "what: reason"; forgets them all.
inline Error openssl_error(ErrorCode code, const std::string& what) {
  const unsigned long first = ERR_get_error();
  ERR_clear_error();
  const char* reason = first == 0 ? nullptr : ERR_reason_error_string(first);
  return {code, reason == nullptr ? what : what + ": " + reason};
}

}  // namespace stripline::pki
