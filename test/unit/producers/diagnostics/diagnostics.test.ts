// Problems are reported to live conversations, to each from when it joined.
import { expect, test } from 'vitest';
import { Emitter } from '../../../../src/base/emitter.ts';
import { succeeded } from '../../../../src/base/errors.ts';
import { type Problem, type ProblemsChange } from '../../../../src/core/ports/problems.ts';
import { type FilePath } from '../../../../src/core/ports/workspace.ts';
import { createDiagnosticsProducer } from '../../../../src/producers/diagnostics/diagnostics.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { createMemoryPublisher } from '../../../support/notify/memoryPublisher.ts';
import { createTestHost } from '../../../support/notify/producerHost.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';
import { createFolderWorkspace } from '../../../support/workspace/folderWorkspace.ts';

const error: Problem = { severity: 'error', message: 'Too bitter.', line: 1, column: 1 };
const fileOf = (path: string): FilePath => ({ path, absolute: `/shop/${path}` });

test('a reopened conversation gets only later problems, the others get all of them, and without conversations no document is kept open', async () => {
  const errors: string[] = [];
  const clock = createManualClock();
  const host = createTestHost();
  let keptOpen: readonly string[] = [];
  const found = new Map<string, readonly Problem[]>();
  const reported = new Emitter<ProblemsChange>((failure) => errors.push(String(failure)));
  const publisher = createMemoryPublisher(() => host.conversations);
  const by = () => host.conversations.map((conversation) => ({ conversation, hash: 'h' }));
  const producer = createDiagnosticsProducer({
    clock,
    logger: recordingLogger(errors),
    workspace: Object.assign(createFolderWorkspace('/shop'), {
      resolve: async (path: string) => succeeded(fileOf(path)),
    }),
    problems: {
      all: () => [...found].map(([path, problems]) => ({ file: fileOf(path), open: true, problems })),
      of: (file) => ({ file, open: true, problems: found.get(file.path) ?? [] }),
      onDidChange: reported.event,
      opened: () => [],
      keepOpen: (files) => (keptOpen = files.map(({ path }) => path)),
    },
  });
  const seen = { path: 'seen.ts', by: [] };
  const watching = producer.start(
    publisher,
    { all: () => [{ ...seen, by: by() }], get: () => undefined, onDidChange: host.changed.event },
    host,
  );
  const are = async (...conversations: string[]) => {
    host.conversations = conversations;
    host.changed.fire();
    await passed();
  };
  const passed = async () => {
    clock.advance(20_000);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const breaks = async (path: string) => {
    found.set(path, [error]);
    reported.fire({ type: 'reported', files: [fileOf(path)] });
    await passed();
  };
  await are('a', 'b');
  await breaks('one.ts');
  for (const conversation of ['a', 'b'])
    expect(publisher.deliver(conversation)).toEqual([expect.stringContaining('one.ts')]);
  await are('b');
  await breaks('two.ts');
  expect([publisher.deliver('a'), publisher.deliver('b')]).toEqual([
    [],
    [expect.stringContaining('1 new error in 1 other file: two.ts')],
  ]);
  await are('a', 'b');
  await breaks('three.ts');
  for (const conversation of ['a', 'b']) {
    expect(publisher.deliver(conversation)).toEqual([
      expect.stringContaining('1 new error in 1 other file: three.ts (1).'),
    ]);
  }
  const edit = producer.beginEdit('a');
  const settled = edit.settle([fileOf('edited.ts')], AbortSignal.timeout(60_000));
  await passed();
  await settled;
  edit.dispose();
  expect(keptOpen).toEqual(['edited.ts', 'seen.ts']);
  await are('b');
  expect(keptOpen).toContain('edited.ts');
  await are();
  expect(keptOpen).not.toContain('edited.ts');
  watching.dispose();
  reported.dispose();
  expect([...errors, ...host.broken]).toEqual([]);
});
