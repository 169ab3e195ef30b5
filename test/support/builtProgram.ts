// Node programs for tests, bundled as they are shipped: a bundle starts in a third of the time of the sources.
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { nodePrograms } from '../../esbuild.mjs';

const root = resolve(import.meta.dirname, '../..');
const built = new Map<string, Promise<string>>();

/** Builds its own copy, because another step of `npm test` may be writing to `dist/`. */
export function builtProgram(source: string): Promise<string> {
  const known = built.get(source) ?? bundle(source);
  built.set(source, known);
  return known;
}

async function bundle(source: string): Promise<string> {
  const outdir = join(root, '.build/test', `${source.replaceAll(/\W/g, '-')}-${process.pid}`);
  const entryPoints = { program: source };
  await build({ ...nodePrograms, entryPoints, outdir, sourcemap: false, metafile: false, logLevel: 'error' });
  return join(outdir, 'program.js');
}
