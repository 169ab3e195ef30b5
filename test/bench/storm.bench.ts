// Measures in a real editor how long the extension host is blocked during a checkout of 10,000 files, and the delivery.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { estimateTokens } from '../../src/core/conversation/tokens.ts';
import { build } from '../host/packaging/build.ts';
import { newTemporaryFolder } from '../host/install/cache.mjs';
import { runToExit } from '../host/processes/lifetime.mjs';
import { repository } from '../host/setup.mjs';
import type { Side, Stall, StormOptions, StormResult } from './inside/storm.ts';
import { fill, git, inside, median, SEEN } from './withEditor.ts';

const FILES = 10_000;
const ELSEWHERE = 'elsewhere.sh';
const ROUNDS = 5;
const GOAL = 2;
const TOKENS = 400;

await runToExit(async () => {
  await build();
  await build('--tests');
  const temporary = await newTemporaryFolder();
  const met = await measureStorm(temporary);
  return met ? 0 : 1;
});

async function measureStorm(temporary: string): Promise<boolean> {
  const folder = join(temporary, 'storm');
  const copy = join(temporary, 'copy');
  makeRepository(folder);
  cpSync(folder, copy, { recursive: true });
  // A path outside the workspace in the command would need an approval.
  writeFileSync(join(folder, ELSEWHERE), `git -C '${copy}' switch -q "$1"\n`);
  const { stalls, blocks } = await inside<StormResult>({
    name: 'storm',
    folder,
    extension: repository,
    options: { elsewhere: `sh ${ELSEWHERE}`, seen: SEEN, rounds: ROUNDS } satisfies StormOptions,
  });
  const ratioTo = (side: Side, of: keyof Stall) =>
    median(stalls.earshot.map((one, round) => one[of] / (stalls[side][round]?.[of] ?? Number.NaN)));
  const ms = (side: Side, of: keyof Stall) => `${median(stalls[side].map((one) => one[of])).toFixed(1)} ms`;
  const ratio = ratioTo('unwatched', 'processor');
  console.log(`checkout of ${FILES} files, ${SEEN.length} seen, during a turn: longest stall of the extension host`);
  console.log('  control: the same writes outside the workspace, which nothing watches');
  console.log(
    `  ratio ${ratio.toFixed(2)} (goal ≤ ${GOAL}, ${ratio <= GOAL ? 'met' : 'MISSED'}); ${ms('earshot', 'processor')} of the processor against ${ms('unwatched', 'processor')}`,
  );
  console.log(
    `  by the wall clock, which includes other processes: ratio ${ratioTo('unwatched', 'wall').toFixed(2)}; ${ms('earshot', 'wall')} against ${ms('unwatched', 'wall')}`,
  );
  console.log(
    `  with the editor's watcher and without Earshot's producers: ${ms('disabled', 'processor')} of the processor, ${ms('disabled', 'wall')} by the wall clock`,
  );
  const worst = Math.max(...blocks.flat().map(({ text }) => estimateTokens(text)));
  const single = blocks.every((one) => one.length === 1 && one[0]?.shown === 1);
  const named = blocks.flat().every(({ text }) => SEEN.every((path) => text.includes(path)));
  const said = single && named && worst <= TOKENS;
  console.log(
    `  delivered: ${blocks.flat().length} blocks for ${blocks.length} checkouts, ${single ? 'one notification each' : 'NOT one notification each'}, at most ${worst} tokens (goal ≤ ${TOKENS}), the ${SEEN.length} ${named ? 'named' : 'NOT named'}: ${said ? 'met' : 'MISSED'}`,
  );
  if (!said) console.log(JSON.stringify(blocks, null, 2));
  return ratio <= GOAL && said;
}

function makeRepository(folder: string): void {
  mkdirSync(folder);
  git(folder, 'init', '-q', '-b', 'main');
  writeFileSync(join(folder, '.gitignore'), `sentinel.txt\n${ELSEWHERE}\n`);
  for (const branch of ['main', 'other']) {
    if (branch === 'other') git(folder, 'switch', '-qc', branch);
    fill(folder, FILES, branch);
    git(folder, 'add', '-A');
    git(folder, 'commit', '-qm', branch);
  }
  git(folder, 'switch', '-q', 'main');
}
