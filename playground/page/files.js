// Files: open, save, the code object; and the link for other pages.

let fileName = "kernel.s";

// Larger files are not text that a person wrote.
const LARGEST = 8 << 20;

// Offers bytes or text as a file.
function save(name, content) {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Puts a file into the editor; undo brings the old text back.
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

// An element for another page that shows this text.
const embedding = (address) => `<iframe src="${address}" title="AMD GPU assembly" width="100%" height="480" loading="lazy"></iframe>`;
