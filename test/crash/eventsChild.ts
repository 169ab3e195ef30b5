// The process that the test of events kills: the composition of the programs without an editor, with a model in the
// process and two MCP servers with events, one that is polled and one with a stream. The first run subscribes to both.
import { writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { nextEvent } from '../../src/base/async.ts';
import { composeHeadless } from '../../src/bin/headless/headless.ts';
import { headlessTools } from '../../src/bin/headless/headlessTools.ts';
import { readSettings } from '../../src/protocol/settings.ts';
import { createScriptedModel } from '../support/models/scriptedModel.ts';
import { TestFrontend } from '../support/walk/testFrontend.ts';

const [root = '', id = '', first = ''] = process.argv.slice(2);
const say = (line: string) => writeSync(1, `${line}\n`);
const program = resolve(import.meta.dirname, '../support/mcp/eventServer.mjs');
const servers = Object.fromEntries(
  ['poll', 'push'].map((name) => [name, { command: process.execPath, args: [program, join(root, name), 'stdio'] }]),
);
const given: Readonly<Record<string, unknown>> = {
  'approvals.mode': 'all',
  'mcp.servers': servers,
  'notifications.activation': 'passive',
};
const { settings } = readSettings((name) => given[name]);
const calls = ['poll', 'push'].map((server) => ({
  id: server,
  name: 'subscribe_events',
  arguments: { server, event: 'issue.updated' },
}));
const model = createScriptedModel(first === '' ? { text: 'Done.' } : { calls }, { text: 'Done.' });
const { earshot, wakes } = composeHeadless({
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
  tools: ({ userFiles, wakes: ofTools, clock }) => headlessTools({ userFiles, wakes: { wakes: ofTools, clock } }),
});

const opened = await earshot.open(id);
if (!opened.ok) throw new Error(opened.failure.message);
const isConnected = () => ['poll__look', 'push__look'].every((name) => earshot.tools.names.includes(name));
const never = new AbortController();
while (!isConnected()) await nextEvent(earshot.tools.onDidChange, never.signal);
if (first !== '') {
  await earshot.send(id, 'Subscribe.');
  await earshot.settled(id);
}
say(`subscribed ${opened.value.log.state.events.all.size} ${wakes.hasAny(id)}`);
