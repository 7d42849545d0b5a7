// Starts `gcn lsp` for files in AMD GPU assembly.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function start() {
  const settings = vscode.workspace.getConfiguration("gcn");
  const target = settings.get("target") || undefined;
  const wave = Number(settings.get("wave")) || undefined;
  const server = {
    command: settings.get("path") || "gcn",
    args: ["lsp", "--level", settings.get("level") || "cautious"],
  };
  const options = {
    documentSelector: [{ language: "amdgcn" }],
    initializationOptions: { target, wave },
  };
  client = new LanguageClient("gcn", "gcn", server, options);
  return client.start();
}

async function restart() {
  await client?.stop();
  await start();
}

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("gcn.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("gcn")) restart();
    }),
  );
  return start();
};

exports.deactivate = () => client?.stop();
