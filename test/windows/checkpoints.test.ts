// Changes by tools and by a command on Windows, with checkpoints as they are without git: they are listed with their bytes,
// undone, and the state before the turn is restored.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { composeHeadless } from '../../src/bin/headless/headless.ts';
import { planRestore, restore } from '../../src/core/checkpoints/restore.ts';
import { Review } from '../../src/core/checkpoints/review.ts';
import { shellProgram, userEnvironment } from '../../src/node/shellProgram.ts';
import { launchSupervisor } from '../../src/node/supervision/supervision.ts';
import { readSettings } from '../../src/protocol/settings.ts';
import { runCommandTool } from '../../src/tools/commands/runCommand.ts';
import { createFileTools } from '../../src/tools/files/fileTools.ts';
import { createScriptedModel } from '../support/models/scriptedModel.ts';
import { recordingLogger } from '../support/recordingLogger.ts';
import { reviewing, value } from '../support/walk/reviewing.ts';
import { TestFrontend } from '../support/walk/testFrontend.ts';
import { programs, temporaryFolder, test } from './support.ts';

const folder = temporaryFolder();
const { settings } = readSettings((name) => (name === 'approvals.mode' ? 'all' : undefined));
const shell = shellProgram(process.env['ComSpec'] ?? 'cmd.exe');
const errors: string[] = [];
const model = createScriptedModel();
const composed = composeHeadless({
  ...{ folder, storage: temporaryFolder(), home: temporaryFolder(), userFolder: temporaryFolder() },
  ...{ window: 'windows', capture: true },
  frontend: new TestFrontend(),
  logger: recordingLogger(errors),
  launch: (place, env) => launchSupervisor(join(programs, 'supervisor.cjs'), place, env),
  supervision: { userShell: () => ({ shell, env: userEnvironment(process.env) }), graceMilliseconds: 300 },
  settings: () => settings,
  model: () => model,
  tools: () => [...createFileTools(), runCommandTool],
  ports: { shell: () => shell.path },
});
const { earshot, ports } = composed;
after(() => composed.close());

const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
/** Without the space that the `echo` of Wine adds. */
const textOf = (name: string) =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8').replace(' \r', '\r') : undefined;

test('changes by a tool and by a command are listed with their bytes and undone, and the turn’s start is restored', async () => {
  mkdirSync(join(folder, 'Sub Folder'));
  put('tool.txt', 'mine\r\n');
  put('changed.txt', 'mine\r\n');
  put('Sub Folder\\gone.txt', 'mine\r\n');
  const opened = await earshot.create();
  ok(opened.ok);
  const { log } = opened.value;
  const command = 'echo theirs>changed.txt & del "Sub Folder\\gone.txt" & echo made>made.txt';
  model.script(
    {
      calls: [
        { id: 'r', name: 'read_file', arguments: { path: 'tool.txt' } },
        { id: 'w', name: 'write_file', arguments: { path: 'tool.txt', content: 'its own\r\n' } },
        { id: 'c', name: 'run_command', arguments: { command } },
      ],
    },
    { text: 'Done.' },
  );
  ok((await earshot.send(log.id, 'Go on.')).ok);
  await earshot.settled(log.id);
  const states = (): readonly (string | undefined)[] =>
    ['tool.txt', 'changed.txt', 'Sub Folder/gone.txt', 'made.txt'].map(textOf);
  const [mine, theirs] = [
    ['mine\r\n', 'mine\r\n', 'mine\r\n', undefined],
    ['its own\r\n', 'theirs\r\n', undefined, 'made\r\n'],
  ];
  deepEqual(states(), theirs);
  const { review, deps } = reviewing({ headless: { earshot, ports, folder }, id: log.id });
  const others = new Review(deps, 'meanwhile');
  // What a command changes is *changed meanwhile* here: nothing says which program wrote it.
  deepEqual(
    (await review.files()).map(({ path, kind }) => `${path} ${kind}`),
    ['tool.txt changed'],
  );
  const meanwhile = (await others.files()).map(({ path, kind, clash }) => `${path} ${kind} ${clash}`);
  deepEqual(meanwhile, ['Sub Folder/gone.txt deleted false', 'changed.txt changed false', 'made.txt created false']);
  deepEqual((await value(review.undo())).done, ['tool.txt']);
  deepEqual((await value(others.undo(['Sub Folder/gone.txt']))).done, ['Sub Folder/gone.txt']);
  deepEqual(states(), ['mine\r\n', 'theirs\r\n', 'mine\r\n', 'made\r\n']);
  const plan = await value(planRestore(deps, log.state.changes.turns[0]?.request ?? ''));
  await value(restore(deps, plan, plan.entries));
  deepEqual(states(), mine);
  equal(errors.join('\n'), '');
});
