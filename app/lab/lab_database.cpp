#include "app/lab/lab_database.hpp"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "app/lab/lab_connection.hpp"
#include "app/lab/lab_rows.hpp"
#include "geometry/printable.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

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
    content_->sql() << "DELETE FROM attempt WHERE key = :key", use(key);
    content_->renew_sums(person, scene, level);
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
                           const std::function<void(const LabAttempt&)>& attempt) {
  content_->connection.at_one_instant([&] {
    const LabEngine engine = content_->connection.engine();
    content_->read_all(lab_rows::select_person(engine) + " ORDER BY id", lab_rows::person_of, person);
    content_->read_all(lab_rows::select_attempt(engine) + " ORDER BY started, key", lab_rows::attempt_of, attempt);
  });
}

}  // namespace trocar
