// Measures in a real editor: idle memory and CPU with a folder of 100,000 files, and the part that grows with the
// number.
import { join } from 'node:path';
import { build } from '../host/packaging/build.ts';
import { newTemporaryFolder } from '../host/install/cache.mjs';
import { runToExit } from '../host/processes/lifetime.mjs';
import { repository } from '../host/setup.mjs';
import type { IdleOptions, IdleResult } from './inside/idle.ts';
import { fill, git, inside, makeEmptyExtension, SEEN } from './withEditor.ts';

const MANY = 100_000;
const FEW = 100;
const SECONDS = 60;
/** Megabytes that the larger number of files may cost in addition to the editor's own increase. */
const GOAL = 40;

await runToExit(async () => {
  await build();
  await build('--tests');
  const temporary = await newTemporaryFolder();
  const nothing = join(temporary, 'nothing');
  makeEmptyExtension(nothing);
  console.log(`files at rest, ${SEEN.length} seen, for ${SECONDS} s`);
  const more: number[] = [];
  for (const files of [FEW, MANY]) {
    const folder = join(temporary, String(files));
    fill(folder, files, 'idle');
    git(folder, 'init', '-q', '-b', 'main');
    const measure = (extension: string, seen: readonly string[]) =>
      inside<IdleResult>({
        name: 'idle',
        folder,
        extension,
        options: { seen, seconds: SECONDS } satisfies IdleOptions,
      });
    const [without, with_] = [await measure(nothing, []), await measure(repository, SEEN)];
    print(`${files} files, without Earshot`, without);
    print(`${files} files, with Earshot`, with_);
    more.push(with_.megabytes - without.megabytes);
  }
  const [few = Number.NaN, many = Number.NaN] = more;
  const byNumber = many - few;
  const met = byNumber <= GOAL;
  console.log(
    `  Earshot takes ${few.toFixed(0)} MB with ${FEW} files and ${many.toFixed(0)} MB with ${MANY}: ${byNumber.toFixed(0)} MB by their number (goal ≤ ${GOAL}, ${met ? 'met' : 'MISSED'})`,
  );
  return met ? 0 : 1;
});

function print(name: string, result: IdleResult): void {
  const { watcher, heldMegabytes } = result;
  const other = watcher === undefined ? '' : `; the editor's watcher ${printUse(watcher)}`;
  console.log(
    `  ${name}: the extension host ${printUse(result)}, ${heldMegabytes.toFixed(0)} of them held by JavaScript${other}`,
  );
}

function printUse({ milliseconds, megabytes }: Pick<IdleResult, 'milliseconds' | 'megabytes'>): string {
  const share = (milliseconds / 10 / SECONDS).toFixed(2);
  return `${milliseconds.toFixed(0)} ms of the processor (${share} %), ${megabytes.toFixed(0)} MB`;
}
