// Describes the git operation between two states of a repository. Commits change no files and are not described. Pure.
import { type GitState } from './gitState.ts';

/** `log` has the new lines of HEAD's log. Undefined if the operation changed no files. */
export function describeGit(before: GitState, after: GitState, log: readonly string[]): string | undefined {
  if (after.underWay !== before.underWay) return describeUnderWay(before, after, log);
  if (after.branch !== before.branch) return `switched from ${describeHead(before)} to ${describeHead(after)}`;
  if (after.stash !== before.stash) return log.some(isReset) ? 'stashed changes away' : 'took stashed changes out';
  if (after.commit === before.commit) return undefined;
  const done = log.map(describeStep).filter((step) => step !== undefined);
  if (log.length > 0 && done.length === 0) return undefined;
  return done.at(-1)?.(after) ?? `moved ${describeHead(after)} to another commit`;
}

function describeUnderWay(before: GitState, after: GitState, log: readonly string[]): string | undefined {
  if (after.underWay !== undefined) return `began a ${after.underWay}, which is not finished`;
  const ended = `ended the ${before.underWay ?? ''}`;
  const aborted = after.commit === before.commit || log.some(isReset);
  return aborted ? `${ended}: it was given up` : ended;
}

const STEPS: readonly (readonly [RegExp, (match: RegExpExecArray) => (after: GitState) => string])[] = [
  [/^pull\b/, () => (after) => `pulled into ${describeHead(after)}`],
  [/^merge ([^:]+)/, (match) => (after) => `merged ${match[1] ?? ''} into ${describeHead(after)}`],
  [/^rebase\b/, () => (after) => `rebased ${describeHead(after)}`],
  [/^reset: moving to (.*)/, (match) => (after) => `reset ${describeHead(after)} to ${match[1] ?? ''}`],
  [/^cherry-pick\b/, () => (after) => `cherry-picked onto ${describeHead(after)}`],
  [/^revert\b/, () => (after) => `reverted a commit on ${describeHead(after)}`],
  [/^am\b/, () => (after) => `applied patches to ${describeHead(after)}`],
  [/^(checkout|clone|initial pull|merge)\b/, () => (after) => `checked out ${describeHead(after)}`],
];

/** Undefined for a commit, which changes no files. */
function describeStep(line: string): ((after: GitState) => string) | undefined {
  if (/^commit\b/.test(line)) return undefined;
  for (const [pattern, describe] of STEPS) {
    const match = pattern.exec(line);
    if (match !== null) return describe(match);
  }
  return (after) => `moved ${describeHead(after)} to another commit`;
}

function isReset(line: string): boolean {
  return line.startsWith('reset:');
}

function describeHead({ branch, commit }: GitState): string {
  return branch ?? `commit ${commit.slice(0, 7)}`;
}
