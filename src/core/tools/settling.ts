// Appends the language servers' reports to the result of an edit, if they come soon.
import { type Effect } from '../../protocol/tool.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type ToolOutcome } from '../ports/ports.ts';
import { type ReportedProblems } from '../ports/problems.ts';

interface SettlingDeps {
  readonly log: Pick<ConversationLog, 'id'>;
  readonly problems?: ReportedProblems | undefined;
}

/** Only edits wait: problems caused by commands are reported as notifications. */
export async function withProblems(
  { problems, log }: SettlingDeps,
  effect: Effect,
  signal: AbortSignal,
  run: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const watch = effect === 'edit' ? problems?.beginEdit(log.id) : undefined;
  try {
    const outcome = await run();
    const changed = (outcome.changes ?? []).map(({ file }) => file);
    const report = changed.length === 0 ? undefined : await watch?.settle(changed, signal);
    return report === undefined ? outcome : { ...outcome, content: `${outcome.content}\n\n${report}` };
  } finally {
    watch?.dispose();
  }
}
