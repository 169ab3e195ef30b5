// Finds the sentences for people that code outside the window makes: reasons of approvals, notices, and failures of a
// turn. Code of those layers has no translation; the page translates what it gets (`webview/strings/sentences.ts`).
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const source = resolve(import.meta.dirname, '../../../src');

/** Names of properties, variables, functions called and functions that return, by file. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  'core/consent/approvalPolicy.ts': ['push'],
  'core/consent/approvals.ts': ['CHANGED_MEANWHILE', 'demandQuestion'],
  'core/consent/protectedFiles.ts': ['whyProtected'],
  'core/consent/ignoreFile.ts': ['whyHidden'],
  'core/consent/commandLine.ts': ['unclear'],
  'core/consent/shell/namedPaths.ts': ['doubt', 'onlyWhenRun', 'unknown'],
  'core/consent/shell/posixReader.ts': ['giveUp'],
  'core/consent/shell/posixWords.ts': ['giveUp'],
  'core/conversation/projections/transcript.ts': ['text', 'message'],
  'core/frontend/partialItems.ts': ['nextStep'],
  'core/agent/loop.ts': ['notice', 'COMPACTED', 'message', 'nextStep'],
  'core/agent/limits.ts': ['message', 'nextStep'],
  'core/agent/cycle.ts': ['message', 'nextStep'],
  'core/agent/answerBound.ts': ['message', 'nextStep'],
  'core/agent/calls.ts': ['INTERRUPTED_TURN'],
  'core/prompt/refusals.ts': ['text'],
  'hooks/hooks.ts': ['notice', 'text'],
  'mcp/tools/toolSchema.ts': ['describeHints', 'whatHintsSay'],
  'mcp/resources/readResource.ts': ['note'],
  'models/explain.ts': ['message', 'nextStep', 'after', 'next'],
};

/** With `{0}`, `{1}` … for values. */
export function coreTexts(): string[] {
  const found = new Set<string>(['it may lead outside the workspace: {0}.', '{0} Also, {1}']);
  for (const [file, names] of Object.entries(PLACES)) {
    const path = join(source, file);
    const before = found.size;
    collect(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true), names, found);
    if (found.size === before) throw new Error(`${file} has no sentences for people`);
  }
  return [...found].sort();
}

function collect(file: ts.SourceFile, names: readonly string[], found: Set<string>): void {
  const isMeant = (name: ts.Node | undefined) => names.includes(name?.getText().replace(/^.*[.#]/, '') ?? '');
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && isMeant(node.name)) add(node.initializer);
    else if (ts.isVariableDeclaration(node) && isMeant(node.name) && node.initializer) {
      if (ts.isObjectLiteralExpression(node.initializer)) addAll(node.initializer);
      else add(node.initializer);
    } else if (ts.isCallExpression(node) && isMeant(node.expression)) node.arguments.forEach(add);
    else if (ts.isFunctionDeclaration(node) && isMeant(node.name) && node.body) addAll(node.body);
    ts.forEachChild(node, visit);
  };
  /** The text, or both texts of a choice. */
  const add = (node: ts.Expression): void => {
    if (ts.isConditionalExpression(node)) [node.whenTrue, node.whenFalse].forEach(add);
    else if (ts.isBinaryExpression(node)) add(node.right);
    else if (ts.isStringLiteralLike(node)) keep(node.text);
    else if (ts.isTemplateExpression(node)) {
      keep(node.head.text + node.templateSpans.map(({ literal }, index) => `{${index}}${literal.text}`).join(''));
    }
  };
  const addAll = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) add(node);
    else ts.forEachChild(node, addAll);
  };
  const keep = (text: string) => {
    if (/[a-z]{3}.*[ .]|[ .].*[a-z]{3}/.test(text)) found.add(text);
  };
  visit(file);
}
