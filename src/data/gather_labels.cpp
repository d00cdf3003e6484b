#include "data/gather_labels.hpp"

#include "base/group.hpp"

namespace tamis {

Labels labels_of_all(const Labels& mine, Group& group) {
  if (group.size() == 1) return mine;
  const LabelKind kind = largest_of_all(group, mine.kind());
  if (kind == LabelKind::none) return {};
  std::vector<double> numbers;
  std::vector<char> text;  // names, each ended by a zero
  for (Index i = 0; i < mine.size(); ++i) {
    if (kind == LabelKind::numeric) {
      numbers.push_back(mine.number(i));
    } else {
      const std::string name = mine.name(i);
      text.insert(text.end(), name.c_str(), name.c_str() + name.size() + 1);
    }
  }
  if (kind == LabelKind::numeric) return Labels::numeric(gather_all(group, std::move(numbers)));
  std::vector<std::string> names;
  text = gather_all(group, std::move(text));
  for (std::size_t at = 0; at < text.size(); at += names.back().size() + 1)
    names.emplace_back(text.data() + at);
  return Labels::text(names);
}

}  // namespace tamis
