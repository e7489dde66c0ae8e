// Tests mesh files that must load, and what saving preserves: faces in order, positions bit for bit.
#include "mesh/mesh_io.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <locale>
#include <set>
#include <string>

#include "geometry/error.hpp"
#include "mesh/mesh_io_formats.hpp"
#include "mesh/triangle_mesh.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

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
  for (int face = 0; face < 2; ++face) {
    for (int corner = 0; corner < 3; ++corner) {
      EXPECT_EQ(mesh.positions[mesh.faces[face][corner]], expected[face][corner]) << what;
    }
  }
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
  for (std::size_t i = 0; i < soup.positions.size(); ++i) {
    EXPECT_EQ(soup.positions[welding.point_of[welding.vertex_of[i]]], soup.positions[i]);
  }
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
  for (const char* name : {"a.obj", "a.ply", "a.vtk", "a.vtp", "a.stl"}) {
    for (MeshEncoding encoding : {MeshEncoding::Binary, MeshEncoding::Ascii}) {
      save_mesh_as(mesh, folder.path() / name, encoding, kMetre);
      const TriangleMesh loaded = load_mesh(folder.path() / name, kMetre);
      ASSERT_EQ(loaded.faces.size(), mesh.faces.size()) << name;
      EXPECT_EQ(loaded.positions[loaded.faces[700].y], mesh.positions[mesh.faces[700].y]) << name;
    }
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
  for (const char* name : {"a.obj", "a.ply", "a.vtk", "a.vtp", "a.stl"}) {
    for (MeshEncoding encoding : {MeshEncoding::Binary, MeshEncoding::BinaryBigEndian, MeshEncoding::Ascii}) {
      save_mesh_as(mesh, folder.path() / name, encoding);
      const TriangleMesh loaded = load_mesh(folder.path() / name);
      ASSERT_EQ(loaded.faces.size(), mesh.faces.size()) << name;
      const bool is_stl = std::string(name) == "a.stl", exact = !is_stl || encoding == MeshEncoding::Ascii;
      if (!is_stl) {
        EXPECT_EQ(loaded.faces, mesh.faces) << name;
      }
      for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
        for (int corner = 0; corner < 3; ++corner) {
          const glm::vec3 was = mesh.positions[mesh.faces[f][corner]];
          const glm::vec3 is = loaded.positions[loaded.faces[f][corner]];
          const glm::vec3 allowed = exact ? glm::vec3(0.f) : glm::abs(was) * 1.2e-7f;
          ASSERT_TRUE(glm::all(glm::lessThanEqual(glm::abs(was - is), allowed))) << name << " face " << f;
        }
      }
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

}  // namespace
}  // namespace trocar
