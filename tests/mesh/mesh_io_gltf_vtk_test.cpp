// Compares the glTF reader and writer with those of VTK.
#include <gtest/gtest.h>
#include <vtkCellArray.h>
#include <vtkCompositeDataIterator.h>
#include <vtkGLTFReader.h>
#include <vtkGLTFWriter.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

#include <random>

#include "tests/mesh/gltf_support.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

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

}  // namespace
}  // namespace trocar
