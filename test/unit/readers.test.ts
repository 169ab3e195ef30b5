// Which source files may read workspace files: everything that can reach the model goes through the door (core/consent/door.ts).
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const source = join(resolve(import.meta.dirname, '../..'), 'src');

/** Each way to read a file, and the only source files that may use it. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  // Below the door. Files of the user's own folder have a separate door.
  readJudged: [
    'core/consent/door.ts',
    'vscode/workspace/editorWorkspace.ts',
    'storage/userFiles.ts',
    'acp/folderDisk.ts',
    'node/files/gitFolder.ts',
  ],
  listUnjudged: ['core/consent/door.ts'],
  WorkspaceDisk: ['core/consent/door.ts', 'vscode/workspace/editorWorkspace.ts', 'acp/folderDisk.ts'],
  // Paths that the user approved for one call. The delegate only forwards the call.
  admitting: ['core/consent/ignoreFile.ts', 'core/consent/delegateWorkspace.ts'],
  viewFor: ['core/tools/run.ts'],
  // Content that stays on this machine: undo, review, rules that are only matched against names.
  readLocally: [
    'core/consent/door.ts',
    'core/consent/ignoreFile.ts',
    'core/consent/delegateWorkspace.ts',
    'core/checkpoints/captures.ts',
    'core/checkpoints/putBack.ts',
    // No content, only whether the file has changed.
    'core/wakes/facts.ts',
    'producers/files/exclusions.ts',
    'vscode/review/reviewContent.ts',
    'vscode/mcp/configurationFiles.ts',
  ],
  readBeneath: ['core/checkpoints/putBack.ts', 'vscode/review/reviewBuffers.ts'],
  // Through the editor: virtual file systems, and the bytes before and after a change.
  'fs.readFile': [
    'vscode/workspace/editorWorkspace.ts',
    'vscode/workspace/fileEdits.ts',
    'vscode/workspace/fileSteps.ts',
    'vscode/review/reviewBuffers.ts',
  ],
  // For language servers and editors; results about a file are checked at the door.
  openTextDocument: [
    'vscode/language/languages.ts',
    'vscode/language/quickFixes.ts',
    'vscode/workspace/fileSteps.ts',
    'vscode/chat/conversationCommands.ts',
    'vscode/compose/notifications.ts',
    'vscode/notifications/overviewView.ts',
    'vscode/sources/diagnostics.ts',
  ],
};

/**
 * The only files of these layers that use node:fs: for shipped facts, git's own folder and an empty one in
 * its place, file permissions and ripgrep.
 */
const NODE_FILES: readonly string[] = [
  'models/facts/modelFacts.ts',
  'producers/forge/localCommits.ts',
  'producers/git/gitRepository.ts',
  'producers/git/gitState.ts',
  'producers/git/workingDiff.ts',
  'vscode/workspace/fileEdits.ts',
];
/** The only file that starts git, with limits and without the repository's programs. */
const GIT_STARTER = 'node/runGit.ts';
const CHECKED_LAYERS = /^(core|models|producers|tools|vscode)\//;

interface Use {
  readonly file: string;
  readonly what: string;
}

function usesIn(file: string, text: string): Use[] {
  const found: Use[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const called = node.expression;
      const name = ts.isPropertyAccessExpression(called) ? called.name.text : called.getText();
      const owner = ts.isPropertyAccessExpression(called) ? called.expression.getText() : '';
      if (Object.hasOwn(READERS, name)) found.push({ file, what: name });
      if (/^(spawn|exec|execFile|fork)(Sync)?$/.test(name) && /^["'`]git\b/.test(node.arguments[0]?.getText() ?? ''))
        found.push({ file, what: 'git' });
      if (name === 'readFile' && /(^|\.)fs$/.test(owner)) found.push({ file, what: 'fs.readFile' });
    }
    if (ts.isTypeReferenceNode(node) && Object.hasOwn(READERS, node.typeName.getText()))
      found.push({ file, what: node.typeName.getText() });
    if (
      ts.isImportDeclaration(node) &&
      CHECKED_LAYERS.test(file) &&
      /^["']node:fs/.test(node.moduleSpecifier.getText())
    )
      found.push({ file, what: 'node:fs' });
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

function isAllowed({ file, what }: Use): boolean {
  if (what === 'git') return file === GIT_STARTER;
  return (what === 'node:fs' ? NODE_FILES : (READERS[what] ?? [])).includes(file);
}

const uses = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .flatMap((file) => {
    const name = relative(source, join(source, file)).replaceAll('\\', '/');
    return usesIn(name, readFileSync(join(source, file), 'utf8'));
  });

test('every read of a workspace file goes through the door, and every start of git through one module', () => {
  expect(uses.filter((use) => !isAllowed(use))).toEqual([]);
});

test('the table lists no file that does not use its entry', () => {
  const unused = Object.entries(READERS).flatMap(([what, files]) =>
    files
      .filter((file) => !uses.some((use) => use.what === what && use.file === file))
      .map((file) => `${what} ${file}`),
  );
  expect(unused).toEqual([]);
});

test.each([
  ['producers/x.ts', 'await workspace.readLocally(file)'],
  ['core/agent/x.ts', 'await this.#disk.readJudged(file, () => undefined)'],
  ['tools/x.ts', "import { readFile } from 'node:fs/promises';"],
  ['vscode/x.ts', 'await vscode.workspace.fs.readFile(uri)'],
  ['vscode/x.ts', 'await vscode.workspace.openTextDocument(uri)'],
  ['producers/x.ts', 'workspace.admitting(consent)'],
  ['storage/x.ts', "execFile('git', ['status'], done)"],
])('%s may not contain: %s', (file, text) => {
  expect(usesIn(file, text).filter((use) => !isAllowed(use))).toHaveLength(1);
});
