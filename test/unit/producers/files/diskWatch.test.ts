// Watching paths on disk: files that are deleted and recreated, whole folders, the system’s limits, and other file systems.
import { EventEmitter } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FSWatcher } from 'chokidar';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Emitter } from '../../../../src/base/emitter.ts';
import { type Logger } from '../../../../src/core/ports/ports.ts';
import { type Platform } from '../../../../src/node/platform/parts.ts';
import { platformFor } from '../../../../src/node/platform/platform.ts';
import { WatchedPaths } from '../../../../src/producers/files/diskWatch.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';

let folder: string;
let happened: string[];
let reported: Emitter<string>;
const watching: WatchedPaths[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-disk-'));
  happened = [];
  reported = new Emitter((error) => happened.push(String(error)));
});

afterEach(async () => {
  for (const one of watching.splice(0)) one.dispose();
  await rm(folder, { recursive: true, force: true });
});

function begin(
  more: { watch?: () => FSWatcher; hasOther?: boolean; logger?: Logger; platform?: Platform } = {},
): WatchedPaths {
  const watched = new WatchedPaths({
    logger: recordingLogger(happened),
    hasOther: false,
    ...(more as object),
    touched: (path, type) => reported.fire(`${type} ${path}`),
    broke: (error) => happened.push(`broke: ${String(error)}`),
  });
  watching.push(watched);
  return watched;
}

/** Repeats the act until it is reported, because a watch starts some time after it was requested. */
async function until(expected: string, act: () => Promise<void>): Promise<void> {
  const texts = new Set<string>();
  const listening = reported.event((text) => texts.add(text));
  while (!texts.has(expected)) {
    await act();
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  listening.dispose();
}

test('each of several deleted files is reported again when it is recreated', async () => {
  const watched = begin();
  const names = ['a.txt', 'b.txt', 'c.txt'];
  for (const name of names) {
    await writeFile(join(folder, name), 'one');
    watched.add(name, join(folder, name));
  }
  let number = 0;
  const write = (name: string) => () => writeFile(join(folder, name), `${(number += 1)}`);
  for (const name of names) await until(`changed ${name}`, write(name));
  for (const name of names) {
    await until(`deleted ${name}`, () => rm(join(folder, name), { force: true }));
    const back = reported.event((text) => happened.push(text));
    await until(`changed ${name}`, write(name));
    back.dispose();
  }
});

test('a folder is watched with everything in it except what is ignored', async () => {
  const watched = begin();
  await mkdir(join(folder, 'src/deep'), { recursive: true });
  await mkdir(join(folder, 'src/node_modules'));
  watched.addFolder('src', join(folder, 'src'), (path) => path.includes('node_modules'));
  let number = 0;
  const ignored: string[] = [];
  const listening = reported.event((text) => text.includes('node_modules') && ignored.push(text));
  await until('created src/deep/1.txt', async () => {
    await writeFile(join(folder, 'src/node_modules/x.txt'), `${(number += 1)}`);
    await rm(join(folder, 'src/deep/1.txt'), { force: true });
    await new Promise((resolve) => setTimeout(resolve, 120));
    await writeFile(join(folder, 'src/deep/1.txt'), 'new');
  });
  listening.dispose();
  expect(ignored).toEqual([]);
});

test('at the system’s limit the editor’s watcher takes over, with one warning', () => {
  const watcher = Object.assign(new EventEmitter(), {
    add: (path: string) => happened.push(`add ${path}`),
    close: async () => void happened.push('closed'),
  });
  const warned: string[] = [];
  const log = { ...recordingLogger(happened), warn: (message: string) => void warned.push(message) };
  const watched = begin({ watch: () => watcher as unknown as FSWatcher, hasOther: true, logger: log });
  watched.add('a.txt', '/a.txt');
  const noRoom = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  for (let times = 0; times < 3; times += 1) watcher.emit('error', noRoom);
  watched.add('b.txt', '/b.txt');
  expect(happened).toEqual(['add /a.txt', 'closed']);
  expect(warned).toEqual([expect.stringContaining('only the editor’s own watcher is used')]);
});

test('without another watcher, or for any other error, the producer fails', () => {
  const watcher = Object.assign(new EventEmitter(), { close: async () => undefined });
  begin({ watch: () => watcher as unknown as FSWatcher });
  watcher.emit('error', Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
  expect(happened).toEqual(['broke: Error: files cannot be watched: no space left on device']);
});

test('files on other file systems are left to the editor’s watcher', () => {
  const watcher = Object.assign(new EventEmitter(), {
    add: (path: string) => happened.push(path),
    close: async () => undefined,
  });
  const watched = begin({ watch: () => watcher as unknown as FSWatcher });
  for (const absolute of ['memfs:/a.txt', 'vscode-vfs://github/a/b.txt', '/c.txt', 'C:\\d.txt']) {
    watched.add(absolute, absolute);
  }
  watched.addFolder('src', 'memfs:/src', () => false);
  expect(happened).toEqual(['/c.txt', 'C:\\d.txt']);
});

/** Chokidar asks with slashes whether a path is ignored, and reports it with the separator of the system. */
class WindowsWatcher extends EventEmitter {
  ignored = (_path: string): boolean => false;
  readonly added: string[] = [];
  readonly start = (_paths: unknown, options: { ignored?: unknown }) => {
    this.ignored = options.ignored as (path: string) => boolean;
    return this as unknown as FSWatcher;
  };
  add(path: string): void {
    this.added.push(path);
  }
  unwatch(): void {}
  async close(): Promise<void> {}
}

test('on Windows a folder is watched and its rules hold, whichever separator and case a path has', () => {
  const watcher = new WindowsWatcher();
  const watched = begin({ watch: watcher.start as () => FSWatcher, platform: platformFor('win32') });
  const asked: string[] = [];
  const all: string[] = [];
  const listening = reported.event((text) => all.push(text));
  watched.addFolder('shop', 'c:\\work\\shop', (path) => (asked.push(path), path.startsWith('shop/dist')));
  watched.add('notes.md', 'C:\\Users\\tea\\notes.md');
  expect(
    ['C:/work/shop', 'C:/work/shop/dist/a.js', 'C:/work/shop/src/A.ts', 'c:/users/tea/notes.md'].map(watcher.ignored),
  ).toEqual([false, true, false, false]);
  expect(asked).toEqual(['shop/dist/a.js', 'shop/src/A.ts']);
  watcher.emit('change', 'c:\\work\\shop\\src\\A.ts');
  watcher.emit('change', 'C:\\work\\shopping\\list.txt');
  watcher.emit('unlink', 'c:\\Users\\Tea\\notes.md');
  listening.dispose();
  expect(all).toEqual(['changed shop/src/A.ts', 'deleted notes.md']);
  expect(watcher.added).toEqual(['c:\\work\\shop', 'C:\\Users\\tea\\notes.md', 'C:\\Users\\tea\\notes.md']);
});

test('on other systems a backslash is part of a name', async () => {
  const watched = begin();
  watched.addFolder('', folder, () => false);
  const name = 'a\\b.txt';
  await until(`created ${name}`, async () => {
    await rm(join(folder, name), { force: true });
    await writeFile(join(folder, name), 'x');
  });
});
