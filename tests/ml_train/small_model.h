// A model of two numbers in and two out, and what tests ask of models.
#pragma once

#include <gtest/gtest.h>
#include <model.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "ml_train/generator.h"

namespace thimble::test::ml_train_test {

// Two numbers in, two out, the error squared.
inline std::unique_ptr<ml::train::Model> small_model(
    const std::string& optimizer = "sgd", const std::vector<std::string>& properties = {}) {
  auto model = ml::train::createModel(ml::train::ModelType::NEURAL_NET,
                                      {"loss=mse", "batch_size=2", "threads=1"});
  model->setProperty(properties);
  EXPECT_EQ(model->addLayer(ml::train::createLayer("input", {"name=in", "input_shape=1:1:2"})), 0);
  EXPECT_EQ(model->addLayer(ml::train::createLayer("fully_connected", {"name=fc", "unit=2"})), 0);
  EXPECT_EQ(model->setOptimizer(ml::train::createOptimizer(optimizer, {"learning_rate=0.1"})), 0);
  EXPECT_EQ(model->compile(), 0);
  EXPECT_EQ(model->initialize(), 0);
  return model;
}

inline Samples small_samples(size_t count = 4) {
  return {.inputs = {numbers(2 * count, 1.0)}, .labels = {numbers(2 * count, 2.0)}, .count = count};
}

inline std::shared_ptr<ml::train::Layer> layer_of(ml::train::Model& model, const char* name) {
  std::shared_ptr<ml::train::Layer> layer;
  EXPECT_EQ(model.getLayer(name, &layer), 0);
  return layer;
}

inline std::vector<float> weights_of(ml::train::Model& model, const char* name = "fc") {
  const std::vector<float*> values = layer_of(model, name)->getWeights();
  std::vector<float> all(values[0], values[0] + 4);
  all.insert(all.end(), values[1], values[1] + 2);
  return all;
}

// What it prints.
inline std::string trained(ml::train::Model& model, Samples& samples,
                           const std::vector<std::string>& properties = {}) {
  model.setDataset(ml::train::DatasetModeType::MODE_TRAIN, dataset_of(samples));
  testing::internal::CaptureStdout();
  EXPECT_EQ(model.train(properties), 0);
  return testing::internal::GetCapturedStdout();
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline float float_at(const std::string& bytes, size_t at) {
  float value = 0.0F;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace thimble::test::ml_train_test
