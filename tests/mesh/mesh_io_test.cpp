// Tests mesh files that must load, and what saving preserves: faces in order, positions bit for bit.
#include <sys/resource.h>

#include <csignal>
#include <locale>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_io_formats.hpp"
#include "mesh/triangle_mesh.hpp"
#include "tests/mesh/mesh_io_support.hpp"
#include "tests/support/glb.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

using Faces = std::vector<glm::uvec3>;

constexpr double kMetre = 1.0;

TriangleMesh load_text(const std::string& name, const std::string& content) {
  const TemporaryFolder folder;
  return load_mesh(folder.write(name, content), kMetre);
}

std::string with_crlf(const std::string& text) {
  std::string result;
  for (char c : text) result += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return result;
}

const std::string kObj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n";
const std::string kStl =
    "solid a b c\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    "facet normal nan nan nan\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a b "
    "c\n";
const std::string kPly =
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 2\n"
    "property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n3 0 1 2\n3 1 3 2\n";
const std::string kVtk =
    "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n0 0 0 1 0 0\n0 1 0 1 1 0\n"
    "POLYGONS 2 8\n3 0 1 2\n3 1 3 2\n";
const std::string kVtp =
    "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"0.1\" byte_order=\"LittleEndian\">\n<PolyData>\n"
    "<Piece NumberOfPoints=\"4\" NumberOfPolys=\"2\">\n<Points>\n"
    "<DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 0 1 0 1 1 0</DataArray>\n"
    "</Points>\n<Polys>\n<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2 1 3 2</DataArray>\n"
    "<DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">3 6</DataArray>\n</Polys>\n</Piece>\n</PolyData>\n"
    "</VTKFile>\n";

struct Sample {
  std::string name, content;
};

std::vector<Sample> samples() {
  return {{"a.obj", kObj}, {"a.stl", kStl}, {"a.ply", kPly}, {"a.vtk", kVtk}, {"a.vtp", kVtp}};
}

void expect_square(const TriangleMesh& mesh, const std::string& what) {
  ASSERT_EQ(mesh.faces.size(), 2u) << what;
  ASSERT_EQ(mesh.positions.size(), 4u) << what;
  const glm::vec3 expected[2][3] = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{1, 0, 0}, {1, 1, 0}, {0, 1, 0}}};
  for (int face = 0; face < 2; ++face)
    for (int corner = 0; corner < 3; ++corner)
      EXPECT_EQ(mesh.positions[mesh.faces[face][corner]], expected[face][corner]) << what;
}

TEST(MeshIo, EveryTextFormatLoadsWithEveryLineEndAndByteOrderMark) {
  for (const Sample& sample : samples()) {
    expect_square(load_text(sample.name, sample.content), sample.name);
    expect_square(load_text(sample.name, with_crlf(sample.content)), sample.name + " with CRLF");
    expect_square(load_text(sample.name, "\xEF\xBB\xBF" + sample.content), sample.name + " with byte order mark");
    expect_square(load_text(sample.name, "\xEF\xBB\xBF" + with_crlf(sample.content)), sample.name + " with both");
  }
}

TEST(MeshIo, ExtensionsIgnoreCase) { expect_square(load_text("A.StL", kStl), "A.StL"); }

TEST(MeshIo, DefaultUnitIsTheMillimetre) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.obj", "v 0 0 0\nv 120 0 0\nv 0 35.5 0\nf 1 2 3\n");
  EXPECT_EQ(load_mesh(file).positions[1], glm::vec3(0.12f, 0, 0));
  EXPECT_EQ(load_mesh(file).positions[2], glm::vec3(0, 0.0355f, 0));
  EXPECT_EQ(load_mesh(file, 0.01).positions[1], glm::vec3(1.2f, 0, 0));
}

TEST(MeshIo, PolygonsBecomeFansInOrder) {
  const Faces fan = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 1, 4}};
  EXPECT_EQ(load_text("a.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 2 0\nv -1 1 0\nf 1 2 3 4 5\nf 1 2 5\n").faces, fan);
  EXPECT_EQ(load_text("a.ply",
                      "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n"
                      "element face 2\nproperty list uchar int vertex_index\nend_header\n"
                      "0 0 0\n1 0 0\n1 1 0\n0 2 0\n-1 1 0\n5 0 1 2 3 4\n3 0 1 4\n")
                .faces,
            fan);
  EXPECT_EQ(load_text("a.vtk",
                      "# vtk DataFile Version 2.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 5 double\n"
                      "0 0 0 1 0 0 1 1 0 0 2 0 -1 1 0\nPOLYGONS 2 10\n5 0 1 2 3 4 3 0 1 4\n")
                .faces,
            fan);
}

TEST(MeshIo, DegenerateFacesKeepTheirNumber) {
  const Faces faces = {{0, 0, 1}, {0, 1, 2}, {2, 2, 2}};
  EXPECT_EQ(load_text("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 1 2\nf 1 2 3\nf 3 3 3\n").faces, faces);
  TriangleMesh mesh = shapes::cube();
  mesh.faces.insert(mesh.faces.begin() + 3, {5, 5, 5});
  mesh.faces.push_back({1, 1, 2});
  const TemporaryFolder folder;
  for (const char* name : {"a.stl", "a.obj", "a.ply", "a.vtk", "a.vtp"}) {
    save_mesh(mesh, folder.path() / name);
    const TriangleMesh loaded = load_mesh(folder.path() / name);
    ASSERT_EQ(loaded.faces.size(), 14u) << name;
    EXPECT_EQ(loaded.faces[3].x, loaded.faces[3].z) << name;
    EXPECT_EQ(loaded.faces[13].x, loaded.faces[13].y) << name;
  }
}

TEST(MeshIo, OnlyStlIsWelded) {
  const TriangleMesh stl = load_text("a.stl", kStl);
  EXPECT_EQ(stl.faces, (Faces{{0, 1, 2}, {1, 3, 2}}));
  const TriangleMesh obj = load_text("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 0\nf 1 2 3\nf 4 3 2\n");
  EXPECT_EQ(obj.positions.size(), 4u);
}

TEST(MeshIo, WeldingComparesNumbersExactly) {
  const std::vector<glm::vec3> points = {
      {0, 0, 0}, {1, 0, 0}, {-0.f, 0, -0.f}, {std::nextafter(1.f, 2.f), 0, 0}, {1, 0, 0}};
  const Weld welding = weld(points);
  EXPECT_EQ(welding.vertex_of, (std::vector<std::uint32_t>{0, 1, 0, 2, 1}));
  EXPECT_EQ(welding.point_of, (std::vector<std::uint32_t>{0, 1, 3}));
}

TEST(MeshIo, WeldingAgreesWithASetOfPositions) {
  const TriangleMesh soup = shapes::random_soup(7, 2000, 1e-44f, 1e-43f);  // so small that many positions coincide
  std::set<std::array<float, 3>> distinct;
  for (const glm::vec3& p : soup.positions) distinct.insert({p.x + 0.f, p.y + 0.f, p.z + 0.f});
  const Weld welding = weld(soup.positions);
  EXPECT_EQ(welding.point_of.size(), distinct.size());
  for (std::size_t i = 0; i < soup.positions.size(); ++i)
    EXPECT_EQ(soup.positions[welding.point_of[welding.vertex_of[i]]], soup.positions[i]);
}

TEST(MeshIo, ObjCornersOfEveryForm) {
  const std::string vertices = "v 0 0 0 1.0\nv 1 0 0 0.5 nan 0.5\nv 0 1 0\nvt 0 0\nvn 0 0 1\nvp 1\n";
  const Faces one = {{0, 1, 2}};
  for (const char* face : {"f 1 2 3", "f 1/1 2/1 3/1", "f 1//1 2//1 3//1", "f 1/1/1 2/1/1 3/1/1", "f 1/1/1 2 3//1",
                           "f 1// 2// 3//", "f -3 -2 -1", "f 1 2 3 # first", "\tf  1\t2  3  ", "fo 1 2 3",
                           "f 1 2 \\\n3", "o x\ng f 1 2 3\ns 1\nusemtl a b\nmtllib c\nl 1 2\np 1\nf 1 2 3"}) {
    EXPECT_EQ(load_text("a.obj", vertices + face + "\n").faces, one) << face;
    EXPECT_EQ(load_text("a.obj", vertices + face).faces, one) << face << " without a line end";
  }
  EXPECT_EQ(load_text("a.obj", "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n").faces, one) << "vertices after the faces";
}

TEST(MeshIo, NumbersOfEveryForm) {
  const TriangleMesh mesh = load_text("a.obj", "v +1.5 -.25 1e-3\nv 1E2 5. 1e-400\nv 0 0 0\nf 1 2 3\n");
  EXPECT_EQ(mesh.positions[0], glm::vec3(1.5f, -0.25f, 1e-3f));
  EXPECT_EQ(mesh.positions[1], glm::vec3(100.f, 5.f, 0.f));
}

// A locale that writes 1,5 and 1.000, as in some countries.
struct CommaNumbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

class CommaLocale {
 public:
  CommaLocale() : before_(std::locale::global(std::locale(std::locale(), new CommaNumbers))) {}
  ~CommaLocale() { std::locale::global(before_); }

 private:
  std::locale before_;
};

TEST(MeshIo, TheLocaleDoesNotMatter) {
  const TemporaryFolder folder;
  const CommaLocale locale;
  TriangleMesh mesh = shapes::icosphere(3, 0.5f);
  for (const char* name : {"a.obj", "a.ply", "a.vtk", "a.vtp", "a.stl"})
    for (MeshEncoding encoding : {MeshEncoding::Binary, MeshEncoding::Ascii}) {
      save_mesh_as(mesh, folder.path() / name, encoding, kMetre);
      const TriangleMesh loaded = load_mesh(folder.path() / name, kMetre);
      ASSERT_EQ(loaded.faces.size(), mesh.faces.size()) << name;
      EXPECT_EQ(loaded.positions[loaded.faces[700].y], mesh.positions[mesh.faces[700].y]) << name;
    }
}

TEST(MeshIo, BinaryStlMayStartWithSolid) {
  const TemporaryFolder folder;
  const TriangleMesh cube = shapes::cube();
  save_mesh(cube, folder.path() / "a.stl");
  std::string bytes = read_file(folder.path() / "a.stl");
  bytes.replace(0, 12, "solid facet ");
  std::replace(bytes.begin() + 12, bytes.begin() + 80, '\0', ' ');
  EXPECT_EQ(load_mesh(folder.write("b.stl", bytes)).faces.size(), 12u);
}

TEST(MeshIo, SeveralSolidsMakeOneMesh) {
  std::string upper = kStl;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  EXPECT_EQ(load_text("a.stl", kStl + upper).faces, (Faces{{0, 1, 2}, {1, 3, 2}, {0, 1, 2}, {1, 3, 2}}));
}

TEST(MeshIo, PlySkipsUnneededElements) {
  const TriangleMesh mesh = load_text(
      "a.ply",
      "ply\nformat ascii 1.0\ncomment any\nobj_info any\nelement camera 1\nproperty float f\nproperty list uchar int "
      "l\n"
      "element vertex 3\nproperty uchar red\nproperty double y\nproperty list uchar float w\nproperty short x\n"
      "property float z\nelement face 1\nproperty float quality\nproperty list uint8 uint32 vertex_indices\n"
      "property list uchar float texcoord\nelement edge 1\nproperty int a\nend_header\n"
      "1.5 2 7 8\n255 2 1 0.5 1 3\n0 5 0 4 6\n\n1 8 2 1 1 7 9\n0.25 3 2 1 0 6 0 0 1 0 1 1\n12\n");
  EXPECT_EQ(mesh.positions, (std::vector<glm::vec3>{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}));
  EXPECT_EQ(mesh.faces, (Faces{{2, 1, 0}}));
}

TEST(MeshIo, StripsAreExpandedWithOneOrientation) {
  const Faces strip = {{0, 1, 2}, {1, 3, 2}, {2, 3, 4}};
  const std::string ply =
      "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n"
      "element tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 2 0\n";
  EXPECT_EQ(load_text("a.ply", ply + "5 0 1 2 3 4\n").faces, strip);
  EXPECT_EQ(load_text("a.ply", ply + "9 0 1 2 -1 1 3 2 -1 0\n").faces, (Faces{{0, 1, 2}, {1, 3, 2}}));
  EXPECT_EQ(load_text("a.vtk",
                      "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 5 float\n"
                      "0 0 0 1 0 0 0 1 0 1 1 0 0 2 0\nTRIANGLE_STRIPS 1 6\n5 0 1 2 3 4\nPOLYGONS 1 4\n3 4 3 2\n")
                .faces,
            (Faces{{4, 3, 2}, {0, 1, 2}, {1, 3, 2}, {2, 3, 4}}));
}

TEST(MeshIo, LegacyVtkWithEverythingAround) {
  const std::string text =
      "# vtk DataFile Version 5.1\ntitle\nascii\nDATASET POLYDATA\nFIELD FieldData 1\nTIME 1 2 double\n0.5 0.6\n"
      "POINTS 4 float\n0 0 0 1 0 0\n0 1 0 1 1 0\nMETADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION vtkDataArray\n"
      "DATA 2 0 1.7\n\nVERTICES 2 1\nOFFSETS vtktypeint64\n0 1\nCONNECTIVITY vtktypeint64\n3\nPOLYGONS 3 6\n"
      "OFFSETS vtktypeint64\n0 3 6\nCONNECTIVITY vtktypeint64\n0 1 2 1 3 2\nCELL_DATA 3\nSCALARS s float\n"
      "LOOKUP_TABLE default\n1 2 3\n";
  expect_square(load_text("a.vtk", text), "version 5.1");
  EXPECT_THROW(load_text("a.vtk", text.substr(0, text.find("CELL_DATA")) + "CELL_DATA 4\n"), InputError);
}

// A saved mesh has the same positions bit for bit when it is loaded again. Binary STL is the exception: it stores
// floats in the file's unit, so positions are equal within float rounding.
TEST(MeshIo, SavedMeshesLoadUnchanged) {
  const TemporaryFolder folder;
  TriangleMesh mesh = shapes::icosphere(3, 0.0911f, glm::vec3(0.313f, -0.217f, 0.05f));
  mesh.positions.push_back(glm::vec3(1e-9f, -3e-30f, 0.f));
  mesh.faces.push_back({0, 1, static_cast<std::uint32_t>(mesh.positions.size() - 1)});
  for (const char* name : {"a.obj", "a.ply", "a.vtk", "a.vtp", "a.stl"})
    for (MeshEncoding encoding : {MeshEncoding::Binary, MeshEncoding::BinaryBigEndian, MeshEncoding::Ascii}) {
      save_mesh_as(mesh, folder.path() / name, encoding);
      const TriangleMesh loaded = load_mesh(folder.path() / name);
      ASSERT_EQ(loaded.faces.size(), mesh.faces.size()) << name;
      const bool is_stl = std::string(name) == "a.stl", exact = !is_stl || encoding == MeshEncoding::Ascii;
      if (!is_stl) {
        EXPECT_EQ(loaded.faces, mesh.faces) << name;
      }
      for (std::size_t f = 0; f < mesh.faces.size(); ++f)
        for (int corner = 0; corner < 3; ++corner) {
          const glm::vec3 was = mesh.positions[mesh.faces[f][corner]];
          const glm::vec3 is = loaded.positions[loaded.faces[f][corner]];
          const glm::vec3 allowed = exact ? glm::vec3(0.f) : glm::abs(was) * 1.2e-7f;
          ASSERT_TRUE(glm::all(glm::lessThanEqual(glm::abs(was - is), allowed))) << name << " face " << f;
        }
    }
}

TEST(MeshIo, BinaryPlyOfBothOrdersIsTheSameMesh) {
  const TemporaryFolder folder;
  const TriangleMesh mesh = shapes::torus(12, 8);
  save_mesh_as(mesh, folder.path() / "little.ply", MeshEncoding::Binary);
  save_mesh_as(mesh, folder.path() / "big.ply", MeshEncoding::BinaryBigEndian);
  EXPECT_NE(read_file(folder.path() / "little.ply"), read_file(folder.path() / "big.ply"));
  EXPECT_EQ(load_mesh(folder.path() / "little.ply").positions, load_mesh(folder.path() / "big.ply").positions);
}

TEST(MeshIo, BinaryPlyHeaderMayEndItsLinesWithCrlf) {
  const TemporaryFolder folder;
  save_mesh(shapes::cube(), folder.path() / "a.ply");
  const std::string bytes = read_file(folder.path() / "a.ply");
  const std::size_t data = bytes.find("end_header\n") + 11;
  const auto file = folder.write("b.ply", with_crlf(bytes.substr(0, data)) + bytes.substr(data));
  EXPECT_EQ(load_mesh(file).positions, shapes::cube().positions);
}

TEST(MeshIo, SavingReplacesTheOldFileAndLeavesNoOther) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.obj", "old");
  save_mesh(shapes::cube(), file);
  EXPECT_EQ(load_mesh(file).faces.size(), 12u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

// Tests mesh files that must be refused, each with one sentence that names the file, the line if known, and a remedy.

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
       })
    expect_refused(bad);
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
       })
    expect_refused(bad);
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
       })
    expect_refused(bad);
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
       })
    expect_refused(bad);
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
       })
    expect_refused(bad);
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
  for (const char* extension : {".stl", ".obj", ".ply", ".vtk", ".vtp"})
    expect(folder.path() / "no" / "such" / (std::string("a") + extension), "cannot be written", shapes::cube());
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

// Tests the glTF reader on files built here word by word, and on damaged ones.

namespace mesh_io_gltf_test {

using test::bytes_of, test::Corners, test::corners_of, test::expect_near, test::loaded, test::with_nodes, test::word;
using test::kAccessors, test::kAsset, test::kBuffers, test::kMeshes, test::kTriangle;

TEST(Gltf, SavedAndLoadedHasTheSameBits) {
  const TemporaryFolder folder;
  const TriangleMesh mesh = shapes::random_soup(7, 300);
  save_mesh(mesh, folder.path() / "a.glb");
  const TriangleMesh again = load_mesh(folder.path() / "a.glb");
  EXPECT_EQ(again.faces, mesh.faces);
  EXPECT_TRUE(again.positions == mesh.positions);
  // In another unit the file has other numbers in single precision.
  save_mesh(mesh, folder.path() / "inch.glb", 0.0254);
  expect_near(corners_of(load_mesh(folder.path() / "inch.glb", 0.0254)), corners_of(mesh), 1e-8f);
}

TEST(Gltf, TheUnitIsTheMetre) {
  const Corners c = corners_of(loaded(with_nodes(R"("nodes":[{"mesh":0}])")));
  EXPECT_EQ(c, (Corners{{0, 0, 0}, {1, 0, 0}, {0, 2, 3}}));
  EXPECT_EQ(corners_of(loaded(with_nodes(R"("nodes":[{"mesh":0}])"), "a.GLB", 0.5 * kMillimetre))[1].x, 0.5f);
}

TEST(Gltf, NodesMoveTurnAndScaleTheirChildren) {
  // A child 10 along x of a parent that is turned by 90 degrees about z, doubled, and 100 along y.
  const std::string file = with_nodes(
      R"("scene":0,"scenes":[{"nodes":[1]}],"nodes":[{"mesh":0,"translation":[10,0,0]},)"
      R"({"children":[0],"rotation":[0,0,0.7071067811865476,0.7071067811865476],"scale":[2,2,2],"translation":[0,100,0]}])");
  expect_near(corners_of(loaded(file)), {{0, 120, 0}, {0, 122, 0}, {-4, 120, 6}}, 1e-5f);
  // The same as one matrix, column by column.
  const std::string matrix = with_nodes(R"("nodes":[{"mesh":0,"matrix":[0,2,0,0,-2,0,0,0,0,0,2,0,0,120,0,1]}])");
  expect_near(corners_of(loaded(matrix)), corners_of(loaded(file)), 1e-5f);
}

TEST(Gltf, AMirroredNodeKeepsItsFacesOutward) {
  const Corners c = corners_of(loaded(with_nodes(R"("nodes":[{"mesh":0,"scale":[-1,1,1]}])")));
  EXPECT_EQ(c, (Corners{{0, 0, 0}, {0, 2, 3}, {-1, 0, 0}}));
  const Corners twice = corners_of(loaded(with_nodes(R"("nodes":[{"mesh":0,"scale":[-1,-1,1]}])")));
  EXPECT_EQ(twice, (Corners{{0, 0, 0}, {-1, 0, 0}, {0, -2, 3}}));
}

TEST(Gltf, OnlyNodesOfTheSceneCountAndEachIsAPart) {
  const TemporaryFolder folder;
  const auto file = folder.write(
      "a.glb", with_nodes(R"("scene":1,"scenes":[{"nodes":[0]},{"nodes":[2,1]}],"nodes":[{"mesh":0,"name":"hidden"},)"
                          R"({"mesh":0,"name":"liver","translation":[5,0,0]},{"children":[3]},{"mesh":0}])"));
  const std::vector<MeshPart> parts = load_mesh_parts(file);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].name, "sheet");  // of the mesh, because the node has none
  EXPECT_EQ(parts[1].name, "liver");
  EXPECT_EQ(corners_of(parts[1].mesh)[0], glm::vec3(5, 0, 0));
  const TriangleMesh all = load_mesh(file);
  ASSERT_EQ(all.faces.size(), 2u);
  EXPECT_EQ(all.faces[1], glm::uvec3(3, 4, 5));
  const auto stl = folder.path() / "spleen.stl";
  save_mesh(all, stl);
  ASSERT_EQ(load_mesh_parts(stl).size(), 1u);
  EXPECT_EQ(load_mesh_parts(stl)[0].name, "spleen");
}

TEST(Gltf, StripsFansSharedVerticesAndLines) {
  const std::string corners =
      bytes_of({0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 0.f, 1.f, 1.f, 0.f}) + bytes_of<std::uint8_t>({3, 2, 1, 0});
  const std::string start =
      kAsset +
      R"("buffers":[{"byteLength":52}],"bufferViews":[{"buffer":0,"byteLength":48},)"
      R"({"buffer":0,"byteOffset":48,"byteLength":4}],"accessors":[)"
      R"({"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"},)"
      R"({"bufferView":1,"componentType":5121,"count":4,"type":"SCALAR"}],"nodes":[{"mesh":0}],"meshes":[{"primitives":[)";
  const auto with = [&](const std::string& primitives) { return loaded(glb(start + primitives + "]}]}", corners)); };
  EXPECT_EQ(with(R"({"attributes":{"POSITION":0},"mode":5})").faces, (std::vector<glm::uvec3>{{0, 1, 2}, {1, 3, 2}}));
  EXPECT_EQ(with(R"({"attributes":{"POSITION":0},"mode":6,"indices":1})").faces,
            (std::vector<glm::uvec3>{{3, 2, 1}, {3, 1, 0}}));
  const TriangleMesh both = with(R"({"attributes":{"POSITION":0},"mode":1},{"attributes":{"POSITION":0},"mode":5},)"
                                 R"({"attributes":{"POSITION":0},"mode":6})");
  EXPECT_EQ(both.positions.size(), 4u);
  EXPECT_EQ(both.faces, (std::vector<glm::uvec3>{{0, 1, 2}, {1, 3, 2}, {0, 1, 2}, {0, 2, 3}}));
}

TEST(Gltf, InterleavedQuantizedAndSparseNumbers) {
  // Positions as normalised bytes, 8 bytes apart; then one of them replaced.
  const std::string data = bytes_of<std::int8_t>({0, 0, 0, 9, 9, 9, 9, 9, 127, 0, 0, 9, 9, 9, 9, 9, 0, -127, -128, 9}) +
                           bytes_of<std::uint16_t>({2, 0}) + bytes_of<std::int8_t>({127, 127, 127, 0});
  const std::string json =
      kAsset +
      R"("extensionsRequired":["KHR_mesh_quantization","KHR_materials_unlit"],)"
      R"("buffers":[{"byteLength":28}],"bufferViews":[{"buffer":0,"byteLength":20,"byteStride":8},)"
      R"({"buffer":0,"byteOffset":20,"byteLength":4},{"buffer":0,"byteOffset":24,"byteLength":4}],"accessors":[)"
      R"({"bufferView":0,"componentType":5120,"normalized":true,"count":3,"type":"VEC3"SPARSE}],)"
      R"("nodes":[{"mesh":0}],"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}]})";
  const auto with = [&](const std::string& sparse) {
    std::string text = json;
    return corners_of(loaded(glb(text.replace(text.find("SPARSE"), 6, sparse), data)));
  };
  EXPECT_EQ(with(""), (Corners{{0, 0, 0}, {1, 0, 0}, {0, -1, -1}}));
  EXPECT_EQ(with(R"(,"sparse":{"count":1,"indices":{"bufferView":1,"componentType":5123},"values":{"bufferView":2}})"),
            (Corners{{0, 0, 0}, {1, 0, 0}, {1, 1, 1}}));
}

TEST(Gltf, TextWithItsDataInside) {
  std::string json = kAsset + kBuffers + kAccessors + kMeshes + R"("nodes":[{"mesh":0}]})";
  const std::string uri = R"("uri":"data:application/octet-stream;base64,)"
                          R"(AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAAEAAAEBAAAABAAIAAAA=",)";
  json.insert(json.find(R"("byteLength":44)"), uri);
  EXPECT_EQ(corners_of(loaded(json, "a.gltf")), (Corners{{0, 0, 0}, {1, 0, 0}, {0, 2, 3}}));
}

// ---- refusals ----

std::string message_of(const std::string& bytes, const char* name = "a.glb") {
  try {
    loaded(bytes, name);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

// The valid file with one part of its JSON replaced.
std::string altered(const std::string& from, const std::string& to) {
  std::string json = kAsset + kBuffers + kAccessors + kMeshes + R"("nodes":[{"mesh":0,"name":"n"}]})";
  const std::size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return glb(json.replace(at, from.size(), to), kTriangle);
}

TEST(Gltf, EachFaultHasItsSentence) {
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  struct Case {
    std::string bytes;
    const char* says;
  };
  const std::string good = altered("\"n\"", "\"n\"");
  EXPECT_EQ(message_of(good), "accepted");
  EXPECT_EQ(message_of(good + "xxxx"), "accepted");  // padding
  for (const Case& bad : std::vector<Case>{
           {"glTF", "within its header"},
           {good.substr(0, good.size() - 4), "bytes, but the file has"},
           {std::string(good).replace(4, 4, word(1)), "glTF version 1"},
           {std::string(good).replace(12, 4, word(1u << 30)), "longer than the file"},
           {std::string(good).replace(16, 4, "JSOM"), "first chunk is not JSON"},
           {altered("\"2.0\"", "\"1.0\""), "glTF version '1.0'"},
           {altered("\"version\":\"2.0\"", ""), "names no glTF version"},
           {altered("\"n\"", "\"n"), "JSON is malformed"},
           {altered("\"n\"", deep), "64 levels"},
           {altered("\"n\"", "5"), "nodes[0].name is not text"},
           {altered("\"n\"", "\"n\",\"skin\":0"), "deforms the mesh"},
           {altered("\"n\"", "\"n\",\"weights\":[0,0.5]"), "deform the mesh"},
           {altered("\"n\"", "\"n\",\"children\":[0]"), "no faces"},
           {altered("\"n\"", "\"n\"},{\"children\":[0]},{\"children\":[0]"), "used twice"},
           {altered("\"n\"", "\"n\",\"children\":[7]"), "nodes has 1 elements"},
           {altered("\"n\"", "\"n\",\"matrix\":[1,2]"), "has not 16 numbers"},
           {altered("\"n\"", "\"n\",\"matrix\":[1,0,0,1,0,1,0,0,0,0,1,0,0,0,0,1]"), "not affine"},
           {altered("\"n\"", "\"n\",\"rotation\":[0,0,0,0]"), "is zero"},
           {altered("\"n\"", "\"n\",\"scale\":[1e300,1,1]"), "from the origin"},
           {altered("\"n\"", "\"n\",\"scale\":[1,\"1\",1]"), "is not a number"},
           {altered("\"n\"", "\"n\",\"extensions\":{\"EXT_mesh_gpu_instancing\":{}}"), "has instances"},
           {altered("\"mesh\":0", "\"mesh\":-1"), "not a whole number"},
           {altered("\"mesh\":0", "\"mesh\":0.5"), "not a whole number"},
           {altered("\"mesh\":0", "\"mesh\":1"), "meshes has 1 elements"},
           {altered("\"POSITION\":0", "\"POSITION\":9"), "accessors has 2 elements"},
           {altered("\"POSITION\":0", "\"NORMAL\":0"), "POSITION is missing"},
           {altered("\"POSITION\":0", "\"POSITION\":1"), "three coordinates"},
           {altered("\"indices\":1", "\"indices\":0"), "vertex numbers that are not whole"},
           {altered("\"indices\":1", "\"indices\":1,\"mode\":7"), "not a mode"},
           {altered("\"indices\":1", "\"indices\":1,\"mode\":0"), "no faces"},
           {altered("\"count\":3,\"type\":\"SCALAR\"", "\"count\":4,\"type\":\"SCALAR\""), "make no triangles"},
           {altered("\"count\":3,\"type\":\"VEC3\"", "\"count\":2,\"type\":\"VEC3\""), "use vertex 2, and there are 2"},
           {altered("\"count\":3,\"type\":\"VEC3\"", "\"count\":4,\"type\":\"VEC3\""), "more than its data"},
           {altered("\"count\":3,\"type\":\"VEC3\"", "\"count\":9007199254740992,\"type\":\"VEC3\""),
            "more than its data"},
           {altered("\"type\":\"VEC3\"", "\"type\":\"VEC2\""), "'VEC2'"},
           {altered("5126", "5124"), "not a number type"},
           {altered("5126", "5123"), "no floating-point numbers"},
           {altered("\"bufferView\":0,", ""), "has no data"},
           {altered("\"byteLength\":36", "\"byteLength\":37000"), "longer than its buffer"},
           {altered("\"byteLength\":36", "\"byteLength\":36,\"byteStride\":4"), "overlap"},
           {altered("\"byteOffset\":36", "\"byteOffset\":18446744073709551615"), "longer than its buffer"},
           {altered("\"byteLength\":44", "\"byteLength\":45"), "should have 45"},
           {altered("\"byteLength\":44", "\"byteLength\":44,\"uri\":\"mesh.bin\""), "names another file"},
           {altered("\"byteLength\":44", "\"byteLength\":44,\"uri\":\"data:;base64,A?\""), "not base64"},
           {altered("\"asset\"", "\"extensionsRequired\":[\"KHR_draco_mesh_compression\"],\"asset\""),
            "'KHR_draco_mesh_compression'"},
           {altered("\"nodes\":[{\"mesh\":0,\"name\":\"n\"}]", "\"nodes\":4"), "nodes is not a list"},
       }) {
    const std::string said = message_of(bad.bytes);
    EXPECT_NE(said.find(bad.says), std::string::npos) << said << "\n  should contain " << bad.says;
    EXPECT_NE(said.find("; "), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
  EXPECT_NE(message_of("{\n\"asset\": }", "a.gltf").find("a.gltf:2: its JSON is malformed"), std::string::npos);
  const TemporaryFolder folder;
  EXPECT_THROW(save_mesh(shapes::cube(), folder.path() / "a.gltf"), InputError);
}

// A small file must not take long: many nodes may use one mesh of many primitives.
TEST(Gltf, AFileOfManyCopiesIsRefused) {
  std::string json = kAsset + kBuffers + kAccessors + R"("meshes":[{"primitives":[{"attributes":{},"mode":1})";
  for (int k = 1; k < 1024; ++k) json += R"(,{"mode":1})";
  json += R"(]}],"nodes":[{"mesh":0})";
  for (int k = 1; k < 1025; ++k) json += R"(,{"mesh":0})";
  const std::string said = message_of(glb(json + "]}", kTriangle));
  EXPECT_NE(said.find("primitives together; export fewer nodes"), std::string::npos) << said;
}

}  // namespace mesh_io_gltf_test

// Tests damaged files of every format but VTP, which mesh_io_vtk_test.cpp tests.

constexpr test::Format kFormats[] = {
    {"obj", mesh_io::read_obj, mesh_io::write_obj, MeshEncoding::Ascii, 4000},
    {"stl", mesh_io::read_stl, mesh_io::write_stl, MeshEncoding::Ascii, 4000},
    {"binary stl", mesh_io::read_stl, mesh_io::write_stl, MeshEncoding::Binary, 4000},
    {"ply", mesh_io::read_ply, mesh_io::write_ply, MeshEncoding::Ascii, 4000},
    {"binary ply", mesh_io::read_ply, mesh_io::write_ply, MeshEncoding::Binary, 4000},
    {"big endian ply", mesh_io::read_ply, mesh_io::write_ply, MeshEncoding::BinaryBigEndian, 4000},
    {"vtk", mesh_io::read_vtk, mesh_io::write_vtk, MeshEncoding::Ascii, 4000},
    {"binary vtk", mesh_io::read_vtk, mesh_io::write_vtk, MeshEncoding::Binary, 4000},
    {"glb", mesh_io::read_gltf, mesh_io::write_glb, MeshEncoding::Binary, 20000},
};

TEST(MeshIoFuzz, CutAtEveryLength) { test::cut_at_every_length(kFormats); }

TEST(MeshIoFuzz, CutFilesWithCountsAreRefused) { test::cut_files_with_counts(kFormats); }

TEST(MeshIoFuzz, FlippedBytes) { test::flip_bytes(kFormats); }

}  // namespace
}  // namespace trocar
