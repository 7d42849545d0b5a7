// The state of the page in its URL: JSON, deflated, in URL-safe base64.

async function pass(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

async function toHash(state) {
  const bytes = await pass(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

// The state in the hash of a URL; null if there is none or it cannot be decoded.
async function fromHash(hash) {
  try {
    const binary = atob(hash.replace(/^#/, "").replace(/-/g, "+").replace(/_/g, "/"));
    if (!binary) return null;
    const bytes = await pass(Uint8Array.from(binary, (c) => c.charCodeAt(0)), new DecompressionStream("deflate-raw"));
    const state = JSON.parse(new TextDecoder().decode(bytes));
    return typeof state?.text === "string" ? state : null;
  } catch {
    return null;
  }
}
