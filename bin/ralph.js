#!/usr/bin/env node
const { load, keepCompiled } = require('./load.js');

const argv = process.argv.slice(2);
load('main.cjs')
  .main(argv)
  .then((/** @type {number} */ exitCode) => {
    process.exitCode = exitCode;
    keepCompiled(argv, exitCode);
  });
