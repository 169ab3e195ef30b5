// The map in src/README.md, the pages of its folders and the links of all pages lead to files and sections that exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** The map, and the invariants of single folders. */
const maps = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('README.md'))
  .map((name) => join('src', name));

test('every file that src/README.md and the pages of its folders name exists', () => {
  const named = maps.flatMap((map) =>
    [...textOf(map).matchAll(/`((?:[\w.-]+\/)+[\w-]+\.(?:tsx?|mjs|json|css|md))`/g)].map(([, path = '']) => path),
  );
  expect(named.length).toBeGreaterThan(200);
  expect(named.filter((path) => !existsSync(join(root, 'src', path)) && !existsSync(join(root, path)))).toEqual([]);
});

test('src/README.md has twelve invariants and links the pages of all folders that have their own', () => {
  const map = textOf('src/README.md');
  const [, invariants = ''] = /## Invariants\n([^]*?)\n## /.exec(map) ?? [];
  expect(invariants.match(/^\d+\. /gm)).toHaveLength(12);
  expect(maps.filter((page) => page !== 'src/README.md' && !invariants.includes(`(${page.slice(4)})`))).toEqual([]);
});

const pages = [
  'README.md',
  'CHANGELOG.md',
  ...maps,
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

test('every relative link and picture of the pages leads to a file, and to a heading if it names one', () => {
  const links = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\]\(([^)#\s:]*)(?:#([^)\s]*))?\)/g)].map(([link, path = '', heading]) => ({
      link: `${page}: ${link}`,
      path: path === '' ? page : join(page, '..', path),
      heading,
    })),
  );
  expect(links.length).toBeGreaterThan(25);
  const broken = links.filter(
    ({ path, heading }) =>
      !existsSync(join(root, path)) || (heading !== undefined && !headingsOf(path).includes(heading)),
  );
  expect(broken.map(({ link }) => link)).toEqual([]);
});

test('every page of docs is linked from the README or from a page that is', () => {
  const linked = ['README.md', 'docs/safety.md'].map(textOf).join('\n');
  const names = pages.filter((page) => page.startsWith('docs/')).map((page) => page.slice('docs/'.length));
  expect(names.filter((name) => !linked.includes(`(docs/${name})`) && !linked.includes(`(${name})`))).toEqual([]);
});

test('the README has at most 90 lines', () => {
  expect(textOf('README.md').split('\n').length).toBeLessThanOrEqual(90);
});

function textOf(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

/** The anchors of a page's headings, as GitHub and VS Code make them. */
function headingsOf(page: string): string[] {
  return [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replace(/\s/g, '-'),
  );
}
