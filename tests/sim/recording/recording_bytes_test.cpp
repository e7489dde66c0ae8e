// Tests the bytes below HDF5: checksum and writer flags of the superblock, reads past the end, the first failed write;
// and files of columns: what HDF5 reads from them, equal bytes for equal columns, and texts of any length.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <thread>

#include "geometry/error.hpp"
#include "sim/hdf5/column_file.hpp"
#include "sim/hdf5/h5_file.hpp"
#include "sim/hdf5/recording_bytes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

std::uint32_t hash_of(const std::string& text) { return lookup3(std::as_bytes(std::span(text))); }

// Tests the values that Bob Jenkins publishes for his function, with 0 as the initial hash.
TEST(RecordingBytes, ChecksumIsJenkinsLookup3) {
  EXPECT_EQ(hash_of(""), 0xdeadbeefu);
  EXPECT_EQ(hash_of("Four score and seven years ago"), 0x17770551u);
}

std::string hdf5_file(const TemporaryFolder& folder, bool left_open) {
  const std::string name = (folder.path() / (left_open ? "open.h5" : "closed.h5")).string();
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (left_open) H5Fstart_swmr_write(file);
  const std::string bytes = left_open ? read_file(name) : "";
  H5Fclose(file), H5Pclose(access);
  if (left_open) folder.write("open.h5", bytes);
  return name;
}

// We read the superblock that HDF5 wrote, and HDF5 accepts the superblock that we compute.
TEST(RecordingBytes, TheSuperblockOfAKilledWriterIsClosed) {
  const TemporaryFolder folder;
  const std::string closed = read_file(hdf5_file(folder, false)), open = read_file(hdf5_file(folder, true));
  const auto of_closed = Superblock::read(std::as_bytes(std::span(closed)));
  const auto of_open = Superblock::read(std::as_bytes(std::span(open)));
  ASSERT_TRUE(of_closed && of_open);
  EXPECT_EQ(of_closed->mark(), WriterMark::None);
  EXPECT_EQ(of_open->mark(), WriterMark::Appending);
  const auto made = of_open->closed(open.size());
  EXPECT_EQ(made.mark(), WriterMark::None);
  const std::string start(reinterpret_cast<const char*>(made.bytes.data()), made.bytes.size());
  const auto file = folder.write("made.h5", start + open.substr(start.size()));
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  EXPECT_GE(id, 0);
  H5Fclose(id);
}

TEST(RecordingBytes, ADamagedSuperblockIsNotChanged) {
  const TemporaryFolder folder;
  std::string bytes = read_file(hdf5_file(folder, false));
  EXPECT_FALSE(Superblock::read(std::as_bytes(std::span(bytes)).first(47)));
  bytes[30] = static_cast<char>(bytes[30] ^ 1);
  EXPECT_FALSE(Superblock::read(std::as_bytes(std::span(bytes))));
}

TEST(RecordingBytes, NothingIsReadPastTheEnd) {
  const TemporaryFolder folder;
  const auto bytes = RecordingBytes::open(folder.write("ten.h5", "0123456789"), false);
  std::array<std::byte, 4> four{};
  EXPECT_TRUE(bytes->read(6, four));
  EXPECT_FALSE(bytes->read(7, four));
  EXPECT_FALSE(bytes->read(100, four));
}

// Nothing is written after a failed write, so the file is as a kill at that moment would leave it.
TEST(RecordingBytes, NothingIsWrittenAfterAFailedWrite) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "full.h5";
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto bytes = RecordingBytes::create(file);
    const std::array<std::byte, 60> block{std::byte{1}};
    bytes->write(0, block);
    if (!bytes->fault().empty()) _exit(1);
    bytes->write(60, block);
    if (bytes->fault() != "the file could not be written (File too large)") _exit(2);
    bytes->write(0, std::array<std::byte, 1>{std::byte{9}});
    bytes->resize(10);
    _exit(bytes->size() == 10 ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const std::string left = read_file(file);
  EXPECT_EQ(left.size(), 100u);
  EXPECT_EQ(left[0], 1);
}

TEST(RecordingBytes, OnlyRegularFilesAreOpened) {
  EXPECT_THROW(RecordingBytes::open("/dev/zero", false), InputError);
  EXPECT_THROW(RecordingBytes::create("/dev/null"), InputError);
}

TEST(RecordingBytes, NoticesThatItsFileWasDeletedOrMoved) {
  const TemporaryFolder folder;
  const auto bytes = RecordingBytes::create(folder.path() / "a.h5");
  EXPECT_TRUE(bytes->moved_to().empty());
  std::filesystem::rename(folder.path() / "a.h5", folder.path() / "b.h5");
  EXPECT_EQ(bytes->moved_to().filename(), "b.h5");
  EXPECT_FALSE(bytes->deleted());
  std::filesystem::remove(folder.path() / "b.h5");
  EXPECT_TRUE(bytes->deleted());
  EXPECT_EQ(bytes->fault(), "the file was deleted during the recording");
}

TEST(Superblock, FilesWithoutChecksumsAreRecognised) {
  const auto start = [](unsigned char version) {
    return std::array<std::byte, 9>{std::byte{0x89}, std::byte{'H'},  std::byte{'D'},
                                    std::byte{'F'},  std::byte{'\r'}, std::byte{'\n'},
                                    std::byte{0x1a}, std::byte{'\n'}, std::byte{version}};
  };
  EXPECT_TRUE(lacks_checksums(start(0)));
  EXPECT_TRUE(lacks_checksums(start(1)));
  EXPECT_FALSE(lacks_checksums(start(2)));
  EXPECT_FALSE(lacks_checksums(start(3)));
  EXPECT_FALSE(lacks_checksums(std::array<std::byte, 9>{}));
}

// By default h5repack writes such files.
TEST(Superblock, ARecordingWithoutChecksumsIsRefused) {
  try {
    H5File::open(repository_file("tests/fuzz/corpus/recording/without_checksums.h5"));
    ADD_FAILURE() << "was read";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("h5repack --latest"), std::string::npos) << error.what();
  }
}

std::string bytes_of(const std::vector<FileColumn>& columns) {
  ColumnFile file("Kind 1\n");
  file.add_attribute("format", "kind-1");
  for (const FileColumn& column : columns) file.add(column);
  return file.bytes();
}

std::vector<FileColumn> columns_of(std::size_t rows) {
  FileColumn numbers{"numbers", {}, {}, false}, texts{"texts", {}, {}, true};
  for (std::size_t i = 0; i < rows; ++i) {
    numbers.numbers.push_back(i % 5 == 0 ? std::numeric_limits<double>::quiet_NaN() : 0.1 * static_cast<double>(i));
    texts.texts.push_back(i % 3 == 0 ? "" : "g\u00fcnstig " + std::to_string(i));
  }
  return {numbers, texts};
}

TEST(ColumnFile, Hdf5ReadsWhatWasWritten) {
  const TemporaryFolder folder;
  const auto columns = columns_of(40000);
  const auto file = folder.write("t.h5", bytes_of(columns));
  EXPECT_EQ(read_file(file).substr(0, 8), std::string("Kind 1\n\0", 8));
  const H5File read = H5File::open(file);
  EXPECT_EQ(read.text("format"), "kind-1");
  const auto numbers = read.table("table/numbers", Cell::F64).read_all<double>();
  ASSERT_EQ(numbers.size(), 40000u);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    EXPECT_TRUE(i % 5 == 0 ? std::isnan(numbers[i]) : numbers[i] == columns[0].numbers[i]) << i;
  const hid_t plain = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = H5Dopen2(plain, "table/texts", H5P_DEFAULT), type = H5Dget_type(set);
  std::string texts(H5Tget_size(type) * 40000, '\0');
  EXPECT_GE(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()), 0);
  EXPECT_EQ(std::string(texts.data() + H5Tget_size(type) * 31), columns[1].texts[31]);
  H5Tclose(type), H5Dclose(set), H5Fclose(plain);
}

TEST(ColumnFile, EqualColumnsGiveEqualBytesAtAnyTime) {
  const std::string first = bytes_of(columns_of(100));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5 counts time in seconds
  EXPECT_EQ(bytes_of(columns_of(100)), first);
  EXPECT_NE(bytes_of(columns_of(101)), first);
}

TEST(ColumnFile, HasNoRowsOrNoColumns) {
  const TemporaryFolder folder;
  EXPECT_EQ(H5File::open(folder.write("rows.h5", bytes_of(columns_of(0)))).table("table/numbers", Cell::F64).rows(),
            0u);
  EXPECT_EQ(H5File::open(folder.write("columns.h5", bytes_of({}))).text("format"), "kind-1");
}

}  // namespace

}  // namespace trocar
