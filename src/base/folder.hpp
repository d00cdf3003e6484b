// What lies in a folder. The iterators of std::filesystem end the process when memory runs out in
// the middle of one (libstdc++ 12), and their errors are exceptions after the first step.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>

namespace tamis {

/// Calls visit(descriptor of the folder, name) for everything in the folder, in no order; for
/// nothing where it cannot be read. `flags`: further ones of open().
template <typename Visit>
void visit_folder(const std::string& folder, int flags, const Visit& visit) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
  if (descriptor < 0) return;
  const auto close_folder = [](DIR* opened) { closedir(opened); };
  const std::unique_ptr<DIR, decltype(close_folder)> opened(fdopendir(descriptor), close_folder);
  if (opened == nullptr) {
    close(descriptor);
    return;
  }
  while (const dirent* const entry = readdir(opened.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") visit(descriptor, entry->d_name);
  }
}

/// Removes a folder of files, not a link to one. What cannot be removed stays. Takes no memory
/// that could be missing.
inline void remove_folder_of_files(const std::string& folder) noexcept {
  visit_folder(folder, O_NOFOLLOW, [](int parent, const char* name) { unlinkat(parent, name, 0); });
  rmdir(folder.c_str());
}

}  // namespace tamis
