// Renames in the editor: reported with the final name, and not at all if they were reverted.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Disposable } from '../../../../src/base/disposable.ts';
import { Emitter } from '../../../../src/base/emitter.ts';
import { type SeenFiles } from '../../../../src/core/ports/ports.ts';
import { type Renamed } from '../../../../src/core/ports/sources.ts';
import { createEditorProducer } from '../../../../src/producers/files/editor.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { createMemoryPublisher, type MemoryPublisher } from '../../../support/notify/memoryPublisher.ts';
import { createTestHost, type TestHost } from '../../../support/notify/producerHost.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';
import { createFolderWorkspace } from '../../../support/workspace/folderWorkspace.ts';

let seen: Set<string>;
let renamed: Emitter<readonly Renamed[]>;
let publisher: MemoryPublisher;
let host: TestHost;
let watching: Disposable;
let errors: string[];

beforeEach(() => {
  seen = new Set(['src/a.ts', 'src/b.ts']);
  errors = [];
  renamed = new Emitter((error) => errors.push(String(error)));
  host = createTestHost();
  host.conversations = ['c'];
  publisher = createMemoryPublisher(() => host.conversations);
  const views: SeenFiles = {
    all: () => [...seen].map((path) => ({ path, by: [{ conversation: 'c', hash: path }] })),
    get: (path) => (seen.has(path) ? { path, by: [{ conversation: 'c', hash: path }] } : undefined),
    onDidChange: host.changed.event,
  };
  const never = host.changed.event as never;
  watching = createEditorProducer({
    clock: createManualClock(),
    logger: recordingLogger(errors),
    snapshots: {} as never,
    workspace: createFolderWorkspace('/shop'),
    buffers: { unsaved: () => [], onDidChange: never, onDidSave: never, onDidRename: renamed.event },
  }).start(publisher, views, host);
});
afterEach(() => {
  watching.dispose();
  renamed.dispose();
  expect([...errors, ...host.broken]).toEqual([]);
});

async function rename(from: string, to: string): Promise<void> {
  renamed.fire([{ from, to }]);
  await new Promise((resolve) => setImmediate(resolve));
}

test('renaming twice before delivery reports the first and the last name', async () => {
  await rename('src/a.ts', 'src/x.ts');
  await rename('src/x.ts', 'src/y.ts');
  expect(publisher.pending('c')).toEqual(['file.renamed src/a.ts was renamed to src/y.ts in the editor.']);
});

test('renaming back before delivery withdraws the notification', async () => {
  await rename('src/a.ts', 'src/x.ts');
  await rename('src/x.ts', 'src/a.ts');
  expect(publisher.pending('c')).toEqual([]);
});

test('renaming again after delivery reports it with the known name as the old one', async () => {
  await rename('src/a.ts', 'src/x.ts');
  publisher.deliver('c');
  seen.delete('src/a.ts');
  seen.add('src/x.ts');
  await rename('src/x.ts', 'src/y.ts');
  expect(publisher.pending('c')).toEqual(['file.renamed src/x.ts was renamed to src/y.ts in the editor.']);
});

test('renaming a folder after a file in it reports both with their final names', async () => {
  await rename('src/a.ts', 'src/x.ts');
  await rename('src', 'lib');
  expect(publisher.pending('c')).toEqual([
    'file.renamed src/a.ts was renamed to lib/x.ts in the editor.',
    expect.stringMatching(
      /^file.renamed src was renamed to lib in the editor\. What you read of it is now: .*lib\/b\.ts\.$/,
    ),
  ]);
});
