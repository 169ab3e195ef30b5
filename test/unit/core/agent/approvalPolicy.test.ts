// What runs, what is asked for and what is refused: by mode, effect, path, link, command and trust.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { judge, type Verdict } from '../../../../src/core/agent/approvalPolicy.ts';
import { readHidden } from '../../../../src/core/agent/ignoreFile.ts';
import { type Tool, type Touched } from '../../../../src/core/ports.ts';
import { readSettings, type Settings } from '../../../../src/protocol/settings.ts';
import { type Effect } from '../../../../src/protocol/tool.ts';
import { createFolderWorkspace } from '../../../support/folderWorkspace.ts';

let root: string;
let folder: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-policy-'));
  folder = join(root, 'workspace');
  await mkdir(join(folder, '.git'), { recursive: true });
  await mkdir(join(folder, 'src'));
  await writeFile(join(root, 'outside.txt'), '');
  await symlink(root, join(folder, 'up'));
  await symlink(join(folder, '.git'), join(folder, 'notes'));
  await writeFile(join(folder, '.earshotignore'), 'private/\n*.secret\n!known.secret\n/src/only-here.ts\n');
});
afterEach(() => rm(root, { recursive: true }));

function toolOf(effect: Effect, touched: Touched | undefined): Tool {
  return {
    description: { name: `${effect}_tool`, description: '', parameters: {} },
    effect,
    emits: [],
    parse: (value) => ({ ok: true, value }),
    ...(touched !== undefined && { touches: () => touched }),
    run: async () => ({ content: '', isError: false }),
  };
}

async function verdict(
  effect: Effect,
  touched: Touched | undefined,
  given: {
    mode?: Settings['approvals.mode'];
    commands?: string[];
    rules?: string[];
    plan?: boolean;
    trusted?: boolean;
  } = {},
): Promise<Verdict> {
  const workspace = createFolderWorkspace(folder);
  workspace.trusted = given.trusted ?? true;
  const values: Partial<Record<keyof Settings, unknown>> = {
    'approvals.mode': given.mode,
    'approvals.commands': given.commands,
    mode: given.plan === true ? 'plan' : 'agent',
  };
  const { settings } = readSettings((name) => values[name]);
  const rules = new Set(given.rules);
  const permissions = { has: (rule: string) => rules.has(rule), add: async () => undefined };
  const hidden = await readHidden(workspace);
  return judge({ settings, workspace, hidden, permissions }, toolOf(effect, touched), {});
}

describe('modes', () => {
  test.each([
    ['ask', ['ask', 'ask', 'ask']],
    ['reads', ['allowed', 'ask', 'ask']],
    ['edits', ['allowed', 'allowed', 'ask']],
    ['all', ['allowed', 'allowed', 'allowed']],
  ] as const)('%s', async (mode, expected) => {
    const paths = { paths: ['src/a.ts'] };
    const verdicts = [
      await verdict('read', paths, { mode }),
      await verdict('edit', paths, { mode }),
      await verdict('execute', { command: 'npm test' }, { mode }),
    ];
    expect(verdicts.map(({ type }) => type)).toEqual(expected);
  });

  test('a tool that changes files without saying which is asked for', async () => {
    expect(await verdict('edit', undefined, { mode: 'all' })).toMatchObject({ type: 'ask' });
  });

  test('Plan mode and an untrusted workspace refuse all but reading, whatever was allowed', async () => {
    for (const given of [{ plan: true }, { trusted: false }]) {
      const more = { ...given, mode: 'all', rules: ['tool:edit_tool'] } as const;
      expect(await verdict('edit', { paths: ['src/a.ts'] }, { ...more, rules: [...more.rules] })).toMatchObject({
        type: 'refused',
      });
      expect(await verdict('read', { paths: ['src/a.ts'] }, given)).toEqual({ type: 'allowed' });
    }
  });
});

describe('asked for in every mode, and never for always', () => {
  test.each([
    ['read', '../outside.txt', 'outside the workspace'],
    ['read', '/etc/passwd', 'outside the workspace'],
    ['read', 'up/outside.txt', 'outside the workspace'],
    ['edit', 'src/../../outside.txt', 'outside the workspace'],
    ['read', '.env', 'secrets'],
    ['read', 'deep/.env.local', 'secrets'],
    ['read', 'server.pem', 'secrets'],
    ['read', '.ssh/id_ed25519', 'secrets'],
    ['edit', '.git/hooks/pre-commit', 'secrets'],
    ['edit', '.GIT/config', 'secrets'],
    ['read', 'notes/config', 'secrets'],
    ['edit', '.vscode/tasks.json', 'programs run'],
    ['edit', '.earshotignore', 'programs run'],
    ['read', 'private/a.txt', 'hidden by .earshotignore'],
    ['read', 'src/deep/x.secret', 'hidden by .earshotignore'],
    ['read', 'src/only-here.ts', 'hidden by .earshotignore'],
  ] as const)('%s %s', async (effect, path, why) => {
    const rules = [`tool:${effect}_tool`];
    const answer = await verdict(effect, { paths: ['src/a.ts', path] }, { mode: 'all', rules });
    expect(answer).toMatchObject({ type: 'ask', reason: expect.stringContaining(why) as string });
    expect(answer).not.toHaveProperty('always');
  });

  test.each([
    ['read', '.vscode/settings.json'],
    ['read', '.env.example'],
    ['read', 'known.secret'],
    ['read', 'deep/src/only-here.ts'],
    ['edit', 'src/keyboard.ts'],
  ] as const)('but not %s %s', async (effect, path) => {
    expect(await verdict(effect, { paths: [path] }, { mode: 'edits' })).toEqual({ type: 'allowed' });
  });

  test.each([
    'cat ../outside.txt',
    'cat up/outside.txt',
    'cat .env',
    'cat server.pem',
    'cp a ~/b',
    'true; cat /etc/passwd',
    'git -C/etc x',
    'x --out=/etc/y',
  ])('a command that names it: %s', async (command) => {
    const given = { mode: 'all', commands: ['cat *', 'git *', 'x *'] } as const;
    expect(await verdict('execute', { command }, { ...given, commands: [...given.commands] })).toMatchObject({
      type: 'ask',
    });
  });
});

describe('commands', () => {
  test.each([
    ['git status', 'allowed'],
    ['git status; rm -rf x', 'ask'],
    ['git status -s', 'ask'],
    ['npm test -- a', 'allowed'],
  ])('%s is %s by the list', async (command, expected) => {
    expect((await verdict('execute', { command }, { commands: ['git status', 'npm test *'] })).type).toBe(expected);
  });

  test('what was allowed for always is remembered by its words, or by its exact text where they are not certain', async () => {
    for (const command of ['npm run "a b"', 'npm test | tail -5']) {
      const asked = await verdict('execute', { command });
      const rule = asked.type === 'ask' ? (asked.always?.rule ?? '') : '';
      expect(await verdict('execute', { command }, { rules: [rule] })).toEqual({ type: 'allowed' });
      expect((await verdict('execute', { command: `${command} x` }, { rules: [rule] })).type).toBe('ask');
    }
  });
});
