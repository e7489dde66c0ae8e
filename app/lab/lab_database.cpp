#include "app/lab/lab_database.hpp"

#include <fmt/format.h>
#include <soci/soci.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <typeinfo>

#include "app/lab/lab_connection.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

// Turns rows of the tables into structures.
namespace lab_rows {

// A row that cannot be read: which, and why. Its text ends a sentence.
class RowFault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string select_summary(LabEngine engine);  // FROM person p

// SQLite and PostgreSQL give the same column different types.
double number_in(const soci::row& row, std::size_t column) {
  switch (row.get_properties(column).get_data_type()) {
    case soci::dt_double:
      return row.get<double>(column);
    case soci::dt_integer:
      return row.get<int>(column);
    case soci::dt_long_long:
      return static_cast<double>(row.get<long long>(column));
    case soci::dt_unsigned_long_long:
      return static_cast<double>(row.get<unsigned long long>(column));
    default:
      return std::stod(row.get<std::string>(column));
  }
}

std::uint64_t count_in(const soci::row& row, std::size_t column) {
  const double number = number_in(row, column);
  return number >= 0.0 && number < 1e15 ? static_cast<std::uint64_t>(number) : 0;
}

std::optional<double> maybe_in(const soci::row& row, std::size_t column) {
  if (row.get_indicator(column) == soci::i_null) return {};
  return number_in(row, column);
}

// A column and the type that SQLite must have stored in it.
enum class Stored { Text, Number, MaybeNumber, Count };
struct Column {
  const char* name;
  Stored stored;
};
constexpr Column kAttempt[] = {{"key", Stored::Text},       {"person", Stored::Text},    {"station", Stored::Text},
                               {"scene", Stored::Text},     {"title", Stored::Text},     {"level", Stored::Count},
                               {"kind", Stored::Text},      {"ending", Stored::Text},    {"devices", Stored::Text},
                               {"started", Stored::Number}, {"seconds", Stored::Number}, {"score", Stored::MaybeNumber},
                               {"critical", Stored::Count}, {"version", Stored::Text},   {"recording", Stored::Text},
                               {"metrics", Stored::Text}};
constexpr Column kPerson[] = {{"id", Stored::Text}, {"name", Stored::Text}, {"added", Stored::Number}};
constexpr Column kSummary[] = {{"p.id", Stored::Text},
                               {"p.name", Stored::Text},
                               {"p.added", Stored::Number},
                               {"p.attempts", Stored::Count},
                               {"p.last_started", Stored::Number}};
constexpr Column kStanding[] = {{"person", Stored::Text},        {"scene", Stored::Text},
                                {"level", Stored::Count},        {"attempts", Stored::Count},
                                {"best", Stored::MaybeNumber},   {"last", Stored::MaybeNumber},
                                {"last_started", Stored::Number}};

constexpr Column kComment[] = {{"c.key", Stored::Text},
                               {"c.attempt", Stored::Text},
                               {"c.author", Stored::Text},
                               {"c.written", Stored::Number},
                               {"c.text", Stored::Text}};

const char* types_of(Stored stored) {
  switch (stored) {
    case Stored::Text:
      return "('text')";
    case Stored::Number:
      return "('real', 'integer')";
    case Stored::MaybeNumber:
      return "('real', 'integer', 'null')";
    case Stored::Count:
      return "('integer')";
  }
  return "";
}

// 1, or of the first column with a value of a wrong type its number, counted from 2.
std::string sound(LabEngine engine, std::span<const Column> columns) {
  if (engine == LabEngine::Postgresql) return "1";
  std::string text = "CASE";
  for (std::size_t k = 0; k < columns.size(); ++k) {
    text += fmt::format(" WHEN typeof({}) NOT IN {}", columns[k].name, types_of(columns[k].stored));
    if (columns[k].stored == Stored::Count)
      text += fmt::format(" OR {} NOT BETWEEN -1000000000 AND 1000000000", columns[k].name);
    text += fmt::format(" THEN {}", k + 2);
  }
  return text + " ELSE 1 END";
}

std::string names(std::span<const Column> columns) {
  std::string text;
  for (const Column& column : columns) text += (text.empty() ? "" : ", ") + std::string(column.name);
  return text;
}

// A text for the name of a row, whatever is in the column.
std::string shown(const soci::row& row, std::size_t column) {
  if (row.get_indicator(column) == soci::i_null) return "without a value";
  try {
    return "'" + printable(row.get<std::string>(column)) + "'";
  } catch (const std::exception&) {
    return "with another type";
  }
}

void require_sound(const soci::row& row, std::size_t column, std::span<const Column> columns) {
  const auto which = static_cast<std::size_t>(number_in(row, column));
  if (which > 1 && which < columns.size() + 2)
    throw RowFault(fmt::format("its {} has no value of the right type", columns[which - 2].name));
}

void require_finite(double value, const char* what) {
  if (!std::isfinite(value)) throw RowFault(fmt::format("its {} is not a number", what));
}

void require_text(const std::string& text, const char* what) {
  if (first_invalid_utf8(text) != std::string::npos || text.find('\0') != std::string::npos)
    throw RowFault(fmt::format("its {} is not valid text", what));
}

void require_name(const std::string& id) {
  if (const std::string fault = name_fault(id); !fault.empty()) throw RowFault("its id is not valid: " + fault);
}

// Runs `read`; a fault gets the name of its row.
template <class Read>
auto named(const std::string& row, Read read) {
  try {
    return read();
  } catch (const RowFault& fault) {
    throw RowFault(fmt::format("{}: {}", row, fault.what()));
  } catch (const soci::soci_error&) {
    throw RowFault(fmt::format("{}: a value is missing", row));
  } catch (const std::bad_cast&) {
    throw RowFault(fmt::format("{}: a value has a wrong type", row));
  } catch (const std::logic_error&) {
    throw RowFault(fmt::format("{}: a value is not a number", row));
  }
}

LabAttempt checked_attempt(const soci::row& row) {
  require_sound(row, std::size(kAttempt), kAttempt);
  LabAttempt a;
  const std::pair<std::size_t, std::string*> texts[] = {
      {0, &a.key},  {1, &a.person}, {2, &a.station}, {3, &a.scene},    {4, &a.title},
      {6, &a.kind}, {7, &a.ending}, {8, &a.devices}, {13, &a.version}, {14, &a.recording}};
  for (const auto& [column, text] : texts) {
    *text = row.get<std::string>(column);
    require_text(*text, kAttempt[column].name);
  }
  if (a.key.empty()) throw RowFault("its key is empty");
  if (const std::string fault = name_fault(a.person); !fault.empty())
    throw RowFault("the id of its person is not valid: " + fault);
  a.level = static_cast<int>(number_in(row, 5));
  a.started = number_in(row, 9), a.seconds = number_in(row, 10);
  a.score = maybe_in(row, 11);
  a.critical = number_in(row, 12) != 0.0;
  require_finite(a.started, "started"), require_finite(a.seconds, "seconds"),
      require_finite(a.score.value_or(0), "score");
  const std::string metrics = row.get<std::string>(15);
  try {
    if (!metrics.starts_with('{')) throw InputError("");
    a.metrics = metrics_of_json(metrics);
  } catch (const InputError&) {
    throw RowFault("its metrics are damaged");
  }
  return a;
}

Person checked_person(const soci::row& row) {
  Person person{row.get<std::string>(0), row.get<std::string>(1), number_in(row, 2)};
  require_name(person.id);
  if (printable(person.name, kLongestName) != person.name) throw RowFault("its name is not valid");
  require_finite(person.added, "added");
  return person;
}

LabComment checked_comment(const soci::row& row) {
  require_sound(row, std::size(kComment), kComment);
  LabComment comment{row.get<std::string>(0), row.get<std::string>(1), row.get<std::string>(2), number_in(row, 3),
                     row.get<std::string>(4)};
  if (!comment.author.empty()) require_name(comment.author);
  require_text(comment.key, "key"), require_text(comment.attempt, "attempt"), require_text(comment.text, "text");
  require_finite(comment.written, "written");
  return comment;
}

std::string person_row(const soci::row& row) { return fmt::format("person {}", shown(row, 0)); }

// The columns that the functions below take, from these tables; with SQLite, which keeps values of any type in any
// column, the last one says whether the types are right.
std::string select_attempt(LabEngine engine) {
  return fmt::format("SELECT {}, {} FROM attempt", names(kAttempt), sound(engine, kAttempt));
}

std::string select_person(LabEngine engine) {
  return fmt::format("SELECT {}, {} FROM person", names(kPerson), sound(engine, kPerson));
}

std::string select_summary(LabEngine engine) {
  return fmt::format(
      "SELECT p.id, p.name, p.added, p.attempts, (SELECT COUNT(*) FROM standing s WHERE s.person = p.id), "
      "p.last_started, {} FROM person p",
      sound(engine, kSummary));
}

std::string select_standing(LabEngine engine) {
  return fmt::format("SELECT {}, {} FROM standing", names(kStanding), sound(engine, kStanding));
}

std::string select_comment(LabEngine engine) {
  return fmt::format("SELECT {}, {} FROM comment c", names(kComment), sound(engine, kComment));
}

// The condition of a query, whose parameters are :person, :scene and :level. It names all of them.
std::string where_of(const AttemptQuery& query) {
  std::string where = query.person.empty() ? " WHERE :person = ''" : " WHERE person = :person";
  where += query.scene.empty() ? " AND :scene = ''" : " AND scene = :scene";
  return where + (query.level ? " AND level = :level" : " AND :level = 0");
}

// All of these throw RowFault for a row whose values are missing, of a wrong type or not valid.
LabAttempt attempt_of(const soci::row& row) {
  return named(fmt::format("attempt {} of person {}", shown(row, 0), shown(row, 1)),
               [&] { return checked_attempt(row); });
}

LabComment comment_of(const soci::row& row) {
  return named(fmt::format("comment {} at attempt {}", shown(row, 0), shown(row, 1)),
               [&] { return checked_comment(row); });
}

Person person_of(const soci::row& row) {
  return named(person_row(row), [&] {
    require_sound(row, std::size(kPerson), kPerson);
    return checked_person(row);
  });
}

PersonSummary summary_of(const soci::row& row) {
  return named(person_row(row), [&] {
    require_sound(row, 6, kSummary);
    PersonSummary summary{checked_person(row), count_in(row, 3), count_in(row, 4), number_in(row, 5)};
    require_finite(summary.last_started, "last_started");
    return summary;
  });
}

Standing standing_of(const soci::row& row) {
  return named(fmt::format("standing of person {} at {}", shown(row, 0), shown(row, 1)), [&] {
    require_sound(row, std::size(kStanding), kStanding);
    Standing standing{row.get<std::string>(0), row.get<std::string>(1), static_cast<int>(number_in(row, 2)),
                      count_in(row, 3),        maybe_in(row, 4),        maybe_in(row, 5),
                      number_in(row, 6)};
    require_name(standing.person);
    require_text(standing.scene, "scene");
    for (const double value : {standing.best.value_or(0), standing.last.value_or(0), standing.last_started})
      require_finite(value, "score or date");
    return standing;
  });
}

}  // namespace lab_rows

using soci::use, soci::into;

constexpr const char* kAddAttempt =
    "INSERT INTO attempt (key, person, station, scene, title, level, kind, ending, devices, started, seconds, score, "
    "critical, version, recording, metrics) VALUES (:key, :person, :station, :scene, :title, :level, :kind, :ending, "
    ":devices, :started, :seconds, :score, :critical, :version, :recording, :metrics) ON CONFLICT (key) DO NOTHING";

// Of two attempts the later one is the last, in whatever order they arrive.
constexpr const char* kAddToStanding =
    "INSERT INTO standing (person, scene, level, attempts, best, last, last_started) "
    "VALUES (:person, :scene, :level, 1, :best, :last, :started) ON CONFLICT (person, scene, level) DO UPDATE SET "
    "attempts = standing.attempts + 1, "
    "best = CASE WHEN standing.best IS NULL OR excluded.best > standing.best THEN excluded.best ELSE standing.best "
    "END, "
    "last = CASE WHEN excluded.last_started >= standing.last_started THEN excluded.last ELSE standing.last END, "
    "last_started = CASE WHEN excluded.last_started >= standing.last_started THEN excluded.last_started "
    "ELSE standing.last_started END";

// % and _ of a text that LIKE searches for, with ! as escape.
std::string pattern_of(const std::string& part) {
  std::string pattern = "%";
  for (const char letter : part) {
    if (letter == '%' || letter == '_' || letter == '!') pattern += '!';
    pattern += letter;
  }
  return pattern + "%";
}

int limit_of(std::size_t count) {
  return static_cast<int>(std::min<std::size_t>(count, std::numeric_limits<int>::max()));
}

}  // namespace

LabComment made_comment(const std::string& attempt, const std::string& author, const std::string& text) {
  LabComment comment{new_attempt_key(), attempt, author, now_in_seconds(), {}};
  if (const std::string fault = name_fault(author); !fault.empty())
    throw InputError(fmt::format("the author '{}' cannot be used: {}", printable(author), fault));
  for (const char letter : text)
    if (letter != '\r') comment.text += letter;
  constexpr const char* kBlank = " \t\n";
  comment.text.erase(0, std::min(comment.text.find_first_not_of(kBlank), comment.text.size()));
  comment.text.erase(comment.text.find_last_not_of(kBlank) + 1);
  if (comment.text.empty()) throw InputError("the comment is empty; write what the trainee shall read");
  const auto is_control = [](unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; };
  if (first_invalid_utf8(comment.text) != std::string::npos || std::ranges::any_of(comment.text, is_control))
    throw InputError("the comment is not text; leave out control characters");
  const auto length = std::ranges::count_if(comment.text, [](unsigned char c) { return (c & 0xC0) != 0x80; });
  if (static_cast<std::size_t>(length) > kLongestComment)
    throw InputError(fmt::format("the comment has {} characters; write at most {}", length, kLongestComment));
  return comment;
}

struct LabDatabase::Content {
  LabConnection connection;
  std::vector<std::string> unreadable;
  std::set<std::string> known_unreadable;
  Content() = default;
  Content(const std::string& address, LabUse use, const LabPatience& patience) : connection(address, use, patience) {}

  soci::session& sql() { return connection.sql(); }

  // Calls `take` with what `of` makes of the row, unless it cannot be read.
  template <class Of, class Take>
  void take_row(const soci::row& row, Of of, Take take) {
    std::optional<decltype(of(row))> value;
    try {
      value = of(row);
    } catch (const lab_rows::RowFault& fault) {
      if (known_unreadable.insert(fault.what()).second) unreadable.emplace_back(fault.what());
      return;
    }
    take(*value);
  }
  template <class Of, class List>
  void append_rows(soci::rowset<soci::row> rows, Of of, List& list) {
    for (const soci::row& row : rows) take_row(row, of, [&](auto& value) { list.push_back(std::move(value)); });
  }

  void insert_person(const Person& person) {
    sql() << "INSERT INTO person (id, name, added) VALUES (:id, :name, :added) ON CONFLICT (id) DO NOTHING",
        use(person.id), use(person.name), use(person.added);
  }

  bool has_person(const std::string& id) {
    int count = 0;
    sql() << "SELECT COUNT(*) FROM person WHERE id = :id", use(id), into(count);
    return count > 0;
  }

  std::optional<Person> find_person(const std::string& id) {
    soci::row row;
    sql() << lab_rows::select_person(connection.engine()) + " WHERE id = :id", use(id), into(row);
    if (!sql().got_data()) return {};
    try {
      return lab_rows::person_of(row);
    } catch (const lab_rows::RowFault& fault) {
      throw RunError(fmt::format("{}: the row of {}; trocar lab erase removes it", connection.shown(), fault.what()));
    }
  }

  bool insert_attempt(const LabAttempt& a) {
    const std::string metrics = metrics_json(a.metrics);
    const int critical = a.critical ? 1 : 0;
    double score = a.score.value_or(0.0);
    soci::indicator scored = a.score ? soci::i_ok : soci::i_null;
    soci::statement add =
        (sql().prepare << kAddAttempt, use(a.key), use(a.person), use(a.station), use(a.scene), use(a.title),
         use(a.level), use(a.kind), use(a.ending), use(a.devices), use(a.started), use(a.seconds), use(score, scored),
         use(critical), use(a.version), use(a.recording), use(metrics));
    add.execute(true);
    if (add.get_affected_rows() != 1) return false;
    sql() << kAddToStanding, use(a.person), use(a.scene), use(a.level), use(score, scored), use(score, scored),
        use(a.started);
    sql() << "UPDATE person SET attempts = attempts + 1, last_started = CASE WHEN last_started < :started THEN :later "
             "ELSE last_started END WHERE id = :person",
        use(a.started, "started"), use(a.started, "later"), use(a.person, "person");
    return true;
  }

  bool insert_comment(const LabComment& comment) {
    int attempts = 0;
    sql() << "SELECT COUNT(*) FROM attempt WHERE key = :key", use(comment.attempt), into(attempts);
    if (attempts == 0)
      throw InputError(fmt::format("no attempt has the key '{}'; it may still wait at its station, or was deleted",
                                   printable(comment.attempt)));
    soci::statement add =
        (sql().prepare << "INSERT INTO comment (key, attempt, author, written, text) VALUES (:key, :attempt, :author, "
                          ":written, :text) ON CONFLICT (key) DO NOTHING",
         use(comment.key), use(comment.attempt), use(comment.author), use(comment.written), use(comment.text));
    add.execute(true);
    return add.get_affected_rows() == 1;
  }

  // After an attempt was deleted.
  void renew_sums(const std::string& person, const std::string& scene, int level) {
    renew_standing(person, scene, level);
    sql() << "UPDATE person SET attempts = (SELECT COUNT(*) FROM attempt WHERE person = :p1), last_started = "
             "COALESCE((SELECT MAX(started) FROM attempt WHERE person = :p2), 0) WHERE id = :p3",
        use(person, "p1"), use(person, "p2"), use(person, "p3");
  }

  void renew_standing(const std::string& person, const std::string& scene, int level) {
    sql() << "DELETE FROM standing WHERE person = :person AND scene = :scene AND level = :level", use(person),
        use(scene), use(level);
    sql() << "INSERT INTO standing (person, scene, level, attempts, best, last, last_started) "
             "SELECT person, scene, level, COUNT(*), MAX(score), (SELECT score FROM attempt WHERE person = :p2 AND "
             "scene = :s2 AND level = :l2 ORDER BY started DESC, key DESC LIMIT 1), MAX(started) FROM attempt WHERE "
             "person = :person AND scene = :scene AND level = :level GROUP BY person, scene, level",
        use(person, "p2"), use(scene, "s2"), use(level, "l2"), use(person, "person"), use(scene, "scene"),
        use(level, "level");
  }

  std::vector<LabAttempt> select_attempts(const std::string& rest, const AttemptQuery& query) {
    const int level = query.level.value_or(0), most = limit_of(query.most), skip = limit_of(query.skip);
    std::vector<LabAttempt> attempts;
    append_rows((sql().prepare << lab_rows::select_attempt(connection.engine()) + rest +
                                      " ORDER BY started DESC, key DESC LIMIT :most OFFSET :skip",
                 use(query.person, "person"), use(query.scene, "scene"), use(level, "level"), use(most, "most"),
                 use(skip, "skip")),
                lab_rows::attempt_of, attempts);
    return attempts;
  }

  // Calls `each` for all rows in the caller's transaction. A server sends them in portions, so that neither its answer
  // nor the memory is without limit.
  template <class Of>
  void read_all(const std::string& select, Of of, const std::function<void(const decltype(of(soci::row()))&)>& each) {
    const auto take = [&](const soci::row& row) {
      take_row(row, of, [&](const auto& value) { connection.aside([&] { each(value); }); });
    };
    if (connection.engine() == LabEngine::Sqlite) {
      const soci::rowset<soci::row> rows = (sql().prepare << select);
      for (const soci::row& row : rows) take(row);
      return;
    }
    sql() << "DECLARE all_rows CURSOR FOR " + select;
    for (bool more = true; more;) {
      more = false;
      const soci::rowset<soci::row> rows = (sql().prepare << "FETCH 1000 FROM all_rows");
      for (const soci::row& row : rows) more = true, take(row);
      connection.answered();
    }
    sql() << "CLOSE all_rows";
  }
};

LabDatabase::LabDatabase(const std::string& address, LabUse use, const LabPatience& patience)
    : content_(std::make_unique<Content>(address, use, patience)) {}
LabDatabase::LabDatabase(std::unique_ptr<Content> content) : content_(std::move(content)) {}
LabDatabase LabDatabase::empty() { return LabDatabase(std::make_unique<Content>()); }
LabDatabase::~LabDatabase() = default;
LabDatabase::LabDatabase(LabDatabase&&) noexcept = default;
LabDatabase& LabDatabase::operator=(LabDatabase&&) noexcept = default;

int LabDatabase::version() const { return content_->connection.version(); }
const std::string& LabDatabase::shown_address() const { return content_->connection.shown(); }
const std::vector<std::string>& LabDatabase::unreadable() const { return content_->unreadable; }
void LabDatabase::make_private() const { content_->connection.make_private(); }

bool LabDatabase::add_if_new(const Person& person) {
  if (const std::string fault = name_fault(person.id); !fault.empty())
    throw InputError(fmt::format("the id '{}' cannot be used: {}", printable(person.id), fault));
  if (printable(person.name, kLongestName) != person.name)
    throw InputError(fmt::format("the name '{}' cannot be used: at most {} characters, all of them printable",
                                 printable(person.name), kLongestName));
  return content_->connection.changed([&] {
    if (content_->has_person(person.id)) return false;
    content_->insert_person(person);
    return true;
  });
}

void LabDatabase::add_person(const Person& person) {
  if (!add_if_new(person)) throw InputError(fmt::format("the id '{}' is taken; choose another", printable(person.id)));
}

std::optional<Person> LabDatabase::person(const std::string& id) {
  return content_->connection.guarded([&] { return content_->find_person(id); });
}

std::vector<PersonSummary> LabDatabase::people(const PersonQuery& query) {
  return content_->connection.guarded([&] {
    const std::string pattern = pattern_of(query.part);
    const int most = limit_of(query.most), skip = limit_of(query.skip);
    const std::string where =
        query.part.empty() ? "" : " WHERE p.id LIKE :part ESCAPE '!' OR p.name LIKE :part2 ESCAPE '!'";
    const std::string order = query.order == PersonOrder::Id ? " ORDER BY p.id" : " ORDER BY p.last_started DESC, p.id";
    const std::string text =
        lab_rows::select_summary(content_->connection.engine()) + where + order + " LIMIT :most OFFSET :skip";
    std::vector<PersonSummary> people;
    const auto read = [&](soci::rowset<soci::row> rows) {
      content_->append_rows(std::move(rows), lab_rows::summary_of, people);
    };
    if (query.part.empty())
      read((content_->sql().prepare << text, use(most, "most"), use(skip, "skip")));
    else
      read((content_->sql().prepare << text, use(pattern, "part"), use(pattern, "part2"), use(most, "most"),
            use(skip, "skip")));
    return people;
  });
}

std::vector<LabAttempt> LabDatabase::erase_person(const std::string& id) {
  return content_->connection.changed([&] {
    if (!content_->has_person(id)) throw InputError(fmt::format("no person has the id '{}'", printable(id)));
    AttemptQuery all{.person = id, .scene = "", .most = std::numeric_limits<int>::max()};
    auto attempts = content_->select_attempts(lab_rows::where_of(all), all);
    content_->sql() << "DELETE FROM comment WHERE attempt IN (SELECT key FROM attempt WHERE person = :id)", use(id);
    content_->sql() << "UPDATE comment SET author = '' WHERE author = :id", use(id);
    for (const char* table : {"standing", "attempt"})
      content_->sql() << fmt::format("DELETE FROM {} WHERE person = :id", table), use(id);
    content_->sql() << "DELETE FROM person WHERE id = :id", use(id);
    return attempts;
  });
}

bool LabDatabase::add_attempt(const LabAttempt& attempt) { return add_attempts({&attempt, 1}) == 1; }

std::size_t LabDatabase::add_attempts(std::span<const LabAttempt> attempts) {
  return content_->connection.changed([&] {
    std::size_t added = 0;
    for (const LabAttempt& attempt : attempts) {
      content_->insert_person({attempt.person, "", attempt.started});
      added += content_->insert_attempt(attempt);
      content_->connection.answered();
    }
    return added;
  });
}

std::optional<LabAttempt> LabDatabase::attempt(const std::string& key) {
  return content_->connection.guarded([&]() -> std::optional<LabAttempt> {
    soci::row row;
    content_->sql() << lab_rows::select_attempt(content_->connection.engine()) + " WHERE key = :key", use(key),
        into(row);
    std::optional<LabAttempt> found;
    if (content_->sql().got_data())
      content_->take_row(row, lab_rows::attempt_of, [&](LabAttempt& attempt) { found = std::move(attempt); });
    return found;
  });
}

std::vector<LabAttempt> LabDatabase::attempts(const AttemptQuery& query) {
  return content_->connection.guarded([&] { return content_->select_attempts(lab_rows::where_of(query), query); });
}

void LabDatabase::delete_attempt(const std::string& key) {
  content_->connection.changed([&] {
    std::string person, scene;
    int level = 0;
    soci::indicator has_person = soci::i_null, has_scene = soci::i_null, has_level = soci::i_null;
    content_->sql() << "SELECT person, scene, level FROM attempt WHERE key = :key", use(key), into(person, has_person),
        into(scene, has_scene), into(level, has_level);
    if (!content_->sql().got_data()) throw InputError(fmt::format("no attempt has the key '{}'", printable(key)));
    content_->sql() << "DELETE FROM comment WHERE attempt = :key", use(key);
    content_->sql() << "DELETE FROM attempt WHERE key = :key", use(key);
    content_->renew_sums(person, scene, level);
  });
}

std::size_t LabDatabase::add_comments(std::span<const LabComment> comments) {
  return content_->connection.changed([&] {
    std::size_t added = 0;
    for (const LabComment& comment : comments) {
      added += content_->insert_comment(comment);
      content_->connection.answered();
    }
    return added;
  });
}

std::vector<LabComment> LabDatabase::comments_of(const std::string& person) {
  if (!content_->connection.has_comments()) return {};
  return content_->connection.guarded([&] {
    std::vector<LabComment> comments;
    content_->append_rows(
        (content_->sql().prepare << lab_rows::select_comment(content_->connection.engine()) +
                                        " JOIN attempt a ON a.key = c.attempt WHERE a.person = :person "
                                        "ORDER BY c.written, c.key",
         use(person, "person")),
        lab_rows::comment_of, comments);
    return comments;
  });
}

std::vector<Standing> LabDatabase::standings(const std::string& person, const std::string& scene) {
  return content_->connection.guarded([&] {
    const std::string where = std::string(person.empty() ? " WHERE :person = ''" : " WHERE person = :person") +
                              (scene.empty() ? " AND :scene = ''" : " AND scene = :scene");
    std::vector<Standing> standings;
    content_->append_rows((content_->sql().prepare << lab_rows::select_standing(content_->connection.engine()) + where +
                                                          " ORDER BY person, scene, level",
                           use(person, "person"), use(scene, "scene")),
                          lab_rows::standing_of, standings);
    return standings;
  });
}

LabCounts LabDatabase::counts() {
  return content_->connection.guarded([&] {
    long long people = 0, attempts = 0;
    content_->sql() << "SELECT COUNT(*) FROM person", into(people);
    content_->sql() << "SELECT COALESCE(SUM(attempts), 0) FROM person", into(attempts);
    return LabCounts{static_cast<std::uint64_t>(people), static_cast<std::uint64_t>(attempts)};
  });
}

void LabDatabase::for_each(const std::function<void(const Person&)>& person,
                           const std::function<void(const LabAttempt&)>& attempt,
                           const std::function<void(const LabComment&)>& comment) {
  content_->connection.at_one_instant([&] {
    const LabEngine engine = content_->connection.engine();
    content_->read_all(lab_rows::select_person(engine) + " ORDER BY id", lab_rows::person_of, person);
    content_->read_all(lab_rows::select_attempt(engine) + " ORDER BY started, key", lab_rows::attempt_of, attempt);
    if (comment && content_->connection.has_comments())
      content_->read_all(lab_rows::select_comment(engine) + " ORDER BY c.written, c.key", lab_rows::comment_of,
                         comment);
  });
}

}  // namespace trocar
