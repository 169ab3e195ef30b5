// The process that the test of CI and pull requests kills: the composition of the programs without an editor, with a model
// in the process and the real gh. Its time passes faster. The first run writes the file whose commits concern it.
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { composeHeadless } from '../../src/bin/headless/headless.ts';
import { headlessTools } from '../../src/bin/headless/headlessTools.ts';
import { readSettings } from '../../src/protocol/settings.ts';
import { fastClock } from '../support/forge/fastClock.ts';
import { createScriptedModel } from '../support/models/scriptedModel.ts';
import { TestFrontend } from '../support/walk/testFrontend.ts';

/** `epoch`: when time began to pass faster, in milliseconds since 1970. */
const [root = '', id = '', epoch = '', first = ''] = process.argv.slice(2);
const say = (line: string) => writeSync(1, `${line}\n`);
const given: Readonly<Record<string, unknown>> = {
  ...{ 'approvals.mode': 'all', forge: 'gh', 'notifications.activation': 'passive' },
};
const { settings } = readSettings((name) => given[name]);
const model = createScriptedModel(
  { calls: [{ id: 'w', name: 'write_file', arguments: { path: 'b.txt', content: 'tea\n' } }] },
  { text: 'Done.' },
);
const clock = fastClock(Number(epoch));
const { earshot } = composeHeadless({
  ...{
    folder: join(root, 'workspace'),
    storage: join(root, 'storage'),
    window: 'child',
    userFolder: join(root, 'user'),
  },
  logger: {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (message, error) => say(`error ${message} ${String(error)}`),
  },
  frontend: new TestFrontend(),
  capture: false,
  launch: () => {
    throw new Error('no command is run');
  },
  settings: () => settings,
  model: () => model,
  tools: ({ userFiles }) => headlessTools({ userFiles }),
  producers: ({ forge }) => [forge.producer],
  ports: { clock },
});

const opened = await earshot.open(id);
if (!opened.ok) throw new Error(opened.failure.message);
if (first !== '') {
  await earshot.send(id, 'Write it.');
  await earshot.settled(id);
}
say('opened');
