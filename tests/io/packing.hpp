// Compressed text for tests, by the libraries that compress it.
#pragma once

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace tamis::test {

inline void require_packed(bool packed) {
  if (!packed) throw std::runtime_error("cannot compress");
}

inline std::string pack_gzip(std::string_view text) {
  z_stream stream{};
  require_packed(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
                              Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  require_packed(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// With a dictionary of this size, or of the usual one.
inline std::string pack_xz(std::string_view text, std::uint32_t dictionary_bytes = 8u << 20) {
  lzma_options_lzma options;
  require_packed(lzma_lzma_preset(&options, 1) == 0);
  options.dict_size = dictionary_bytes;
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  require_packed(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC64, nullptr,
                                           reinterpret_cast<const std::uint8_t*>(text.data()),
                                           text.size(),
                                           reinterpret_cast<std::uint8_t*>(packed.data()), &size,
                                           packed.size()) == LZMA_OK);
  packed.resize(size);
  return packed;
}

inline std::string pack_bzip2(std::string_view text) {
  auto size = static_cast<unsigned>(text.size() + text.size() / 50 + 1000);
  std::string packed(size, '\0');
  require_packed(BZ2_bzBuffToBuffCompress(packed.data(), &size, const_cast<char*>(text.data()),
                                          static_cast<unsigned>(text.size()), 9, 0, 0) == BZ_OK);
  packed.resize(size);
  return packed;
}

/// With a window of 2^window_log bytes; 0: the usual one.
inline std::string pack_zstd(std::string_view text, int window_log = 0) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  require_packed(context != nullptr);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  // Without the size in the frame, as from a pipe: the window would be cut to it.
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  ZSTD_inBuffer in{text.data(), text.size() / 2, 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue);
  in.size = text.size();
  require_packed(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end) == 0);
  ZSTD_freeCCtx(context);
  packed.resize(out.pos);
  return packed;
}

struct Packing {
  const char* name;
  const char* ending;
  std::string (*pack)(std::string_view text);
};

inline const Packing kPackings[] = {
    {"gzip", "gz", pack_gzip},
    {"xz", "xz", [](std::string_view text) { return pack_xz(text); }},
    {"bzip2", "bz2", pack_bzip2},
    {"zstd", "zst", [](std::string_view text) { return pack_zstd(text); }}};

}  // namespace tamis::test
