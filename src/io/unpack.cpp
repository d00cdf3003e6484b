#include "io/unpack.hpp"

#include <bzlib.h>
#include <fmt/format.h>
#include <lzma.h>
#include <zstd.h>
#include <zstd_errors.h>
#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>

#include "base/memory.hpp"
#include "base/progress.hpp"
#include "io/growing_buffer.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

using namespace std::string_view_literals;

constexpr std::int64_t kPackedBytes = std::int64_t{1} << 16;
// The dictionary of xz and the window of zstd come on top of the memory budget. The usual levels of
// compression stay below this, which is also what zstd allows by default.
constexpr int kWindowLog = 27;
constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << kWindowLog;

struct Step {
  std::size_t used = 0;  // of the bytes given
  std::size_t made = 0;  // bytes that came out
  bool ended = false;    // the last byte of a member came out
  std::string fault;     // why the data cannot be unpacked; empty: they can, so far
};

// One member of a file after the other, piece by piece. Neither throws for bad data.
class Decoder {
 public:
  Decoder() = default;
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  /// Writes up to GrowingBuffer::kRoom bytes.
  virtual Step step(std::string_view given, char* to) = 0;
  virtual void restart() = 0;
};

class GzipDecoder : public Decoder {
 public:
  GzipDecoder() {
    constexpr int kGzipOnly = 16;  // no zlib or raw streams
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;
  void restart() override { inflateReset(&stream_); }

  Step step(std::string_view given, char* to) override {
    stream_.next_in = reinterpret_cast<const Bytef*>(given.data());
    stream_.avail_in = static_cast<uInt>(given.size());
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(GrowingBuffer::kRoom);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    const bool is_good = status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR;
    const char* const reason = stream_.msg != nullptr ? stream_.msg : "the gzip data are damaged";
    return {given.size() - stream_.avail_in, GrowingBuffer::kRoom - stream_.avail_out,
            status == Z_STREAM_END, is_good ? "" : reason};
  }

 private:
  z_stream stream_{};
};

class XzDecoder : public Decoder {
 public:
  XzDecoder() { start(); }
  ~XzDecoder() override { lzma_end(&stream_); }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;
  void restart() override { start(); }

  Step step(std::string_view given, char* to) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(given.data());
    stream_.avail_in = given.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = GrowingBuffer::kRoom;
    const lzma_ret status = lzma_code(&stream_, LZMA_RUN);
    return {given.size() - stream_.avail_in, GrowingBuffer::kRoom - stream_.avail_out,
            status == LZMA_STREAM_END, fault(status)};
  }

 private:
  void start() {
    constexpr std::uint64_t kOverhead = std::uint64_t{1} << 20;
    if (lzma_stream_decoder(&stream_, kWindowBytes + kOverhead, 0) != LZMA_OK)
      throw std::bad_alloc();
  }
  std::string fault(lzma_ret status) {
    switch (status) {
      case LZMA_OK:
      case LZMA_STREAM_END:
      case LZMA_BUF_ERROR:
        return "";
      case LZMA_MEM_ERROR:
        throw std::bad_alloc();
      case LZMA_MEMLIMIT_ERROR:
        return fmt::format("its dictionary needs {}, and {} are allowed; unpack it with xz first",
                           format_bytes(static_cast<std::int64_t>(lzma_memusage(&stream_))),
                           format_bytes(static_cast<std::int64_t>(kWindowBytes)));
      case LZMA_OPTIONS_ERROR:
        return "the xz data use options that are not known here";
      default:
        return "the xz data are damaged";
    }
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class Bzip2Decoder : public Decoder {
 public:
  Bzip2Decoder() { start(); }
  ~Bzip2Decoder() override { BZ2_bzDecompressEnd(&stream_); }
  Bzip2Decoder(const Bzip2Decoder&) = delete;
  Bzip2Decoder& operator=(const Bzip2Decoder&) = delete;
  void restart() override {
    BZ2_bzDecompressEnd(&stream_);
    start();
  }

  Step step(std::string_view given, char* to) override {
    stream_.next_in = const_cast<char*>(given.data());  // which it does not write to
    stream_.avail_in = static_cast<unsigned>(given.size());
    stream_.next_out = to;
    stream_.avail_out = static_cast<unsigned>(GrowingBuffer::kRoom);
    const int status = BZ2_bzDecompress(&stream_);
    if (status == BZ_MEM_ERROR) throw std::bad_alloc();
    const bool is_good = status == BZ_OK || status == BZ_STREAM_END;
    return {given.size() - stream_.avail_in, GrowingBuffer::kRoom - stream_.avail_out,
            status == BZ_STREAM_END, is_good ? "" : "the bzip2 data are damaged"};
  }

 private:
  void start() {
    stream_ = {};
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
  }

  bz_stream stream_{};
};

class ZstdDecoder : public Decoder {
 public:
  ZstdDecoder() : context_(ZSTD_createDCtx()) {
    if (!context_) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kWindowLog);
  }
  void restart() override { ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only); }

  Step step(std::string_view given, char* to) override {
    ZSTD_inBuffer in{given.data(), given.size(), 0};
    ZSTD_outBuffer out{to, GrowingBuffer::kRoom, 0};
    const std::size_t left = ZSTD_decompressStream(context_.get(), &out, &in);
    const bool is_bad = ZSTD_isError(left) != 0;
    return {in.pos, out.pos, left == 0, is_bad ? fault(left) : ""};
  }

 private:
  static std::string fault(std::size_t status) {
    switch (ZSTD_getErrorCode(status)) {
      case ZSTD_error_memory_allocation:
        throw std::bad_alloc();
      case ZSTD_error_frameParameter_windowTooLarge:
        return fmt::format("its window needs more than the {} allowed; unpack it with zstd first",
                           format_bytes(static_cast<std::int64_t>(kWindowBytes)));
      default:
        return ZSTD_getErrorName(status);
    }
  }
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
};

bool is_gzip(std::string_view head) { return head.starts_with("\x1f\x8b"sv); }

bool is_xz(std::string_view head) { return head.starts_with("\xfd\x37zXZ\0"sv); }

// "BZh" and a digit alone could be text.
bool is_bzip2(std::string_view head) {
  return head.starts_with("BZh"sv) && head.size() >= 10 &&
         (head.substr(4, 6) == "\x31\x41\x59\x26\x53\x59"sv ||
          head.substr(4, 6) == "\x17\x72\x45\x38\x50\x90"sv);
}

bool is_zstd(std::string_view head) { return head.starts_with("\x28\xb5\x2f\xfd"sv); }

// What only follows others: frames of zstd that hold no data, such as a table of contents.
bool is_zstd_member(std::string_view head) {
  return is_zstd(head) ||
         (head.size() >= 4 && (head[0] & 0xf0) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18"sv);
}

struct Format {
  const char* name;
  bool (*begins)(std::string_view head);
  bool (*begins_member)(std::string_view head);
  std::unique_ptr<Decoder> (*decoder)();
};

template <class Kind>
std::unique_ptr<Decoder> make() {
  return std::make_unique<Kind>();
}

constexpr Format kFormats[] = {
    {"gzip", is_gzip, is_gzip, make<GzipDecoder>},
    {"xz", is_xz, is_xz, make<XzDecoder>},
    {"bzip2", is_bzip2, is_bzip2, make<Bzip2Decoder>},
    {"zstd", is_zstd, is_zstd_member, make<ZstdDecoder>},
};

const Format* format_of(std::string_view head) {
  const auto* const found =
      std::ranges::find_if(kFormats, [&](const Format& format) { return format.begins(head); });
  return found == std::end(kFormats) ? nullptr : found;
}

[[noreturn]] void fail(const std::string& name, std::string_view reason) {
  throw DataError(fmt::format("{}: cannot unpack: {}", name, reason));
}

// A file may be several members one after the other, and be padded with zeros.
bool has_next_member(const std::string& name, const Format& format, const InputBytes& packed,
                     std::int64_t offset) {
  PieceBuffer buffer;
  if (format.begins_member(packed.piece(offset, kMagicBytes, buffer))) return true;
  for (; offset < packed.size(); offset += kPackedBytes) {
    const std::string_view rest = packed.piece(offset, kPackedBytes, buffer);
    if (rest.find_first_not_of('\0') == std::string_view::npos) continue;
    fail(name, fmt::format("something follows the end of the {} data", format.name));
  }
  return false;
}

}  // namespace

bool is_compressed(std::string_view head) { return format_of(head) != nullptr; }

InputBytes unpack(const std::string& name, const InputBytes& packed, std::int64_t limit,
                  const RunControl& control) {
  PieceBuffer piece;
  const Format& format = *format_of(packed.piece(0, kMagicBytes, piece));
  const std::unique_ptr<Decoder> decoder = format.decoder();
  GrowingBuffer buffer(name, limit);
  ProgressMeter meter(control, "unpack", packed.size());
  for (std::int64_t offset = 0;;) {
    const Step step = decoder->step(packed.piece(offset, kPackedBytes, piece), buffer.tail());
    offset += static_cast<std::int64_t>(step.used);
    buffer.added(step.made);
    meter.add(static_cast<std::int64_t>(step.used));
    if (!step.fault.empty()) fail(name, step.fault);
    if (step.ended) {
      if (!has_next_member(name, format, packed, offset)) return buffer.release();
      decoder->restart();
    } else if (step.used == 0 && step.made == 0) {
      fail(name, "it is cut short");
    }
  }
}

}  // namespace tamis
