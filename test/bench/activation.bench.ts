// Measures in a real editor: activation time of the packaged extension against an empty one, and the code that it
// loads.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../host/packaging/build.ts';
import { newTemporaryFolder } from '../host/install/cache.mjs';
import { runToExit } from '../host/processes/lifetime.mjs';
import { repository } from '../host/setup.mjs';
import { makeVsix, packagedFolder } from '../host/packaging/vsix.ts';
import type { Activation, ActivationOptions } from './inside/activation.ts';
import { inside, makeEmptyExtension, median } from './withEditor.ts';

const ROUNDS = 5;
const GOAL_BYTES = 250 * 1024;
const EARSHOT = 'earshot.earshot';
const EMPTY = 'nobody.empty';

await runToExit(async () => {
  const temporary = await newTemporaryFolder();
  await makeVsix(join(temporary, 'earshot.vsix'), () => undefined);
  await build('--tests');
  const nothing = join(temporary, 'nothing');
  makeEmptyExtension(nothing);
  const folder = join(temporary, 'folder');
  mkdirSync(folder);
  const found: Activation[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // The order alternates, because caches are colder for the first one.
    const extensions = round % 2 === 0 ? [EARSHOT, EMPTY] : [EMPTY, EARSHOT];
    const options = { extensions } satisfies ActivationOptions;
    const extensionsDir = join(temporary, `extensions${round}`);
    prepare(extensionsDir);
    found.push(
      ...(await inside<Activation[]>({ name: 'activation', folder, extension: nothing, extensionsDir, options })),
    );
  }
  const of = (id: string) => found.filter((one) => one.id === id);
  const time = (id: string) => `${median(of(id).map(({ milliseconds }) => milliseconds)).toFixed(1)} ms`;
  const bytes = Math.max(...of(EARSHOT).map((one) => one.bytes));
  const met = bytes > 0 && bytes <= GOAL_BYTES;
  console.log('activation of the packaged extension in a window without conversations');
  console.log('  control: an extension that does nothing, in the same window');
  console.log(`  ${time(EARSHOT)} against ${time(EMPTY)}`);
  console.log(
    `  JavaScript loaded: ${(bytes / 1024).toFixed(1)} KB (goal ≤ ${GOAL_BYTES / 1024}, ${met ? 'met' : 'MISSED'})`,
  );
  return met ? 0 : 1;
});

/** Neither extension is activated automatically. */
function prepare(extensionsDir: string): void {
  const earshot = join(extensionsDir, `${EARSHOT}-0.0.1`);
  cpSync(packagedFolder, earshot, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as object;
  writeFileSync(join(earshot, 'package.json'), JSON.stringify({ ...manifest, activationEvents: [] }));
  const empty = join(extensionsDir, `${EMPTY}-0.0.1`);
  makeEmptyExtension(empty, { name: 'empty', type: 'module', main: './main.js', activationEvents: [] });
  writeFileSync(join(empty, 'main.js'), 'export function activate() {}\n');
}
