// Measures a search in 100,000 files: the overhead over ripgrep, the time to the first results, and cancellation.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ToolContext, type ToolOutcome } from '../../src/core/ports/ports.ts';
import { createSearchTool } from '../../src/tools/searching/search.ts';
import { shippedRipgrep } from '../support/tools/ripgrep.ts';
import { createFolderWorkspace } from '../support/workspace/folderWorkspace.ts';
import { measure } from './measure.ts';

const FILES = 100_000;
const folder = mkdtempSync(join(tmpdir(), 'earshot-search-bench-'));
const ripgrep = await shippedRipgrep();
const tool = createSearchTool({ ripgrep: async () => ripgrep });

try {
  for (let part = 0; part < 100; part++) mkdirSync(join(folder, `d${part}`));
  // One file in a thousand contains the searched text.
  for (let file = 0; file < FILES; file++) {
    writeFileSync(
      join(folder, `d${file % 100}`, `${file}.ts`),
      file % 1000 === 7 ? `needle ${file}\n` : `hay ${file}\n`,
    );
  }

  await measure({
    what: `search: ${FILES} files, ${FILES / 1000} of them match`,
    control: 'ripgrep alone, its output read and discarded',
    goal: 1.3,
    runControl: () => bare(['--json', 'needle', './']),
    runEarshot: async () => {
      const { content } = await search({ query: 'needle' });
      if (!content.startsWith(`${FILES / 1000} matching lines`)) throw new Error(content.slice(0, 200));
    },
  });

  const begun = performance.now();
  let first = 0;
  const many = await search({ query: 'needle' }, { progress: () => (first ||= performance.now() - begun) });
  const whole = performance.now() - begun;
  console.log(`  first results on the card after ${first.toFixed(0)} ms of ${whole.toFixed(0)} ms`);
  if (first >= whole || many.isError) process.exitCode = 1;

  const bounded = await search({ query: 'hay' });
  console.log(`  ${FILES * 0.999} matches: the result has ${bounded.content.length} characters`);
  if (bounded.content.length > 30_000 || !bounded.content.includes('There is more')) process.exitCode = 1;

  const stop = new AbortController();
  let asked = 0;
  const cancelled = await search(
    { query: 'needle' },
    {
      signal: stop.signal,
      progress: () => {
        asked ||= performance.now();
        stop.abort();
      },
    },
  );
  console.log(`  cancelled and ended within ${(performance.now() - asked).toFixed(0)} ms`);
  if (cancelled.content !== 'Cancelled by the user.') process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}

function search(args: unknown, more: Partial<ToolContext> = {}): Promise<ToolOutcome> {
  const parsed = tool.parse(args);
  if (!parsed.ok) throw new Error(parsed.failure.message);
  const context = {
    signal: new AbortController().signal,
    workspace: createFolderWorkspace(folder),
    hides: () => false,
    progress: () => undefined,
    ...more,
  };
  return tool.run(parsed.value, context as ToolContext);
}

function bare(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(ripgrep, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.resume();
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}
