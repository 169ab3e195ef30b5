// Random acts of the user, the agent, its commands, undo and restore, in any order: no bytes of a file or buffer are
// lost.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  revertDecision,
  isChosen,
  planRestore,
  type RestoreDeps,
  restore,
} from '../../../src/core/checkpoints/restore.ts';
import { type Review } from '../../../src/core/checkpoints/review.ts';
import { type Tool } from '../../../src/core/ports/ports.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { runCommandTool } from '../../../src/tools/commands/runCommand.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { runs } from '../../support/runs.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';
import { reviewing } from '../../support/walk/reviewing.ts';
import { type BufferedWorkspace, createBufferedWorkspace } from '../../support/workspace/bufferedWorkspace.ts';

const RUNS = Number(process.env['EARSHOT_RUNS'] ?? runs(2, 10));
const PATHS = ['a.txt', 'b.txt', 'ignored.log'];
const path = fc.constantFrom(...PATHS);
const line = fc.constantFrom('one\n', 'two\n', 'three\n', 'four\n', 'five\n');

/** Every text is unique, so that none is found by chance. */
let serial = 0;
const textOf = (lines: readonly string[]) => lines.toSpliced(serial % (lines.length + 1), 0, `${serial++}\n`).join('');

interface World {
  readonly headless: Headless;
  readonly workspace: BufferedWorkspace;
  readonly server: ScriptedServer;
  readonly review: Review;
  readonly deps: RestoreDeps;
  readonly id: string;
}

type Operation = { readonly name: string; readonly by: 'user' | 'agent'; run(world: World): Promise<unknown> };

const lines = fc.array(line, { maxLength: 6 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc
    .tuple(path, lines)
    .map(([to, text]) => user(`types in ${to}`, async ({ workspace }) => workspace.type(to, textOf(text)))),
  path.map((of) => user(`saves ${of}`, ({ workspace }) => workspace.save(of))),
  fc.tuple(path, lines).map(([to, text]) => user(`writes ${to}`, ({ headless }) => put(headless, to, textOf(text)))),
  path.map((of) => user(`deletes ${of}`, ({ headless }) => rm(join(headless.folder, of), { force: true }))),
  {
    weight: 2,
    arbitrary: fc
      .tuple(path, lines)
      .map(([to, text]) => agent(`edits ${to}`, { tool: 'edit', path: to, text: () => textOf(text) })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(path, line)
      .map(([to]) => agent(`overwrites ${to}`, { tool: 'run', command: () => `echo ${serial++} > ${to}` })),
  },
  path.map((of) => agent(`appends to ${of}`, { tool: 'run', command: () => `echo ${serial++} >> ${of}` })),
  fc
    .tuple(path, path)
    .map(([from, to]) => agent(`moves ${from} to ${to}`, { tool: 'run', command: () => `mv ${from} ${to}` })),
  path.map((of) => agent(`removes ${of}`, { tool: 'run', command: () => `rm -f ${of}` })),
  decision('keeps all', ({ review }) => review.keep()),
  decision('undoes all', ({ review }) => review.undo()),
  path.chain((of) => decision(`undoes ${of}`, ({ review }) => review.undo([of]))),
  path.chain((of) =>
    decision(`undoes a part of ${of}`, async ({ review }) => {
      const file = await review.file(of);
      return file && review.undoHunk(of, file.version, 0);
    }),
  ),
  path.chain((of) =>
    decision(`keeps a part of ${of}`, async ({ review }) => {
      const file = await review.file(of);
      return file && review.keepHunk(of, file.version, 0);
    }),
  ),
  fc.tuple(fc.nat(), fc.boolean()).chain(([which, all]) =>
    decision(`restores ${which}, ${all ? 'all' : 'what is offered'}`, async ({ deps }) => {
      const turns = deps.live()?.log.state.changes.turns ?? [];
      const plan = await planRestore(deps, turns[which % Math.max(1, turns.length)]?.request ?? '');
      return plan.ok && restore(deps, plan.value, all ? plan.value.entries : plan.value.entries.filter(isChosen));
    }),
  ),
  decision('takes the last back', async ({ deps }) => {
    const items = deps.live()?.log.state.transcript.items ?? [];
    const last = items.findLast((item) => item.type === 'notice' && item.action !== undefined);
    return last && revertDecision(deps, last.id);
  }),
);

function user(name: string, run: Operation['run']): Operation {
  return { name: `the user ${name}`, by: 'user', run };
}

function decision(name: string, run: Operation['run']): fc.Arbitrary<Operation> {
  return fc.constant({ name: `the user ${name}`, by: 'agent', run });
}

type Action = { tool: 'edit'; path: string; text(): string } | { tool: 'run'; command(): string };

function agent(name: string, action: Action): Operation {
  return {
    name: `the agent ${name}`,
    by: 'agent',
    run: async ({ headless, server, id }) => {
      const call =
        action.tool === 'run'
          ? { name: 'run_command', arguments: { command: action.command() } }
          : { name: 'edit', arguments: { path: action.path, text: action.text() } };
      server.script({ calls: [{ id: `c${serial++}`, ...call }] }, { text: ['Done.'] });
      const sent = await headless.earshot.send(id, 'Go on.');
      expect(sent).toEqual({ ok: true, value: undefined });
      await headless.earshot.settled(id);
    },
  };
}

/** An edit tool without the guards of the real tools, so that more can go wrong. */
const editTool: Tool<{ path: string; text: string }> = {
  description: { name: 'edit', description: 'Writes a file.', parameters: { type: 'object' } },
  effect: 'edit',
  emits: [],
  parse: (value) => ({ ok: true, value: value as { path: string; text: string } }),
  touches: ({ path: of }) => ({ paths: [of] }),
  run: async ({ path: of, text }, { workspace }) => {
    const file = await workspace.resolve(of);
    if (!file.ok) return { content: 'no file', isError: true };
    const before = await workspace.read(file.value);
    const from = before.ok ? { from: before.value.bytes } : {};
    const applied = await workspace.apply([{ type: 'write', file: file.value, to: Buffer.from(text), ...from }]);
    return applied.ok
      ? { content: 'written', isError: false, changes: applied.value }
      : { content: applied.failure.message, isError: true };
  },
};

function put(headless: Headless, to: string, text: string): Promise<void> {
  return writeFile(join(headless.folder, to), text);
}

/** All texts that are in files and buffers now. */
async function present({ headless, workspace }: World): Promise<string[]> {
  const onDisk = await Promise.all(
    PATHS.map((of) => readFile(join(headless.folder, of), 'latin1').catch(() => undefined)),
  );
  return [...onDisk, ...[...workspace.typed.values()].map((bytes) => Buffer.from(bytes).toString('latin1'))].filter(
    (text) => text !== undefined,
  );
}

async function isKept({ headless, id }: World, text: string): Promise<boolean> {
  const hash = createHash('sha256').update(text, 'latin1').digest('hex');
  if ((await headless.events(id)).includes(hash)) {
    return existsSync(join(headless.storage, 'snapshots', hash.slice(0, 2), hash));
  }
  const bytes = Buffer.from(text, 'latin1');
  const blob = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  const gits = join(headless.storage, 'checkpoints', 'git');
  return readdirSync(gits).some((name) =>
    execFileSync('git', ['rev-list', '--objects', '--all'], { cwd: join(gits, name), encoding: 'utf8' }).includes(blob),
  );
}

test.each(['a repository', 'no repository'])(
  'random acts in %s lose no bytes',
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 4, maxLength: 12 }), async (operations) => {
        const server = await startScriptedServer();
        let workspace: BufferedWorkspace | undefined;
        const headless = await startHeadless({
          model: createChatModel({ baseUrl: server.baseUrl, model: 'm', options: {}, apiKey: async () => 'k' }),
          checkpoints: true,
          settings: { 'approvals.mode': 'all' },
          ports: { tools: [editTool, runCommandTool], producers: [] },
          editor: (folder) => (workspace = createBufferedWorkspace(folder)),
        });
        try {
          if (kind === 'a repository') execFileSync('git', ['init', '-q'], { cwd: headless.folder });
          await put(headless, '.gitignore', '*.log\n');
          for (const of of PATHS) await put(headless, of, textOf(['one\n', 'two\n', 'three\n']));
          const opened = await headless.earshot.create();
          if (!opened.ok || workspace === undefined) throw new Error('the conversation cannot be opened');
          const { id } = opened.value.log;
          const world: World = { headless, workspace, server, id, ...reviewing({ headless, id }) };
          for (const { by, run, name } of operations) {
            const before = by === 'agent' ? await present(world) : [];
            await run(world);
            const after = await present(world);
            for (const text of before) {
              if (!after.includes(text)) expect([name, text, await isKept(world, text)]).toEqual([name, text, true]);
            }
          }
          expect(headless.errors).toEqual([]);
        } finally {
          await headless.end();
          await server.stop();
        }
      }),
      { numRuns: RUNS, interruptAfterTimeLimit: 60_000 },
    );
  },
  180_000,
);
