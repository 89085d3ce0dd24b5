#!/usr/bin/env node
// Starts the program, which npm installs as the package of this platform.
"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "commonbook.exe" : "commonbook";
let path;
try {
  path = require.resolve(`@commonbook/${platform}/${program}`);
} catch {
  console.error(`commonbook: the npm package @commonbook/${platform} is not installed.
Install without --no-optional and --omit=optional. If npm has no such package, build Commonbook
from its source: cargo install --locked commonbook-server`);
  process.exit(1);
}

const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
// A signal to this process alone must end the program too; it decides when.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`commonbook: ${path} does not start: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
