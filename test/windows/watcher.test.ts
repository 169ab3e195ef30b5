// The watcher of globs and of single files, on a real folder of Windows.
import { deepEqual } from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WatchedPaths } from '../../src/producers/files/diskWatch.ts';
import { temporaryFolder, test, until } from './support.ts';

const nothing = () => undefined;
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

test('files below a watched folder are reported with slashes, ignored ones are not, and a deleted file is followed', async () => {
  const folder = temporaryFolder();
  for (const name of ['src', 'dist']) mkdirSync(join(folder, name));
  const seen: string[] = [];
  const failures: unknown[] = [];
  const watched = new WatchedPaths({
    logger,
    hasOther: false,
    touched: (path, type) => seen.push(`${type} ${path}`),
    broke: (error) => failures.push(error),
  });
  watched.addFolder('shop', folder, (path) => path.startsWith('shop/dist'));
  const single = join(temporaryFolder(), 'notes.md');
  writeFileSync(single, '0');
  watched.add('notes.md', single);
  let number = 0;
  const untilSeen = (text: string, act: () => void) => until(() => (act(), seen.includes(text)));
  await untilSeen('changed shop/src/Tea.ts', () => {
    writeFileSync(join(folder, 'dist', 'tea.js'), String((number += 1)));
    writeFileSync(join(folder, 'src', 'Tea.ts'), String(number));
  });
  await untilSeen('changed notes.md', () => writeFileSync(single, String((number += 1))));
  rmSync(single);
  await until(() => seen.includes('deleted notes.md'));
  await untilSeen('created notes.md', () => writeFileSync(single, String((number += 1))));
  deepEqual(
    seen.filter((text) => text.includes('dist')),
    [],
  );
  deepEqual(failures, []);
  watched.dispose();
});
