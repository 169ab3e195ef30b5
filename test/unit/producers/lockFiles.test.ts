// Lock files of the package managers, as these write them.
import { expect, test } from 'vitest';
import { comparePackages, readLockFile } from '../../../src/producers/dependencies/lockFiles.ts';

const FILES: readonly (readonly [string, string])[] = [
  [
    'package-lock.json',
    '{"packages":{"":{"name":"shop"},"node_modules/@tea/cup":{"version":"1.2.3"},"node_modules/@tea/cup/node_modules/kettle":{"version":"9.0.0"},"node_modules/kettle":{"version":"2.0.0"}}}',
  ],
  [
    'pnpm-lock.yaml',
    "lockfileVersion: '9.0'\npackages:\n\n  '@tea/cup@1.2.3':\n    resolution: {}\n\n  kettle@2.0.0:\n    resolution: {}\n",
  ],
  [
    'pnpm-lock.yaml',
    'packages:\n\n  /@tea/cup@1.2.3:\n    dev: false\n\n  /kettle@2.0.0(react@18.0.0):\n    dev: false\n',
  ],
  [
    'yarn.lock',
    '# yarn lockfile v1\n\n"@tea/cup@^1.0.0", "@tea/cup@^1.2.0":\n  version "1.2.3"\n  dependencies:\n    x "1"\n\nkettle@^2.0.0:\n  version "2.0.0"\n',
  ],
  ['yarn.lock', '"@tea/cup@npm:^1.0.0":\n  version: 1.2.3\n\n"kettle@npm:^2.0.0":\n  version: 2.0.0\n'],
  [
    'bun.lock',
    '{\n  "packages": {\n    "@tea/cup": ["@tea/cup@1.2.3", "", {}, "sha512"],\n\n    "kettle": ["kettle@2.0.0", "", {}],\n  }\n}',
  ],
];

test.each(FILES)('%s', (name, text) => {
  expect([...readLockFile(name, text)].sort()).toEqual([
    ['@tea/cup', '1.2.3'],
    ['kettle', '2.0.0'],
  ]);
});

test('Cargo, uv, Poetry, Go and Bundler', () => {
  const table = '[[package]]\nname = "kettle"\nversion = "2.0.0"\ndependencies = [\n "cup",\n]\n';
  for (const name of ['Cargo.lock', 'uv.lock', 'poetry.lock'])
    expect([...readLockFile(name, table)]).toEqual([['kettle', '2.0.0']]);
  expect([
    ...readLockFile('go.sum', 'example.com/kettle v2.0.0 h1:abc=\nexample.com/kettle v2.0.0/go.mod h1:d=\n'),
  ]).toEqual([['example.com/kettle', 'v2.0.0']]);
  expect([...readLockFile('Gemfile.lock', 'GEM\n  specs:\n    kettle (2.0.0)\n      cup (>= 1.0)\n')]).toEqual([
    ['kettle', '2.0.0'],
  ]);
});

test('what is no lock file has no packages', () => {
  for (const text of ['', '{', '[]', 'null', '{"packages": 7}', '\u0000'])
    for (const [name] of FILES) expect(readLockFile(name, text).size).toBe(0);
});

test('changes: added, removed and updated, by name', () => {
  const before = new Map([
    ['cup', '1'],
    ['spoon', '1'],
  ]);
  expect(
    comparePackages(
      before,
      new Map([
        ['cup', '2'],
        ['tea', '1'],
      ]),
    ),
  ).toEqual([
    { name: 'cup', before: '1', now: '2' },
    { name: 'spoon', before: '1', now: undefined },
    { name: 'tea', before: undefined, now: '1' },
  ]);
});
