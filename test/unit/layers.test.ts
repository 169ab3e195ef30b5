// Checks the import rules (DESIGN 2) for every import of every source file, without exceptions.
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const source = join(root, 'src');

interface Layer {
  readonly folders: readonly string[];
  readonly packages: readonly string[];
  readonly node?: true;
  /** Folders from which only types may be imported. */
  readonly typesFrom?: readonly string[];
}

const pure = ['base', 'protocol', 'core'];

const LAYERS: Readonly<Record<string, Layer>> = {
  base: { folders: ['base'], packages: [] },
  node: { folders: ['base', 'node'], packages: ['zod'], node: true },
  protocol: { folders: ['base', 'protocol'], packages: ['zod'] },
  core: { folders: pure, packages: ['zod', 'diff', 'tokenx'] },
  models: { folders: [...pure, 'node', 'models'], packages: ['openai', '@anthropic-ai/sdk', 'zod'], node: true },
  tools: { folders: [...pure, 'node', 'tools'], packages: ['diff', 'zod'], node: true },
  producers: { folders: [...pure, 'node', 'producers'], packages: ['chokidar', 'ws'], node: true },
  storage: { folders: [...pure, 'node', 'storage'], packages: ['zod'], node: true },
  plugins: { folders: [...pure, 'node', 'plugins'], packages: ['@modelcontextprotocol/server', 'zod'], node: true },
  acp: { folders: [...pure, 'node', 'acp'], packages: [], node: true },
  hooks: { folders: [...pure, 'node', 'hooks'], packages: [], node: true },
  mcp: {
    folders: [...pure, 'node', 'mcp'],
    packages: ['@modelcontextprotocol/client', '@modelcontextprotocol/ext-tasks', 'zod'],
    node: true,
  },
  hub: {
    folders: [...pure, 'node', 'hub'],
    packages: [
      ...['@nats-io/jetstream', '@nats-io/kv', '@nats-io/transport-node'],
      ...['@modelcontextprotocol/server', 'ws', 'zod'],
    ],
    node: true,
  },
  vscode: {
    folders: [...pure, 'node', 'models', 'tools', 'producers', 'storage', 'mcp', 'plugins', 'hooks', 'hub', 'vscode'],
    packages: ['vscode', 'zod'],
    node: true,
  },
  bin: {
    folders: [
      ...pure,
      'node',
      'models',
      'tools',
      'producers',
      'storage',
      'mcp',
      'hub',
      'plugins',
      'hooks',
      'acp',
      'bin',
    ],
    packages: ['@modelcontextprotocol/server', 'unpdf'],
    node: true,
  },
  webchat: { folders: [...pure, 'node', 'plugins', 'webchat'], packages: ['zod'], node: true },
  webview: {
    folders: ['base', 'webview'],
    packages: ['preact', '@preact/signals', 'marked', 'highlight.js'],
    typesFrom: ['protocol'],
  },
};

/** Inside core each folder may import only those before it; the files at its top level come last. */
const INNER = [
  'ports',
  'files',
  'conversation',
  'notify',
  'consent',
  'checkpoints',
  'knowledge',
  'tools',
  'wakes',
  'prompt',
  'agent',
];
/** Folders on the level of the top-level files, which may import all of INNER. */
const TOP = ['client', 'frontend'];

/** The description of the system for the model (`os.type()`) and what a browser says of its keyboard decide nothing. */
const ASKS = new RegExp(
  [
    String.raw`\bprocess\.platform\b|\bprocess\[['"]platform|\bplatform\(\)|\{[^}]*\bplatform\b[^}]*\} = process\b|['"]node:process['"]`,
    // What only some systems have says which one it is.
    String.raw`\bgete?[ug]id\b|\bpath\.(?:win32|posix)\b|\b(?:win32|posix)\b[^}\n]*\} from 'node:path'|['"]node:path/|\bsep [!=]==|/proc/`,
    String.raw`['"](?:win32|darwin|linux)['"]|\bis(?:Windows|Win32|Mac|MacOS|Linux)\b(?! = typeof navigator)`,
    String.raw`env(?:\.|\[['"])(?:ComSpec|COMSPEC|SHELL|SystemRoot|windir|WINDIR)\b`,
  ].join('|'),
);
/** What a browser says of its keyboard decides which keys are shown. */
const SHOWS_KEYS = join('webview', 'strings', 'approvalStrings.ts');

interface Import {
  readonly from: string;
  readonly specifier: string;
  readonly typesOnly: boolean;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Import[] = [];
  const visit = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined) {
      found.push({ from: file, specifier: literal(node.moduleSpecifier), typesOnly: isTypesOnly(node) });
    }
    if (ts.isCallExpression(node) && isLoading(node)) {
      found.push({ from: file, specifier: literal(node.arguments[0]), typesOnly: false });
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      found.push({ from: file, specifier: literal(node.argument.literal), typesOnly: true });
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return found;
}

function isLoading(node: ts.CallExpression): boolean {
  return (
    node.expression.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(node.expression) && node.expression.text === 'require')
  );
}

/** A module loaded by a computed name cannot be checked by this test. */
function literal(node: ts.Node | undefined): string {
  if (node !== undefined && ts.isStringLiteralLike(node)) return node.text;
  return '(computed)';
}

function isTypesOnly(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  const clause = node.importClause;
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const bindings = clause.namedBindings;
  if (clause.name !== undefined || bindings === undefined || !ts.isNamedImports(bindings)) return false;
  return bindings.elements.every((element) => element.isTypeOnly);
}

/** Returns why the import is not allowed, or undefined if it is. */
function judge(layerName: string, { from, specifier, typesOnly }: Import): string | undefined {
  const layer = LAYERS[layerName];
  if (layer === undefined) return `the folder ${layerName} has no layer`;
  if (specifier.startsWith('.')) {
    const target = relative(source, resolve(dirname(from), specifier)).split(/[\\/]/)[0] ?? '';
    if (layer.folders.includes(target)) return undefined;
    if (typesOnly && layer.typesFrom?.includes(target) === true) return undefined;
    return `${layerName} may not import ${typesOnly ? 'types of ' : ''}${target}`;
  }
  if (specifier.startsWith('node:'))
    return layer.node === true ? undefined : `${layerName} may not import ${specifier}`;
  if (builtinModules.includes(specifier)) return `write node:${specifier}`;
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  return layer.packages.includes(name) ? undefined : `${layerName} may not import the package ${name}`;
}

/** Returns why a folder of core may not import the other, or undefined if it may. */
function judgeInner(from: string, to: string): string | undefined {
  const [importer, imported] = [innerRank(from), innerRank(to)];
  if (importer === undefined) return `core/${from} has no inner layer`;
  if (imported === undefined) return `core/${to} has no inner layer`;
  return imported <= importer ? undefined : `core/${from} may not import core/${to}`;
}

/** `folder`: the first part of a path inside core, or a file at its top level. */
function innerRank(folder: string): number | undefined {
  if (folder.endsWith('.ts') || TOP.includes(folder)) return INNER.length;
  const rank = INNER.indexOf(folder);
  return rank === -1 ? undefined : rank;
}

function folderInCore(file: string): string | undefined {
  const [layer, folder = ''] = relative(source, file).split(/[\\/]/);
  return layer === 'core' ? folder : undefined;
}

/** Uses of time and randomness that do not go through ports. */
function impurities(file: string, text: string): string[] {
  const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && IMPURE_MEMBERS.has(node.getText())) found.push(node.getText());
    if (ts.isIdentifier(node) && IMPURE_GLOBALS.has(node.text)) found.push(node.text);
    const isDate = (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'Date';
    if (isDate && (ts.isCallExpression(node) || (node.arguments?.length ?? 0) === 0)) found.push('Date()');
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return found;
}

const IMPURE_MEMBERS: ReadonlySet<string> = new Set(['Date.now', 'Math.random', 'performance.now']);
const IMPURE_GLOBALS: ReadonlySet<string> = new Set(['setTimeout', 'setInterval', 'setImmediate']);

/** Groups of files that import each other, directly or indirectly, also for types only (Tarjan's algorithm). */
function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    lowest.set(file, order.size - 1);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(file, Math.min(lowest.get(file) ?? 0, lowest.get(next) ?? 0));
    }
    if (lowest.get(file) !== order.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1 || graph.get(file)?.includes(file) === true) cycles.push(group.sort());
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return cycles;
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
  .map((file) => join(source, file));

const imports: ReadonlyMap<string, readonly Import[]> = new Map(files.map((file) => [file, importsOf(file)]));

test('every import is allowed by its layer', () => {
  const violations = files.flatMap((file) => {
    const layer = relative(source, file).split(/[\\/]/)[0] ?? '';
    return (imports.get(file) ?? []).flatMap((one) => {
      const reason = judge(layer, one);
      return reason === undefined ? [] : [`${relative(root, file)}: ${reason} (${one.specifier})`];
    });
  });
  expect(files.length).toBeGreaterThan(40);
  expect(violations).toEqual([]);
});

test('only node/platform asks which system this is, and has what only some systems have', () => {
  const asking = files.filter((file) => ASKS.test(readFileSync(file, 'utf8'))).map((file) => relative(source, file));
  const allowed = (file: string) => file.startsWith(join('node', 'platform')) || file === SHOWS_KEYS;
  expect(asking.filter((file) => !allowed(file))).toEqual([]);
  const choosing = files.filter((file) => /\bprocess\.platform\b/.test(readFileSync(file, 'utf8')));
  expect(choosing.map((file) => relative(source, file))).toEqual([join('node', 'platform', 'platform.ts')]);
});

test.each([
  "if (process.platform === 'win32') return;",
  'const { platform } = process;',
  "import { platform } from 'node:os'; platform();",
  "import { join, win32 } from 'node:path';",
  "if (sep === '\\\\') return;",
  'process.getuid?.()',
  'const isWindows = true;',
  "readFile('/proc/self/stat')",
  "process.env['SHELL'] ?? '/bin/sh'",
])('`%s` asks which system this is', (text) => expect(text).toMatch(ASKS));

test('inside core every import goes to the left: ports ← files ← conversation ← … ← agent ← the top level', () => {
  const violations = files.flatMap((file) => {
    const from = folderInCore(file);
    if (from === undefined) return [];
    return (imports.get(file) ?? []).flatMap(({ specifier }) => {
      const to = specifier.startsWith('.') ? folderInCore(resolve(dirname(file), specifier)) : undefined;
      const reason = to === undefined ? undefined : judgeInner(from, to);
      return reason === undefined ? [] : [`${relative(root, file)}: ${reason} (${specifier})`];
    });
  });
  expect(violations).toEqual([]);
});

test('no files import each other in a cycle, not even for types', () => {
  const graph = new Map(
    [...imports].map(([file, own]) => {
      const targets = own.filter(({ specifier }) => specifier.startsWith('.'));
      return [file, targets.map(({ specifier }) => resolve(dirname(file), specifier))];
    }),
  );
  expect(cyclesIn(graph).map((cycle) => cycle.map((file) => relative(root, file)))).toEqual([]);
});

test('base, protocol and core get time and randomness only through ports', () => {
  const violations = files
    .filter((file) => pure.includes(relative(source, file).split(/[\\/]/)[0] ?? ''))
    .flatMap((file) => impurities(file, readFileSync(file, 'utf8')).map((what) => `${relative(root, file)}: ${what}`));
  expect(violations).toEqual([]);
});

test.each([
  ['ports', 'files'],
  ['consent', 'tools'],
  ['agent', 'live.ts'],
  ['agent', 'frontend'],
  ['somewhere', 'ports'],
])('core/%s may not import core/%s', (from, to) => {
  expect(judgeInner(from, to)).toBeTypeOf('string');
});

test.each([
  'const now = Date.now();',
  'new Date();',
  'new Date;',
  'Math.random()',
  'setTimeout(() => 1)',
  'setInterval(f)',
])('time or randomness is found in %s', (text) => expect(impurities('x.ts', text)).toHaveLength(1));

test('a date made from a given time does not count as a clock', () => {
  expect(impurities('x.ts', 'new Date(clock.now()).toISOString(); Date.parse(text);')).toEqual([]);
});

test('a cycle of three files and a file that imports itself are found', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a']],
    ['d', ['d']],
  ]);
  expect(cyclesIn(graph)).toEqual([['d'], ['a', 'b', 'c']]);
});

test.each([
  ['core', '../node/files/fileSystem.ts', false],
  ['core', 'node:fs', false],
  ['core', 'vscode', false],
  ['models', '../tools/readFile.ts', false],
  ['webview', '../protocol/webview.ts', false],
  ['base', 'zod', false],
  ['tools', '(computed)', false],
  ['producers', 'fs', false],
])('%s is kept from %s', (layer, specifier, typesOnly) => {
  expect(judge(layer, { from: join(source, layer, 'x.ts'), specifier, typesOnly })).toBeTypeOf('string');
});
