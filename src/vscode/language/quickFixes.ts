// The QuickFixes port: the code actions for the problems of a file, and the text that each would produce.
import * as vscode from 'vscode';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { type FixableProblem, type FixedText, type OfferedFix, type QuickFixes } from '../../core/ports/fixes.ts';
import { type Problems, type ReportedProblems } from '../../core/ports/problems.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { COMMANDS } from '../ids.ts';
import { absoluteOf, contentUri } from '../workspace/fileUris.ts';
import { ServerReports } from './serverReports.ts';

/** How long to wait, after a file was shown, until VS Code lists its known problems. */
const SHOWN_MILLISECONDS = 20_000;
/** The same for a file without known problems. */
const UNKNOWN_MILLISECONDS = 5000;
const MOST_PROBLEMS = 30;
/** The number of code actions that are resolved when one is applied. */
const MOST_RESOLVED = 30;

export interface QuickFixDeps {
  readonly clock: Clock;
  readonly problems: Problems;
  readonly reported: ReportedProblems;
}

export function createQuickFixes(deps: QuickFixDeps): QuickFixes & Disposable {
  const reports = new ServerReports(deps);
  return {
    dispose: () => reports.dispose(),
    of: async (file, { line, signal }) => {
      try {
        const document = await vscode.workspace.openTextDocument(contentUri(file));
        await deps.reported.look(file, signal);
        await reports.until(file, document.languageId, signal);
        const found = (await problemsOf(deps, file, document, signal))
          .filter(({ range }) => line === undefined || range.start.line + 1 === line)
          .sort((a, b) => a.severity - b.severity || a.range.start.compareTo(b.range.start));
        const problems: FixableProblem[] = [];
        for (const diagnostic of found.slice(0, MOST_PROBLEMS)) {
          if (signal.aborted) break;
          problems.push(await describeProblem(document, diagnostic));
        }
        return succeeded(problems);
      } catch (error) {
        return failed('no_fixes', `The quick fixes for ${file.path} cannot be listed: ${describeError(error)}.`);
      }
    },
  };
}

/** VS Code offers fixes only for problems in its own list; some servers add to it only for files that are shown. */
async function problemsOf(
  { clock, problems }: QuickFixDeps,
  file: FilePath,
  document: vscode.TextDocument,
  signal: AbortSignal,
): Promise<vscode.Diagnostic[]> {
  const now = () => {
    const all = vscode.languages.getDiagnostics(document.uri);
    return all.filter(({ severity }) => severity !== vscode.DiagnosticSeverity.Hint);
  };
  const known = problems.of(file);
  if (now().length > 0 || (known.open && known.problems.length === 0)) return now();
  await vscode.window.showTextDocument(document, { preserveFocus: true, preview: true });
  const limit = known.problems.length > 0 ? SHOWN_MILLISECONDS : UNKNOWN_MILLISECONDS;
  await new Promise<void>((resolve) => {
    const end = () => {
      timer.dispose();
      listening.dispose();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.after(limit, end);
    const listening = vscode.languages.onDidChangeDiagnostics(() => {
      if (now().length > 0) end();
    });
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted || now().length > 0) end();
  });
  return now();
}

const SEVERITIES: readonly FixableProblem['severity'][] = ['error', 'warning', 'info'];

async function describeProblem(document: vscode.TextDocument, diagnostic: vscode.Diagnostic): Promise<FixableProblem> {
  const { range, severity, message, source, code } = diagnostic;
  const name = [source, typeof code === 'object' ? code.value : code].filter((part) => part !== undefined).join(' ');
  const offered = await actionsAt(document.uri, range, 0);
  const titles = new Set<string>();
  const fixes = offered.filter(({ title }) => !titles.has(title) && titles.add(title));
  return {
    line: range.start.line + 1,
    severity: SEVERITIES[severity] ?? 'info',
    message,
    ...(name !== '' && { source: name }),
    fixes: fixes.map(({ title, isPreferred = false }): OfferedFix => {
      return { title, preferred: isPreferred, texts: () => textsOf(document.uri, range, title) };
    }),
  };
}

async function actionsAt(uri: vscode.Uri, range: vscode.Range, resolved: number): Promise<vscode.CodeAction[]> {
  const offered = await vscode.commands.executeCommand<(vscode.CodeAction | vscode.Command)[] | undefined>(
    'vscode.executeCodeActionProvider',
    uri,
    range,
    vscode.CodeActionKind.QuickFix.value,
    resolved,
  );
  const actions = (offered ?? []).filter((one): one is vscode.CodeAction => typeof one.command !== 'string');
  return actions.filter(({ disabled, kind, command }) => {
    // *Fix with Earshot* would ask the model that is looking for a fix.
    if (command?.command === COMMANDS.fixProblem || command?.command === COMMANDS.explainProblem) return false;
    return disabled === undefined && (kind === undefined || vscode.CodeActionKind.QuickFix.contains(kind));
  });
}

/** Queries the code actions again, since their edits depend on the current content. */
async function textsOf(uri: vscode.Uri, range: vscode.Range, title: string): Promise<Result<readonly FixedText[]>> {
  const action = (await actionsAt(uri, range, MOST_RESOLVED)).find((one) => one.title === title);
  if (action === undefined) return failed('gone', `The editor no longer offers “${title}”.`);
  const entries = action.edit?.entries() ?? [];
  if (entries.length === 0) {
    return failed('no_text', `“${title}” is not a change of text.`, 'Let the user apply it in the editor.');
  }
  const texts: FixedText[] = [];
  for (const [target, edits] of entries) {
    if (edits.some((edit) => typeof (edit as Partial<vscode.TextEdit>).newText !== 'string')) {
      return failed('no_text', `“${title}” has placeholders to fill in.`, 'Let the user apply it in the editor.');
    }
    const document = await vscode.workspace.openTextDocument(target);
    texts.push({ absolute: absoluteOf(target), before: document.getText(), after: edited(document, edits) });
  }
  return succeeded(texts);
}

function edited(document: vscode.TextDocument, edits: readonly vscode.TextEdit[]): string {
  let text = document.getText();
  // From the end, so that earlier offsets stay valid; of two edits at one offset the first stays first.
  const ordered = edits
    .map((edit, order) => ({ edit, order, start: document.offsetAt(edit.range.start) }))
    .sort((a, b) => b.start - a.start || b.order - a.order);
  const ending = document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n';
  for (const { edit, start } of ordered) {
    const inserted = edit.newText.replace(/\r\n|\r|\n/g, ending);
    text = text.slice(0, start) + inserted + text.slice(document.offsetAt(edit.range.end));
  }
  return text;
}
