// Our hook in the settings files of other agents: added and removed as text, without touching the rest.
import { mkdtemp, readFile, realpath, rm, symlink, writeFile, lstat, mkdir, chmod, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { jsoncValue, parseJsoncTree } from '../../../src/base/json/jsoncTree.ts';
import { parseJsonc } from '../../../src/base/json/jsonc.ts';
import { HookInstaller } from '../../../src/plugins/hook/hookInstaller.ts';
import { AGENT_NAMES } from '../../../src/plugins/hook/hookTargets.ts';
import { withHook, withoutHook } from '../../../src/plugins/hook/hookSettings.ts';
import { useTool } from '../../support/plugins/outsideAgents.ts';
import { runs } from '../../support/runs.ts';

const command = 'node "/x/notifications-hook.mjs"';
const plain = { type: 'command', command, timeout: 5 };
const after = [{ matcher: '*', hooks: [plain] }];
const entries = { events: { PostToolUse: after, SessionStart: [{ hooks: [plain] }] } };
const value = (result: ReturnType<typeof withHook>) => {
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
};

const COMMENTED = `{
  // Mine.
  "model": "opus", /* the large one */
  "hooks": {
    "PostToolUse": [
      {
        "matcher": "Edit|Write",
        "hooks": [{ "type": "command", "command": "npx prettier" }] // format
      }
      // the last one
    ]
  },
  "env": { "A": "// no comment" },
}
`;

test('the hook is added once and keeps comments, other hooks and trailing commas; removing it restores the text', () => {
  const added = value(withHook(COMMENTED, entries));
  expect(added).toMatchInlineSnapshot(`
    "{
      // Mine.
      "model": "opus", /* the large one */
      "hooks": {
        "PostToolUse": [
          {
            "matcher": "Edit|Write",
            "hooks": [{ "type": "command", "command": "npx prettier" }] // format
          },
          // the last one
          {
            "matcher": "*",
            "hooks": [
              {
                "type": "command",
                "command": "node \\"/x/notifications-hook.mjs\\"",
                "timeout": 5
              }
            ]
          }
        ],
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "node \\"/x/notifications-hook.mjs\\"",
                "timeout": 5
              }
            ]
          }
        ]
      },
      "env": { "A": "// no comment" },
    }
    "
  `);
  expect(value(withHook(added, entries))).toBe(added);
  expect(value(withoutHook(added))).toBe(COMMENTED);
  const newer = JSON.parse(JSON.stringify(entries).replaceAll('/x/', '/y/')) as typeof entries;
  expect(value(withHook(added, newer))).toBe(added.replaceAll('/x/', '/y/'));
});

test('an empty file gets the hook, and becomes an empty object when it is removed', () => {
  const flat = { PostToolUse: [plain], SessionStart: [plain] };
  const added = value(withHook('', { events: flat }));
  expect(JSON.parse(added)).toEqual({ hooks: flat });
  expect(JSON.parse(value(withoutHook(added)))).toEqual({});
});

test('a command that the user added next to ours stays', () => {
  const added = value(withHook('{}', { events: { PostToolUse: after } }));
  const shared = added.replace('"hooks": [\n', '"hooks": [\n          { "type": "command", "command": "mine" },\n');
  expect(JSON.parse(value(withoutHook(shared)))).toEqual({
    hooks: { PostToolUse: [{ matcher: '*', hooks: [{ type: 'command', command: 'mine' }] }] },
  });
});

test('events of an earlier version are removed, two entries of one event are kept, and the version of the file is added once', () => {
  const two = { version: 1, events: { SessionStart: [{ hooks: [plain] }, { hooks: [{ ...plain, timeout: 9 }] }] } };
  const before = value(withHook('{ "hooks": { "Stop": [{ "command": "mine" }] } }', entries));
  const added = value(withHook(before, two));
  expect(JSON.parse(added)).toEqual({
    version: 1,
    hooks: { Stop: [{ command: 'mine' }], PostToolUse: [], SessionStart: two.events.SessionStart },
  });
  expect(value(withHook(added, two))).toBe(added);
});

test.each(['[]', '{ "hooks": 1 }', '{ "hooks": { "PostToolUse": {} } }', '{ "a": ', 'x', '{}{}', '['.repeat(200)])(
  'a file that contains %s is refused',
  (text) => {
    expect(withHook(text, entries)).toMatchObject({ ok: false });
  },
);

test('adding and removing the hook keeps the value of any settings, and equals what JSON.parse reads', () => {
  const settings = fc.dictionary(
    fc.string({ maxLength: 5 }).filter((key) => key !== 'hooks' && key !== '__proto__'),
    fc.jsonValue({ maxDepth: 2 }),
    { maxKeys: 4 },
  );
  fc.assert(
    fc.property(settings, fc.constantFrom(undefined, 2, '\t'), (data, indent) => {
      const text = JSON.stringify(data, undefined, indent);
      expect(jsoncValue(parseJsoncTree(text))).toEqual(JSON.parse(text));
      const added = value(withHook(text, entries));
      expect(parseJsonc(added)).toMatchObject({ hooks: { SessionStart: [{ hooks: [{ timeout: 5 }] }] } });
      expect(parseJsonc(value(withoutHook(added)))).toEqual(JSON.parse(text));
    }),
    { numRuns: runs(50, 2000) },
  );
});

let root = '';
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'earshot-hook-')));
  await writeFile(join(root, 'program.js'), 'export {};');
});
afterEach(() => rm(root, { recursive: true, force: true }));

test('the installer follows links, keeps the mode, refuses a file that changed meanwhile, and deletes a file with only our hook', async () => {
  const installer = new HookInstaller({
    home: root,
    folder: undefined,
    program: join(root, 'program.js'),
    node: 'node',
  });
  const { targets } = installer;
  const [claude, copilot] = targets;
  if (claude === undefined || copilot === undefined) throw new Error('a target is missing');
  expect(new Set(targets.map(({ agent }) => agent))).toEqual(new Set(Object.keys(AGENT_NAMES)));
  await mkdir(join(root, '.claude'));
  await writeFile(join(root, 'dotfile.json'), '{\n  "model": "opus"\n}\n');
  await chmod(join(root, 'dotfile.json'), 0o640);
  await symlink(join(root, 'dotfile.json'), claude.file);
  for (const target of targets) {
    const planned = await installer.plan(target, 'install');
    if (!planned.ok) throw new Error(planned.failure.message);
    expect(await installer.apply(planned.value)).toEqual({ ok: true, value: undefined });
    expect(await installer.apply(planned.value)).toMatchObject({ ok: false, failure: { code: 'stale' } });
    // The second time there is nothing to write.
    const again = await installer.plan(target, 'install');
    expect(again.ok && again.value.before === again.value.after).toBe(true);
  }
  expect((await lstat(claude.file)).isSymbolicLink()).toBe(true);
  expect((await stat(claude.file)).mode & 0o777).toBe(0o640);
  expect(Object.keys((JSON.parse(await readFile(copilot.file, 'utf8')) as { hooks: object }).hooks)).toEqual([
    ...['PostToolUse', 'SessionStart', 'Stop'],
  ]);
  expect(await installer.installed()).toEqual(targets);
  const copy = join(root, '.earshot', 'bin', 'notifications-hook.mjs');
  expect(await installer.copyProgram()).toMatchObject({ ok: true });
  const { ino } = await stat(copy);
  expect(await installer.copyProgram()).toMatchObject({ ok: true });
  expect((await stat(copy)).ino).toBe(ino);
  for (const target of targets) {
    const planned = await installer.plan(target, 'remove');
    if (!planned.ok) throw new Error(planned.failure.message);
    await installer.apply(planned.value);
  }
  expect(await installer.installed()).toEqual([]);
  expect(await readFile(claude.file, 'utf8')).toBe('{\n  "model": "opus"\n}\n');
  for (const { file } of targets.slice(1)) await expect(stat(file)).rejects.toThrow('ENOENT');
});

test('a file in the place of opencode’s plugin that is not Earshot’s is left unchanged', async () => {
  const deps = { home: root, folder: undefined, program: join(root, 'program.js'), node: 'node' };
  const installer = new HookInstaller(deps);
  const opencode = installer.targets.find(({ agent }) => agent === 'opencode');
  if (opencode === undefined) throw new Error('a target is missing');
  await mkdir(join(opencode.file, '..'), { recursive: true });
  await writeFile(opencode.file, 'export const Mine = 1;\n');
  for (const action of ['install', 'remove'] as const) {
    expect(await installer.plan(opencode, action)).toMatchObject({ ok: false, failure: { code: 'refused' } });
  }
});

test('a damaged settings file and a dangling link are left unchanged, and the failure names the file', async () => {
  const installer = new HookInstaller({
    ...{ home: root, folder: root, node: 'node' },
    program: join(root, 'program.js'),
  });
  const [claude, ofUser] = installer.targets;
  if (claude === undefined || ofUser === undefined) throw new Error('a target is missing');
  await mkdir(join(root, '.claude'));
  await writeFile(claude.file, '{ "hooks": [');
  const planned = await installer.plan(claude, 'install');
  expect(planned).toMatchObject({ ok: false, failure: { code: 'refused' } });
  expect(!planned.ok && planned.failure.message).toMatch(`${claude.file} cannot be changed: the JSON is not valid`);

  await symlink(join(root, 'missing', 'settings.json'), ofUser.file);
  const change = await installer.plan(ofUser, 'install');
  if (!change.ok) throw new Error(change.failure.message);
  const applied = await installer.apply(change.value);
  expect(!applied.ok && applied.failure.message).toBe(
    `${ofUser.file} cannot be written: it is a link to a file that does not exist.`,
  );
  expect((await lstat(ofUser.file)).isSymbolicLink()).toBe(true);

  // A file is in the place of the program's folder.
  await writeFile(join(root, '.earshot'), '');
  expect(await installer.copyProgram()).toMatchObject({ ok: false, failure: { code: 'refused' } });
});

test('settings of a folder that lead outside it are refused, and a folder that becomes a link is not followed', async () => {
  const [folder, outside] = [join(root, 'repository'), join(root, 'outside')];
  await mkdir(folder);
  await mkdir(outside);
  await writeFile(join(outside, 'settings.local.json'), '{}\n');
  const installer = new HookInstaller({ ...{ home: root, folder, node: 'node' }, program: join(root, 'program.js') });
  const [claude] = installer.targets;
  if (claude === undefined) throw new Error('a target is missing');
  const before = await installer.plan(claude, 'install');
  if (!before.ok) throw new Error(before.failure.message);
  expect(before.value.place).toBe(claude.file);

  await symlink(outside, join(folder, '.claude'));
  const planned = await installer.plan(claude, 'install');
  expect(!planned.ok && planned.failure.message).toBe(
    `${claude.file} leads to ${join(outside, 'settings.local.json')}, which is outside the folder.`,
  );
  expect(await installer.apply(before.value)).toMatchObject({ ok: false, failure: { code: 'stale' } });
  expect(await readFile(join(outside, 'settings.local.json'), 'utf8')).toBe('{}\n');

  // A file of the user may be a link; the real path is named before it is written.
  const [, ofUser] = installer.targets;
  if (ofUser === undefined) throw new Error('a target is missing');
  await symlink(outside, join(root, '.claude'));
  const shown = await installer.plan(ofUser, 'install');
  expect(shown.ok && shown.value.place).toBe(join(outside, 'settings.json'));
});

test('an installed hook counts as never run until the agent runs it, also without a window, and again after its removal', async () => {
  const installer = new HookInstaller({
    ...{ home: root, folder: undefined, node: 'node' },
    program: join(root, 'program.js'),
  });
  const [claude] = installer.targets;
  if (claude === undefined) throw new Error('a target is missing');
  const change = async (action: 'install' | 'remove') => {
    const planned = await installer.plan(claude, action);
    if (!planned.ok) throw new Error(planned.failure.message);
    expect(await installer.apply(planned.value)).toMatchObject({ ok: true });
  };
  await change('install');
  expect(await installer.lastRun(claude)).toBeUndefined();
  expect(await useTool({ home: root, folder: root })).toBe('');
  expect(await installer.lastRun(claude)).toBeInstanceOf(Date);
  await change('remove');
  expect(await installer.lastRun(claude)).toBeUndefined();
});
