// SPDX-License-Identifier: Apache-2.0
// The functions of OpenSSL that the library calls, in a tool that does not link with it: each loads OpenSSL at its
// first call, and a run without TLS calls none. With OpenSSL loaded from the start, a short run costs a third more. If
// a function is missing here, the linker adds OpenSSL after all: tests/packaging/lean checks that.
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <string>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/opensslv.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <holdfast/error.hpp>

namespace {

/// The TLS library, which loads the one for certificates and ciphers.
void* openssl() {
  static void* const loaded = [] {
    void* const library = dlopen(("libssl.so." + std::to_string(OPENSSL_SHLIB_VERSION)).c_str(), RTLD_LAZY);
    if (library != nullptr) return library;
    throw holdfast::Error(holdfast::Errc::tls, {}, {}, std::string("OpenSSL cannot be loaded: ") + dlerror());
  }();
  return loaded;
}

template <class Function>
Function find(const char* name) {
  void* const found = dlsym(openssl(), name);
  if (found != nullptr) return reinterpret_cast<Function>(found);
  throw holdfast::Error(holdfast::Errc::tls, {}, {}, std::string("OpenSSL cannot be loaded: it has no ") + name);
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): these are types and lists
#define HOLDFAST_LATER(result, name, parameters, arguments)      \
  result name parameters {                                       \
    static const auto function = find<decltype(&(name))>(#name); \
    return function arguments;                                   \
  }
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {

HOLDFAST_LATER(long, BIO_ctrl, (BIO * bio, int command, long number, void* pointer), (bio, command, number, pointer))
HOLDFAST_LATER(std::size_t, BIO_ctrl_pending, (BIO * bio), (bio))
HOLDFAST_LATER(int, BIO_free, (BIO * bio), (bio))
HOLDFAST_LATER(int, BIO_new_bio_pair, (BIO * *one, std::size_t its_size, BIO** other, std::size_t others_size),
               (one, its_size, other, others_size))
HOLDFAST_LATER(BIO*, BIO_new_file, (const char* file, const char* mode), (file, mode))
HOLDFAST_LATER(BIO*, BIO_new_mem_buf, (const void* buffer, int size), (buffer, size))
HOLDFAST_LATER(int, BIO_read, (BIO * bio, void* data, int size), (bio, data, size))
HOLDFAST_LATER(int, BIO_write, (BIO * bio, const void* data, int size), (bio, data, size))

HOLDFAST_LATER(void, CRYPTO_free, (void* memory, const char* file, int line), (memory, file, line))

HOLDFAST_LATER(void, ERR_clear_error, (), ())
HOLDFAST_LATER(unsigned long, ERR_get_error, (), ())
HOLDFAST_LATER(unsigned long, ERR_peek_error, (), ())
HOLDFAST_LATER(unsigned long, ERR_peek_last_error, (), ())
HOLDFAST_LATER(const char*, ERR_lib_error_string, (unsigned long error), (error))
HOLDFAST_LATER(const char*, ERR_reason_error_string, (unsigned long error), (error))

HOLDFAST_LATER(void, EVP_PKEY_free, (EVP_PKEY * key), (key))
HOLDFAST_LATER(int, EVP_PKEY_is_a, (const EVP_PKEY* key, const char* type), (key, type))

HOLDFAST_LATER(EVP_PKEY*, PEM_read_bio_Parameters, (BIO * bio, EVP_PKEY** out), (bio, out))
HOLDFAST_LATER(EVP_PKEY*, PEM_read_bio_PrivateKey, (BIO * bio, EVP_PKEY** out, pem_password_cb* ask, void* for_it),
               (bio, out, ask, for_it))
HOLDFAST_LATER(X509*, PEM_read_bio_X509, (BIO * bio, X509** out, pem_password_cb* ask, void* for_it),
               (bio, out, ask, for_it))
HOLDFAST_LATER(X509*, PEM_read_bio_X509_AUX, (BIO * bio, X509** out, pem_password_cb* ask, void* for_it),
               (bio, out, ask, for_it))
HOLDFAST_LATER(EVP_PKEY*, d2i_PrivateKey_bio, (BIO * bio, EVP_PKEY** out), (bio, out))

HOLDFAST_LATER(const SSL_METHOD*, TLS_method, (), ())
HOLDFAST_LATER(const SSL_METHOD*, TLS_client_method, (), ())
HOLDFAST_LATER(const SSL_METHOD*, TLS_server_method, (), ())

HOLDFAST_LATER(int, OPENSSL_sk_num, (const OPENSSL_STACK* stack), (stack))
HOLDFAST_LATER(void*, OPENSSL_sk_value, (const OPENSSL_STACK* stack, int index), (stack, index))

HOLDFAST_LATER(int, SSL_CIPHER_get_kx_nid, (const SSL_CIPHER* cipher), (cipher))
HOLDFAST_LATER(const char*, SSL_CIPHER_get_name, (const SSL_CIPHER* cipher), (cipher))

HOLDFAST_LATER(SSL_CTX*, SSL_CTX_new, (const SSL_METHOD* method), (method))
HOLDFAST_LATER(void, SSL_CTX_free, (SSL_CTX * context), (context))
HOLDFAST_LATER(long, SSL_CTX_ctrl, (SSL_CTX * context, int command, long number, void* pointer),
               (context, command, number, pointer))
HOLDFAST_LATER(std::uint64_t, SSL_CTX_clear_options, (SSL_CTX * context, std::uint64_t options), (context, options))
HOLDFAST_LATER(std::uint64_t, SSL_CTX_set_options, (SSL_CTX * context, std::uint64_t options), (context, options))
HOLDFAST_LATER(STACK_OF(SSL_CIPHER) *, SSL_CTX_get_ciphers, (const SSL_CTX* context), (context))
HOLDFAST_LATER(int, SSL_CTX_set_cipher_list, (SSL_CTX * context, const char* names), (context, names))
HOLDFAST_LATER(X509_STORE*, SSL_CTX_get_cert_store, (const SSL_CTX* context), (context))
HOLDFAST_LATER(pem_password_cb*, SSL_CTX_get_default_passwd_cb, (SSL_CTX * context), (context))
HOLDFAST_LATER(void*, SSL_CTX_get_default_passwd_cb_userdata, (SSL_CTX * context), (context))
HOLDFAST_LATER(void, SSL_CTX_set_default_passwd_cb, (SSL_CTX * context, pem_password_cb* ask), (context, ask))
HOLDFAST_LATER(void, SSL_CTX_set_default_passwd_cb_userdata, (SSL_CTX * context, void* data), (context, data))
HOLDFAST_LATER(void*, SSL_CTX_get_ex_data, (const SSL_CTX* context, int index), (context, index))
HOLDFAST_LATER(int, SSL_CTX_set_ex_data, (SSL_CTX * context, int index, void* data), (context, index, data))
HOLDFAST_LATER(SSL_verify_cb, SSL_CTX_get_verify_callback, (const SSL_CTX* context), (context))
HOLDFAST_LATER(int, SSL_CTX_get_verify_mode, (const SSL_CTX* context), (context))
HOLDFAST_LATER(void, SSL_CTX_set_verify, (SSL_CTX * context, int mode, SSL_verify_cb verify), (context, mode, verify))
HOLDFAST_LATER(void, SSL_CTX_set_verify_depth, (SSL_CTX * context, int depth), (context, depth))
HOLDFAST_LATER(int, SSL_CTX_set_default_verify_paths, (SSL_CTX * context), (context))
HOLDFAST_LATER(int, SSL_CTX_load_verify_locations, (SSL_CTX * context, const char* file, const char* folder),
               (context, file, folder))
HOLDFAST_LATER(int, SSL_CTX_set0_tmp_dh_pkey, (SSL_CTX * context, EVP_PKEY* key), (context, key))
HOLDFAST_LATER(int, SSL_CTX_use_PrivateKey, (SSL_CTX * context, EVP_PKEY* key), (context, key))
HOLDFAST_LATER(int, SSL_CTX_use_PrivateKey_file, (SSL_CTX * context, const char* file, int type), (context, file, type))
HOLDFAST_LATER(int, SSL_CTX_use_certificate, (SSL_CTX * context, X509* certificate), (context, certificate))
HOLDFAST_LATER(int, SSL_CTX_use_certificate_ASN1, (SSL_CTX * context, int size, const unsigned char* data),
               (context, size, data))
HOLDFAST_LATER(int, SSL_CTX_use_certificate_chain_file, (SSL_CTX * context, const char* file), (context, file))
HOLDFAST_LATER(int, SSL_CTX_use_certificate_file, (SSL_CTX * context, const char* file, int type),
               (context, file, type))

HOLDFAST_LATER(SSL*, SSL_new, (SSL_CTX * context), (context))
HOLDFAST_LATER(void, SSL_free, (SSL * ssl), (ssl))
HOLDFAST_LATER(int, SSL_accept, (SSL * ssl), (ssl))
HOLDFAST_LATER(int, SSL_connect, (SSL * ssl), (ssl))
HOLDFAST_LATER(long, SSL_ctrl, (SSL * ssl, int command, long number, void* pointer), (ssl, command, number, pointer))
HOLDFAST_LATER(SSL_CTX*, SSL_get_SSL_CTX, (const SSL* ssl), (ssl))
HOLDFAST_LATER(int, SSL_get_error, (const SSL* ssl, int result), (ssl, result))
HOLDFAST_LATER(void*, SSL_get_ex_data, (const SSL* ssl, int index), (ssl, index))
HOLDFAST_LATER(int, SSL_get_ex_data_X509_STORE_CTX_idx, (), ())
HOLDFAST_LATER(int, SSL_get_shutdown, (const SSL* ssl), (ssl))
HOLDFAST_LATER(SSL_verify_cb, SSL_get_verify_callback, (const SSL* ssl), (ssl))
HOLDFAST_LATER(int, SSL_get_verify_mode, (const SSL* ssl), (ssl))
HOLDFAST_LATER(int, SSL_read, (SSL * ssl, void* data, int size), (ssl, data, size))
HOLDFAST_LATER(int, SSL_write, (SSL * ssl, const void* data, int size), (ssl, data, size))
HOLDFAST_LATER(void, SSL_set_bio, (SSL * ssl, BIO* in, BIO* out), (ssl, in, out))
HOLDFAST_LATER(int, SSL_set_ex_data, (SSL * ssl, int index, void* data), (ssl, index, data))
HOLDFAST_LATER(void, SSL_set_verify, (SSL * ssl, int mode, SSL_verify_cb verify), (ssl, mode, verify))
HOLDFAST_LATER(void, SSL_set_verify_depth, (SSL * ssl, int depth), (ssl, depth))
HOLDFAST_LATER(int, SSL_shutdown, (SSL * ssl), (ssl))

HOLDFAST_LATER(X509*, X509_STORE_CTX_get_current_cert, (const X509_STORE_CTX* context), (context))
HOLDFAST_LATER(int, X509_STORE_CTX_get_error, (const X509_STORE_CTX* context), (context))
HOLDFAST_LATER(int, X509_STORE_CTX_get_error_depth, (const X509_STORE_CTX* context), (context))
HOLDFAST_LATER(void*, X509_STORE_CTX_get_ex_data, (const X509_STORE_CTX* context, int index), (context, index))
HOLDFAST_LATER(int, X509_STORE_add_cert, (X509_STORE * store, X509* certificate), (store, certificate))
HOLDFAST_LATER(int, X509_check_host, (X509 * cert, const char* name, std::size_t size, unsigned flags, char** peer),
               (cert, name, size, flags, peer))
HOLDFAST_LATER(int, X509_check_ip_asc, (X509 * certificate, const char* address, unsigned flags),
               (certificate, address, flags))
HOLDFAST_LATER(void, X509_free, (X509 * certificate), (certificate))
HOLDFAST_LATER(const char*, X509_verify_cert_error_string, (long error), (error))

}  // extern "C"
