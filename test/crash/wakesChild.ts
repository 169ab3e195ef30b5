// The process that the test of timers and conditions kills: the composition of the programs without an editor, with a
// model in the process. It sets some, prints each that is on disk, and prints `idle` once all have fired.
import { writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { composeHeadless } from '../../src/bin/headless/headless.ts';
import { headlessTools } from '../../src/bin/headless/headlessTools.ts';
import { writeEntry } from '../../src/node/scripts/scriptSpool.ts';
import { readSettings } from '../../src/protocol/settings.ts';
import { createScriptedModel } from '../support/models/scriptedModel.ts';
import { launchProcess } from '../support/tools/supervision.ts';
import { TestFrontend } from '../support/walk/testFrontend.ts';

/**
 * `count`: how many timers and how many conditions it sets; `after`: when the timers are due; `files`: those of the
 * conditions; `sources`: with `all`, also conditions on a command, on its output and on a script, and a repeated timer.
 */
const [root = '', id = '', run = '', count = '0', after = '1s', files = 'touched', sources = ''] =
  process.argv.slice(2);
const isAll = sources === 'all';
const folder = join(root, 'workspace');
const say = (line: string) => writeSync(1, `${line}\n`);
const { settings } = readSettings((name) => ({ 'approvals.mode': 'all' })[name as string]);

const calls: { id: string; name: string; arguments: object }[] = Array.from({ length: Number(count) }, (_, index) => [
  { id: `t${run}-${index}`, name: 'wake_when', arguments: { name: `t${run}-${index}`, when: { after } } },
  {
    id: `c${run}-${index}`,
    name: 'wake_when',
    arguments: {
      name: `c${run}-${index}`,
      when: {
        all: [
          { file: `f${run}-${index}`, is: 'exists' },
          { file: `g${run}`, is: 'changed' },
        ],
      },
    },
  },
]).flat();
/** The command prints a line and ends once there is the file `go…`. */
const command = `until [ -e go${run} ]; do sleep 0.05; done; echo printed ${run}; echo rest`;
const others = [
  { id: `k${run}`, name: 'run_command', arguments: { command, background: true, handle: `k${run}` } },
  ...[
    { name: `o${run}`, when: { output: `k${run}`, has: `printed ${run}` } },
    { name: `h${run}`, when: { handle: `k${run}`, is: 'ended' } },
    { name: `n${run}`, when: { notify: `line${run}` } },
  ].map((one) => ({ id: one.name, name: 'wake_when', arguments: one })),
];
if (isAll && calls.length > 0) calls.unshift(...others);
const home = join(root, 'home');
/** Shorter than a model may ask for. */
const EVERY = { every: 500, most: 4 };
const model = createScriptedModel({ calls }, { text: 'Done.' });
const { earshot, wakes } = composeHeadless({
  ...{ folder, storage: join(root, 'storage'), window: 'child', userFolder: join(root, 'user') },
  logger: {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (message, error) => say(`error ${message} ${String(error)}`),
  },
  frontend: new TestFrontend(),
  capture: false,
  launch: launchProcess,
  home,
  settings: () => settings,
  model: () => model,
  tools: ({ userFiles, wakes: ofTools, clock }) => headlessTools({ userFiles, wakes: { wakes: ofTools, clock } }),
});

say(`due ${[...(await wakes.due())].includes(id)}`);
const opened = await earshot.open(id);
if (!opened.ok) throw new Error(opened.failure.message);
const { log } = opened.value;
say(log.owned ? 'owned' : 'followed');
/** What the other conditions of a run wait for. */
async function happen(of: string): Promise<void> {
  touch(`go${of}`);
  const entry = { at: new Date().toISOString(), dir: folder, text: 'It is done.', level: 'info' as const };
  await writeEntry({ ...entry, name: `line${of}`, to: id }, home);
}
const touch = (name: string) => writeFileSync(join(folder, name), String(Math.random()));
log.onDidAppend(({ event }) => {
  if (event.type === 'wake_set') {
    // Before the line, after which it may be killed.
    if (event.name.startsWith('c')) touch(event.name.replace('c', 'f'));
    say(`set ${event.name}`);
  }
});
const sayIdle = () => {
  if (wakes.hasAny(id)) return;
  // The last fire is in memory; closing waits until it is on disk.
  const report = (error: unknown) => say(`error ${String(error)}`);
  void earshot
    .settled(id)
    .then(async () => earshot.close(id))
    .then(() => say('idle'))
    .catch(report);
};
if (files === 'touched') {
  // Also those files whose condition was on disk when the process was killed, right before it touched them.
  for (const { wake } of wakes.list(id)) if (wake.name.startsWith('c')) touch(wake.name.replace('c', 'f'));
  for (let other = 0; other < Number(run) || (calls.length === 0 && other === Number(run)); other += 1) {
    touch(`g${other}`);
    if (isAll) await happen(String(other));
  }
}
if (calls.length > 0) {
  if (isAll) {
    const repeated = { name: `r${run}`, ...EVERY, until: Date.now() + 3_600_000, note: '', call: `r${run}` };
    const set = await wakes.set(id, repeated);
    if (!set.ok) say(`error ${set.failure.message}`);
  }
  await earshot.send(id, 'Set them.');
  await earshot.settled(id);
  if (files === 'touched') touch(`g${run}`);
  if (isAll) await happen(run);
  say('settled');
} else {
  wakes.onDidChange(sayIdle);
  sayIdle();
}
