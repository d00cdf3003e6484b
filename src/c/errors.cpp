#include <fmt/format.h>

#include <new>

#include "c/handles.hpp"
#include "tamis/text.hpp"
#include "tamis/version.hpp"

namespace tamis::c {
namespace {

// Made before it is needed, because there is no memory left then. Never freed.
tamis_error no_memory_left{TAMIS_OUT_OF_MEMORY, "out of memory"};

int code_of_exception(std::string* message) {
  try {
    throw;
  } catch (const InvalidArgument& error) {
    *message = error.what();
    return TAMIS_INVALID_ARGUMENT;
  } catch (const DataError& error) {
    *message = error.what();
    return TAMIS_DATA_ERROR;
  } catch (const IoError& error) {
    *message = error.what();
    return TAMIS_IO_ERROR;
  } catch (const ResourceError& error) {
    *message = error.what();
    return TAMIS_OUT_OF_MEMORY;
  } catch (const Cancelled& error) {
    *message = error.what();
    return TAMIS_CANCELLED;
  } catch (const std::bad_alloc&) {
    *message = no_memory_left.message;
    return TAMIS_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    *message = error.what();
    return TAMIS_INTERNAL_ERROR;
  } catch (...) {
    *message = "an exception of an unknown type";
    return TAMIS_INTERNAL_ERROR;
  }
}

}  // namespace

int note_exception(tamis_error** error) noexcept {
  try {
    std::string message;
    const int code = code_of_exception(&message);
    if (error != nullptr) {
      auto* noted = new tamis_error{code, std::move(message)};
      tamis_error_free(*error);
      *error = noted;
    }
    return code;
  } catch (...) {
    if (error != nullptr) {
      tamis_error_free(*error);
      *error = &no_memory_left;
    }
    return TAMIS_OUT_OF_MEMORY;
  }
}

void require_count(std::string_view what, Index count, Index needed) {
  if (count != needed) {
    throw InvalidArgument(
        fmt::format("there is room for {}, and {} written: give exactly this number",
                    counted(count, what), counted(needed, "is", "are")));
  }
}

}  // namespace tamis::c

extern "C" {

const char* tamis_version(void) { return TAMIS_VERSION; }

int tamis_error_code(const tamis_error* error) { return error == nullptr ? TAMIS_OK : error->code; }

const char* tamis_error_message(const tamis_error* error) {
  return error == nullptr ? "" : error->message.c_str();
}

void tamis_error_free(tamis_error* error) {
  if (error != &tamis::c::no_memory_left) delete error;
}

}  // extern "C"
