// The extension host of a real VS Code is killed at random moments: each line of a command, of a log and of a script, each
// timer and each condition is in the log of the conversation exactly once.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type Notification } from '../../../src/protocol/notification.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { isFull } from '../../support/runs.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

const KILLS = 20;
/** Timers and conditions, each. */
const EACH = 8;
const numbers = Array.from({ length: EACH }, (_, index) => index);

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useSharedWorkbench(async () => ({
  settings: {
    'earshot.baseUrl': server.baseUrl,
    'earshot.model': 'scripted-model',
    'earshot.approvals.mode': 'all',
    'earshot.notifications.activation': 'passive',
    // A busy machine may need long for a restart.
    'earshot.handles.ownerTimeout': 600,
  },
}));

const inFolder = (path: string) => join(workbench.folder, path);
const wake = (name: string, when: object) => ({
  ...{ id: name, name: 'wake_when' },
  arguments: { name, when, or_after: '2h' },
});
/** Conditions on the command, its output and its script, and a repeated timer, as short as a model may ask for. */
const others = [
  wake('o', { output: 'job', has: '/^hit 30$/' }),
  wake('h', { handle: 'job', is: 'ended' }),
  wake('n', { notify: 'line' }),
  { id: 'r', name: 'wake_when', arguments: { name: 'r', every: '5m', most: 1 } },
];

/** Of the only conversation with a timer. */
async function queued(): Promise<readonly Notification[]> {
  const files = (await readdir(workbench.dataFolder, { recursive: true })).filter((one) =>
    one.endsWith('events.jsonl'),
  );
  const texts = await Promise.all(files.map((one) => readFile(join(workbench.dataFolder, one), 'utf8')));
  const text = texts.find((one) => one.includes('"wake_set"')) ?? '';
  return text.split('\n').flatMap((line) => {
    const event = line.endsWith('}') ? (JSON.parse(line) as LogEvent) : undefined;
    return event?.type === 'notification_queued' ? [event.notification] : [];
  });
}

async function counts() {
  const all = await queued();
  const linesOf = (target: string) =>
    all
      .filter(({ kind, scopes = [] }) => kind.source === 'output' && scopes.includes(target))
      .map(({ data }) => data?.['searched'] as { readonly matches?: Readonly<Record<string, number>> })
      .flatMap(({ matches = {} }) => Object.values(matches))
      .reduce((sum, count) => sum + count, 0);
  const scripts = all
    .filter(({ kind }) => kind.source === 'script')
    .flatMap(({ data, message }) => (data?.['texts'] as string[] | undefined) ?? message.split('\n| ').slice(1));
  return {
    command: linesOf('handle:job'),
    log: linesOf('file:node_modules/app.log'),
    scripts: new Set(scripts).size,
    twice: scripts.length - new Set(scripts).size,
    fired: all.flatMap(({ data, grant }) => (grant === undefined ? [] : [String(data?.['wake'])])).toSorted(),
  };
}

test.runIf(isFull)(
  `killed ${KILLS} times, it reports each line, timer and condition exactly once`,
  async () => {
    // In a folder ignored by git.
    await mkdir(inFolder('node_modules'), { recursive: true });
    const script = [
      'cd node_modules; i=0',
      'while [ ! -e stop ]; do i=$((i+1)); echo "miss $i"; echo "hit $i"; echo "hit $i" >> app.log',
      '"$EARSHOT_NOTIFY" --name line "line $i" > answer; sleep 0.2; done; echo $i > count',
    ];
    await writeFile(inFolder('node_modules/beat.sh'), script.join('\n'));
    const command = 'sh node_modules/beat.sh';
    const notify_on = ['/^hit \\d+$/'];
    server.script(
      {
        calls: [
          { id: 'tail', name: 'watch', arguments: { tail: [{ path: 'node_modules/app.log', notify_on }] } },
          ...numbers.map((one) => wake(`t${one}`, { after: `${5 + one * 20}s` })),
          ...numbers.map((one) => wake(`c${one}`, { file: `node_modules/c${one}`, is: 'exists' })),
          ...others,
          { id: 'job', name: 'run_command', arguments: { command, background: true, handle: 'job', notify_on } },
        ],
      },
      { text: ['Done.'] },
    );
    await workbench.openChat();
    await workbench.say('Begin.');
    await workbench.settled();
    for (let kill = 0; kill < KILLS; kill += 1) {
      await pause(Math.random() * 4000);
      if (kill < EACH) await writeFile(inFolder(`node_modules/c${kill}`), '');
      await workbench.killExtensionHost();
      await workbench.reload();
    }
    await writeFile(inFolder('node_modules/stop'), '');
    const printed = async () => Number(await readFile(inFolder('node_modules/count'), 'utf8').catch(() => '-1'));
    await expect.poll(printed).toBeGreaterThan(30);
    const total = await printed();
    const fired = [...['c', 't'].flatMap((kind) => numbers.map((one) => `${kind}${one}`)), ...['h', 'n', 'o', 'r']];
    await expect
      .poll(counts, { timeout: 400_000 })
      .toEqual({ command: total, log: total, scripts: total, twice: 0, fired: fired.toSorted() });
    process.stdout.write(`${total} lines of each source, ${fired.length} timers and conditions, ${KILLS} kills.\n`);
  },
  1_200_000,
);
