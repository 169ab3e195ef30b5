// Problems that a server reports after an edit has ended are reported with the next request.
import { afterEach, expect, test } from 'vitest';
import { type Disposable } from '../../../../src/base/disposable.ts';
import { Emitter } from '../../../../src/base/emitter.ts';
import { succeeded } from '../../../../src/base/errors.ts';
import { type Problem, type ProblemsChange } from '../../../../src/core/ports/problems.ts';
import { type DeliveryPoint } from '../../../../src/core/ports/producers.ts';
import { type FilePath } from '../../../../src/core/ports/workspace.ts';
import { createDiagnosticsProducer } from '../../../../src/producers/diagnostics/diagnostics.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { createMemoryPublisher } from '../../../support/notify/memoryPublisher.ts';
import { createTestHost } from '../../../support/notify/producerHost.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';
import { createFolderWorkspace } from '../../../support/workspace/folderWorkspace.ts';

const error: Problem = { severity: 'error', message: 'Too bitter.', line: 1, column: 1 };
const fileOf = (path: string): FilePath => ({ path, absolute: `/shop/${path}` });
const file = fileOf('new.ts');
const held: Disposable[] = [];
afterEach(() => {
  for (const one of held.splice(0)) one.dispose();
});

function start() {
  const clock = createManualClock();
  const host = createTestHost();
  host.conversations = ['a'];
  const found = new Map<string, readonly Problem[]>();
  const reported = new Emitter<ProblemsChange>(() => undefined);
  const publisher = createMemoryPublisher(() => host.conversations);
  const seen: string[] = [];
  const producer = createDiagnosticsProducer({
    clock,
    logger: recordingLogger([]),
    workspace: Object.assign(createFolderWorkspace('/shop'), {
      resolve: async (path: string) => succeeded(fileOf(path)),
      mayShow: async () => true,
    }),
    problems: {
      all: () => [],
      of: (one) => ({ file: one, open: true, problems: found.get(one.path) ?? [] }),
      onDidChange: reported.event,
      opened: () => [],
      keepOpen: () => undefined,
    },
  });
  const view = (path: string) => ({ path, by: [{ conversation: 'a', hash: 'h' }] });
  const views = {
    all: () => seen.map(view),
    get: (path: string) => (seen.includes(path) ? view(path) : undefined),
    onDidChange: host.changed.event,
  };
  held.push(producer.start(publisher, views, host), reported);
  const passed = async (milliseconds: number) => {
    clock.advance(milliseconds);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, host, found, reported, publisher, seen, producer, passed };
}

/** A whole write of a file that nobody has read, whose server reports nothing until it has ended. */
async function writeNewFile({ producer, reported, seen, host, passed }: ReturnType<typeof start>): Promise<void> {
  const edit = producer.beginEdit('a');
  reported.fire({ type: 'opened', files: [file] });
  reported.fire({ type: 'edited', files: [file] });
  const settled = edit.settle([file], AbortSignal.timeout(60_000));
  await passed(2000);
  expect(await settled).toBeUndefined();
  seen.push(file.path);
  host.changed.fire();
  edit.dispose();
  await passed(0);
}

test('problems of a new file that are reported after its write has ended are not taken as its starting state', async () => {
  const world = start();
  await writeNewFile(world);
  world.found.set(file.path, [error]);
  world.reported.fire({ type: 'reported', files: [file] });
  await world.passed(400);
  expect(world.publisher.deliver('a')).toEqual([expect.stringContaining('new.ts has 1')]);
});

test('a request waits until a server is quiet that has just reported on a seen file', async () => {
  const world = start();
  await writeNewFile(world);
  world.found.set(file.path, [error]);
  world.reported.fire({ type: 'reported', files: [file] });
  let sampled = false;
  const sampling = Promise.resolve(world.producer.sample?.({ conversation: 'a' } as DeliveryPoint)).then(() => {
    sampled = true;
  });
  await world.passed(0);
  expect(sampled).toBe(false);
  await world.passed(301);
  await sampling;
  expect(world.publisher.deliver('a')).toEqual([expect.stringContaining('new.ts has 1')]);
});
