// Runs the site's search where no server is: browsers refuse workers to pages opened from a folder
// (file://). A hidden frame with the same messages takes the worker's place.
(() => {
  if (location.protocol !== "file:") return;

  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      // A worker's own functions. Its listeners stay in the frame and get the page's messages there.
      inside.postMessage = (data) => this.deliver(this, data);
      inside.importScripts = (...urls) =>
        urls.reduce((before, next) => before.then(() => load(inside.document, next)), Promise.resolve());
      load(inside.document, String(url)).then(() => {
        this.ready = true;
        for (const data of this.waiting.splice(0)) this.deliver(inside, data);
      });
    }

    postMessage(data) {
      if (this.ready) this.deliver(this.frame.contentWindow, data);
      else this.waiting.push(data);
    }

    terminate() {
      this.frame.remove();
    }

    // Later, as messages between threads come.
    deliver(target, data) {
      setTimeout(() => {
        const event = new MessageEvent("message", { data });
        target.dispatchEvent(event);
        if (target === this && this.onmessage) this.onmessage(event);
      });
    }
  }

  function load(page, url) {
    return new Promise((loaded, failed) => {
      const script = page.createElement("script");
      script.src = url;
      script.onload = loaded;
      script.onerror = failed;
      page.body.appendChild(script);
    });
  }

  window.Worker = FrameWorker;
})();
