#include "mesh/mesh_io_xml.hpp"

#include <algorithm>

namespace trocar::mesh_io {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

std::string_view without_blanks_in_front(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlank), text.size()));
}

}  // namespace

std::size_t Xml::line_of(std::size_t offset) const { return 1 + count_line_ends(source_.bytes.substr(0, offset)); }

void Xml::refuse(std::size_t offset, const std::string& what) const {
  fail(source_, line_of(offset), what, "the file is incomplete or damaged, copy or export it again");
}

std::size_t Xml::find(std::string_view text, std::size_t from) const {
  const std::size_t found = source_.bytes.find(text, from);
  if (found == std::string_view::npos) refuse(from, "the file ends within a tag");
  return found;
}

Xml::Item Xml::next() {
  while (offset_ < source_.bytes.size()) {
    const std::string_view rest = source_.bytes.substr(offset_);
    if (rest.starts_with("<?")) {
      offset_ = find("?>", offset_) + 2;
    } else if (rest.starts_with("<!--")) {
      const std::size_t end = find("-->", offset_);
      const Item comment{Kind::Comment, {}, rest.substr(0, end - offset_), offset_, false};
      offset_ = end + 3;
      return comment;
    } else if (rest.starts_with("<![CDATA[")) {
      const std::size_t end = find("]]>", offset_);
      const Item text{Kind::Text, {}, rest.substr(9, end - offset_ - 9), offset_, false};
      offset_ = end + 3;
      return text;
    } else if (rest.starts_with("<!")) {
      offset_ = find(">", offset_) + 1;
    } else if (rest.front() == '<') {
      return tag();
    } else {
      const Item text{Kind::Text, {}, rest.substr(0, rest.find('<')), offset_, false};
      offset_ += text.content.size();
      if (!without_blanks_in_front(text.content).empty()) return text;
    }
  }
  if (!open_.empty()) refuse(offset_, "the file ends within the element " + in_quotes(open_.back()));
  return {};
}

// A value in quotes may contain the character that ends a tag.
std::size_t Xml::end_of_tag(std::size_t begin) const {
  char quote = '\0';
  for (std::size_t at = begin; at < source_.bytes.size(); ++at) {
    const char c = source_.bytes[at];
    if (quote == '\0' && c == '>') return at;
    if (quote != '\0' ? c == quote : c == '"' || c == '\'') quote = quote == '\0' ? c : '\0';
  }
  refuse(begin, "the file ends within a tag");
}

Xml::Item Xml::tag() {
  const std::size_t begin = offset_ + 1, end = end_of_tag(begin);
  std::string_view inside = source_.bytes.substr(begin, end - begin);
  offset_ = end + 1;
  Item item;
  if (inside.starts_with('/')) {
    std::string_view name = inside.substr(1);
    item = {Kind::End, take_word(name), {}, begin, false};
    if (open_.empty() || open_.back() != item.name)
      refuse(begin, "the end tag " + in_quotes(item.name) + " has no matching start tag");
    open_.pop_back();
    return item;
  }
  item.kind = Kind::Start;
  item.empty = inside.ends_with('/');
  if (item.empty) inside.remove_suffix(1);
  item.name = take_word(inside);
  item.content = inside;
  item.offset = begin;
  if (item.name.empty()) refuse(begin, "a tag has no name");
  if (!item.empty) open_.push_back(item.name);
  return item;
}

std::string_view Xml::attribute(const Item& start, std::string_view name) const {
  std::string_view rest = without_blanks_in_front(start.content);
  while (!rest.empty()) {
    const std::size_t equals = rest.find('=');
    if (equals == rest.npos) refuse(start.offset, "an attribute of " + in_quotes(start.name) + " has no value");
    std::string_view key = rest.substr(0, equals);
    const std::string_view found = take_word(key);
    rest = without_blanks_in_front(rest.substr(equals + 1));
    const bool quoted = rest.starts_with('"') || rest.starts_with('\'');
    const std::size_t end = quoted ? rest.find(rest.front(), 1) : rest.npos;
    if (end == rest.npos) refuse(start.offset, "an attribute of " + in_quotes(start.name) + " is not in quotes");
    if (found == name) return rest.substr(1, end - 1);
    rest = without_blanks_in_front(rest.substr(end + 1));
  }
  return {};
}

}  // namespace trocar::mesh_io
