// What a long training keeps of its state, so that another run can continue from it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tamis/export.hpp"
#include "tamis/group.hpp"

namespace tamis {

class TAMIS_EXPORT CheckpointStore {
 public:
  CheckpointStore() = default;
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;
  virtual ~CheckpointStore();

  /// The parts that all processes of an earlier run saved last under this name. Empty: there are
  /// none.
  virtual std::vector<std::string> load(const std::string& name) = 0;
  /// The part of this process. All processes of the group call it together; what was saved before
  /// stays until all have written theirs.
  virtual void save(const std::string& name, const std::string& part) = 0;
  /// Removes all that was loaded or saved: the work is done. What another training saved stays.
  virtual void clear() = 0;
  /// Where files may be kept that are too large to be handed over, below the name `cells`, until
  /// clear(). Empty: nowhere.
  virtual std::string folder() const { return {}; }
};

/// Files in a folder, which is created if it does not exist. Several computers need a shared one.
/// Throws IoError, and DataError for files that are damaged.
TAMIS_EXPORT std::unique_ptr<CheckpointStore> file_checkpoints(const std::string& folder,
                                                               Group* group = nullptr);

}  // namespace tamis
