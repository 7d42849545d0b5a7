// The worker that runs the WebAssembly module. The first message contains the module, each later one a request, which it answers.
"use strict";
let module;

function ask(request) {
  const { memory, gcn_allocate, gcn_answer, gcn_release } = module.exports;
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const at = gcn_allocate(bytes.length);
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const answer = gcn_answer(at, bytes.length);
  // If the memory has grown, its buffer is a new object.
  const length = new DataView(memory.buffer).getUint32(answer, true);
  const text = new TextDecoder().decode(new Uint8Array(memory.buffer, answer + 4, length));
  gcn_release(answer, length);
  return JSON.parse(text);
}

onmessage = async ({ data }) => {
  if (data.module) {
    module = await WebAssembly.instantiate(data.module, {});
    postMessage({ ready: true });
    return;
  }
  try {
    postMessage({ number: data.number, answer: ask(data.request) });
  } catch (error) {
    // A trap leaves the module's memory in an inconsistent state: the page starts another worker.
    postMessage({ number: data.number, trap: String(error) });
  }
};
