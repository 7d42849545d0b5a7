// Runs the WebAssembly module in two workers: one answers while the user types, the other runs kernels and can be stopped.

class Engine {
  constructor(compiled) {
    this.compiled = compiled;
    this.start();
  }

  start() {
    this.waiting = new Map();
    this.number = 0;
    const source = document.getElementById("worker").textContent;
    this.worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    this.ready = new Promise((resolve) => {
      this.worker.onmessage = ({ data }) => {
        if (data.ready) return resolve();
        const { settle } = this.waiting.get(data.number) ?? {};
        this.waiting.delete(data.number);
        if (data.trap) this.restart();
        settle?.(data.trap ? { error: `the module stopped: ${data.trap}` } : data.answer);
      };
    });
    this.worker.postMessage({ module: this.compiled });
  }

  // Stops the worker and starts another; pending requests get an error.
  restart() {
    this.worker.terminate();
    const waiting = [...this.waiting.values()];
    this.start();
    waiting.forEach(({ settle }) => settle({ error: "stopped" }));
  }

  async ask(request) {
    await this.ready;
    return new Promise((settle) => {
      this.number += 1;
      this.waiting.set(this.number, { settle });
      this.worker.postMessage({ number: this.number, request });
    });
  }
}

async function unpacked(base64) {
  const packed = Uint8Array.from(atob(base64.trim()), (c) => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function engines() {
  const compiled = await WebAssembly.compile(await unpacked(document.getElementById("module").textContent));
  return { analyst: new Engine(compiled), runner: new Engine(compiled) };
}
