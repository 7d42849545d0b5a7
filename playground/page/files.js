// Opens and saves files, saves the code object, and makes the link for other pages.

let fileName = "kernel.s";

// Size limit in bytes; nobody writes larger files by hand.
const LARGEST = 8 << 20;

// Offers bytes or text as a download.
function save(name, content) {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Loads a file into the editor, as a step that can be undone.
async function openFile(editor, file, say) {
  if (!file) return;
  if (file.size > LARGEST) return say(`${file.name} has ${file.size.toLocaleString("en")} bytes; the page reads text up to ${LARGEST.toLocaleString("en")}.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return say(`${file.name} is not text. \`gcn disasm\` makes text of a code object.`);
  }
  fileName = file.name;
  editor.replace(text.replace(/\r\n?/g, "\n"));
}

function saveCodeObject(answer, say) {
  if (answer.error) return say(answer.error);
  const bytes = Uint8Array.from(answer.object.match(/../g) ?? [], (byte) => parseInt(byte, 16));
  save(fileName.replace(/\.\w+$/, "") + ".hsaco", bytes);
}

// HTML that shows this text in another page.
const embedding = (address) => `<iframe src="${address}" title="AMD GPU assembly" width="100%" height="480" loading="lazy"></iframe>`;
