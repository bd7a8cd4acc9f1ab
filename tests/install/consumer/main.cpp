// Describes a small model and shows that the library behind the headers is really linked.
#include <thimble/graph.h>
#include <thimble/ops.h>

#include <iostream>

int main() {
  thimble::Graph graph;
  const auto image = graph.input("image", {28, 28, 1});
  graph.output("positive", thimble::relu(image));
  std::cout << graph.text();
}
