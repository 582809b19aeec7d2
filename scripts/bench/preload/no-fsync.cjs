// Loaded before ralph: what it would wait for the disk, it does not wait for. The difference to a
// run without it is what fsync costs.
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const done = (/** @type {unknown[]} */ ...args) => {
  const callback = args.at(-1);
  if (typeof callback === 'function') process.nextTick(callback, null);
};
Object.assign(fs, { fsync: done, fdatasync: done, fsyncSync() {}, fdatasyncSync() {} });

const { open } = fs.promises;
fs.promises.open = async (...args) => {
  const handle = await open(...args);
  return Object.assign(handle, { async sync() {}, async datasync() {} });
};
syncBuiltinESMExports();
