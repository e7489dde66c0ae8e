// Compares our readers with independent ones on valid files: tinyobjloader for OBJ, VTK for the others. Tests that VTK
// reads the files that we save.
#include <gtest/gtest.h>
#include <tiny_obj_loader.h>
#include <vtkBitArray.h>
#include <vtkCellArray.h>
#include <vtkCharArray.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkFloatArray.h>
#include <vtkIdTypeArray.h>
#include <vtkLongArray.h>
#include <vtkLongLongArray.h>
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

#include <string>

#include "mesh/mesh_io.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Corners of every face in order, in file units: independent of the vertex indices.
using Corners = std::vector<glm::vec3>;

Corners corners_of(const TriangleMesh& mesh) {
  Corners corners;
  for (const glm::uvec3& face : mesh.faces) {
    for (int i = 0; i < 3; ++i) corners.push_back(mesh.positions[face[i]]);
  }
  return corners;
}

Corners corners_of(vtkPolyData& data) {
  Corners corners;
  vtkCellArray& cells = *data.GetPolys();
  for (vtkIdType cell = 0; cell < cells.GetNumberOfCells(); ++cell) {
    vtkIdType count = 0;
    const vtkIdType* ids = nullptr;
    cells.GetCellAtId(cell, count, ids);
    for (vtkIdType i = 2; i < count; ++i) {
      for (vtkIdType id : {ids[0], ids[i - 1], ids[i]}) {
        const double* p = data.GetPoint(id);
        corners.emplace_back(glm::dvec3(p[0], p[1], p[2]));
      }
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
      for (std::size_t i = 2; i < count; ++i) {
        for (std::size_t corner : {std::size_t{0}, i - 1, i}) {
          const auto v = static_cast<std::size_t>(shape.mesh.indices[first + corner].vertex_index);
          corners.emplace_back(vertices[3 * v], vertices[3 * v + 1], vertices[3 * v + 2]);
        }
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
        "broken/self_intersectA.obj", "parser/trimesh/negative_indices.obj", "parser/trimesh/two_objects.obj"}) {
    if (const auto file = shared_file(name)) expect_same(corners_of(load_mesh(*file, 1.0)), tiny_corners(*file), name);
  }
  for (const char* name : {"organs/openhelp/Liver.stl", "organs/gallbladder/liver_visual.stl", "broken/busted.STL",
                           "parser/trimesh/multibody.stl", "parser/trimesh/two_objects_mixed_case_names.stl"}) {
    if (const auto file = shared_file(name)) {
      expect_same(corners_of(load_mesh(*file, 1.0)), vtk_corners<vtkSTLReader>(*file), name);
    }
  }
  for (const char* name :
       {"collision/bunny.ply", "collision/two-cubes-far.ply", "parser/trimesh/tet.ply", "parser/trimesh/multi.ply"}) {
    if (const auto file = shared_file(name)) {
      expect_same(corners_of(load_mesh(*file, 1.0)), vtk_corners<vtkPLYReader>(*file), name);
    }
  }
  if (const auto file = shared_file("organs/sofa/liver.vtk")) {
    expect_same(corners_of(load_mesh(*file, 1.0)), vtk_corners<vtkPolyDataReader>(*file), "liver.vtk");
  }
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
  for (int version : {42, 51}) {
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
  for (int version : {42, 51}) {
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

}  // namespace
}  // namespace trocar
