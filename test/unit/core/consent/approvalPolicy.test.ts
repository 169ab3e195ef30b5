// The approval policy: allowed, asked or refused by mode, effect, path, link, command and trust.
import { describe, expect, test } from 'vitest';
import { type InspectedTask } from '../../../../src/core/ports/tasks.ts';
import { useApprovalPolicy } from '../../../support/tools/approvalPolicy.ts';

const verdict = useApprovalPolicy();

describe('modes', () => {
  test.each([
    ['ask', ['ask', 'ask', 'ask']],
    ['reads', ['allowed', 'ask', 'ask']],
    ['edits', ['allowed', 'allowed', 'ask']],
    ['all', ['allowed', 'allowed', 'allowed']],
  ] as const)('mode %s decides on read, edit and execute: %j', async (mode, expected) => {
    const paths = { paths: ['src/a.ts'] };
    const verdicts = [
      await verdict('read', paths, { mode }),
      await verdict('edit', paths, { mode }),
      await verdict('execute', { command: 'npm test' }, { mode }),
    ];
    expect(verdicts.map(({ type }) => type)).toEqual(expected);
  });

  test('a tool that edits files without naming them asks for approval in every mode', async () => {
    expect(await verdict('edit', undefined, { mode: 'all' })).toMatchObject({ type: 'ask' });
  });

  test('Plan mode and an untrusted workspace refuse everything but reading, even with an always rule', async () => {
    for (const given of [{ plan: true }, { trusted: false }]) {
      const more = { ...given, mode: 'all', rules: ['tool:edit_tool'] } as const;
      expect(await verdict('edit', { paths: ['src/a.ts'] }, { ...more, rules: [...more.rules] })).toMatchObject({
        type: 'refused',
      });
      expect(await verdict('read', { paths: ['src/a.ts'] }, given)).toEqual({ type: 'allowed' });
    }
  });
});

describe('a command in another folder of the workspace', () => {
  const given = { mode: 'edits', commands: ['npm test'] } as const;

  test('is not allowed by what allows it in the first one, and offers no always rule', async () => {
    const settings = { ...given, commands: [...given.commands] };
    expect(await verdict('execute', { command: 'npm test' }, settings)).toMatchObject({ type: 'allowed' });
    const there = await verdict('execute', { command: 'npm test', folder: 'api' }, settings);
    expect(there).toMatchObject({ type: 'ask' });
    expect(there).not.toHaveProperty('always');
  });
});

describe('always asks, and offers no always rule, for', () => {
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

describe('the list of allowed commands', () => {
  test.each([
    ['git status', 'allowed'],
    ['git status; rm -rf x', 'ask'],
    ['git status -s', 'ask'],
    ['npm test -- a', 'allowed'],
  ])('%s: %s', async (command, expected) => {
    expect((await verdict('execute', { command }, { commands: ['git status', 'npm test *'] })).type).toBe(expected);
  });

  test('an always rule allows the same command and nothing longer', async () => {
    for (const command of ['npm run "a b"', 'npm test | tail -5']) {
      const asked = await verdict('execute', { command });
      const rule = asked.type === 'ask' ? (asked.always?.rule ?? '') : '';
      expect(await verdict('execute', { command }, { rules: [rule] })).toEqual({ type: 'allowed' });
      expect((await verdict('execute', { command: `${command} x` }, { rules: [rule] })).type).toBe('ask');
    }
  });
});

describe('always rules', () => {
  test('and the list of commands replace no question in the mode that asks for every call', async () => {
    const rules = ['tool:edit_tool', 'tool:read_tool', 'words:["npm","test"]', 'url:https://example.com'];
    const calls = [
      ['edit', { paths: ['src/a.ts'] }],
      ['read', { paths: ['src/a.ts'] }],
      ['execute', { command: 'npm test' }],
      ['read', { url: 'https://example.com/a' }],
    ] as const;
    for (const [effect, touched] of calls) {
      const answer = await verdict(effect, touched, { mode: 'ask', rules, commands: ['npm test'] });
      expect(answer).toEqual({ type: 'ask', letIn: [] });
    }
    expect(await verdict('edit', { paths: ['src/a.ts'] }, { mode: 'reads', rules })).toEqual({ type: 'allowed' });
  });

  const task = (fingerprint: string, isKnown = true): InspectedTask => ({
    fingerprint,
    isKnown,
    view: { name: 'check', folder: 'app', command: 'npm run check', facts: [], before: [] },
  });

  test('of a task cover it only with the definition that was approved', async () => {
    const touched = { task: 'check' };
    const asked = await verdict('execute', touched, { task: task('a1') });
    expect(asked).toMatchObject({ always: { rule: 'task:a1', label: 'the task check in app: npm run check' } });
    const rules = ['task:a1', 'task:check'];
    expect(await verdict('execute', touched, { task: task('a1'), rules })).toMatchObject({ type: 'allowed' });
    expect(await verdict('execute', touched, { task: task('b2'), rules })).toMatchObject({ type: 'ask' });
  });

  test('are neither offered nor used for a task whose command is not known', async () => {
    for (const given of [{ task: task('a1', false) }, {}]) {
      const answer = await verdict('execute', { task: 'check' }, { ...given, rules: ['task:a1', 'task:check'] });
      expect(answer.type).toBe('ask');
      expect(answer).not.toHaveProperty('always');
    }
  });
});
