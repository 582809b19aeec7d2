#!/usr/bin/env node
// No stack is ever shown, and to note one takes time at each file that is not there.
Error.stackTraceLimit = 0;
const { load, keepCompiled } = require('./load.js');

const argv = process.argv.slice(2);
load('main.cjs')
  .main(argv)
  .then((/** @type {number} */ exitCode) => {
    process.exitCode = exitCode;
    keepCompiled(argv, exitCode);
  });
