// A whole conversation on Windows without an editor: a scripted model reads and edits files, runs commands, and is notified
// of what happens meanwhile: files, lines of a command and of a log, the end of a command, a timer and a script.
import { equal, match, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { composeHeadless } from '../../src/bin/headless/headless.ts';
import { installNotifyProgram } from '../../src/node/scripts/notifyProgram.ts';
import { realClock } from '../../src/node/realClock.ts';
import { shellProgram, userEnvironment } from '../../src/node/shellProgram.ts';
import { launchSupervisor } from '../../src/node/supervision/supervision.ts';
import { readSettings } from '../../src/protocol/settings.ts';
import { handleTool } from '../../src/tools/commands/handle.ts';
import { runCommandTool } from '../../src/tools/commands/runCommand.ts';
import { createFileTools } from '../../src/tools/files/fileTools.ts';
import { createWakeWhenTool } from '../../src/tools/wakeWhen.ts';
import { watchTool } from '../../src/tools/watch.ts';
import { createScriptedModel } from '../support/models/scriptedModel.ts';
import { recordingLogger } from '../support/recordingLogger.ts';
import { TestFrontend } from '../support/walk/testFrontend.ts';
import { programs, temporaryFolder, test, until } from './support.ts';

const [folder, storage, home] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
const shell = shellProgram(process.env['ComSpec'] ?? 'cmd.exe');
const given = { 'approvals.mode': 'all', 'notifications.activation': 'passive' };
const { settings } = readSettings((name) => (given as Record<string, unknown>)[name]);
const errors: string[] = [];
// In this process: under Wine, Node connects to no TCP port.
const model = createScriptedModel();
const composed = composeHeadless({
  ...{ folder, storage, home, window: 'windows', userFolder: temporaryFolder(), capture: false },
  frontend: new TestFrontend(),
  logger: recordingLogger(errors),
  launch: (place, env) => launchSupervisor(join(programs, 'supervisor.cjs'), place, env),
  notifyProgram: () => installNotifyProgram(join(programs, 'earshot-notify.mjs'), home),
  supervision: {
    userShell: () => ({ shell, env: userEnvironment({ ...process.env, EARSHOT_HOME: home }) }),
    graceMilliseconds: 300,
  },
  settings: () => settings,
  model: () => model,
  tools: ({ wakes }) => [
    ...createFileTools(),
    ...[runCommandTool, watchTool, handleTool, createWakeWhenTool({ wakes, clock: realClock })],
  ],
  ports: { shell: () => shell.path },
});
const { earshot, handles, scripts } = composed;
const opened = await earshot.create();
ok(opened.ok);
const { log } = opened.value;
after(async () => {
  await handles.stopAll(log.id, 'the test ended');
  await composed.close();
});

const call = (name: string, args: object, id = name) => ({ id, name, arguments: { ...args } });

/** Runs a user turn with these calls; resolves with all messages of its last request. */
async function go(...calls: readonly ReturnType<typeof call>[]): Promise<string> {
  model.script(...(calls.length > 0 ? [{ calls }] : []));
  ok((await earshot.send(log.id, 'Go on.')).ok);
  await earshot.settled(log.id);
  return JSON.stringify(model.requests.at(-1)?.messages);
}

const pending = () => log.state.pending.notifications.map(({ kind, message }) => `${kind.name} ${message}`);
const isPending = (pattern: RegExp) => pending().some((text) => pattern.test(text));

test('files are read and edited under either separator, and a change by another program is notified once', async () => {
  mkdirSync(join(folder, 'src'));
  const path = join(folder, 'src', 'Tea.ts');
  writeFileSync(path, 'green\r\n');
  const edits = [{ old_text: 'green', new_text: 'black' }];
  const request = await go(
    call('read_file', { path: 'src\\tea.ts' }),
    call('edit_file', { path: 'src/Tea.ts', edits }),
  );
  match(request, /green/);
  equal(readFileSync(path, 'utf8'), 'black\r\n');
  appendFileSync(path, 'white\r\n');
  await until(() => isPending(/^changed src\/Tea\.ts changed/));
  equal(pending().filter((text) => text.startsWith('changed ')).length, 1);
  match(await go(), /\+white/);
});

test('lines of a background command and of a log are notified, and a command takes input and ends with its exit code', async () => {
  const script = join(folder, 'kettle.js');
  writeFileSync(
    script,
    "console.log('ready in 3 s'); process.stdin.once('data', () => process.exit(4)); setInterval(() => {}, 1000);",
  );
  writeFileSync(join(folder, 'kettle.log'), '');
  const command = `"${process.execPath}" "${script}"`;
  await go(
    call('run_command', { command, background: true, handle: 'kettle', notify_on: ['ready in'] }),
    call('watch', { tail: [{ path: 'kettle.log', notify_on: ['fault'] }] }),
  );
  await until(() => isPending(/ready in 3 s/));
  await until(() => {
    appendFileSync(join(folder, 'kettle.log'), 'fault 1\r\n');
    return isPending(/fault 1/);
  });
  await go(call('handle', { action: 'apply', name: 'kettle', text: 'off' }));
  await until(() => handles.list(log.id).some(({ name, hasEnded }) => name === 'kettle' && hasEnded));
  match(await go(call('handle', { action: 'fetch', name: 'kettle' }, 'fetch')), /kettle: ended with exit code 4/);
});

test('a timer fires, and a script of a command reaches its own conversation', async () => {
  const command = '"%EARSHOT_NOTIFY%" --level warning --name kettle "it is hot & loud"';
  const set = await go(
    call('wake_when', { name: 'tea', when: { after: '1s' }, note: 'Look at the tea.' }),
    call('run_command', { command }),
  );
  match(set, /kept until a window takes it/);
  // From outside, for the folder as somebody typed it.
  const words = ['--dir', folder.toUpperCase(), 'the post is here'];
  const env = { ...process.env, EARSHOT_HOME: home };
  spawnSync(process.execPath, [join(programs, 'earshot-notify.mjs'), ...words], { env });
  await until(async () => {
    await scripts.taken('');
    const request = await go();
    return ['| it is hot & loud', '| the post is here', 'Your note: Look at the tea.'].every((text) =>
      request.includes(text),
    );
  });
});

test('nothing was logged as an error', () => equal(errors.join('\n'), ''));
