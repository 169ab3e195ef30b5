// The project of the recording: a small shop in git, with a feature branch and a colleague who pushes.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Keeps the user's own git settings out. Also used in the terminal. */
export const gitEnvironment = {
  GIT_CONFIG_GLOBAL: devNull,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Tea Shop',
  GIT_AUTHOR_EMAIL: 'shop@example.com',
  GIT_COMMITTER_NAME: 'Tea Shop',
  GIT_COMMITTER_EMAIL: 'shop@example.com',
};

const task = (label: string, command: string, more: object) => ({ label, type: 'shell', command, ...more });
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const FILES: Record<string, string> = {
  '.gitignore': 'node_modules/\ndist/\ncoverage/\n',
  'package.json': json({
    name: 'shop',
    version: '1.0.0',
    private: true,
    type: 'module',
    scripts: { build: 'tsc -p .', format: 'biome format --write src', test: 'node --test' },
  }),
  'tsconfig.json': json({
    compilerOptions: {
      outDir: 'dist',
      rootDir: 'src',
      module: 'nodenext',
      target: 'es2022',
      strict: true,
      declaration: true,
      sourceMap: true,
      types: [],
    },
    include: ['src'],
  }),
  'biome.json': json({
    formatter: { indentStyle: 'space', lineWidth: 120 },
    javascript: { formatter: { quoteStyle: 'single' } },
    linter: { enabled: false },
  }),
  '.vscode/tasks.json': json({
    version: '2.0.0',
    tasks: [
      task('build', 'tsc -p .', { problemMatcher: '$tsc' }),
      task('watch', 'tsc -w -p .', { problemMatcher: '$tsc-watch', isBackground: true }),
    ],
  }),
  'README.md': '# Shop\n\nSells tea.\n',
  'src/menu.ts': `export type Item = 'assam' | 'sencha' | 'rooibos';

export const menu: Record<Item, string> = {
  assam: 'Strong and dark.',
  sencha: 'Green, from Japan.',
  rooibos: 'No tea at all.',
};
`,
  'src/prices.ts': `import { type Item } from './menu.js';

const cents: Record<Item, number> = { assam: 350, sencha: 420, rooibos: 310 };

export function price(item: Item): number {
  return cents[item];
}
`,
  'src/orders.ts': `import { type Item } from './menu.js';
import { price } from './prices.js';

export interface Line {
  item: Item;
  count: number;
}

export function total(lines: readonly Line[]): number {
  return lines.reduce((sum, line) => sum + price(line.item) * line.count, 0);
}
`,
  'src/receipt.ts': `import { type Line, total } from './orders.js';

export function receipt(lines: readonly Line[]): string {
  return [...lines.map((line) => \`\${line.count} \${line.item}\`), \`Total \${total(lines)}\`].join('\\n');
}
`,
  'src/stock.ts': `import { type Item } from './menu.js';

const shelves = new Map<Item, number>();

export function left(item: Item): number {
  return shelves.get(item) ?? 0;
}
`,
  'src/customers.ts': `export interface Customer {
  name: string;
  visits: number;
}

export function isRegular(customer: Customer): boolean {
  return customer.visits > 10;
}
`,
  'test/orders.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../dist/orders.js';

test('a total', () => {
  assert.equal(total([{ item: 'assam', count: 2 }]), 700);
});
`,
  'vendor/strainer/package.json': json({ name: 'strainer', version: '1.0.0', main: 'index.js' }),
  'vendor/strainer/index.js': 'module.exports = {};\n',
};
for (let index = 1; index <= 24; index += 1) {
  FILES[`src/teas/tea${index}.ts`] = `export const tea${index} = { name: 'Tea ${index}', minutes: ${index % 7} };\n`;
}
for (let index = 1; index <= 150; index += 1) FILES[`vendor/strainer/leaf${index}.js`] = `// ${index}\n`;

/** Changed files on the feature branch. */
const FEATURE: Record<string, string> = {
  'src/stock.ts': (FILES['src/stock.ts'] ?? '').replace('const shelves', 'export const LOW = 3;\nconst shelves'),
  'src/menu.ts': (FILES['src/menu.ts'] ?? '').replace('No tea at all.', 'Red, from the Cape.'),
};
for (let index = 1; index <= 8; index += 1) {
  FEATURE[`src/teas/tea${index}.ts`] =
    `export const tea${index} = { name: 'Tea ${index}', minutes: ${index % 7}, low: false };\n`;
}

/** Changed files that the colleague pushes later. */
const PUSHED: Record<string, string> = {
  'src/customers.ts': (FILES['src/customers.ts'] ?? '').replace('> 10', '>= 10'),
  'src/receipt.ts': (FILES['src/receipt.ts'] ?? '').replace('Total ', 'To pay: '),
};

export interface Shop {
  readonly folder: string;
  readonly colleague: string;
}

export async function createShop(parent: string): Promise<Shop> {
  const [folder, remote, colleague] = ['shop', 'remote.git', 'colleague'].map((name) => join(parent, name)) as [
    string,
    string,
    string,
  ];
  await git(parent, 'init', '-q', '--bare', '-b', 'main', remote);
  await git(parent, 'init', '-q', '-b', 'main', folder);
  await write(folder, FILES);
  await commit(folder, 'Everything');
  await git(folder, 'remote', 'add', 'origin', remote);
  await git(folder, 'push', '-q', '-u', 'origin', 'main');
  await git(folder, 'switch', '-qc', 'feature');
  await write(folder, FEATURE);
  await commit(folder, 'What is low');
  await git(folder, 'switch', '-q', 'main');
  await git(parent, 'clone', '-q', remote, colleague);
  return { folder, colleague };
}

/** Commits and pushes in another clone, outside the workspace. */
export async function colleaguePushes(colleague: string): Promise<void> {
  await write(colleague, PUSHED);
  await commit(colleague, 'What is to be paid');
  await git(colleague, 'push', '-q');
}

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

async function commit(folder: string, message: string): Promise<void> {
  await git(folder, 'add', '-A');
  await git(folder, 'commit', '-qm', message);
}

async function git(folder: string, ...args: readonly string[]): Promise<void> {
  await promisify(execFile)('git', ['-C', folder, ...args], { env: { ...process.env, ...gitEnvironment } });
}
