// Compares the places that read files, start programs or open connections with the table in docs/access.md.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const repository = resolve(import.meta.dirname, '../..');
const source = join(repository, 'src');
const page = 'docs/access.md';

const READS = 'reads';
const WRITES = 'writes';
const STATS = 'looks up';
const STARTS = 'starts';
const CONNECTS = 'connects';
const LISTENS = 'listens';

const FILES: Readonly<Record<string, string>> = {
  ...entries(
    READS,
    'readFile readFileSync createReadStream readdir readdirSync readlink readlinkSync watch watchFile unwatchFile read readSync',
  ),
  ...entries(
    WRITES,
    'writeFile writeFileSync write writeSync appendFile appendFileSync createWriteStream mkdir mkdirSync',
  ),
  ...entries(
    WRITES,
    'mkdtemp mkdtempSync rename renameSync rm rmSync rmdir unlink unlinkSync symlink link chmod chmodSync',
  ),
  ...entries(
    WRITES,
    'chown lchown utimes futimes futimesSync utimesSync truncate truncateSync ftruncateSync fdatasync fdatasyncSync fsyncSync',
  ),
  ...entries(
    STATS,
    'stat statSync lstat lstatSync fstat fstatSync access accessSync existsSync realpath realpathSync statfs',
  ),
  // The flags, which cannot be read here, decide which.
  ...entries(`${READS}, ${WRITES}`, 'open openSync opendir copyFile cp'),
  ...entries('', 'constants closeSync close'),
};

/** What the values of a module do; a value that is not listed fails the test. */
const MODULES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'node:fs': FILES,
  'node:fs/promises': FILES,
  'node:child_process': entries(STARTS, 'spawn spawnSync exec execFile execFileSync execSync fork'),
  'node:worker_threads': { Worker: STARTS, ...entries('', 'parentPort workerData isMainThread') },
  'node:net': {
    ...entries(CONNECTS, 'connect createConnection Socket'),
    createServer: LISTENS,
    ...entries('', 'isIP isIPv4 isIPv6 BlockList'),
  },
  'node:http': { ...entries(CONNECTS, 'request get'), createServer: LISTENS },
  'node:https': { ...entries(CONNECTS, 'request get'), createServer: LISTENS },
  'node:dns/promises': entries(CONNECTS, 'lookup'),
  'node:dns': entries(CONNECTS, 'lookup'),
  ws: { WebSocket: CONNECTS, WebSocketServer: LISTENS },
  chokidar: entries(READS, 'watch FSWatcher'),
  openai: entries(CONNECTS, 'OpenAI default AzureOpenAI'),
  'node:module': entries('', 'isBuiltin'),
  '@modelcontextprotocol/client': {
    ...entries(CONNECTS, 'StreamableHTTPClientTransport SSEClientTransport'),
    ...entries('', 'Client ProtocolError SdkError SdkErrorCode SdkHttpError UnauthorizedError InsufficientScopeError'),
    ...entries('', 'isJSONRPCNotification isJSONRPCRequest isJSONRPCResultResponse RELATED_TASK_META_KEY UriTemplate'),
  },
  '@modelcontextprotocol/server': entries('', 'McpServer'),
  '@modelcontextprotocol/server/stdio': entries('', 'StdioServerTransport serveStdio'),
};

/** Modules that reach nothing outside the process by themselves. Any other one fails the test. */
const HARMLESS: readonly RegExp[] = [
  /^node:(path|crypto|os|timers|timers\/promises|util|stream|stream\/promises|url|string_decoder|zlib|readline|events|async_hooks|buffer|perf_hooks)$/,
  // Its functions are found by their calls.
  /^vscode$/,
  /^(zod|zod\/mini|diff|marked|tokenx|picomatch|preact|preact\/hooks|preact\/jsx-runtime|dompurify)$/,
  /^highlight\.js(\/|$)/,
  /^unpdf\/pdfjs$/,
  /^@nats-io\/(jetstream|kv|nats-core)$/,
  /^@modelcontextprotocol\/ext-tasks\//,
];
/** Functions of src/node/ that do the same for their callers. */
const OWN: Readonly<Record<string, string>> = {
  ...entries(STARTS, 'spawnShell spawnProgram runGit createSupervision launchSupervisor'),
  ...entries(READS, 'readJudged hashFile'),
  listenPrivately: LISTENS,
};
/** Modules of which every value is listed as this. */
const WHOLE_MODULES: readonly (readonly [RegExp, string])[] = [
  [/^@nats-io\/transport/, CONNECTS],
  [/^node:(tls|dgram|http2|cluster|inspector|vm|sqlite)$/, STARTS],
];

/** Methods, by their last names. */
const METHODS: Readonly<Record<string, string>> = {
  executeTask: STARTS,
  createTerminal: STARTS,
  sendText: STARTS,
  executeCommand: STARTS,
  openTextDocument: READS,
  findFiles: READS,
  createFileSystemWatcher: READS,
  // A tool of the editor or of an extension, and a request to a debugger.
  invokeTool: STARTS,
  customRequest: STARTS,
  // A language model of the editor, and the token of an account.
  sendRequest: CONNECTS,
  getSession: CONNECTS,
};
const FUNCTIONS: Readonly<Record<string, string>> = { eval: STARTS, require: STARTS, fetch: CONNECTS };
/** Objects, by the last name of their class. */
const MADE: Readonly<Record<string, string>> = {
  DatabaseSync: `${READS}, ${WRITES}`,
  Function: STARTS,
  Worker: STARTS,
  ...entries(CONNECTS, 'WebSocket EventSource XMLHttpRequest'),
};

function entries(what: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [name, what]));
}

/** What a source file does, as in the table's second column. */
function accessIn(file: string, text: string): string {
  const found = new Set<string>();
  const add = (what: string): void => {
    for (const one of what.split(', ')) if (one !== '') found.add(one);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) addImport(node, add);
    if (ts.isExportDeclaration(node) && !node.isTypeOnly) addWhole(node.moduleSpecifier, add);
    if (ts.isCallExpression(node)) addCall(node, add);
    if (ts.isNewExpression(node)) add(own(MADE, lastNameOf(node.expression)));
    if (ts.isPropertyAccessExpression(node)) {
      if (node.getText() === 'globalThis.fetch') add(CONNECTS);
      if (node.name.text === 'getBuiltinModule') add(`${READS}, ${WRITES}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return [READS, WRITES, STATS, STARTS, CONNECTS, LISTENS].filter((what) => found.has(what)).join(', ');
}

function own(table: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(table, name) ? (table[name] ?? '') : '';
}

function lastNameOf(called: ts.Expression): string {
  return ts.isPropertyAccessExpression(called) ? called.name.text : called.getText();
}

/** A module whose values are not named here: all of them count. */
function addWhole(specifier: ts.Expression | undefined, add: (what: string) => void): void {
  if (specifier === undefined) return;
  if (!ts.isStringLiteralLike(specifier)) return add(STARTS);
  const from = specifier.text;
  if (from.startsWith('.')) return;
  checkKnown(from);
  for (const [pattern, what] of WHOLE_MODULES) if (pattern.test(from)) add(what);
  for (const what of Object.values(MODULES[from] ?? {})) add(what);
}

function checkKnown(from: string): void {
  const isKnown =
    Object.hasOwn(MODULES, from) || [...HARMLESS, ...WHOLE_MODULES.map(([one]) => one)].some((one) => one.test(from));
  if (!isKnown) throw new Error(`${from} is not in the tables of this test`);
}

function addImport(node: ts.ImportDeclaration, add: (what: string) => void): void {
  const from = (node.moduleSpecifier as ts.StringLiteral).text;
  const clause = node.importClause;
  const isTypeOnly = clause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
  if (isTypeOnly) return;
  const isOwn = from.startsWith('.');
  const bindings = clause?.namedBindings;
  const names =
    bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements.filter((one) => !one.isTypeOnly) : [];
  const values = names.map((one) => (one.propertyName ?? one.name).text);
  if (clause?.name !== undefined) values.push('default');
  if (bindings !== undefined && ts.isNamespaceImport(bindings)) values.push('*');
  if (values.length > 0 && !isOwn) checkKnown(from);
  for (const [pattern, what] of WHOLE_MODULES) if (pattern.test(from)) add(what);
  const known = isOwn ? OWN : MODULES[from];
  if (known === undefined) return;
  for (const value of values) {
    const access = known[value] ?? (isOwn ? '' : undefined);
    if (access === undefined) throw new Error(`${value} of ${from} is not in the tables of this test`);
    add(access);
  }
}

function addCall(node: ts.CallExpression, add: (what: string) => void): void {
  const called = node.expression;
  if (called.kind === ts.SyntaxKind.ImportKeyword) return addWhole(node.arguments[0], add);
  const name = lastNameOf(called);
  if (ts.isIdentifier(called)) add(own(FUNCTIONS, name));
  else if (name !== 'executeCommand' || !isOwnCommand(node.arguments[0])) add(own(METHODS, name));
  if (/^vscode\.env\.(openExternal|asExternalUri)$/.test(called.getText())) add(CONNECTS);
  if (ts.isPropertyAccessExpression(called) && /(^|\.)workspace\.fs$/.test(called.expression.getText()))
    add(/^(writeFile|delete|rename|copy|createDirectory)$/.test(name) ? WRITES : READS);
}

/** A command that the source names itself, in contrast to one that comes from elsewhere. */
function isOwnCommand(id: ts.Expression | undefined): boolean {
  return (
    id !== undefined && (ts.isStringLiteral(id) || ts.isTemplateExpression(id) || id.getText().startsWith('COMMANDS.'))
  );
}

const actual = new Map(
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
    .map((file) => [file, accessIn(file, readFileSync(join(source, file), 'utf8'))] as const)
    .filter(([, access]) => access !== ''),
);
if (process.env['EARSHOT_PRINT_ACCESS'] !== undefined)
  for (const [file, access] of actual) process.stdout.write(`| \`${file}\` | ${access} | |\n`);

const table = new Map(
  [...readFileSync(join(repository, page), 'utf8').matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$/gm)].map(
    ([, file = '', access = '', guard = '']) => [file, { access, guard }] as const,
  ),
);

test(`${page} has a row for every place that reads, writes, starts or connects, and no other`, () => {
  expect(actual.size).toBeGreaterThan(90);
  expect([...table].map(([file, { access }]) => [file, access])).toEqual([...actual]);
});

test('every row names its guard', () => {
  expect([...table].filter(([, { guard }]) => guard.trim().length < 8)).toEqual([]);
});

test.each([
  ['reads', "import { readFile } from 'node:fs/promises';"],
  ['reads, writes', "import { open } from 'node:fs/promises';"],
  ['writes', "import { symlink as link } from 'node:fs/promises';"],
  ['starts', "import { spawn } from 'node:child_process';"],
  ['starts', "import { spawnProgram } from '../node/processTree.ts';"],
  ['starts', 'await vscode.commands.executeCommand(input.command);'],
  ['starts', 'await vscode.tasks.executeTask(task);'],
  ['connects', "import { request } from 'node:https';"],
  ['connects', 'await fetch(address);'],
  ['connects', 'const send = globalThis.fetch;'],
  ['connects', 'await vscode.env.openExternal(uri);'],
  ['listens', "import { createServer } from 'node:net';"],
  ['reads', 'await vscode.workspace.fs.readFile(uri);'],
  ['starts', "const { spawn } = await import('node:child_process');"],
  ['starts', 'await import(name);'],
  ['starts', "export { spawn } from 'node:child_process';"],
  ['connects', "import { SSEClientTransport } from '@modelcontextprotocol/client';"],
  ['connects', 'const socket = new WebSocket(address);'],
  ['reads, writes', 'const database = new sqlite.DatabaseSync(path);'],
  ['reads, writes', "process.getBuiltinModule('node:fs');"],
  ['starts', 'await vscode.lm.invokeTool(name, options);'],
  ['starts', "await session.customRequest('evaluate', { expression });"],
  ['connects', "await vscode.authentication.getSession('github', []);"],
  ['connects', 'await chat.sendRequest(messages);'],
  ['', 'await sendRequest(options);'],
  ['', "await import('./lazy.ts');"],
  ['', "import { type Socket } from 'node:net';"],
  ['', "await vscode.commands.executeCommand('workbench.action.openSettings');"],
])('%s: %s', (access, text) => {
  expect(accessIn('x.ts', text)).toBe(access);
});

test('a function of Node and a module that the test does not know are not overlooked', () => {
  expect(() => accessIn('x.ts', "import { get } from 'newly-installed';")).toThrow('newly-installed is not');
  expect(() => accessIn('x.ts', "await import('node:cluster2');")).toThrow('node:cluster2 is not');
  expect(() => accessIn('x.ts', "import { auth } from '@modelcontextprotocol/client';")).toThrow('auth of');
  expect(() => accessIn('x.ts', "import { newThing } from 'node:fs';")).toThrow('newThing of node:fs');
  expect(() => accessIn('x.ts', "import * as fs from 'node:fs';")).toThrow('* of node:fs');
});
