// The real Claude Code and the real Codex with a scripted model, in a window and with earshot-ears alone, while another
// program changes the file 0 to 300 ms before each edit of the agent. Only in `npm run test:full`, since the agents are large.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import {
  type ScriptedStep,
  startMessagesEndpoint,
  startResponsesEndpoint,
} from '../../support/agents/scriptedEndpoint.ts';
import { agentProgram, installHook, loadCpu, runClaude, runCodex } from '../../support/agents/realAgents.ts';
import { makeEarsWorld } from '../../support/plugins/ears.ts';
import { openOutsideWorld } from '../../support/plugins/outsideWorld.ts';

const EDITS = 12;
const LONGEST_PAUSE = 300;
const FILE = 'src/menu.txt';
const claude = await agentProgram('claude-code');
const codex = await agentProgram('codex');
const numbers = Array.from({ length: EDITS }, (_, index) => index);

const drink = (index: number) => (index === 0 ? 'coffee' : `cider ${index - 1}`);

/** The model: reads the file, and edits it twelve times, each time right after another program has appended a line. */
function serveDrinks(file: string, read: ScriptedStep, edit: (index: number) => Promise<ScriptedStep>) {
  const queue: (() => Promise<ScriptedStep>)[] = [async () => read];
  for (const index of numbers) {
    queue.push(async () => {
      await promisify(execFile)('sh', ['-c', 'printf "%s\\n" "$1" >> "$2"', 'sh', `soda ${index}`, file]);
      await sleep((index * LONGEST_PAUSE) / (EDITS - 1));
      return edit(index);
    });
  }
  return queue;
}

/** The lines of all diffs that the hook has delivered. */
function reportedLines(sent: readonly unknown[]): readonly string[] {
  const texts = JSON.stringify(sent).match(/<notification .*?<\/notification>/g) ?? [];
  return texts
    .flatMap((text) => text.split(String.raw`\n`).filter((line) => /^[-+]\w/.test(line)))
    .map((line) => line.replace(/\]\]>.*/, ''));
}

const everySoda = numbers.map((index) => `+soda ${index}`);
const EARS = 'with earshot-ears and no window';
const runsOf = ['while the machine is idle', 'under load', EARS] as const;

async function openWorld(how: (typeof runsOf)[number]) {
  if (how === 'under load') loadCpu();
  return how === EARS ? { ...(await makeEarsWorld(['claude-code', 'codex'])), window: undefined } : openOutsideWorld();
}

test.runIf(claude !== undefined).each(runsOf)(
  'Claude Code gets each of twelve changes right before its edits once, and never its own edit (%s)',
  async (how) => {
    const world = await openWorld(how);
    await installHook(world, 'claude-code', 'folder');
    const file_path = join(world.folder, FILE);
    const steps = serveDrinks(file_path, { tool: 'Read', input: { file_path } }, async (index) => ({
      tool: 'Edit',
      input: { file_path, old_string: drink(index), new_string: `cider ${index}` },
    }));
    // What the window notices late is delivered with this command.
    steps.push(async () => ({ tool: 'Bash', input: { command: 'sleep 1', description: 'Wait' } }));
    const endpoint = await startMessagesEndpoint(async () => (await steps.shift()?.()) ?? 'Served.');
    expect(await runClaude(world, claude ?? '', endpoint.url)).toMatchObject({ code: 0 });
    expect(await readFile(file_path, 'utf8')).toContain(`cider ${EDITS - 1}\n`);
    expect(reportedLines(endpoint.sent())).toEqual(everySoda);
    expect(world.window?.errors ?? []).toEqual([]);
  },
  300_000,
);

test.runIf(claude !== undefined)(
  'Claude Code refuses to write over a change; after it has read the file again nothing is reported twice, and not its own write',
  async () => {
    const world = await openOutsideWorld();
    await installHook(world, 'claude-code', 'folder');
    const file_path = join(world.folder, FILE);
    const read = { tool: 'Read', input: { file_path } };
    const write = async (index: number) => {
      const content = (await readFile(file_path, 'utf8')).replace(drink(index), `cider ${index}`);
      return { tool: 'Write', input: { file_path, content } };
    };
    let refused = 0;
    const steps = serveDrinks(file_path, read, write);
    steps.push(async () => ({ tool: 'Bash', input: { command: 'sleep 1', description: 'Wait' } }));
    const endpoint = await startMessagesEndpoint(async (sent) => {
      if (JSON.stringify(sent.slice(-2)).includes('File has been modified since read')) {
        const index = refused++;
        steps.unshift(() => write(index));
        return read;
      }
      return (await steps.shift()?.()) ?? 'Served.';
    });
    expect(await runClaude(world, claude ?? '', endpoint.url)).toMatchObject({ code: 0 });
    expect(refused).toBe(EDITS);
    expect(await readFile(file_path, 'utf8')).toContain(`cider ${EDITS - 1}\n`);
    expect(reportedLines(endpoint.sent())).toEqual([]);
  },
  300_000,
);

async function runCodexOnce(trusts: boolean, how: (typeof runsOf)[number]) {
  const world = await openWorld(how);
  const { installer, target } = await installHook(world, 'codex', 'user');
  const file = join(world.folder, FILE);
  const steps = serveDrinks(file, { tool: 'exec_command', input: { cmd: `cat ${FILE}` } }, async (index) => ({
    tool: 'apply_patch',
    input: `*** Begin Patch\n*** Update File: ${FILE}\n@@\n tea\n-${drink(index)}\n+cider ${index}\n*** End Patch\n`,
  }));
  steps.push(async () => ({ tool: 'exec_command', input: { cmd: 'sleep 1' } }));
  const endpoint = await startResponsesEndpoint(async () => (await steps.shift()?.()) ?? 'Served.');
  const { url } = endpoint;
  expect(await runCodex(world, codex ?? '', { url, trusts })).toMatchObject({ code: 0 });
  expect(await readFile(file, 'utf8')).toContain(`cider ${EDITS - 1}\n`);
  expect(world.window?.errors ?? []).toEqual([]);
  return { reported: reportedLines(endpoint.sent()), lastRun: await installer.lastRun(target) };
}

test.runIf(codex !== undefined).each(runsOf)(
  'Codex gets each of twelve changes right before its patches once, and never its own patch (%s)',
  async (how) => {
    const { reported, lastRun } = await runCodexOnce(true, how);
    expect(reported).toEqual(everySoda);
    expect(lastRun).toBeInstanceOf(Date);
  },
  300_000,
);

test.runIf(codex !== undefined)(
  'Codex does not run a hook that the user has not trusted, and the hook counts as never run',
  async () => {
    expect(await runCodexOnce(false, 'while the machine is idle')).toEqual({ reported: [], lastRun: undefined });
  },
  300_000,
);
