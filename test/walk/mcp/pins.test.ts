// Approval of MCP servers that run code of the workspace: no changed code starts unasked, in whatever way it is named.
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LaunchProof } from '../../../src/mcp/config/launch.ts';
import { beginMcpWalk, createTestMemory } from '../../support/mcp/mcpWalk.ts';
import { environmentForms, type PinForm, usualPinForms, writeForm } from '../../support/pins/forms.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'earshot-mcp-pins-')));
});
afterEach(() => rm(folder, { recursive: true }));

/** Starts the server in a window of its own; resolves once it has ended or waits for approval. */
async function openWindow(
  { command, env = {} }: Pick<PinForm, 'command' | 'env'>,
  options: { memory: ReturnType<typeof createTestMemory>; approves: boolean; ofWorkspace?: boolean; envFile?: string },
): Promise<LaunchProof[]> {
  const asked: LaunchProof[] = [];
  const [program = '', ...args] = command;
  const { memory, approves, ofWorkspace = true, envFile } = options;
  const walk = await beginMcpWalk(
    { s: { command: program, args, env, cwd: folder, ...(envFile && { envFile }) } },
    [],
    {
      ofWorkspace,
      host: {
        memory,
        roots: () => [folder],
        approve: async (_server, proof) => {
          asked.push(proof);
          return approves;
        },
      },
    },
  );
  // None of these programs is a server, so each one that starts fails.
  if (asked.length === 0 || approves) await walk.until('s', 'failed');
  return asked;
}

async function ran(): Promise<string> {
  const text = await readFile(join(folder, 'ran.txt'), 'utf8').catch(() => '');
  await rm(join(folder, 'ran.txt'), { force: true });
  return text;
}

describe.each([...usualPinForms, ...environmentForms])('$name', (form) => {
  test('changed code does not start in another window, and the approval is remembered only if all code is pinned', async () => {
    await writeForm(folder, form);
    const memory = createTestMemory();
    const [first] = await openWindow(form, { memory, approves: true });
    expect(await ran()).toContain('ONE');
    expect((first?.unpinned.length ?? 0) > 0).toBe(form.unpinned);
    const again = await openWindow(form, { memory, approves: true });
    expect(again).toHaveLength(form.unpinned ? 1 : 0);
    expect(await ran()).toContain('ONE');
    const changed = join(folder, form.changed ?? 'lib.js');
    await writeFile(changed, (await readFile(changed, 'utf8')).replace('ONE', 'TWO'));
    const asked = await openWindow(form, { memory, approves: false });
    expect([asked.length, await ran()]).toEqual([1, '']);
  });
});

test('a server of the user settings that runs a file of the workspace needs approval, one outside does not', async () => {
  await writeForm(folder, { name: '', command: [], unpinned: false });
  const memory = createTestMemory();
  const ofUser = { memory, approves: false, ofWorkspace: false };
  expect(await openWindow({ command: ['node', './lib.js'] }, ofUser)).toHaveLength(1);
  expect(await ran()).toBe('');
  const elsewhere = await mkdtemp(join(tmpdir(), 'earshot-mcp-own-'));
  const own = join(elsewhere, 'own.js');
  await writeFile(own, "require('fs').writeFileSync('ran.txt', 'own')");
  expect(await openWindow({ command: ['node', own] }, ofUser)).toEqual([]);
  expect(await ran()).toBe('own');
  await rm(elsewhere, { recursive: true });
});

test('the question shows variables that load code, also those of an envFile, and masks secrets', async () => {
  await writeForm(folder, { name: '', command: [], files: { '.env': 'A=1\nNODE_OPTIONS=-r ./lib\n' }, unpinned: true });
  const env = { API_KEY: 'hunter2hunter2', MODE: 'fast' };
  const options = { memory: createTestMemory(), approves: false, envFile: '.env' };
  const [proof] = await openWindow({ command: ['node', 'idle.js'], env }, options);
  expect(proof?.details.slice(1)).toEqual([
    'API_KEY=***',
    'MODE=fast',
    'environment from .env: A, NODE_OPTIONS=-r ./lib',
  ]);
  expect(proof?.unpinned).toEqual([{ kind: 'variable', what: 'NODE_OPTIONS' }]);
  expect(proof?.files.map(({ path }) => path)).toContain(join(folder, 'lib.js'));
});
