// Finds the sentences for people that code outside the window makes: reasons of approvals, notices, problems, and every
// failure. Code of those layers has no translation; page and window translate what they get
// (`base/people/sentences.ts`).
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { isForModel, withoutField } from '../../../src/base/people/failureForPeople.ts';
import { VALUES } from '../../../src/base/people/sentences.ts';

const source = resolve(import.meta.dirname, '../../../src');

/** Names of properties, variables, functions called and functions that return, by file. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  'core/consent/approvalPolicy.ts': ['push'],
  'core/consent/formAnswers.ts': ['problem', 'whyUnfit', 'whyNoNumber', 'whyNoChoices', 'whyNoText', 'whyMisformatted'],
  'core/consent/inquiries.ts': ['whyUnusable', 'whyUnfit'],
  'core/consent/approvals.ts': ['CHANGED_MEANWHILE', 'FROM_OUTSIDE', 'demandQuestion'],
  'core/consent/protectedFiles.ts': ['whyProtected'],
  'core/consent/ignoreFile.ts': ['whyHidden'],
  'core/consent/commandLine.ts': ['unclear'],
  'core/consent/shell/namedPaths.ts': ['doubt', 'onlyWhenRun', 'unknown'],
  'core/consent/shell/posixReader.ts': ['giveUp'],
  'core/consent/shell/posixWords.ts': ['giveUp'],
  'core/conversation/projections/transcript.ts': ['text', 'message'],
  'core/frontend/chatFrontend.ts': ['nextStep'],
  'core/agent/loop.ts': ['notice', 'COMPACTED', 'message', 'nextStep'],
  'core/agent/calls.ts': ['INTERRUPTED_TURN'],
  'core/earshot.ts': ['message'],
  'core/prompt/refusals.ts': ['text'],
  'core/wakes/facts.ts': ['yes', 'no', 'unknown', 'never', 'evidence', 'some', 'missing', 'unread', 'describeTaskEnd'],
  'core/wakes/followedCondition.ts': ['evidence'],
  'core/wakes/outputSearch.ts': ['evidence', 'missing', 'unread'],
  'producers/diagnostics/problemFacts.ts': ['unknown'],
  'core/tools/handleTexts.ts': ['whyEnded', 'describeHandleState', 'left', 'describeSurvivors', 'describeSubagentEnd'],
  'hooks/hooks.ts': ['notice', 'text'],
  'hooks/hookAnswer.ts': ['problem', 'whyEnded'],
  'hooks/hookProcess.ts': ['failure'],
  'mcp/config/launch.ts': ['refuseLaunch'],
  'mcp/tools/toolSchema.ts': ['describeHints', 'whatHintsSay'],
  'mcp/events/subscribeEvents.ts': ['note', 'describeGrant'],
  'mcp/resources/readResource.ts': ['note'],
  'tools/wakeWhen.ts': ['describeGrant'],
  'tools/watch.ts': ['describeGrant'],
  'models/explain.ts': ['message', 'nextStep', 'after', 'next'],
  'plugins/hook/hookInstaller.ts': ['problem'],
  'storage/eventFile.ts': ['message'],
  'storage/line.ts': ['reason'],
  'storage/readEvents.ts': ['oddSequence', 'skip'],
  'storage/storageError.ts': ['NEXT_STEPS', 'OTHERWISE'],
  'vscode/models/languageModelFaults.ts': ['ANOTHER'],
};

/**
 * Failures of these files reach people only by their code, which has a sentence of its own: their messages are for
 * models and programs. Failures of any other file must be translated.
 */
const FOR_OTHERS =
  /^(acp|bin|hub|protocol|tools|webchat|webview)\/|^(core\/(files|tools)|mcp\/(events|session|tools)|plugins\/(requests|streams))\/|^core\/(conversation\/watching|prompt\/structured|subagentProcess)\.ts$|^mcp\/resources\/readResource\.ts$|^vscode\/(contributions|hub|language|tasks)\//;

/** With `{0}`, `{1}` … for values. */
export function coreTexts(): string[] {
  const found = new Set<string>(['it may lead outside the workspace: {0}.', '{0} Also, {1}']);
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (/\.tsx?$/.test(file) && !FOR_OTHERS.test(file)) collectFailures(parse(file), found);
  }
  for (const [file, names] of Object.entries(PLACES)) {
    const own = new Set<string>();
    collect(parse(file), names, own);
    if (own.size === 0) throw new Error(`${file} has no sentences for people`);
    for (const text of own) found.add(text);
  }
  return [...found].sort();
}

/** Texts that only appear as values in sentences. */
export const valueTexts: readonly string[] = VALUES;

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(join(source, file), 'utf8'), ts.ScriptTarget.Latest, true);
}

/** Messages and next steps: arguments of `failed`, and of objects with both or with a code. */
function collectFailures(file: ts.SourceFile, found: Set<string>): void {
  const message = (node: ts.Expression) =>
    textsOf(node)
      .map(withoutField)
      .filter(isProse)
      .forEach((text) => found.add(text));
  const nextStep = (node: ts.Expression) =>
    textsOf(node)
      .filter((text) => !isForModel(text))
      .forEach((text) => found.add(text));
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(.+\.)?failed$/.test(node.expression.getText())) {
      const [code, first, second] = node.arguments;
      // What a verb of the client answers to a program.
      const isForProgram = file.fileName.startsWith('core/client/') && code?.getText() === "'plugin'";
      if (isForProgram) return;
      if (first !== undefined) message(first);
      if (second !== undefined) nextStep(second);
    }
    if (ts.isObjectLiteralExpression(node)) {
      const values = new Map(
        node.properties.flatMap((one) =>
          ts.isPropertyAssignment(one) ? [[one.name.getText(), one.initializer] as const] : [],
        ),
      );
      const [said, next] = [values.get('message'), values.get('nextStep')];
      if (said !== undefined && (next !== undefined || values.has('code'))) message(said);
      if (said !== undefined && next !== undefined) nextStep(next);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
}

/** The text, or both texts of a choice, if they are prose. */
function textsOf(node: ts.Expression): string[] {
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression);
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(textsOf);
  if (ts.isBinaryExpression(node)) return textsOf(node.right);
  const text = ts.isStringLiteralLike(node)
    ? node.text
    : ts.isTemplateExpression(node)
      ? node.head.text + node.templateSpans.map(({ literal }, index) => `{${index}}${literal.text}`).join('')
      : '';
  return isProse(text) ? [text] : [];
}

const isProse = (text: string) => /[a-z]{3}.*[ .]|[ .].*[a-z]{3}/.test(text);

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
  const add = (node: ts.Expression): void => textsOf(node).forEach((text) => found.add(text));
  const addAll = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) add(node);
    else ts.forEachChild(node, addAll);
  };
  visit(file);
}
