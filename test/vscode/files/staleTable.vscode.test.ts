// The stale table: every event since the model saw a file, combined with every action of the model. In each case the
// user's bytes are in the file, in its buffer, or restored by one click.
import * as assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import * as z from 'zod';
import { Review } from '../../../src/core/checkpoints/review.ts';
import { type ToolResponse } from '../../../src/core/tools/run.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { createStorage, type Storage } from '../../../src/storage/storage.ts';
import { answer, defineTool } from '../../../src/tools/defineTool.ts';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';
import { createToolBench, type ToolBench } from '../../support/tools/toolBench.ts';
import { cleanUpAfterEach, folder, onDisk, put, typeInto } from '../../support/vscode/editing.ts';
import { checkLeaks } from '../../support/vscode/startedExtension.ts';

const run = promisify(execFile);
const NAME = 'table.txt';
const ORIGINAL = 'head\nthe target\nmiddle\ntail\n';
/** The user's line. In cases where the replacement no longer matches, it replaces the text to be replaced. */
const MINE = 'a line of the user’s';

const withMine = (fits: boolean) => (fits ? ORIGINAL.replace('tail', MINE) : ORIGINAL.replace('the target', MINE));

interface Row {
  /** Changes the file after the model has read it. Returns the bytes that must not be lost. */
  happen(bench: ToolBench, fits: boolean): Promise<string | undefined>;
  /** The model is notified of the change, so nothing is refused as stale. */
  readonly known?: true;
  /** The old name no longer exists. */
  readonly gone?: true;
}

async function secondConversation(): Promise<ToolBench> {
  return createToolBench(workspace, storage.snapshots);
}

let storage: Storage;
let storageFolder: string;
const workspace = createWorkspace();
const benches: ToolBench[] = [];

const ROWS: Readonly<Record<string, Row>> = {
  'changed on disk': {
    happen: async (_bench, fits) => {
      await writeFile(onDisk(NAME), withMine(fits));
      return withMine(fits);
    },
  },
  'changed in a dirty buffer': {
    happen: async (_bench, fits) => {
      await typeInto(NAME, () => withMine(fits));
      return withMine(fits);
    },
  },
  deleted: {
    gone: true,
    happen: async () => {
      await unlink(onDisk(NAME));
      return undefined;
    },
  },
  renamed: {
    gone: true,
    happen: async () => {
      await rename(onDisk(NAME), onDisk('renamed.txt'));
      return ORIGINAL;
    },
  },
  'line endings only': {
    happen: async (_bench, fits) => {
      const text = (fits ? ORIGINAL : withMine(false)).replaceAll('\n', '\r\n');
      await writeFile(onDisk(NAME), text);
      return text;
    },
  },
  'formatted after its own edit': {
    known: true,
    happen: async (bench, fits) => {
      const formatter = vscode.languages.registerDocumentFormattingEditProvider(
        { pattern: `**/${NAME}` },
        {
          provideDocumentFormattingEdits: (document) => {
            const formatted = document.getText().replace(fits ? 'tail' : 'the target', MINE);
            const whole = new vscode.Range(document.positionAt(0), document.positionAt(document.getText().length));
            return [vscode.TextEdit.replace(whole, formatted)];
          },
        },
      );
      const settings = vscode.workspace.getConfiguration('editor');
      await settings.update('formatOnSave', true, vscode.ConfigurationTarget.Workspace);
      try {
        const response = await bench.call('edit_file', {
          path: `${folder}/${NAME}`,
          edits: [{ old_text: 'middle', new_text: 'centre' }],
        });
        assert.match(response.content, /the editor also changed this \(\+1 −1\):/);
      } finally {
        formatter.dispose();
        await settings.update('formatOnSave', undefined, vscode.ConfigurationTarget.Workspace);
      }
      return withMine(fits).replace('middle', 'centre');
    },
  },
  'its own earlier edit': {
    known: true,
    happen: async (bench, fits) => {
      const edits = [{ old_text: fits ? 'tail' : 'the target', new_text: MINE }];
      const response = await bench.call('edit_file', { path: `${folder}/${NAME}`, edits });
      assert.equal(response.is_error, false);
      return withMine(fits);
    },
  },
  'changed by a background command': {
    happen: async (_bench, fits) => {
      await run('sh', ['-c', 'printf %s "$1" > "$2"', 'sh', withMine(fits), onDisk(NAME)]);
      return withMine(fits);
    },
  },
  'changed by another conversation': {
    happen: async (_bench, fits) => {
      const other = await secondConversation();
      benches.push(other);
      const edits = [{ old_text: fits ? 'tail' : 'the target', new_text: MINE }];
      const response = await other.call('edit_file', { path: `${folder}/${NAME}`, edits });
      assert.equal(response.is_error, false);
      return withMine(fits);
    },
  },
};

interface Column {
  readonly fits: boolean;
  act(bench: ToolBench): Promise<ToolResponse>;
  /** Whether the action is expected to succeed after this change of the file. */
  done(row: Row): boolean;
}

const path = () => `${folder}/${NAME}`;
const edit = (bench: ToolBench) =>
  bench.call('edit_file', { path: path(), edits: [{ old_text: 'the target', new_text: 'REPLACED' }] });

const COLUMNS: Readonly<Record<string, Column>> = {
  'a replacement that still fits': { fits: true, act: edit, done: ({ gone }) => gone !== true },
  'a replacement that no longer fits': { fits: false, act: edit, done: () => false },
  'a whole-file write': {
    fits: true,
    act: (bench) => bench.call('write_file', { path: path(), content: 'all new\n' }),
    done: ({ known }) => known === true,
  },
  'a move': {
    fits: true,
    act: (bench) => bench.call('move_file', { path: path(), to: `${folder}/moved.txt` }),
    done: ({ known }) => known === true,
  },
  'a deletion': {
    fits: true,
    act: (bench) => bench.call('delete_file', { path: path() }),
    done: ({ known }) => known === true,
  },
  'the agent’s own shell command that overwrites it': {
    fits: true,
    act: (bench) => bench.call('shell', { command: `printf overwritten > '${onDisk(NAME)}'` }),
    done: () => true,
  },
};

const shellTool = defineTool({
  name: 'shell',
  description: 'Runs a command.',
  effect: 'execute',
  arguments: { command: z.string() },
  touches: ({ command }) => ({ command }),
  run: async ({ command }) => answer((await run('sh', ['-c', command])).stdout),
});

/** All texts that are in files and buffers now. */
async function present(): Promise<string[]> {
  const files = await Promise.all(
    [NAME, 'moved.txt', 'renamed.txt'].map((name) => readFile(onDisk(name), 'utf8').catch(() => undefined)),
  );
  const buffers = vscode.workspace.textDocuments.filter(({ isDirty }) => isDirty).map((one) => one.getText());
  return [...files, ...buffers].filter((text) => text !== undefined);
}

/** Asserts that the bytes are in a file or buffer, or that one click on *Undo* restores them. */
async function assertKept(bench: ToolBench, wanted: string): Promise<void> {
  if ((await present()).includes(wanted)) return;
  const { log } = bench;
  const { snapshots } = storage;
  const live = () => ({ log, running: false, asking: 0, damage: [], owned: true, changing: () => () => undefined });
  const undone = await new Review({ workspace, snapshots, live }).undo();
  assert.ok(undone.ok, JSON.stringify(undone));
  const texts = await present();
  assert.ok(texts.includes(wanted), `lost: ${JSON.stringify({ wanted, texts, undone: undone.value })}`);
}

describe('the stale table', () => {
  checkLeaks();
  cleanUpAfterEach();

  before(async () => {
    storageFolder = await mkdtemp(join(tmpdir(), 'earshot-table-'));
    const parts = { clock: realClock, ids: realIds, logger: recordingLogger([]), window: 'table' };
    storage = createStorage({ files: realFileSystem, folder: storageFolder, ...parts });
  });

  after(async () => {
    await storage.checkpoints.close();
    await rm(storageFolder, { recursive: true });
  });

  afterEach(() => {
    for (const bench of benches.splice(0)) {
      bench.log.dispose();
      assert.deepEqual(bench.errors, []);
    }
  });

  for (const [happening, row] of Object.entries(ROWS)) {
    for (const [action, column] of Object.entries(COLUMNS)) {
      it(`${happening}, then ${action}`, async () => {
        const { checkpoints, snapshots } = storage;
        const shell = action.includes('shell');
        const bench = await createToolBench(workspace, snapshots, {
          tools: [shellTool],
          ...(shell && { checkpoints }),
        });
        benches.push(bench);
        await put(NAME, ORIGINAL);
        await bench.call('read_file', { path: path() });
        const precious = await row.happen(bench, column.fits);
        const response = await column.act(bench);
        assert.equal(response.is_error, !column.done(row), response.content);
        if (precious === undefined) return;
        if (column.done(row) && column.act === edit) {
          assert.ok(
            (await present()).includes(precious.replace('the target', 'REPLACED')),
            'the edit keeps the other text',
          );
        }
        if (response.is_error && row.gone !== true) {
          // The refusal showed the new state, so the second attempt is deliberate.
          const again = await column.act(bench);
          const dirty = vscode.workspace.textDocuments.some((one) => one.isDirty);
          if (!column.fits || !dirty) assert.equal(again.is_error, !column.fits, again.content);
        }
        await assertKept(bench, row.known === true ? ORIGINAL : precious);
      });
    }
  }
});
