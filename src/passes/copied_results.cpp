#include <map>

#include "autodiff/type_change.h"
#include "ir/rewrite.h"
#include "passes/passes.h"

namespace thimble::passes {
namespace {

class Copier {
 public:
  explicit Copier(const ir::Graph& graph) : from_(graph), rewriter_(graph) {}

  ir::Graph run() {
    for (const int id : from_.results()) {
      const ir::ValueData& data = from_.data(id);
      if (data.role == ir::Role::parameter || data.role == ir::Role::state) copies_[id] = -1;
    }
    if (copies_.empty()) return from_;
    for (auto& [id, copy] : copies_) {
      if (from_.data(id).producer < 0) add(id);
    }
    for (const ir::Node& node : from_.nodes) {
      rewriter_.copy(node);
      for (const int id : node.outputs) {
        if (copies_.count(id) > 0) add(id);
      }
    }
    ir::Graph made = std::move(rewriter_).finish();
    if (from_.loss) take(*from_.loss, *made.loss);
    for (size_t i = 0; i < from_.outputs.size(); ++i) {
      take(from_.outputs[i].second, made.outputs[i].second);
    }
    for (size_t i = 0; i < from_.metrics.size(); ++i) {
      take(from_.metrics[i].second, made.metrics[i].second);
    }
    return made;
  }

 private:
  void add(int id) {
    ir::Graph& to = rewriter_.graph();
    copies_[id] = autodiff::copy_of(to, to.value(rewriter_.new_id(id))).id();
  }
  // The result `id` of the graph is `result` of the new one.
  void take(int id, int& result) const {
    const auto copy = copies_.find(id);
    if (copy != copies_.end()) result = copy->second;
  }

  const ir::Graph& from_;
  ir::Rewriter rewriter_;
  std::map<int, int> copies_;  // of results
};

}  // namespace

ir::Graph copy_stored_results(const ir::Graph& graph) { return Copier(graph).run(); }

}  // namespace thimble::passes
