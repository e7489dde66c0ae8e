// Compares our readers with independent ones on valid files: tinyobjloader for OBJ, VTK for the others. Tests that VTK
// reads the files that we save.
#include <tiny_obj_loader.h>
#include <vtkBitArray.h>
#include <vtkCellArray.h>
#include <vtkCharArray.h>
#include <vtkCompositeDataIterator.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkFloatArray.h>
#include <vtkGLTFReader.h>
#include <vtkGLTFWriter.h>
#include <vtkIdTypeArray.h>
#include <vtkLongArray.h>
#include <vtkLongLongArray.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkPLYReader.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkPolyDataReader.h>
#include <vtkPolyDataWriter.h>
#include <vtkSTLReader.h>
#include <vtkShortArray.h>
#include <vtkSignedCharArray.h>
#include <vtkSmartPointer.h>
#include <vtkStringArray.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnsignedLongArray.h>
#include <vtkUnsignedLongLongArray.h>
#include <vtkUnsignedShortArray.h>
#include <vtkVariant.h>
#include <vtkVariantArray.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLPolyDataWriter.h>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "tests/mesh/mesh_io_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::mesh_io_vtk_test {
namespace {

// Corners of every face in order, in file units: independent of the vertex indices.
using Corners = std::vector<glm::vec3>;

Corners corners_of(const TriangleMesh& mesh) {
  Corners corners;
  for (const glm::uvec3& face : mesh.faces)
    for (int i = 0; i < 3; ++i) corners.push_back(mesh.positions[face[i]]);
  return corners;
}

Corners corners_of(vtkPolyData& data) {
  Corners corners;
  vtkCellArray& cells = *data.GetPolys();
  for (vtkIdType cell = 0; cell < cells.GetNumberOfCells(); ++cell) {
    vtkIdType count = 0;
    const vtkIdType* ids = nullptr;
    cells.GetCellAtId(cell, count, ids);
    for (vtkIdType i = 2; i < count; ++i)
      for (vtkIdType id : {ids[0], ids[i - 1], ids[i]}) {
        const double* p = data.GetPoint(id);
        corners.emplace_back(glm::dvec3(p[0], p[1], p[2]));
      }
  }
  return corners;
}

template <class Reader>
Corners vtk_corners(const std::filesystem::path& file) {
  vtkNew<Reader> reader;
  reader->SetFileName(file.c_str());
  if constexpr (std::is_same_v<Reader, vtkSTLReader>) reader->MergingOff();
  reader->Update();
  return corners_of(*reader->GetOutput());
}

Corners tiny_corners(const std::filesystem::path& file) {
  tinyobj::ObjReaderConfig config;
  config.triangulate = false;
  tinyobj::ObjReader reader;
  EXPECT_TRUE(reader.ParseFromFile(file.string(), config)) << reader.Error();
  const auto& vertices = reader.GetAttrib().vertices;
  Corners corners;
  for (const auto& shape : reader.GetShapes()) {
    std::size_t first = 0;
    for (std::size_t count : shape.mesh.num_face_vertices) {
      for (std::size_t i = 2; i < count; ++i)
        for (std::size_t corner : {std::size_t{0}, i - 1, i}) {
          const auto v = static_cast<std::size_t>(shape.mesh.indices[first + corner].vertex_index);
          corners.emplace_back(vertices[3 * v], vertices[3 * v + 1], vertices[3 * v + 2]);
        }
      first += count;
    }
  }
  return corners;
}

// Other readers round decimal numbers slightly differently.
void expect_same(const Corners& ours, const Corners& theirs, const std::string& what) {
  ASSERT_EQ(ours.size(), theirs.size()) << what;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const glm::vec3 allowed = glm::abs(theirs[i]) * 3e-7f + 1e-30f;
    ASSERT_TRUE(glm::all(glm::lessThanEqual(glm::abs(ours[i] - theirs[i]), allowed))) << what << " corner " << i;
  }
}

TEST(MeshIoTwins, SharedFiles) {
  if (!shared_file("organs")) GTEST_SKIP() << "no shared test data";
  for (const char* name :
       {"organs/sofa/liver.obj", "organs/sofa/liver-smooth.obj", "broken/dragon.obj", "broken/quadknot.obj",
        "broken/self_intersectA.obj", "parser/trimesh/negative_indices.obj", "parser/trimesh/two_objects.obj"})
    if (const auto file = shared_file(name)) expect_same(corners_of(load_mesh(*file, 1.0)), tiny_corners(*file), name);
  for (const char* name : {"organs/openhelp/Liver.stl", "organs/gallbladder/liver_visual.stl", "broken/busted.STL",
                           "parser/trimesh/multibody.stl", "parser/trimesh/two_objects_mixed_case_names.stl"})
    if (const auto file = shared_file(name))
      expect_same(corners_of(load_mesh(*file, 1.0)), vtk_corners<vtkSTLReader>(*file), name);
  for (const char* name :
       {"collision/bunny.ply", "collision/two-cubes-far.ply", "parser/trimesh/tet.ply", "parser/trimesh/multi.ply"})
    if (const auto file = shared_file(name))
      expect_same(corners_of(load_mesh(*file, 1.0)), vtk_corners<vtkPLYReader>(*file), name);
  if (const auto file = shared_file("organs/sofa/liver.vtk"))
    expect_same(corners_of(load_mesh(*file, 1.0)), vtk_corners<vtkPolyDataReader>(*file), "liver.vtk");
}

TEST(MeshIoTwins, OthersReadWhatWeSave) {
  const TemporaryFolder folder;
  const TriangleMesh mesh = shapes::torus(30, 14, 91.7f, 33.3f);
  const auto save = [&](const char* name, MeshEncoding encoding) {
    const auto file = folder.path() / name;
    save_mesh_as(mesh, file, encoding, 1.0);
    return file;
  };
  const Corners expected = corners_of(mesh);
  expect_same(expected, tiny_corners(save("a.obj", MeshEncoding::Ascii)), "obj");
  for (MeshEncoding encoding : {MeshEncoding::Binary, MeshEncoding::BinaryBigEndian, MeshEncoding::Ascii}) {
    expect_same(expected, vtk_corners<vtkSTLReader>(save("a.stl", encoding)), "stl");
    expect_same(expected, vtk_corners<vtkPLYReader>(save("a.ply", encoding)), "ply");
    expect_same(expected, vtk_corners<vtkPolyDataReader>(save("a.vtk", encoding)), "vtk");
    expect_same(expected, vtk_corners<vtkXMLPolyDataReader>(save("a.vtp", encoding)), "vtp");
  }
}

vtkSmartPointer<vtkPolyData> strips_and_attributes() {
  const auto data = vtkSmartPointer<vtkPolyData>::New();
  vtkNew<vtkPoints> points;
  for (int i = 0; i < 8; ++i) points->InsertNextPoint(i * 0.1, (i % 2) * 1.5, i * i * 0.01);
  vtkNew<vtkCellArray> vertices, lines, polygons, strips;
  vertices->InsertNextCell({7});
  lines->InsertNextCell({0, 1, 2});
  polygons->InsertNextCell({0, 1, 2});
  polygons->InsertNextCell({2, 3, 4, 5});
  strips->InsertNextCell({3, 4, 5, 6, 7});
  vtkNew<vtkUnsignedCharArray> colours;
  colours->SetName("colours");
  colours->SetNumberOfComponents(3);
  colours->SetNumberOfTuples(8);
  colours->Fill(7);
  data->SetPoints(points);
  data->SetVerts(vertices);
  data->SetLines(lines);
  data->SetPolys(polygons);
  data->SetStrips(strips);
  data->GetPointData()->AddArray(colours);
  return data;
}

const std::vector<glm::uvec3> kStripFaces = {{0, 1, 2}, {2, 3, 4}, {2, 4, 5}, {3, 4, 5}, {4, 6, 5}, {5, 6, 7}};

TEST(MeshIoTwins, WeReadLegacyFilesOfVtk) {
  const TemporaryFolder folder;
  for (int version : {42, 51})
    for (int binary : {0, 1}) {
      vtkNew<vtkPolyDataWriter> writer;
      writer->SetInputData(strips_and_attributes());
      writer->SetFileVersion(version);
      binary ? writer->SetFileTypeToBinary() : writer->SetFileTypeToASCII();
      const auto file = folder.path() / "a.vtk";
      writer->SetFileName(file.c_str());
      writer->Write();
      EXPECT_EQ(load_mesh(file, 1.0).faces, kStripFaces) << "version " << version << " binary " << binary;
      EXPECT_EQ(load_mesh(file, 1.0).positions.size(), 8u);
    }
}

template <class Array>
void add_field(vtkPolyData& data, const char* name, int components) {
  vtkNew<Array> array;
  array->SetName(name);
  array->SetNumberOfComponents(components);
  if (components > 1) array->SetComponentName(0, "the first");
  array->SetNumberOfTuples(9);
  if constexpr (std::is_base_of_v<vtkDataArray, Array>) {
    for (int k = 0; k < 9 * components; ++k) array->SetComponent(k / components, k % components, 10 + k % 2);
    array->GetRange(0);  // kept in the METADATA of the array
  }
  data.GetFieldData()->AddArray(array);
}

// Fields of every type that VTK writes, before the points. Texts are empty, long, and look like a section.
TEST(MeshIoTwins, ReadsVtkFieldsOfEveryType) {
  const TemporaryFolder folder;
  const auto data = strips_and_attributes();
  vtkNew<vtkStringArray> words;
  words->SetName("SPACE");
  const std::string texts[] = {"LPS", "", "POINTS 8 float", "a\nb", std::string(70, 'x'), std::string(20000, 'y')};
  for (const std::string& text : texts) words->InsertNextValue(text);
  data->GetFieldData()->AddArray(words);
  vtkNew<vtkVariantArray> mixed;
  mixed->SetName("mixed values");
  for (const vtkVariant& value : {vtkVariant(7), vtkVariant(2.5), vtkVariant("some words"), vtkVariant("POLYGONS")})
    mixed->InsertNextValue(value);
  data->GetFieldData()->AddArray(mixed);
  add_field<vtkBitArray>(*data, "bits", 1);
  add_field<vtkIdTypeArray>(*data, "ids", 2);
  add_field<vtkLongArray>(*data, "long", 1);
  add_field<vtkUnsignedLongArray>(*data, "unsigned long", 3);
  add_field<vtkLongLongArray>(*data, "long long", 1);
  add_field<vtkUnsignedLongLongArray>(*data, "unsigned long long", 2);
  add_field<vtkSignedCharArray>(*data, "signed char", 1);
  add_field<vtkCharArray>(*data, "char", 1);
  add_field<vtkUnsignedCharArray>(*data, "unsigned char", 5);
  add_field<vtkShortArray>(*data, "short", 1);
  add_field<vtkUnsignedShortArray>(*data, "unsigned short", 1);
  add_field<vtkFloatArray>(*data, "float", 3);
  add_field<vtkDoubleArray>(*data, "double", 1);
  for (int version : {42, 51})
    for (int binary : {0, 1}) {
      vtkNew<vtkPolyDataWriter> writer;
      writer->SetInputData(data);
      writer->SetFileVersion(version);
      binary ? writer->SetFileTypeToBinary() : writer->SetFileTypeToASCII();
      const auto file = folder.path() / "a.vtk";
      writer->SetFileName(file.c_str());
      writer->Write();
      ASSERT_NO_THROW(EXPECT_EQ(load_mesh(file, 1.0).faces, kStripFaces))
          << "version " << version << " binary " << binary;
      EXPECT_EQ(load_mesh(file, 1.0).positions.size(), 8u);
    }
  for (int mode : {vtkXMLWriter::Ascii, vtkXMLWriter::Binary, vtkXMLWriter::Appended}) {
    vtkNew<vtkXMLPolyDataWriter> writer;
    writer->SetInputData(data);
    writer->SetDataMode(mode);
    const auto file = folder.path() / "a.vtp";
    writer->SetFileName(file.c_str());
    writer->Write();
    EXPECT_EQ(load_mesh(file, 1.0).faces, kStripFaces) << "mode " << mode;
  }
}

// Tests every mode, byte order, header length, compressor and packing of appended data, with several blocks, the last
// one partial.
TEST(MeshIoTwins, WeReadXmlFilesOfVtk) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a.vtp";
  const auto data = strips_and_attributes();
  for (int choice = 0; choice < 3 * 4 * 2 * 2 * 2 * 2; ++choice) {
    const int modes[] = {vtkXMLWriter::Ascii, vtkXMLWriter::Binary, vtkXMLWriter::Appended};
    const int compressors[] = {vtkXMLWriter::NONE, vtkXMLWriter::ZLIB, vtkXMLWriter::LZ4, vtkXMLWriter::LZMA};
    vtkNew<vtkXMLPolyDataWriter> writer;
    writer->SetInputData(data);
    writer->SetDataMode(modes[choice % 3]);
    writer->SetCompressorType(compressors[choice / 3 % 4]);
    writer->SetHeaderType(choice / 12 % 2 ? vtkXMLWriter::UInt32 : vtkXMLWriter::UInt64);
    writer->SetByteOrder(choice / 24 % 2 ? vtkXMLWriter::LittleEndian : vtkXMLWriter::BigEndian);
    writer->SetEncodeAppendedData(choice / 48 % 2);
    writer->SetBlockSize(choice / 96 ? 64 : 32768);
    writer->SetFileName(file.c_str());
    writer->Write();
    const TriangleMesh mesh = load_mesh(file, 1.0);
    EXPECT_EQ(mesh.faces, kStripFaces) << "choice " << choice;
    ASSERT_EQ(mesh.positions.size(), 8u);
    for (int i = 0; i < 8; ++i) {
      const double* p = data->GetPoint(i);
      EXPECT_EQ(mesh.positions[static_cast<std::size_t>(i)], glm::vec3(glm::dvec3(p[0], p[1], p[2])))
          << "choice " << choice;
    }
  }
}

// Compares the glTF reader and writer with those of VTK.

namespace mesh_io_gltf_vtk_test {

using test::Corners, test::corners_of, test::expect_near, test::with_nodes;

Corners corners_of(vtkMultiBlockDataSet& blocks) {
  Corners corners;
  const auto iterator = vtkSmartPointer<vtkCompositeDataIterator>::Take(blocks.NewIterator());
  for (iterator->InitTraversal(); !iterator->IsDoneWithTraversal(); iterator->GoToNextItem()) {
    auto* data = vtkPolyData::SafeDownCast(iterator->GetCurrentDataObject());
    if (data == nullptr) continue;
    for (vtkIdType cell = 0; cell < data->GetNumberOfPolys(); ++cell) {
      vtkIdType count = 0;
      const vtkIdType* ids = nullptr;
      data->GetPolys()->GetCellAtId(cell, count, ids);
      for (vtkIdType i = 0; i < count; ++i) {
        const double* p = data->GetPoint(ids[i]);
        corners.emplace_back(glm::dvec3(p[0], p[1], p[2]));
      }
    }
  }
  return corners;
}

Corners read_by_vtk(const std::filesystem::path& file) {
  vtkNew<vtkGLTFReader> reader;
  reader->SetFileName(file.c_str());
  reader->Update();
  return corners_of(*reader->GetOutput());
}

TEST(Gltf, VtkReadsWhatWeWrite) {
  const TemporaryFolder folder;
  const TriangleMesh mesh = shapes::torus(30, 14, 91.7f, 33.3f);
  save_mesh(mesh, folder.path() / "a.glb");
  EXPECT_EQ(read_by_vtk(folder.path() / "a.glb"), corners_of(mesh));
}

TEST(Gltf, WeReadNestedNodesAsVtkDoes) {
  const TemporaryFolder folder;
  std::mt19937 random(5);
  const auto draw = [&] { return static_cast<double>(random()) / 4294967296.0 - 0.5; };
  for (int round = 0; round < 20; ++round) {
    std::string nodes = R"("scene":0,"scenes":[{"nodes":[0]}],"nodes":[)";
    for (int k = 0; k < 6; ++k) {
      const auto number = [&](double v) { return std::to_string(v); };
      nodes += k > 0 ? ",{" : "{";
      nodes += R"("mesh":0,"translation":[)" + number(draw()) + "," + number(draw()) + "," + number(draw()) + "]";
      nodes += R"(,"scale":[)" + number(1 + draw()) + "," + number(1 + draw()) + "," + number(1 + draw()) + "]";
      const glm::dvec4 q = glm::normalize(glm::dvec4(draw(), draw(), draw(), draw()));
      nodes += R"(,"rotation":[)" + number(q.x) + "," + number(q.y) + "," + number(q.z) + "," + number(q.w) + "]";
      if (k < 2)
        nodes += R"(,"children":[)" + number(2 * k + 1).substr(0, 1) + "," + number(2 * k + 2).substr(0, 1) + "]";
      nodes += "}";
    }
    nodes.replace(nodes.find(R"("children":[1,2])"), 16, R"("children":[1,2,5])");
    const auto file = folder.write("a.glb", with_nodes(nodes + "]"));
    Corners ours = corners_of(load_mesh(file)), theirs = read_by_vtk(file);
    ASSERT_EQ(ours.size(), 18u) << "round " << round << ", seed 5";
    expect_near(ours, theirs, 3e-6f);
  }
}

TEST(Gltf, WeReadWhatVtkWrites) {
  const TemporaryFolder folder;
  const TriangleMesh mesh = shapes::icosphere(2);
  vtkNew<vtkPoints> points;
  for (const glm::vec3& p : mesh.positions) points->InsertNextPoint(p.x, p.y, p.z);
  vtkNew<vtkCellArray> faces;
  for (const glm::uvec3& face : mesh.faces) faces->InsertNextCell({face.x, face.y, face.z});
  vtkNew<vtkPolyData> data;
  data->SetPoints(points), data->SetPolys(faces);
  vtkNew<vtkMultiBlockDataSet> inner, outer;
  inner->SetBlock(0, data), outer->SetBlock(0, inner);
  vtkNew<vtkGLTFWriter> writer;
  const auto file = folder.path() / "a.gltf";
  writer->SetFileName(file.c_str());
  writer->SetInlineData(true), writer->SetSaveTextures(false), writer->SetSaveNormal(false);
  writer->SetInputData(outer);
  writer->Write();
  expect_near(corners_of(load_mesh(file)), read_by_vtk(file), 1e-7f);
  EXPECT_EQ(load_mesh(file).faces.size(), mesh.faces.size());
}

}  // namespace mesh_io_gltf_vtk_test

// Tests damaged VTP files.

constexpr test::Format kVtpFormats[] = {
    {"vtp", mesh_io::read_vtp, mesh_io::write_vtp, MeshEncoding::Ascii, 4000},
    {"binary vtp", mesh_io::read_vtp, mesh_io::write_vtp, MeshEncoding::Binary, 4000},
};

TEST(MeshIoVtpFuzz, CutAtEveryLength) { test::cut_at_every_length(kVtpFormats); }

TEST(MeshIoVtpFuzz, CutFilesWithCountsAreRefused) { test::cut_files_with_counts(kVtpFormats); }

TEST(MeshIoVtpFuzz, FlippedBytes) { test::flip_bytes(kVtpFormats); }

// Tests mesh files as other programs write them: with data that the reader does not need, with other line ends, with
// concave polygons, longer than they say.

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
}  // namespace trocar::mesh_io_vtk_test
