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
  startDebugging: STARTS,
  // Another extension.
  activate: STARTS,
  ...entries(READS, 'openTextDocument openNotebookDocument showTextDocument showNotebookDocument fetchTasks findFiles'),
  ...entries(WRITES, 'applyEdit save saveAs saveAll'),
  createFileSystemWatcher: READS,
  // A tool of the editor or of an extension, and a request to a debugger.
  invokeTool: STARTS,
  customRequest: STARTS,
  // A language model of the editor, and the token of an account.
  ...entries(CONNECTS, 'selectChatModels sendRequest getSession'),
};
/** Methods with common names, by the end of the call. */
const CALLS: readonly (readonly [RegExp, string])[] = [
  [/(^|\.)editor\.edit$/i, WRITES],
  [/configuration(\([^()]*\))?\.update$/i, WRITES],
  [/^vscode\.env\.(openExternal|asExternalUri)$/, CONNECTS],
  [/(^|\.)workspace\.fs\.(writeFile|delete|rename|copy|createDirectory)$/, WRITES],
  [/(^|\.)workspace\.fs\.(readFile|readDirectory|stat)$/, READS],
];
/** Commands of the editor that the source names itself; an id that is not listed fails the test. */
const COMMAND_IDS: Readonly<Record<string, string>> = {
  // Only the user sees what they open.
  ...entries(READS, 'vscode.diff vscode.open vscode.changes'),
  // Language servers, which are other extensions.
  ...entries(STARTS, 'typescript.tsserverRequest vscode.executeCodeActionProvider'),
  ...entries('', 'setContext editor.foldLevel3 workbench.trust.manage workbench.action.openSettings'),
  ...entries('', 'workbench.action.openWalkthrough workbench.action.files.openFolder'),
};
/** Earshot's own commands, and the commands that VS Code adds for its views. */
const OWN_COMMAND = /^(COMMANDS\.\w+|`\$\{[A-Z]+_VIEW\}\.focus`)$/;
/** Globals, which also count if they are passed on as values. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  ...entries(STARTS, 'eval require'),
  ...entries(CONNECTS, 'fetch WebSocket EventSource XMLHttpRequest'),
};
const GLOBALS = /^(globalThis|global|window|self)$/;
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
    if (ts.isIdentifier(node) && isValue(node) && !isShadowed(node)) add(own(FUNCTIONS, node.text));
    if (ts.isBindingElement(node)) addBinding(node, add);
    if (ts.isPropertyAccessExpression(node)) addMember(node, node.name.text, add);
    if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression))
      addMember(node, node.argumentExpression.text, add);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return [READS, WRITES, STATS, STARTS, CONNECTS, LISTENS].filter((what) => found.has(what)).join(', ');
}

/** Whether it names a value, in contrast to a type, a member, or what is declared here. */
function isValue(node: ts.Identifier): boolean {
  const parent: ts.Node & { readonly name?: ts.Node; readonly propertyName?: ts.Node } = node.parent;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  return !ts.isTypeNode(parent) && !ts.isQualifiedName(parent) && parent.name !== node && parent.propertyName !== node;
}

/** Whether a parameter, a variable or a function of this file has the name. */
function isShadowed({ text, parent }: ts.Identifier): boolean {
  const declares = (name: ts.Node | undefined): boolean => {
    if (name === undefined) return false;
    if (ts.isObjectBindingPattern(name) || ts.isArrayBindingPattern(name))
      return name.elements.some((one) => ts.isBindingElement(one) && declares(one.name));
    return ts.isIdentifier(name) && name.text === text;
  };
  const isOfGlobals = ({ initializer }: ts.VariableDeclaration): boolean =>
    initializer !== undefined && GLOBALS.test(initializer.getText());
  for (let scope: ts.Node = parent; ; scope = scope.parent) {
    if (ts.isFunctionLike(scope) && scope.parameters.some(({ name }) => declares(name))) return true;
    if (!ts.isBlock(scope) && !ts.isSourceFile(scope)) continue;
    for (const statement of scope.statements) {
      if (ts.isFunctionDeclaration(statement) && declares(statement.name)) return true;
      if (!ts.isVariableStatement(statement)) continue;
      if (statement.declarationList.declarations.some((one) => declares(one.name) && !isOfGlobals(one))) return true;
    }
    if (ts.isSourceFile(scope)) return false;
  }
}

/** `const { fetch } = globalThis`, `const { executeCommand } = vscode.commands`. */
function addBinding(node: ts.BindingElement, add: (what: string) => void): void {
  const { initializer } = node.parent.parent;
  if (initializer === undefined || !ts.isVariableDeclaration(node.parent.parent)) return;
  const name = (node.propertyName ?? node.name).getText();
  if (GLOBALS.test(initializer.getText())) add(own(FUNCTIONS, name));
  if (/^vscode\b/.test(initializer.getText())) add(own(METHODS, name));
}

/** A member that is not called here, or not by its name. */
function addMember(
  node: ts.PropertyAccessExpression | ts.ElementAccessExpression,
  name: string,
  add: (what: string) => void,
): void {
  const of = node.expression.getText();
  if (name === 'getBuiltinModule') add(`${READS}, ${WRITES}`);
  if (GLOBALS.test(of)) add(own(FUNCTIONS, name));
  const isCalled = ts.isCallExpression(node.parent) && node.parent.expression === node;
  if (/^vscode\b/.test(of) && (!isCalled || ts.isElementAccessExpression(node))) add(own(METHODS, name));
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
  if (ts.isPropertyAccessExpression(called)) add(name === 'executeCommand' ? ofCommand(node) : own(METHODS, name));
  for (const [pattern, what] of CALLS) if (pattern.test(called.getText())) add(what);
}

/** A command whose id comes from elsewhere may start anything. */
function ofCommand({ arguments: [id] }: ts.CallExpression): string {
  if (id === undefined || OWN_COMMAND.test(id.getText())) return '';
  if (!ts.isStringLiteralLike(id)) return STARTS;
  const access = Object.hasOwn(COMMAND_IDS, id.text) ? COMMAND_IDS[id.text] : undefined;
  if (access === undefined) throw new Error(`the command ${id.text} is not in the tables of this test`);
  return access;
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

const rows = [
  ...readFileSync(join(repository, page), 'utf8').matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$/gm),
].map(([, file = '', access = '', guard = '']) => ({ file, access, guard }));

test(`${page} has a row for every place that reads, writes, starts or connects, and no other`, () => {
  expect(actual.size).toBeGreaterThan(90);
  expect(rows.map(({ file, access }) => [file, access])).toEqual([...actual]);
  expect(new Set(rows.map(({ file }) => file)).size).toBe(rows.length);
});

test('every row names its guard', () => {
  expect(rows.filter(({ guard }) => guard.trim().length < 8)).toEqual([]);
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
  ['starts', 'await vscode.commands.executeCommand(`${prefix}.run`, text);'],
  ['starts', 'await vscode.commands.executeCommand(`${CHAT_VIEW}.${name}`);'],
  ['starts', "await vscode.commands.executeCommand('typescript.tsserverRequest', request);"],
  ['reads', "await vscode.commands.executeCommand('vscode.diff', left, right);"],
  ['starts', 'ids.map(vscode.commands.executeCommand);'],
  ['starts', 'const { executeCommand } = vscode.commands;'],
  ['starts', "await vscode['commands']['executeCommand'](id);"],
  ['starts', 'await vscode.debug.startDebugging(folder, name);'],
  ['starts', 'await extension.activate();'],
  ['reads', 'await vscode.window.showTextDocument(uri);'],
  ['reads', 'await vscode.workspace.openNotebookDocument(uri);'],
  ['writes', 'await vscode.workspace.applyEdit(edit);'],
  ['writes', 'await document.save();'],
  ['writes', 'await editor.edit((edit) => edit.insert(place, text));'],
  ['writes', "await vscode.workspace.getConfiguration('a').update('b', 1);"],
  ['connects', 'await vscode.lm.selectChatModels();'],
  ['connects', 'createClient({ fetch });'],
  ['connects', 'const send = fetch;'],
  ['connects', 'const send = (ask = fetch) => ask(url);'],
  ['connects', 'const { fetch: send } = globalThis;'],
  ['connects', 'const { fetch } = globalThis; await fetch(url);'],
  ['connects', "await window['fetch'](url);"],
  ['connects', 'const Sockets = WebSocket;'],
  ['connects', 'fetch.call(undefined, url);'],
  ['', 'const fetch = create(); return { fetch };'],
  ['', 'function bound(fetch: Fetch) { return fetch(url); }'],
  ['', "const tool = { fetch: 1 }; tool.fetch = 2; const one: WebSocket = made; strings['fetch'];"],
  ['', 'await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);'],
  ['', 'await vscode.commands.executeCommand(COMMANDS.chooseModel);'],
  ['', 'await sendRequest(options);'],
  ['', "await import('./lazy.ts');"],
  ['', "import { type Socket } from 'node:net';"],
  ['', "await vscode.commands.executeCommand('workbench.action.openSettings');"],
])('%s: %s', (access, text) => {
  expect(accessIn('x.ts', text)).toBe(access);
});

test('a function of Node, a module and a command that the test does not know are not overlooked', () => {
  expect(() => accessIn('x.ts', "import { get } from 'newly-installed';")).toThrow('newly-installed is not');
  expect(() => accessIn('x.ts', "await import('node:cluster2');")).toThrow('node:cluster2 is not');
  expect(() => accessIn('x.ts', "import { auth } from '@modelcontextprotocol/client';")).toThrow('auth of');
  expect(() => accessIn('x.ts', "import { newThing } from 'node:fs';")).toThrow('newThing of node:fs');
  expect(() => accessIn('x.ts', "import * as fs from 'node:fs';")).toThrow('* of node:fs');
  expect(() => accessIn('x.ts', "executor.executeCommand('git.push');")).toThrow('the command git.push is not');
});
