// Every place that reads a setting of the editor: by name, through vscode/configuration.ts, and from the origin that
// its row in the table of settings allows.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { settingSchemas } from '../../src/protocol/settings.ts';
import { EDITOR_SETTINGS } from '../../src/vscode/contributions/settingsSafety.ts';

const source = join(resolve(import.meta.dirname, '../..'), 'src');

/** The only reads that are not of one origin: each says why a workspace's value cannot do harm there. */
const READS: Readonly<Record<string, readonly string[]>> = {
  // Through the rules of protocol/settingRules.ts.
  'vscode/settings.ts': ['userSetting', 'workspaceSetting'].flatMap((read) => [
    `${read} earshot.*`,
    `${read} earshot.model`,
  ]),
  // Each of these keeps what the workspace sets apart, and asks before it runs.
  'vscode/compose/hooks.ts': ['userSetting earshot.hooks', 'workspaceSetting earshot.hooks'],
  'vscode/mcp/configurationFiles.ts': [
    'userSetting earshot.mcp.servers',
    'userSetting earshot.mcp.inputs',
    'workspaceSetting earshot.mcp.servers',
    'workspaceSetting earshot.mcp.inputs',
  ],
  'vscode/plugins/pluginSettings.ts': [
    'userSetting earshot.plugins.programs',
    'workspaceSetting earshot.plugins.programs',
  ],
  // The names of programs, to show a view; starting one with the window needs the user's.
  'vscode/plugins/pluginsTree.ts': ['anySetting earshot.plugins.programs', 'userSetting earshot.plugins.programs'],
  'vscode/configuration.ts': ['userSetting *'],
  'vscode/mcp/mcpWindow.ts': ['userSettingText *'],
  // The workspace's values are only shown.
  'vscode/tasks/shell.ts': ['automationProfile', 'defaultProfile', 'profiles', 'env'].flatMap((name) => [
    `userSetting terminal.integrated.${name}.*`,
    `workspaceSetting terminal.integrated.${name}.*`,
  ]),
  'vscode/tasks/problemMatchers.ts': ['anySetting tasks.tasks'],
  // Shown on the card of a task before it runs, with what variables stand for; the editor itself runs the task.
  'vscode/tasks/taskDefinition.ts': ['anySetting *', 'userSetting tasks.*', 'workspaceSetting tasks.*'],
  'vscode/workspace/fileEncoding.ts': ['anySetting files.encoding'],
  'vscode/workspace/fileEdits.ts': ['anySetting', 'userSetting'].flatMap((read) => [
    `${read} files.readonlyInclude`,
    `${read} files.readonlyExclude`,
  ]),
  'vscode/extension.ts': [
    'anySetting earshot.attention.sound',
    'anySetting workbench.secondarySideBar.defaultVisibility',
  ],
};

/** Ways around vscode/configuration.ts, and the only files that may use them. */
const OTHER_WAYS: Readonly<Record<string, readonly string[]>> = {
  getConfiguration: ['vscode/configuration.ts', 'vscode/settings.ts'],
  // Follows the workspace's settings.
  'env.shell': [],
};

const READERS = ['userSetting', 'userSettingText', 'workspaceSetting', 'anySetting'];

function readsIn(file: string, text: string): string[] {
  const found: string[] = [];
  const constants = new Map<string, ts.Expression>();
  const print = (name: ts.Node | undefined): string => {
    if (name === undefined) return '*';
    if (ts.isStringLiteralLike(name)) return name.text;
    if (ts.isTemplateExpression(name))
      return name.head.text + name.templateSpans.map((span) => print(span.expression) + span.literal.text).join('');
    if (!ts.isIdentifier(name)) return '*';
    return name.text === 'SETTINGS_SECTION' ? 'earshot' : print(constants.get(name.text));
  };
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined)
      constants.set(node.name.text, node.initializer);
    if (ts.isPropertyAccessExpression(node)) {
      if (node.name.text === 'getConfiguration') found.push('getConfiguration');
      if (/(^|\.)env\.shell$/.test(node.getText())) found.push('env.shell');
    }
    if (ts.isIdentifier(node) && READERS.includes(node.text) && !ts.isImportSpecifier(node.parent)) {
      const called = ts.isCallExpression(node.parent) && node.parent.expression === node;
      if (!ts.isFunctionDeclaration(node.parent))
        found.push(`${node.text} ${called ? print(node.parent.arguments[0]) : 'passed on'}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return [...new Set(found)];
}

const isAllowed = (file: string, read: string): boolean =>
  (Object.hasOwn(OTHER_WAYS, read) ? OTHER_WAYS[read] : undefined)?.includes(file) ??
  READS[file]?.includes(read) ??
  false;

const reads = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => file.replaceAll('\\', '/'))
  .flatMap((file) => readsIn(file, readFileSync(join(source, file), 'utf8')).map((read) => ({ file, read })));

test('every read of a setting is in the table, from the origin that the table allows', () => {
  expect(reads.filter(({ file, read }) => !isAllowed(file, read))).toEqual([]);
});

test('the table has no read that the code does not have', () => {
  const inCode = new Set(reads.map(({ file, read }) => `${file} ${read}`));
  const inTable = Object.entries(READS).flatMap(([file, all]) => all.map((read) => `${file} ${read}`));
  expect(inTable.filter((row) => !inCode.has(row))).toEqual([]);
});

test('docs/settings-safety.md has exactly the settings of VS Code that the code reads', () => {
  const names = reads.flatMap(({ read }) => read.split(' ')[1] ?? []);
  const ofEditor = new Set(names.filter((name) => !name.startsWith('earshot.')));
  expect([...ofEditor].sort()).toEqual(Object.keys(EDITOR_SETTINGS).sort());
  const own = names.filter((name) => /^earshot\.[^*]/.test(name)).map((name) => name.slice('earshot.'.length));
  expect(own.filter((name) => !Object.hasOwn(settingSchemas, name))).toEqual([]);
});

test.each([
  ['vscode/x.ts', "vscode.workspace.getConfiguration('terminal.integrated')"],
  ['vscode/tasks/shell.ts', 'const path = vscode.env.shell;'],
  ['vscode/tasks/shell.ts', 'const A = `terminal.integrated.env.${PLATFORM}`; anySetting(A)'],
  ['vscode/tasks/shell.ts', "userSetting('python.defaultInterpreterPath')"],
  ['vscode/workspace/fileEdits.ts', '[anySetting].map((read) => read(name))'],
  ['vscode/mcp/mcpWindow.ts', 'anySetting(name)'],
])('%s may not contain: %s', (file, text) => {
  expect(readsIn(file, text).filter((read) => !isAllowed(file, read))).toHaveLength(1);
});
