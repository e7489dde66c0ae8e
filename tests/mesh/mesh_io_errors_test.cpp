// Tests mesh files that must be refused, each with one sentence that names the file, the line if known, and a remedy.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <string>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

std::string message_of(const std::filesystem::path& file) {
  try {
    load_mesh(file);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// Expects "FILE:LINE: what; remedy" or "FILE: what; remedy" on one line, without a full stop inside.
void expect_sentence(const std::string& message, const std::string& start, const std::string& part) {
  EXPECT_TRUE(message.starts_with(start)) << message << "\n  should start with " << start;
  EXPECT_NE(message.find(part), std::string::npos) << message << "\n  should contain " << part;
  EXPECT_NE(message.find("; "), std::string::npos) << message << "\n  has no remedy";
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

struct Bad {
  const char* name;
  std::string content;
  int line;  // 0: none
  const char* part;
};

void expect_refused(const Bad& bad) {
  const TemporaryFolder folder;
  const auto file = folder.write(bad.name, bad.content);
  const std::string start = file.string() + (bad.line > 0 ? ":" + std::to_string(bad.line) + ": " : ": ");
  SCOPED_TRACE(bad.content.substr(0, 600));
  expect_sentence(message_of(file), start, bad.part);
}

const std::string kThree = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";

TEST(MeshIoErrors, Obj) {
  for (const Bad& bad : std::vector<Bad>{
           {"a.obj", kThree + "f 1 2 9\n", 4, "uses vertex 9, the file has 3"},
           {"a.obj", kThree + "f 1 2 0\n", 4, "uses vertex 0"},
           {"a.obj", kThree + "f 1 2 -4\n", 4, "uses vertex -4"},
           {"a.obj", kThree + "f 1 2 99999999999999999999\n", 4, "not a whole number"},
           {"a.obj", kThree + "f 1 2 4294967297\n", 4, "uses vertex 4294967297"},
           {"a.obj", kThree + "f 1 2 4294967295\n", 4, "uses vertex 4294967295"},
           {"a.obj", kThree + "f 1 2\n", 4, "2 corners"},
           {"a.obj", kThree + "f 1 2 3x\n", 4, "'3x'"},
           {"a.obj", kThree + "f 1 2 3/a\n", 4, "'3/a'"},
           {"a.obj", kThree + "f 1 2 1.0\n", 4, "'1.0'"},
           {"a.obj", kThree + "q 1 2 3\n", 4, "'q' is not an OBJ statement"},
           {"a.obj", "v 0 0 nan\n", 1, "'nan'"},
           {"a.obj", "\n\nv 0 -inf 0\n", 3, "'-inf'"},
           {"a.obj", "v 0 0 1e999\n", 1, "1e999"},
           {"a.obj", "v 0 0\n", 1, "missing"},
           {"a.obj", "v 0 0 abc\n", 1, "'abc', which is not a number"},
           {"a.obj", "v 0 0 1,5\n", 1, "'1,5'"},
           {"a.obj", "v 0 0 +-1\n", 1, "'+-1'"},
           {"a.obj", "v 0 0 0x10\n", 1, "'0x10'"},
           {"a.obj", "v 0 0 1e7\n", 1, "more than a kilometre from the origin"},
           {"a.obj", kThree, 0, "no faces"},
           {"a.obj", kThree + "l 1 2\np 3\n", 0, "no faces"},
           {"a.obj", "# nothing\n", 0, "no faces"},
           {"a.obj", std::string("v 0 0 0\0\n", 9), 1, "not a number"},
           {"a.obj", "\xFF\xFEv\0", 0, "UTF-16"},
       }) {
    expect_refused(bad);
  }
}

TEST(MeshIoErrors, AsciiStl) {
  const std::string facet =
      "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n";
  for (const Bad& bad : std::vector<Bad>{
           {"a.stl", "solid a\n" + facet.substr(0, facet.find("vertex 0 1")), 6, "the file ends"},
           {"a.stl", "solid a\n" + facet.substr(0, facet.find("1 0\nendloop")), 6,
            "the file ends where 'a coordinate'"},
           {"a.stl", "solid a\n" + facet, 9, "the file ends where 'facet or endsolid' is expected"},
           {"a.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 nan\n", 4, "'nan'"},
           {"a.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 x\n", 4, "'x'"},
           {"a.stl",
            "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\n", 7,
            "expected 'endloop'"},
           {"a.stl", "solid a\nendsolid a\n", 0, "no faces"},
           {"a.stl", "solid a\n" + facet + "endsolid a\njunk\n", 10, "'junk'"},
           {"a.stl", "hello\n", 0, "neither a binary STL"},
           {"a.stl", "solid", 1, "the file ends"},
       }) {
    expect_refused(bad);
  }
}

TEST(MeshIoErrors, BinaryStl) {
  const TemporaryFolder folder;
  save_mesh(shapes::icosphere(1), folder.path() / "a.stl");
  const std::string whole = read_file(folder.path() / "a.stl");
  expect_refused(
      {"b.stl", whole.substr(0, whole.size() - 1), 0, "80 facets, which is 4084 bytes, but the file has 4083"});
  expect_refused({"b.stl", whole.substr(0, 84), 0, "80 facets"});
  expect_refused({"b.stl", whole.substr(0, 83), 0, "neither a binary STL"});
  std::string as_solid = whole.substr(0, 2000);
  as_solid.replace(0, 5, "solid");
  expect_refused({"b.stl", as_solid, 0, "but the file has 2000"});
  std::string not_finite = whole;
  not_finite.replace(84 + 50 * 3 + 12, 4, std::string("\x00\x00\xC0\x7F", 4));
  expect_refused({"b.stl", not_finite, 0, "vertex 9 has a coordinate that is not a finite number"});
  expect_refused({"b.stl", std::string(84, '\0'), 0, "no faces"});
}

std::string ply(const std::string& counts_and_body, const std::string& format = "ascii") {
  return "ply\nformat " + format + " 1.0\n" + counts_and_body;
}

TEST(MeshIoErrors, Ply) {
  const std::string xyz = "property float x\nproperty float y\nproperty float z\n";
  const std::string list = "element face 1\nproperty list uchar int vertex_indices\nend_header\n";
  const std::string header = "element vertex 3\n" + xyz + list, points = "0 0 0\n1 0 0\n0 1 0\n";
  for (const Bad& bad : std::vector<Bad>{
           {"a.ply", "plx\n", 1, "does not start with 'ply'"},
           {"a.ply", "ply\nend_header\n", 2, "no format"},
           {"a.ply", "ply\nformat ascii 1.0\nelement vertex 3\n", 3, "the header has no end"},
           {"a.ply", ply("end_header\n", "text"), 2, "'text'"},
           {"a.ply", ply("element vertex -1\nend_header\n"), 3, "negative"},
           {"a.ply", ply("element vertex many\nend_header\n"), 3, "'many'"},
           {"a.ply", ply("element vertex 1\nproperty quad x\nend_header\n"), 4, "'quad'"},
           {"a.ply", ply("property float x\nend_header\n"), 3, "before the first element"},
           {"a.ply", ply("colour red\nend_header\n"), 3, "'colour'"},
           {"a.ply", ply("element vertex 1\nproperty float x\nproperty float y\nend_header\n0 0\n"), 3,
            "no coordinate 'z'"},
           {"a.ply", ply("element vertex 0\n" + xyz + "element face 1\nproperty int a\nend_header\n5\n"), 7,
            "no list 'vertex_indices'"},
           {"a.ply",
            ply("element vertex 0\n" + xyz + "element face 1\nproperty list uchar float vertex_index\nend_header\n"), 7,
            "fractions"},
           {"a.ply",
            ply("element vertex 0\n" + xyz + "element face 1\nproperty list float int vertex_index\nend_header\n"), 8,
            "fractional length"},
           {"a.ply", ply(header + points + "3 0 1 3\n"), 13, "uses vertex 3, the file has 3 counted from 0"},
           {"a.ply", ply(header + points + "3 0 1 -1\n"), 13, "uses vertex -1"},
           {"a.ply", ply(header + points + "3 0 1 2 7\n"), 13, "longer than the header says"},
           {"a.ply", ply(header + points + "3 0 1\n"), 13, "missing"},
           {"a.ply", ply(header + points + "-3 0 1\n"), 13, "negative length"},
           {"a.ply", ply(header + points + "2 0 1\n"), 13, "2 corners"},
           {"a.ply", ply(header + points + "3 0 1 1.5\n"), 13, "'1.5'"},
           {"a.ply", ply(header + points), 12, "ends after 0 of 1 rows of 'face'"},
           {"a.ply", ply(header + "0 0 0\n"), 10, "ends after 1 of 3 rows of 'vertex'"},
           {"a.ply", ply(header + "0 0 0\n0 nan 0\n"), 11, "'nan'"},
           {"a.ply", ply(header + "0 0 0\n0 0\n"), 11, "missing"},
           {"a.ply", ply(header + points + "3 0 1 2\n3 0 1 2\n"), 14, "more rows than the header says"},
           {"a.ply", ply("element vertex 3\n" + xyz + "end_header\n" + points), 0, "no faces"},
           {"a.ply", ply("element vertex 99999999999999\n" + xyz + "end_header\n" + points), 10, "ends after 3"},
           {"a.ply", ply("element vertex 99999999999999\n" + xyz + "end_header\n\1\2\3", "binary_little_endian"), 0,
            "ends after 0 of 99999999999999 rows"},
       }) {
    expect_refused(bad);
  }
}

TEST(MeshIoErrors, BinaryPly) {
  const TemporaryFolder folder;
  for (MeshEncoding encoding : {MeshEncoding::Binary, MeshEncoding::BinaryBigEndian}) {
    save_mesh_as(shapes::cube(), folder.path() / "a.ply", encoding);
    const std::string whole = read_file(folder.path() / "a.ply");
    expect_refused({"b.ply", whole.substr(0, whole.size() - 1), 0, "ends after 11 of 12 rows of 'face'"});
    expect_refused({"b.ply", whole.substr(0, whole.size() - 12 * 13 - 1), 0, "ends after 7 of 8 rows of 'vertex'"});
    expect_refused({"b.ply", whole + "x", 0, "more data than the header says"});
    std::string wrong = whole;
    wrong[whole.size() - 1] = wrong[whole.size() - 4] = 99;
    expect_refused({"b.ply", wrong, 0, "row 11 of 'face': a face uses vertex"});
    const bool big = encoding == MeshEncoding::BinaryBigEndian;
    std::string infinite = whole;
    infinite.replace(whole.find("end_header\n") + 11, 8,
                     big ? std::string("\x7F\xF0\0\0\0\0\0\0", 8) : std::string("\0\0\0\0\0\0\xF0\x7F", 8));
    expect_refused({"b.ply", infinite, 0, "vertex 0 has a coordinate that is not a finite number"});
  }
}

TEST(MeshIoErrors, LegacyVtk) {
  const std::string start = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n";
  const std::string points = start + "POINTS 3 float\n0 0 0\n1 0 0\n0 1 0\n";
  const std::string new_start = points + "POLYGONS 2 3\nOFFSETS vtktypeint64\n";
  for (const Bad& bad : std::vector<Bad>{
           {"a.vtk", "hello\n", 1, "does not start with"},
           {"a.vtk", "# vtk DataFile Version 3.0\nt\nTEXT\n", 3, "'TEXT'"},
           {"a.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n", 4, "not POLYDATA"},
           {"a.vtk", points + "POLYGONS 1 4\n3 0 1 3\n", 10, "uses vertex 3, the file has 3"},
           {"a.vtk", points + "POLYGONS 1 4\n3 0 1 -1\n", 10, "uses vertex -1"},
           {"a.vtk", points + "POLYGONS 1 5\n3 0 1 2\n4\n", 10, "do not fill the announced length"},
           {"a.vtk", points + "POLYGONS 1 3\n3 0 1 2\n", 10, "corner count of 3"},
           {"a.vtk", points + "POLYGONS 1 3\n2 0 1\n", 10, "2 corners"},
           {"a.vtk", points + "POLYGONS 2 4\n3 0 1 2\n", 10, "do not fill"},
           {"a.vtk", points + "POLYGONS 1 4\n3 0 1\n", 11, "missing"},
           {"a.vtk", points + "POLYGONS 9 4\n3 0 1 2\n", 10, "more cells than numbers"},
           {"a.vtk", points + "POLYGONS 1 999999999999\n3 0 1 2\n", 10, "too short"},
           {"a.vtk", start + "POINTS 2 float\n0 0 0\n1 0 0\n0 1 0\nPOLYGONS 1 4\n3 0 1 2\n", 8,
            "is not a section name"},
           {"a.vtk", start + "POINTS 999999999999 float\n0 0 0\n", 5, "fewer points than the header says"},
           {"a.vtk", start + "POINTS 3 float\n0 0 0\n1 0 nan\n", 7, "'nan'"},
           {"a.vtk", start + "POINTS 1 bit\n0 0 0\n", 5, "'bit'"},
           {"a.vtk", points, 0, "no faces"},
           {"a.vtk", points + "LINES 1 3\n2 0 1\n", 0, "no faces"},
           {"a.vtk", new_start + "0 4\nCONNECTIVITY vtktypeint64\n0 1 2\n", 11, "offsets do not rise"},
           {"a.vtk", new_start + "0 2\nCONNECTIVITY vtktypeint64\n0 1 2\n", 11, "do not end at the length"},
           {"a.vtk", new_start + "1 3\nCONNECTIVITY vtktypeint64\n0 1 2\n", 11, "offsets do not rise"},
           {"a.vtk", new_start + "0 3\n0 1 2\n", 12, "CONNECTIVITY is missing"},
           {"a.vtk", points + "POLYGONS 1 4\n3 0 1 2\nPOINT_DATA 4\n", 11, "the number of attributes is not"},
       }) {
    expect_refused(bad);
  }
  const TemporaryFolder folder;
  save_mesh(shapes::cube(), folder.path() / "a.vtk");
  const std::string whole = read_file(folder.path() / "a.vtk");
  expect_refused({"b.vtk", whole.substr(0, whole.size() - 2), 0, "too short"});
  expect_refused({"b.vtk", whole.substr(0, 200), 0, "too short"});
}

std::string vtp(const std::string& coordinates, const std::string& connectivity, const std::string& offsets) {
  return "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"0.1\" "
         "byte_order=\"LittleEndian\">\n<PolyData>\n"
         "<Piece NumberOfPoints=\"3\" NumberOfPolys=\"1\">\n<Points>\n"
         "<DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">" +
         coordinates +
         "</DataArray>\n</Points>\n<Polys>\n<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">" +
         connectivity + "</DataArray>\n<DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">" + offsets +
         "</DataArray>\n</Polys>\n</Piece>\n</PolyData>\n</VTKFile>\n";
}

TEST(MeshIoErrors, Vtp) {
  const std::string good = vtp("0 0 0 1 0 0 0 1 0", "0 1 2", "3");
  std::string nested = good;
  nested.insert(nested.find("</DataArray>"), "\n<Piece NumberOfPoints=\"3\"/>");
  std::string grid = good;
  grid.replace(grid.find("PolyData"), 8, "ImageDat");
  for (const Bad& bad : std::vector<Bad>{
           {"a.vtp", "hello\n", 0, "no element VTKFile"},
           {"a.vtp", good.substr(0, good.size() / 2), 6, "ends within the element 'DataArray'"},
           {"a.vtp", good.substr(0, good.size() - 14), 13, "ends within a tag"},
           {"a.vtp", good.substr(0, good.size() / 2) + "</VTKFile>", 6, "'VTKFile' has no matching start tag"},
           {"a.vtp", grid, 2, "'ImageDat', not PolyData"},
           {"a.vtp", nested, 7, "a piece begins within a data array"},
           {"a.vtp", vtp("0 0 0 1 0 0\n0 nan 0", "0 1 2", "3"), 7, "'nan'"},
           {"a.vtp", vtp("0 0 0 1 0 0 0 1", "0 1 2", "3"), 6, "missing"},
           {"a.vtp", vtp("0 0 0 1 0 0 0 1 0 1", "0 1 2", "3"), 6, "more numbers than announced"},
           {"a.vtp", vtp("0 0 0 1 0 0 0 1 0", "0 1 3", "3"), 9, "uses vertex 3, the file has 3"},
           {"a.vtp", vtp("0 0 0 1 0 0 0 1 0", "0 1 -1", "3"), 9, "uses vertex -1"},
           {"a.vtp", vtp("0 0 0 1 0 0 0 1 0", "0 1 2", "4"), 9, "missing"},
           {"a.vtp", vtp("0 0 0 1 0 0 0 1 0", "0 1 2", "2"), 10, "2 corners"},
           {"a.vtp", vtp("0 0 0 1 0 0 0 1 0", "0 1 2", "-3"), 10, "-3 corners"},
           {"a.vtp", vtp("0 0 0 1 0 0 0 1 9e9", "0 1 2", "3"), 6, "more than a kilometre from the origin"},
       }) {
    expect_refused(bad);
  }
}

TEST(MeshIoErrors, PathsWithoutAMesh) {
  const TemporaryFolder folder;
  const auto expect = [&](const std::filesystem::path& file, const char* part) {
    expect_sentence(message_of(file), file.string() + ": ", part);
  };
  expect(folder.path() / "missing.stl", "no such file");
  expect(folder.write("empty.stl", ""), "empty");
  expect(folder.write("empty.ply", ""), "empty");
  expect(folder.write("mesh.step", "x"), "'.step' is not a mesh format");
  expect(folder.write("mesh", "x"), "'' is not a mesh format");
  std::filesystem::create_directory(folder.path() / "folder.obj");
  expect(folder.path() / "folder.obj", "folder");
  expect(folder.path() / "folder.obj" / "a.obj", "no such file");
  if (::geteuid() != 0) {
    const auto locked = folder.write("locked.obj", "v 0 0 0\n");
    std::filesystem::permissions(locked, std::filesystem::perms::none);
    expect(locked, "cannot be read");
  }
}

TEST(MeshIoErrors, InvalidUnits) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.obj", kThree + "f 1 2 3\n");
  for (double unit : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(load_mesh(file, unit), InputError);
    EXPECT_THROW(save_mesh(shapes::cube(), folder.path() / "b.obj", unit), InputError);
  }
}

TEST(MeshIoErrors, UnwritablePaths) {
  const TemporaryFolder folder;
  const auto expect = [](const std::filesystem::path& file, const char* part, const TriangleMesh& mesh) {
    try {
      save_mesh(mesh, file);
      ADD_FAILURE() << file << " was saved";
    } catch (const InputError& error) {
      expect_sentence(error.what(), file.string() + ": ", part);
    }
  };
  for (const char* extension : {".stl", ".obj", ".ply", ".vtk", ".vtp"}) {
    expect(folder.path() / "no" / "such" / (std::string("a") + extension), "cannot be written", shapes::cube());
  }
  expect(folder.path() / "a.step", "not a mesh format", shapes::cube());
  expect(folder.path() / "a.obj", "no faces", TriangleMesh{});
  std::filesystem::create_directory(folder.path() / "a.obj");
  expect(folder.path() / "a.obj", "is a folder", shapes::cube());
}

// Saves on a full disk: the old file stays, and no partial file remains.
TEST(MeshIoErrors, SavingOnAFullDisk) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.obj", "the old one");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{16, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(save_mesh(shapes::cube(), file), RunError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_file(file), "the old one");
  const std::filesystem::directory_iterator entries(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

}  // namespace
}  // namespace trocar
