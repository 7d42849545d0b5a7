// Makes dist/: the extension with its libraries in one file, and the licences of what is in it.
import { copyFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

process.chdir(import.meta.dirname);
const { metafile } = await build({
  entryPoints: ["extension.js"],
  outfile: "dist/extension.js",
  bundle: true,
  minify: true,
  metafile: true,
  platform: "node",
  external: ["vscode"],
});

const folders = Object.keys(metafile.inputs).map((file) => file.match(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//)?.[1]);
const notices = [...new Set(folders)].filter(Boolean).sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (!file) throw new Error(`${name} has no file with its licence`);
  return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
});
writeFileSync("dist/LIBRARIES.txt", notices.join("\n----\n\n"));

// In a checkout they are those of the whole project.
for (const file of ["LICENSE-MIT", "LICENSE-APACHE"]) {
  if (existsSync(`../../${file}`)) copyFileSync(`../../${file}`, `dist/${file}`);
}
