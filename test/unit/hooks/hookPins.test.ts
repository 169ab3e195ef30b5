// Approval of hooks whose code is in the workspace: no changed code runs unasked, in whatever way the command names it.
import { access, chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHooks, type HookApproval } from '../../../src/hooks/hooks.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { pinForms, writeForm } from '../../support/pins/forms.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';

let folder: string;
let outside: string;
const path = process.env['PATH'];
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'earshot-pins-')));
  outside = await realpath(await mkdtemp(join(tmpdir(), 'earshot-outside-')));
});
afterEach(async () => {
  process.env['PATH'] = path;
  await rm(folder, { recursive: true });
  await rm(outside, { recursive: true });
});

/** A window with one hook. `stored`: the approvals that all windows share. */
function openWindow(command: readonly string[], stored: Set<string>, options: { workspace?: boolean } = {}) {
  const asked: HookApproval[] = [];
  const user = { approves: true };
  const hook = { command: [...command], timeout: 60 };
  const hooks = createHooks({
    clock: realClock,
    logger: recordingLogger([]),
    configured: () => [{ event: 'turn_end', workspace: options.workspace ?? true, hook }],
    folder: () => folder,
    roots: () => [folder],
    isTrusted: () => true,
    mode: () => 'agent',
    approved: { has: async (key) => stored.has(key), add: async (key) => void stored.add(key) },
    approve: async (approval) => {
      asked.push(approval);
      return user.approves;
    },
    notice: () => undefined,
  });
  const run = () => hooks.run({ event: 'turn_end', conversation: 'c', input: {} }, new AbortController().signal);
  return { asked, user, run };
}

async function ran(): Promise<string> {
  return readFile(join(folder, 'ran.txt'), 'utf8').catch(() => '');
}

async function replace(name: string, from: string, to: string): Promise<void> {
  await writeFile(join(folder, name), (await readFile(join(folder, name), 'utf8')).replace(from, to));
}

describe.each(pinForms)('$name', (form) => {
  const { command, changed = 'lib.js', unpinned } = form;

  test('changed code does not run in any window, and the approval is remembered only if all code is pinned', async () => {
    await writeForm(folder, form);
    const stored = new Set<string>();
    const first = openWindow(command, stored);
    await first.run();
    expect(await ran()).toBe('');
    await first.run();
    expect(await ran()).toBe('ONE\n');
    expect(first.asked).toHaveLength(1);
    expect((first.asked[0]?.unpinned.length ?? 0) > 0).toBe(unpinned);
    const second = openWindow(command, stored);
    await second.run();
    expect(second.asked).toHaveLength(unpinned ? 1 : 0);
    await rm(join(folder, 'ran.txt'), { force: true });
    await replace(changed, 'ONE', 'TWO');
    const third = openWindow(command, stored);
    third.user.approves = false;
    await third.run();
    await third.run();
    expect(await ran()).toBe('');
    expect(third.asked).toHaveLength(1);
    // Nor in the window that approved it. What cannot be determined is asked for once in a window.
    first.user.approves = false;
    if (!['a package', 'a computed name'].includes(form.name)) {
      await first.run();
      expect(await ran()).toBe('');
      expect(first.asked).toHaveLength(2);
    }
  });
});

test('the check asks before the first run; a changed file replaces the question, and a removed hook withdraws it', async () => {
  await writeForm(folder, { name: '', command: [], unpinned: false });
  const questions: { files: HookApproval['files']; signal: AbortSignal; answer: (approved: boolean) => void }[] = [];
  let configured = [{ event: 'turn_end' as const, workspace: true, hook: { command: ['node', 'lib'], timeout: 60 } }];
  const hooks = createHooks({
    clock: realClock,
    logger: recordingLogger([]),
    configured: () => configured,
    folder: () => folder,
    roots: () => [folder],
    isTrusted: () => true,
    mode: () => 'agent',
    approved: { has: async () => false, add: async () => undefined },
    approve: ({ files }, signal) => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      signal.addEventListener('abort', () => resolve(false));
      questions.push({ files, signal, answer: resolve });
      return promise;
    },
    notice: () => undefined,
  });
  await hooks.check();
  await hooks.check();
  expect(questions).toHaveLength(1);
  const original = await readFile(join(folder, 'lib.js'), 'utf8');
  await writeFile(join(folder, 'lib.js'), original.replace('ONE', 'TWO'));
  await hooks.check();
  expect(questions.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  // A replaced question is not a refusal.
  await writeFile(join(folder, 'lib.js'), original);
  await hooks.check();
  expect(questions).toHaveLength(3);
  questions[2]?.answer(false);
  await expect.poll(() => hooks.check().then(() => questions.length)).toBe(3);
  await writeFile(join(folder, 'lib.js'), original.replace('ONE', 'SIX'));
  await hooks.check();
  configured = [];
  await hooks.check();
  expect(questions.map(({ signal }) => signal.aborted)).toEqual([true, true, false, true]);
});

describe('a hook of the user settings', () => {
  const JS = "require('fs').writeFileSync('ran.txt', 'ran');";

  test.each([
    ['a relative program', ['./guard.sh']],
    ['a program above the folder and back', ['sub/../guard.sh']],
    ['an argument of a shell', ['sh', 'guard.sh']],
    ['an argument of an interpreter', ['node', './guard.js']],
    ['a name without its extension', ['node', 'guard']],
    ['a program that PATH finds in the workspace', ['guard-in-path']],
    ['a link in the workspace', ['./linked']],
    ['a link from outside into the workspace', ['LINK']],
    ['a script of package.json', ['npm', 'run', '--silent', 'guard']],
    ['a makefile', ['make', '-s', 'guard']],
  ])('with %s runs the workspace’s file only after approval', async (_what, given) => {
    await mkdir(join(folder, 'sub'));
    await writeFile(join(folder, 'guard.js'), JS);
    for (const name of ['guard.sh', 'sub/guard-in-path']) {
      await writeFile(join(folder, name), '#!/bin/sh\nexec node guard.js\n');
      await chmod(join(folder, name), 0o755);
    }
    await symlink('guard.sh', join(folder, 'linked'));
    await symlink(join(folder, 'guard.sh'), join(outside, 'link'));
    await writeFile(join(folder, 'package.json'), '{"scripts": {"guard": "node guard.js"}}');
    await writeFile(join(folder, 'Makefile'), 'guard:\n\t@node guard.js\n');
    process.env['PATH'] = [join(folder, 'sub'), path].join(delimiter);
    const command = given.map((word) => (word === 'LINK' ? join(outside, 'link') : word));
    const window = openWindow(command, new Set(), { workspace: false });
    await window.run();
    await expect(access(join(folder, 'ran.txt'))).rejects.toThrow();
    expect(window.asked).toHaveLength(1);
    await window.run();
    expect(await ran()).toBe('ran');
  });

  test('outside the workspace runs without a question', async () => {
    await writeFile(join(outside, 'guard.js'), JS);
    const window = openWindow(['node', join(outside, 'guard.js')], new Set(), { workspace: false });
    await window.run();
    expect([await ran(), window.asked]).toEqual(['ran', []]);
  });
});
