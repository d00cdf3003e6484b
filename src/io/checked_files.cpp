#include "io/checked_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "base/mix.hpp"

namespace tamis {
namespace {

// Empty: there is none.
std::filesystem::path cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::filesystem::path(cache) / "tamis" / "checked";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/')
    return std::filesystem::path(home) / ".cache" / "tamis" / "checked";
  return {};
}

// One per file and finding: a newer state of the file replaces the older one.
std::string entry_name(const FileStamp& file, std::string_view finding) {
  std::uint64_t hash = mix(file.device) ^ file.inode;
  for (const char c : finding) hash = mix(hash + static_cast<unsigned char>(c));
  return fmt::format("{:016x}", mix(hash));
}

std::string entry_text(const FileStamp& file, std::string_view finding) {
  return fmt::format("tamis 1: {} device {} inode {} size {} written {} altered {}\n", finding,
                     file.device, file.inode, file.size, file.written_ns, file.altered_ns);
}

std::int64_t now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

bool was_found(const FileStamp& file, std::string_view finding) {
  const std::filesystem::path folder = cache_folder();
  if (folder.empty() || file == FileStamp()) return false;
  std::ifstream in(folder / entry_name(file, finding), std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return in && text.str() == entry_text(file, finding);
}

void remember_finding(const FileStamp& file, std::string_view finding) {
  constexpr std::int64_t kSettledNs = 1'000'000'000;
  const std::filesystem::path folder = cache_folder();
  if (folder.empty() || file == FileStamp() || now_ns() - file.altered_ns < kSettledNs) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  // Written under a name of its own and renamed: whoever reads sees all of it or nothing.
  const std::filesystem::path entry = folder / entry_name(file, finding);
  std::string temporary = (folder / "new-XXXXXX").string();
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return;
  const std::string text = entry_text(file, finding);
  const bool is_written = write(fd, text.data(), text.size()) == std::ssize(text);
  close(fd);
  if (!is_written || rename(temporary.c_str(), entry.c_str()) != 0) unlink(temporary.c_str());
}

}  // namespace tamis
