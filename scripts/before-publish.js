// Refuses `npm publish` until package.json has the address of the public repository: readers of the
// package report holes there, and its provenance names it.
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const missing = ['repository', 'bugs', 'homepage'].filter((field) => manifest[field] === undefined);
if (missing.length > 0) {
  console.error(
    `package.json lacks ${missing.join(', ')}: the owner has to give the address of the public repository before npm publish.`,
  );
  process.exitCode = 1;
}
