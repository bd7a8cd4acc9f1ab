#include "io/html/assets.h"

namespace thimble::io {

const char* const kPageScript = R"js(
function fill() {
  byId('title').textContent = document.title = DATA.title;
  byId('subtitle').textContent = 'A ' +
    (DATA.epochs.length ? 'training run' : 'memory plan') + ' by thimble.';
  for (const [name, value] of DATA.facts.length ? DATA.facts : planFacts()) {
    const fact = add(byId('facts'), 'div', undefined, 'fact');
    add(fact, 'b', name);
    fact.append(value);
  }
  if (DATA.epochs.length) {
    byId('epochs').hidden = false;
    table('epoch-table', [['epoch', 1], ['training loss', 1], ['test loss', 1],
      ['learning rate', 1], ['seconds', 1]], DATA.epochs.map(e => [e.epoch, loss(e.train),
      loss(e.test), e.rate.toExponential(2), e.seconds.toFixed(2)]));
  }
  fillMemory();
  for (const image of DATA.images) {
    byId('pictures').hidden = false;
    const figure = add(byId('pictures'), 'figure');
    add(figure, 'h2', image.title);
    add(figure, 'img').src = 'data:image/png;base64,' + image.png;
    figure.lastChild.alt = image.title;
    add(figure, 'figcaption', image.caption);
  }
  for (const text of DATA.texts) {
    byId('pictures').hidden = false;
    const figure = add(byId('pictures'), 'figure');
    add(figure, 'h2', text.title);
    add(figure, 'pre', text.text);
    add(figure, 'figcaption', text.caption);
  }
}
function draw() { drawCurves(); timelineLegend(); drawTimeline(); }
fill();
draw();
addEventListener('resize', draw);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
)js";

}  // namespace thimble::io
