// The layers that users hold.
#pragma once

#include <layer.h>

#include <memory>
#include <string>
#include <vector>

#include "ml_train/build.h"

namespace thimble::ml_train {

class LayerNode : public ml::train::Layer {
 public:
  // Throws std::invalid_argument where the type is refused, and for a key or value at fault.
  LayerNode(const LayerKind& kind, const std::vector<std::string>& properties);

  [[nodiscard]] const std::string getType() const override { return kind_.type; }
  void initialize() override { props_.require_all(); }
  void setProperty(const std::vector<std::string>& values) override { props_.set(values); }
  [[nodiscard]] std::string getProperty(const std::string& key) override;
  [[nodiscard]] const std::string getName() const noexcept override { return name_; }
  [[nodiscard]] const std::string getWeightName(unsigned int index) override;
  [[nodiscard]] const std::vector<float*> getWeights() override;
  void getWeights(std::vector<float*>& weights, std::vector<ml::train::TensorDim>& dims) override;
  void setWeights(const std::vector<float*> weights) override;
  [[nodiscard]] const LayerKind& kind() const { return kind_; }
  [[nodiscard]] const PropertySet& props() const { return props_; }
  [[nodiscard]] PropertySet& props() { return props_; }
  void set_name(const std::string& name);
  // The weights, when the model was initialized; the store lives as long as this layer.
  void attach(std::shared_ptr<WeightStore> store, std::vector<Weight*> weights);
  [[nodiscard]] const std::vector<Weight*>& weights() const { return weights_; }

 private:
  void require_initialized() const;

  const LayerKind& kind_;
  PropertySet props_;
  std::string name_;
  std::shared_ptr<WeightStore> store_;
  std::vector<Weight*> weights_;
};

// A layer of a type by its name. Throws std::invalid_argument.
[[nodiscard]] std::unique_ptr<LayerNode> make_layer(const std::string& type,
                                                    const std::vector<std::string>& properties);

}  // namespace thimble::ml_train
