// Who may import whom (DESIGN 2), held for every import of every source file. There is no list of exceptions.
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
  /** From these folders only types. */
  readonly typesFrom?: readonly string[];
}

const pure = ['base', 'protocol', 'core'];

const LAYERS: Readonly<Record<string, Layer>> = {
  base: { folders: ['base'], packages: [] },
  node: { folders: ['base', 'node'], packages: ['zod'], node: true },
  protocol: { folders: ['base', 'protocol'], packages: ['zod'] },
  core: { folders: pure, packages: ['zod', 'diff', 'node-diff3', 'tokenx'] },
  models: { folders: [...pure, 'node', 'models'], packages: ['openai', 'zod'], node: true },
  tools: { folders: [...pure, 'node', 'tools'], packages: ['diff', 'zod'], node: true },
  producers: { folders: [...pure, 'node', 'producers'], packages: ['chokidar'], node: true },
  storage: { folders: [...pure, 'node', 'storage'], packages: ['zod'], node: true },
  hub: { folders: ['base', 'node', 'protocol', 'hub'], packages: ['ws', 'zod'], node: true },
  vscode: {
    folders: [...pure, 'node', 'models', 'tools', 'producers', 'storage', 'vscode'],
    packages: ['vscode', 'zod'],
    node: true,
  },
  bin: { folders: ['base', 'node', 'protocol', 'hub', 'bin'], packages: [], node: true },
  webview: {
    folders: ['base', 'webview'],
    packages: ['preact', '@preact/signals', 'marked', 'highlight.js'],
    typesFrom: ['protocol'],
  },
};

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

/** What is loaded by a computed name cannot be held by this test. */
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

/** Why the import is not allowed; undefined if it is. */
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

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
  .map((file) => join(source, file));

test('every import keeps to its layer', () => {
  const violations = files.flatMap((file) => {
    const layer = relative(source, file).split(/[\\/]/)[0] ?? '';
    return importsOf(file).flatMap((one) => {
      const reason = judge(layer, one);
      return reason === undefined ? [] : [`${relative(root, file)}: ${reason} (${one.specifier})`];
    });
  });
  expect(files.length).toBeGreaterThan(40);
  expect(violations).toEqual([]);
});

test.each([
  ['core', '../node/fileSystem.ts', false],
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
