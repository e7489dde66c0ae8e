// Tests mesh files as other programs write them: with data that the reader does not need, with other line ends, with
// concave polygons, longer than they say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numbers>
#include <random>
#include <string>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Returns "read" and the number of faces, or the sentence with which the file is refused.
std::string outcome_of(const std::string& name, const std::string& content) {
  const TemporaryFolder folder;
  try {
    return "read, faces: " + std::to_string(load_mesh(folder.write(name, content)).faces.size());
  } catch (const InputError& error) {
    return error.what();
  }
}

TriangleMesh loaded(const std::string& name, const std::string& content) {
  const TemporaryFolder folder;
  return load_mesh(folder.write(name, content));
}

std::string replaced_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

std::mt19937 seeded() {
  const char* given = std::getenv("TROCAR_TEST_SEED");
  const auto seed = given ? static_cast<std::uint32_t>(std::atoll(given)) : std::random_device{}();
  std::cout << "seed " << seed << " (set TROCAR_TEST_SEED to repeat)\n";
  return std::mt19937(seed);
}

// ---- data that the reader does not need ----

const std::string kMetadata = "METADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION vtkDataArray\nDATA 2 0 1\n\n";
const std::string kComponents = "METADATA\nCOMPONENT_NAMES\nX\nY\nZ\n\n";

struct AsciiVtk {
  std::string before_points, before_cells, after_cells;
  std::string text() const {
    return "# vtk DataFile Version 4.2\n3D Slicer output. SPACE=LPS\nASCII\nDATASET POLYDATA\n" + before_points +
           "POINTS 3 float\n0 0 0\n60 0 0\n0 60 0\n" + before_cells + "POLYGONS 1 4\n3 0 1 2\n" + after_cells;
  }
};

TEST(MeshIoForeign, LegacyVtkWithFieldsOfAnyType) {
  const auto field = [](const std::string& arrays, int count) {
    return "FIELD FieldData " + std::to_string(count) + "\n" + arrays;
  };
  std::vector<std::string> blocks = {
      field("SPACE 1 1 string\nLPS\n", 1),
      field("SPACE 1 1 utf8_string\nLPS\n", 1),
      field("words 1 3 string\nPOINTS%20of%20entry\n\ntwo\nnumbers 1 2 int\n4 5\n", 2),
      field("flags 1 9 bit\n0 1 1 0 1 0 0 1 1\n", 1),
      field("mixed 1 2 variant\n6 4\n13 some%20words\n", 1),
      field("ids 1 2 vtkIdType\n4 5\n" + kMetadata + "big 1 1 vtktypeint64\n7\n", 2),
      field("a 1 1 unsigned_long_long\n7\nb 1 1 long_long\n-7\nc 1 1 signed_char\n1\nd 1 1 unsigned___int64\n2\n", 4),
      field("half 2 2 float16\n1 2\n3 4\n", 1),
      field("NULL_ARRAY\nempty 1 0 string\n\nnone 0 0 float\n", 3),
      kMetadata,
      kComponents,
      "\n\n \n",
      "LOOKUP_TABLE colours 2\n0 0 0 1\n1 1 1 1\n",
      "POINT_DATA 3\nSCALARS heat float 1\nLOOKUP_TABLE default\n1 2 3\n",
      "SCALARS heat float 1\nLOOKUP_TABLE default\n1 2 3\n",
  };
  blocks.push_back(blocks[0] + kMetadata);
  blocks.push_back(blocks[4] + "\n" + blocks[3]);
  for (const std::string& block : blocks) {
    SCOPED_TRACE(block);
    EXPECT_EQ(outcome_of("a.vtk", AsciiVtk{block, "", ""}.text()), "read, faces: 1") << "before the points";
    EXPECT_EQ(outcome_of("a.vtk", AsciiVtk{"", block, ""}.text()), "read, faces: 1") << "between points and cells";
    EXPECT_EQ(outcome_of("a.vtk", AsciiVtk{"", "", block}.text()), "read, faces: 1") << "after the cells";
    EXPECT_EQ(outcome_of("a.vtk", replaced_all(AsciiVtk{block, block, block}.text(), "\n", "\r\n")), "read, faces: 1")
        << "CRLF";
  }
}

TEST(MeshIoForeign, BinaryVtkWithFieldsOfAnyType) {
  const TemporaryFolder folder;
  const TriangleMesh cube = shapes::cube(60.f);
  save_mesh(cube, folder.path() / "a.vtk", 1.0);
  const std::string whole = read_file(folder.path() / "a.vtk");
  const std::string before = whole.substr(0, whole.find("POINTS")), after = whole.substr(whole.find("POINTS"));
  const std::string cells = "\nPOLYGONS";
  const auto field = [](const std::string& arrays, int count = 1) {
    return "FIELD FieldData " + std::to_string(count) + "\n" + arrays;
  };
  const auto zeros = [](std::size_t count) { return std::string(count, '\0'); };
  const std::string long_word(300, 'w');
  const std::vector<std::string> blocks = {
      // A string has its length before it, in 1, 2, 4 or 8 bytes; the first two bits say how many.
      field("SPACE 1 1 string\n\xC3LPS\n"),
      field("SPACE 1 2 string\n" + std::string("\x81\x2C", 2) + long_word + "\xC0\n"),
      field("SPACE 1 1 utf8_string\n" + std::string("\x40\0\x01\x2C", 4) + long_word + "\n"),
      field("SPACE 1 1 string\n" + zeros(7) + "\x03LPS\n"),
      field("flags 1 9 bit\n" + std::string("\x0A\x80", 2) + "\n"),
      field("mixed 1 2 variant\n6 4\n13 some%20words\n"),
      field("ids 1 2 vtkIdType\n" + zeros(8) + "\n" + kMetadata + "big 1 1 vtktypeint64\n" + zeros(8) + "\n", 2),
      field("a 1 1 unsigned_long_long\n" + zeros(8) + "\nb 3 1 unsigned_short\n" + zeros(6) + "\n", 2),
      field("size_of_long 1 2 long\n" + zeros(8) + "\n"),  // 4 bytes each, as Windows writes them
      field("half 2 2 float16\n" + zeros(8) + "\n"),
      kMetadata,
  };
  for (const std::string& block : blocks) {
    SCOPED_TRACE(block.substr(0, 60));
    EXPECT_EQ(outcome_of("b.vtk", before + block + after), "read, faces: 12") << "before the points";
    std::string between = before + after;
    between.insert(between.rfind(cells), "\n" + block);
    EXPECT_EQ(outcome_of("b.vtk", between), "read, faces: 12") << "between points and cells";
    const TriangleMesh read = loaded("b.vtk", before + block + after);
    EXPECT_EQ(read.faces, cube.faces);
  }
}

TEST(MeshIoForeign, PlyWithPropertiesOfAnyType) {
  const std::string list = "element face 1\nproperty list uchar int vertex_indices\n";
  const std::string xyz = "property float x\nproperty float y\nproperty float z\n", end = "end_header\n";
  const std::string points = "0 0 0\n1 0 0\n0 1 0\n", face = "3 0 1 2\n";
  for (const std::string& text : {
           "element vertex 3\n" + xyz + "property long id\nproperty bool chosen\n" + list + end +
               "0 0 0 7 true\n1 0 0 8 false\n0 1 0 9 true\n" + face,
           "element vertex 3\n" + xyz + list + "property int64 id\nproperty uint64 other\n" + end + points +
               "3 0 1 2 99 98\n",
           "element label 2\nproperty string name\n" + ("element vertex 3\n" + xyz) + list + end +
               "liver\nthe left lobe\n" + points + face,
           "element curve 1\nproperty list float float knots\nelement vertex 3\n" + xyz + list + end + "2 0.5 1\n" +
               points + face,
           "element vertex 3\n" + xyz + list + "element label 1\nproperty string name\n" + end + points + face +
               "left lobe\n",
           "element vertex 3\n" + xyz + "element face 0\nproperty int a\n" +
               "element tristrips 1\nproperty list int int vertex_indices\n" + end + points + face,
       })
    EXPECT_EQ(outcome_of("a.ply", "ply\nformat ascii 1.0\n" + text), "read, faces: 1") << text;
  const std::string needed = "element vertex 3\nproperty string x\nproperty float y\nproperty float z\n";
  EXPECT_NE(outcome_of("a.ply", "ply\nformat ascii 1.0\n" + needed + list + end + points + face)
                .find("'string' is not a PLY number type"),
            std::string::npos);
}

TEST(MeshIoForeign, VtpWithNamesAndTexts) {
  const auto vtp = [](const std::string& more, const std::string& prolog = "") {
    return "<?xml version=\"1.0\"?>\n" + prolog +
           "<VTKFile type=\"PolyData\" version=\"0.1\" byte_order=\"LittleEndian\">\n<PolyData>\n"
           "<FieldData><Array type=\"String\" Name=\"SPACE\" NumberOfTuples=\"1\" format=\"ascii\">76 80 83 0</Array>" +
           more +
           "</FieldData>\n<Piece NumberOfPoints=\"3\" NumberOfPolys=\"1\">\n<Points>\n"
           "<DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 0 1 0</DataArray>\n"
           "</Points>\n<Polys>\n<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2</DataArray>\n"
           "<DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">3</DataArray>\n</Polys>\n</Piece>\n"
           "</PolyData>\n</VTKFile>\n";
  };
  EXPECT_EQ(outcome_of("a.vtp", vtp("")), "read, faces: 1");
  EXPECT_EQ(outcome_of("a.vtp", vtp("<DataArray type=\"Float32\" Name=\"a > b\" format=\"ascii\">1</DataArray>")),
            "read, faces: 1");
  EXPECT_EQ(outcome_of("a.vtp", vtp("<Text><![CDATA[ a < b & </Points> ]]></Text>")), "read, faces: 1");
  EXPECT_EQ(outcome_of("a.vtp", vtp("", "<!DOCTYPE VTKFile>\n")), "read, faces: 1");
}

TEST(MeshIoForeign, GltfWithBuffersOfOtherFilesForItsPictures) {
  const std::string text = R"({"asset":{"version":"2.0","extras":{"unit":"mm","deep":[[1,2],{"a":null}]}},"scene":0,
"extras":"words","scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,"extras":{"a":1}}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"accessors":[{"bufferView":0,"componentType":5126,
"count":3,"type":"VEC3"}],"bufferViews":[{"buffer":0,"byteLength":36},{"buffer":1,"byteLength":9}],
"images":[{"bufferView":1,"mimeType":"image/png"}],"buffers":[
{"byteLength":36,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"},
{"byteLength":9,"uri":"picture.bin"}]})";
  EXPECT_EQ(outcome_of("a.gltf", text), "read, faces: 1");
  std::string needed = text;
  needed.replace(needed.find("\"buffer\":0"), 10, "\"buffer\":1");
  EXPECT_NE(outcome_of("a.gltf", needed).find("names another file"), std::string::npos) << outcome_of("a.gltf", needed);
}

TEST(MeshIoForeign, ObjStatementsOfOtherPrograms) {
  const std::string three = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  for (const char* line : {"#MRGB ffff", "matlib a.mtl", "tex a.png", "newmtl skin", "xmin 0", "subdiv 2"})
    EXPECT_EQ(outcome_of("a.obj", three + line + "\nf 1 2 3\n"), "read, faces: 1") << line;
  for (const char* line : {"q 1 2 3", "vv 1 2 3", "v1 2 3", "ff 1 2 3", "F 1 2 3", "1 2 3"})
    EXPECT_NE(outcome_of("a.obj", three + line + "\nf 1 2 3\n").find("is not an OBJ statement"), std::string::npos)
        << line;
}

// ---- line ends ----

TEST(MeshIoForeign, CarriageReturnsEndLines) {
  const TemporaryFolder folder;
  const TriangleMesh ball = shapes::icosphere(2, 0.05f);
  for (const char* name : {"a.obj", "a.ply", "a.stl", "a.vtk", "a.vtp"}) {
    save_mesh_as(ball, folder.path() / name, MeshEncoding::Ascii);
    const std::string text = read_file(folder.path() / name), wanted = outcome_of(name, text);
    ASSERT_EQ(wanted, "read, faces: 320");
    for (const char* end : {"\r", "\r\n", "\r\r\n"}) {
      const std::string changed = replaced_all(text, "\n", end);
      EXPECT_EQ(outcome_of(name, changed), wanted) << name;
      if (outcome_of(name, changed) != wanted) continue;
      EXPECT_EQ(loaded(name, changed).faces, loaded(name, text).faces);
    }
    // Two files with different line ends in one.
    std::string mixed = text;
    for (std::size_t at = 0; (at = mixed.find('\n', at)) != mixed.npos; ++at)
      if (at > mixed.size() / 2) mixed[at] = '\r';
    EXPECT_EQ(outcome_of(name, mixed), wanted) << name << ", mixed";
  }
  // The lines of errors are counted.
  EXPECT_NE(outcome_of("a.obj", "v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 9\r").find("a.obj:4: "), std::string::npos);
  EXPECT_NE(outcome_of("a.stl", "solid a\rfacet normal 0 0 1\router loop\rvertex 0 0 nan\r").find("a.stl:4: "),
            std::string::npos);
}

// The first byte of the data is a line feed, which must not be taken as part of the line end before it.
TEST(MeshIoForeign, BinaryFilesMayHaveHeadersWithCarriageReturns) {
  const auto bytes_of = [](std::uint32_t word, bool big) {
    std::string bytes;
    for (int k = 0; k < 4; ++k) bytes += static_cast<char>(word >> 8 * (big ? 3 - k : k));
    return bytes;
  };
  const std::uint32_t one = 0x3F800000u;
  for (const bool big : {false, true}) {
    std::string points, corners, header = "ply\nformat binary_";
    for (const std::uint32_t word : {big ? 0x0A000000u : 0x3D00000Au, 0u, 0u, one, 0u, 0u, 0u, one, 0u})
      points += bytes_of(word, big);
    for (const std::uint32_t word : {0u, 1u, 2u}) corners += bytes_of(word, big);
    header += std::string(big ? "big" : "little") +
              "_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\n" +
              "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
    for (const char* end : {"\n", "\r\n", "\r"}) {
      EXPECT_EQ(outcome_of("a.ply", replaced_all(header, "\n", end) + points + "\3" + corners), "read, faces: 1");
      if (!big) continue;
      const std::string start = "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET POLYDATA\nPOINTS 3 float\n";
      EXPECT_EQ(outcome_of("a.vtk", replaced_all(start, "\n", end) + points +
                                        replaced_all("\nPOLYGONS 1 4\n", "\n", end) + bytes_of(3, true) + corners),
                "read, faces: 1");
    }
  }
}

// ---- lengths ----

TEST(MeshIoForeign, ABinaryStlMayBeLongerThanItsCount) {
  const TemporaryFolder folder;
  save_mesh(shapes::icosphere(1), folder.path() / "a.stl");
  const std::string whole = read_file(folder.path() / "a.stl");
  std::string as_solid = whole;
  as_solid.replace(0, 5, "solid");
  for (const std::string& more :
       {std::string("x"), std::string(2, '\0'), std::string(50, '\0'), std::string(4096, ' ')})
    for (const std::string& bytes : {whole, as_solid})
      EXPECT_EQ(outcome_of("b.stl", bytes + more), "read, faces: 80") << more.size();
  EXPECT_NE(outcome_of("b.stl", whole.substr(0, whole.size() - 1)).find("but the file has 4083"), std::string::npos);
  std::string none = whole;
  none.replace(80, 4, 4, '\0');
  EXPECT_NE(outcome_of("b.stl", none).find("the header says 0 facets"), std::string::npos) << outcome_of("b.stl", none);
  save_mesh(shapes::icosphere(1), folder.path() / "a.glb");
  EXPECT_EQ(outcome_of("b.glb", read_file(folder.path() / "a.glb") + std::string(3, '\0')), "read, faces: 80");
}

// ---- polygons ----

// Points in the plane as an OBJ, a PLY, a VTK or a VTP file with one polygon. `turn`: the plane's position in space.
std::string polygon_file(const std::string& format, const std::vector<glm::dvec3>& corners) {
  std::string points, list, numbers;
  const std::string count = std::to_string(corners.size());
  for (std::size_t k = 0; k < corners.size(); ++k) {
    char line[100];
    std::snprintf(line, sizeof line, "%.17g %.17g %.17g\n", corners[k].x, corners[k].y, corners[k].z);
    points += (format == "obj" ? "v " : "") + std::string(line);
    numbers += " " + std::to_string(k + (format == "obj" ? 1 : 0));
  }
  if (format == "obj") return "f" + numbers + "\n" + points;  // vertices after the face
  if (format == "ply")
    return "ply\nformat ascii 1.0\nelement face 1\nproperty list uint int vertex_indices\nelement vertex " + count +
           "\nproperty double x\nproperty double y\nproperty double z\nend_header\n" + count + numbers + "\n" + points;
  if (format == "vtk")
    return "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOLYGONS 1 " + std::to_string(corners.size() + 1) +
           "\n" + count + numbers + "\nPOINTS " + count + " double\n" + points;
  return "<VTKFile type=\"PolyData\" version=\"0.1\" byte_order=\"LittleEndian\"><PolyData><Piece NumberOfPoints=\"" +
         count +
         "\" NumberOfPolys=\"1\"><Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">" +
         points + "</DataArray></Points><Polys><DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">" +
         numbers + "</DataArray><DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">" + count +
         "</DataArray></Polys></Piece></PolyData></VTKFile>";
}

constexpr const char* kPolygonFormats[] = {"obj", "ply", "vtk", "vtp"};

double area_of(const TriangleMesh& mesh) { return mesh_report(mesh.view(), {.find_crossings = false}).area; }

bool is_fan(const TriangleMesh& mesh) {
  for (std::size_t k = 0; k < mesh.faces.size(); ++k)
    if (mesh.faces[k] != glm::uvec3(0, k + 1, k + 2)) return false;
  return true;
}

std::string l_prism() {
  return "v 0 0 0\nv 60 0 0\nv 60 20 0\nv 20 20 0\nv 20 60 0\nv 0 60 0\nv 0 0 40\nv 60 0 40\nv 60 20 40\n"
         "v 20 20 40\nv 20 60 40\nv 0 60 40\nf 8 9 10 11 12 7\nf 6 5 4 3 2 1\nf 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\n"
         "f 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12\n";
}

TEST(MeshIoForeign, APrismWithAConcaveBaseIsSound) {
  const MeshReport report = mesh_report(loaded("a.obj", l_prism()).view());
  EXPECT_EQ(report.faces, 20u);
  EXPECT_NEAR(report.area, 136e-4, 1e-8);
  EXPECT_NEAR(report.volume, 80e-6, 1e-10);
  EXPECT_TRUE(report.sound()) << report.crossing_pairs << " " << report.folded_pairs;
}

TEST(MeshIoForeign, TheConcavePrismOfTheReportHasItsArea) {
  const auto file = shared_file("reports/obj_concave_ngon_0.obj");
  if (!file) GTEST_SKIP() << "no shared test data";
  const MeshReport report = mesh_report(load_mesh(*file).view());
  EXPECT_NEAR(report.area, 136e-4, 1e-8);
  EXPECT_TRUE(report.sound());
}

// A polygon that is seen whole from its first corner is a fan around it, as before; a quadrilateral may be warped.
TEST(MeshIoForeign, ConvexPolygonsStayFans) {
  for (const char* format : kPolygonFormats) {
    for (int corners = 3; corners < 40; ++corners) {
      std::vector<glm::dvec3> ring;
      for (int k = 0; k < corners; ++k) {
        const double angle = 2.0 * std::numbers::pi * k / corners;
        ring.emplace_back(20.0 * std::cos(angle) + 3.0, 7.0 * std::sin(angle), 5.0 * std::cos(angle));
      }
      const TriangleMesh mesh = loaded(std::string("a.") + format, polygon_file(format, ring));
      EXPECT_EQ(mesh.faces.size(), ring.size() - 2);
      EXPECT_TRUE(is_fan(mesh)) << format << " " << corners;
    }
    EXPECT_TRUE(is_fan(
        loaded(std::string("a.") + format, polygon_file(format, {{0, 0, 0}, {60, 0, 9}, {60, 60, 0}, {0, 60, 9}}))));
  }
}

// Star-shaped polygons with random radii, in a random plane, from a random first corner: the triangles cover the
// polygon once.
TEST(MeshIoForeign, TheTrianglesOfAConcavePolygonCoverItOnce) {
  std::mt19937 random = seeded();
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (int round = 0; round < 120; ++round) {
    const std::size_t corners = 4 + random() % (round % 10 == 0 ? 400 : 30);
    const glm::dvec3 u = glm::normalize(glm::dvec3(unit(random) - 0.5, unit(random) - 0.5, unit(random) + 0.1));
    const glm::dvec3 v = glm::normalize(glm::cross(u, glm::dvec3(unit(random) + 0.1, -unit(random), 0.3)));
    std::vector<glm::dvec2> flat;
    for (std::size_t k = 0; k < corners; ++k) {
      const double angle =
          2.0 * std::numbers::pi * (static_cast<double>(k) + 0.4 * unit(random)) / static_cast<double>(corners);
      flat.push_back((5.0 + 60.0 * unit(random)) * glm::dvec2(std::cos(angle), std::sin(angle)));
    }
    std::rotate(flat.begin(), flat.begin() + static_cast<std::ptrdiff_t>(random() % corners), flat.end());
    double twice = 0.0;
    std::vector<glm::dvec3> ring;
    for (std::size_t k = 0; k < corners; ++k) {
      const glm::dvec2 &a = flat[k], &b = flat[(k + 1) % corners];
      twice += a.x * b.y - a.y * b.x;
      ring.push_back(u * a.x + v * a.y + glm::dvec3(100.0, -50.0, 20.0));
    }
    const std::string format = kPolygonFormats[round % 4];
    const TriangleMesh mesh = loaded("a." + format, polygon_file(format, ring));
    ASSERT_EQ(mesh.faces.size(), corners - 2);
    EXPECT_NEAR(area_of(mesh) * 1e6, 0.5 * twice, 1e-4 * twice) << format << ", " << corners << " corners";
    const glm::dvec3 normal = glm::cross(u, v);
    for (const glm::uvec3& face : mesh.faces) {
      const Triangle t = triangle_of(mesh.positions, face);
      EXPECT_GE(glm::dot(glm::cross(t.b - t.a, t.c - t.a), normal), -5e-9) << "a triangle is turned over";
    }
  }
}

// A comb and a spiral: many ears are blocked.
TEST(MeshIoForeign, CombsAndSpirals) {
  std::vector<glm::dvec3> comb, spiral;
  for (int k = 0; k < 200; ++k) comb.emplace_back(k, k % 2 == 0 ? 0.0 : 90.0, 0.0);
  comb.emplace_back(199.0, -10.0, 0.0);
  comb.emplace_back(0.0, -10.0, 0.0);
  std::reverse(comb.begin(), comb.end());
  for (const double radius : {4.0, 3.0}) {
    std::vector<glm::dvec3> turn;
    for (int k = 0; k < 120; ++k)
      turn.emplace_back((radius + 0.1 * k) * std::cos(0.2 * k), (radius + 0.1 * k) * std::sin(0.2 * k), 7.0);
    if (radius == 3.0) std::reverse(turn.begin(), turn.end());
    spiral.insert(spiral.end(), turn.begin(), turn.end());
  }
  for (const std::vector<glm::dvec3>& ring : {comb, spiral}) {
    double twice = 0.0;
    for (std::size_t k = 0; k < ring.size(); ++k) {
      const glm::dvec3 &a = ring[k], &b = ring[(k + 1) % ring.size()];
      twice += a.x * b.y - a.y * b.x;
    }
    EXPECT_NEAR(area_of(loaded("a.obj", polygon_file("obj", ring))) * 1e6, 0.5 * std::abs(twice),
                1e-4 * std::abs(twice));
  }
}

// Corners on a side give no face without area where another triangulation has none.
TEST(MeshIoForeign, CornersOnASideGiveNoFlatFaces) {
  const std::vector<glm::dvec3> ring = {{0, 0, 0},   {20, 0, 0},  {40, 0, 0}, {60, 0, 0}, {60, 30, 0},
                                        {60, 60, 0}, {30, 60, 0}, {0, 60, 0}, {0, 30, 0}};
  for (std::size_t first = 0; first < ring.size(); ++first) {
    std::vector<glm::dvec3> turned = ring;
    std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(first), turned.end());
    const TriangleMesh mesh = loaded("a.obj", polygon_file("obj", turned));
    EXPECT_EQ(mesh_report(mesh.view()).degenerate_faces(), 0u) << first;
    EXPECT_NEAR(area_of(mesh), 36e-4, 1e-9);
  }
}

// Polygons without a plane, and those that cross themselves, become fans as before.
TEST(MeshIoForeign, DegenerateAndCrossingPolygonsAreFans) {
  for (const std::vector<glm::dvec3>& ring : std::vector<std::vector<glm::dvec3>>{
           {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}},
           {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {1.5, 0, 0}},
           {{0, 0, 0}, {60, 60, 0}, {60, 0, 0}, {0, 60, 0}},
           {{0, 10, 0}, {6, -8, 0}, {-9, 3, 0}, {9, 3, 0}, {-6, -8, 0}},
       })
    for (const char* format : kPolygonFormats) {
      const TriangleMesh mesh = loaded(std::string("a.") + format, polygon_file(format, ring));
      EXPECT_EQ(mesh.faces.size(), ring.size() - 2);
      EXPECT_TRUE(is_fan(mesh)) << format << " " << ring.size();
    }
}

}  // namespace
}  // namespace trocar
