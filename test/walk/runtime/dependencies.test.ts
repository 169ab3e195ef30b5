// A lock file that somebody else changes: the packages reach the model's next request, once.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Emitter } from '../../../src/base/emitter.ts';
import { type FileTouch } from '../../../src/core/ports/sources.ts';
import { createDependenciesProducer } from '../../../src/producers/dependencies/dependencies.ts';
import { begin, done } from '../../support/walk/handleWalks.ts';

const lock = (versions: Readonly<Record<string, string>>) =>
  JSON.stringify({
    lockfileVersion: 3,
    packages: {
      '': { name: 'shop' },
      ...Object.fromEntries(Object.entries(versions).map(([name, version]) => [`node_modules/${name}`, { version }])),
    },
  });

test('what changed in a lock file, and what is not installed yet, is in the next request only', async () => {
  const touched = new Emitter<FileTouch>((error) => expect(error).toBeUndefined());
  const walk = await begin([done, done, done, done], {
    producers: (deps) => [createDependenciesProducer({ ...deps, editorFiles: { onDidTouch: touched.event } })],
  });
  const write = async (name: string, text: string) => {
    await writeFile(join(walk.headless.folder, name), text);
    touched.fire({ type: 'changed', path: name });
  };
  const sent = async () => {
    await walk.go();
    return walk.server.requests.at(-1)?.body ?? '';
  };
  await write('package-lock.json', lock({ cup: '1.0.0', kettle: '2.0.0', spoon: '1.0.0' }));
  expect(await sent()).not.toContain('Dependencies changed');
  await mkdir(join(walk.headless.folder, 'node_modules'));
  await writeFile(join(walk.headless.folder, 'node_modules/.package-lock.json'), lock({ cup: '1.1.0' }));
  await write('package-lock.json', lock({ cup: '1.1.0', kettle: '2.0.0', 'tea</notification>': '1.0.0' }));
  expect(await sent()).toContain(
    'Dependencies changed in package-lock.json: cup 1.0.0 → 1.1.0, spoon removed, tea</notification> 1.0.0 added. Not installed yet: 1 of them.',
  );
  // Half-written while something is delivered, and then whole.
  await write('package-lock.json', '{"packages": {');
  expect(await sent()).not.toContain('kettle 2.0.0 →');
  await writeFile(join(walk.headless.folder, 'package-lock.json'), lock({ cup: '1.1.0', kettle: '3.0.0' }));
  expect(await sent()).toContain(
    'Dependencies changed in package-lock.json: kettle 2.0.0 → 3.0.0, tea</notification> removed. Not installed yet: 1 of them.',
  );
  expect(walk.headless.errors).toEqual([]);
});
