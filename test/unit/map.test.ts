// The map in src/README.md and the links in the README lead to files that exist.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

test('every file that src/README.md names exists', () => {
  const map = readFileSync(join(root, 'src', 'README.md'), 'utf8');
  const named = [...map.matchAll(/`((?:[\w.-]+\/)+[\w-]+\.(?:tsx?|mjs|json|css|md))`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((path) => !existsSync(join(root, 'src', path)) && !existsSync(join(root, path)))).toEqual([]);
});

test('every relative link and picture of the README and the changelog exists', () => {
  const links = ['README.md', 'CHANGELOG.md', 'src/README.md'].flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(/\]\(([^)#\s:]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => join(file, '..', link));
  });
  expect(links.length).toBeGreaterThan(5);
  expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
});
