// How the Guide fixes problems: finds them and applies the editor's quick fixes one at a time.
import { type Decision, type Goal, type Step, type Taken, textOf } from './guidePlan.ts';
import { countProblems, filesIn, filesWithProblems, fixesIn, type ListedFix } from './guideReading.ts';
import { fence } from './guideSpeech.ts';

const MOST_FIXES = 25;
const MOST_TRIES = 2;
const MOST_FILES_CHECKED = 30;
const CODE = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|cs|cpp|cc|c|h|rb|php|swift|vue|svelte)$/i;

/** `path`: only this file; undefined: all files with reported problems or, if there are none, all code files. */
export function fixProblems(path: string | undefined): Goal {
  return (taken) => decide(path, taken);
}

interface State {
  /** Files to check, in order; undefined until they are known. */
  files: string[] | undefined;
  readonly applied: { readonly file: string; readonly fix: ListedFix }[];
  /** How often each fix was tried; an applied fix counts as tried often enough. */
  readonly tried: Map<string, number>;
  /** Finished files, each with its last list of problems: no fix is left to try. */
  readonly left: Map<string, string>;
}

function decide(path: string | undefined, taken: readonly Taken[]): Decision {
  const state: State = {
    files: path === undefined ? undefined : [path],
    applied: [],
    tried: new Map(),
    left: new Map(),
  };
  for (const one of taken) take(state, one);
  const last = taken.at(-1);
  const report = last === undefined ? '' : reportOf(last);
  if (state.files === undefined) return find(taken, report);
  const file = state.files.find((one) => !state.left.has(one));
  if (file !== undefined && state.applied.length < MOST_FIXES) return nextIn(state, file, last, report);
  return conclude(state, last, report);
}

/** Asks for reported problems first, then lists the files: the editor checks a file when its fixes are requested. */
function find(taken: readonly Taken[], report: string): Decision {
  if (taken.length === 0)
    return call({ tool: 'diagnostics', arguments: { severity: 'error' } }, 'I look for problems.', '');
  return call(
    { tool: 'list_files', arguments: {} },
    'No problem is reported yet, so I check the code files one by one.',
    report,
  );
}

function take(state: State, { step, result }: Taken): void {
  const file = textOf(step.arguments['path']);
  if (step.tool === 'diagnostics') {
    const found = filesWithProblems(result);
    if (state.files === undefined && found.length > 0) state.files = found;
    return;
  }
  if (step.tool === 'list_files') {
    const code = filesIn(result).filter((name) => CODE.test(name));
    state.files = code.slice(0, MOST_FILES_CHECKED);
    return;
  }
  const title = step.arguments['title'];
  if (typeof title === 'string') {
    const applied = result.startsWith('Applied');
    const key = fixKey(file, title, step.arguments['line']);
    state.tried.set(key, (state.tried.get(key) ?? 0) + (applied ? MOST_TRIES : 1));
    if (applied) state.applied.push({ file, fix: asFix(step) });
    return;
  }
  if (nextFix(state, file, result) === undefined) state.left.set(file, result);
}

/** The first offered fix that may be tried again: applying one can fail once for a temporary reason. */
function nextFix(state: State, file: string, listed: string): ListedFix | undefined {
  return fixesIn(listed).find(({ title, line }) => (state.tried.get(fixKey(file, title, line)) ?? 0) < MOST_TRIES);
}

function fixKey(file: string, title: string, line: unknown): string {
  return JSON.stringify([file, title, line]);
}

function asFix({ arguments: { line, title } }: Step): ListedFix {
  return { line: Number(line ?? 0), title: textOf(title), problem: '', preferred: false };
}

/** Lists the fixes of a file, or applies the best one if they have just been listed. */
function nextIn(state: State, file: string, last: Taken | undefined, report: string): Decision {
  const listed =
    last?.step.tool === 'quick_fix' &&
    last.step.arguments['title'] === undefined &&
    last.step.arguments['path'] === file;
  const fix = listed ? nextFix(state, file, last.result) : undefined;
  if (fix === undefined) {
    const again =
      last?.step.arguments['path'] === file ? 'I look again.' : `I ask the editor what it offers for \`${file}\`.`;
    return call({ tool: 'quick_fix', arguments: { path: file } }, again, report);
  }
  const why = fix.preferred ? 'The editor prefers' : 'The editor offers';
  const say = `Line ${fix.line}: ${fix.problem}\n\n${why} “${fix.title}”. I apply it.`;
  return call({ tool: 'quick_fix', arguments: { path: file, line: fix.line, title: fix.title } }, say, report);
}

function conclude(state: State, last: Taken | undefined, report: string): Decision {
  const checked =
    last?.step.tool === 'diagnostics' && last.step.arguments['path'] === undefined && state.applied.length > 0;
  if (state.applied.length > 0 && !checked) {
    return call({ tool: 'diagnostics', arguments: { severity: 'error' } }, 'I look whether anything is left.', report);
  }
  const applied = state.applied.map(({ file, fix }) => `- \`${file}\`, line ${fix.line}: ${fix.title}`);
  const left = checked
    ? countProblems(last.result)
    : [...state.left.values()].filter((text) => /^line \d+:/m.test(text)).length;
  const parts = [
    applied.length === 0
      ? 'I applied no fix.'
      : `I applied ${applied.length} ${applied.length === 1 ? 'fix' : 'fixes'} of the editor:\n\n${applied.join('\n')}`,
    left === 0 ? 'No error is reported now.' : leftover(state, checked ? last.result : undefined),
  ];
  return { type: 'done', report: parts.join('\n\n') };
}

function leftover(state: State, result: string | undefined): string {
  const text = result ?? [...state.left.values()].filter((one) => /^line \d+:/m.test(one)).join('\n');
  return `What is left needs you, or a model: the editor offers no fix that helps.\n\n${fence(text)}`;
}

function reportOf({ step, result }: Taken): string {
  if (step.tool === 'diagnostics') return countProblems(result) === 0 ? '' : fence(result);
  if (step.tool === 'list_files' || step.arguments['title'] === undefined) return '';
  return result.startsWith('Applied') ? fence(result, 'diff') : `That did not work:\n\n${fence(result)}`;
}

function call(step: Step, say: string, report: string): Decision {
  return { type: 'call', step, say, ...(report !== '' && { report }) };
}
