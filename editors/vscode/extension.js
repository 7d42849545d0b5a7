// Starts `gcn lsp` for files in AMD GPU assembly.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** The client that runs; none after a failed start. */
let client;
/** The change that is under way: changes come one after the other. */
let change = Promise.resolve();

async function start() {
  const settings = vscode.workspace.getConfiguration("gcn");
  const command = settings.get("path") || "gcn";
  const server = { command, args: ["lsp", "--level", settings.get("level") || "cautious"] };
  const options = {
    documentSelector: [{ language: "amdgcn" }],
    initializationOptions: {
      target: settings.get("target") || undefined,
      wave: Number(settings.get("wave")) || undefined,
    },
  };
  const starting = new LanguageClient("gcn", "gcn", server, options);
  try {
    await starting.start();
    client = starting;
  } catch (error) {
    // Not awaited: the message stays until somebody closes it.
    offerSettings(command, error);
  }
}

async function offerSettings(command, error) {
  const open = "Open settings";
  const message = `\`${command} lsp\` does not start: ${error.message ?? error}. Install gcn, or set \`gcn.path\`.`;
  if ((await vscode.window.showErrorMessage(message, open)) === open) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "gcn.path");
  }
}

async function stop() {
  const running = client;
  client = undefined;
  // A server that has died cannot be asked to stop.
  await running?.stop().catch(() => {});
}

/** Does `step` after what is under way. */
function then(step) {
  change = change.then(step);
  return change;
}

const restart = () => then(async () => {
  await stop();
  await start();
});

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("gcn.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("gcn")) restart();
    }),
  );
  return then(start);
};

exports.deactivate = () => then(stop);
