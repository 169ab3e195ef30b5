// Shows what a task would run: its command, what else decides it, and the tasks that it depends on.
import type { TaskView } from '../../protocol/page/taskView.ts';
import { approvalStrings as strings } from '../strings/approvalStrings.ts';
import { strings as general } from '../strings/strings.ts';
import { visibleText } from '../render/visibleText.ts';

export function TaskCommand({ task }: { readonly task: TaskView }) {
  const { command, unknown, folder, facts, before } = task;
  return (
    <div class="arguments">
      {before.map((one, index) => (
        <div class="task-before" key={index}>
          <p>{strings.taskBefore(visibleText(one.name))}</p>
          <TaskCommand task={one} />
        </div>
      ))}
      {command !== undefined && (
        <pre class="command" tabIndex={0} role="group" aria-label={general.command}>
          {visibleText(command)}
        </pre>
      )}
      {unknown === true && <p class="approval-reason">{strings.taskUnknown}</p>}
      {command === undefined && unknown !== true && <p class="quiet">{strings.taskOnlyOthers}</p>}
      <dl>
        {folder !== undefined && <Fact label={strings.taskFolder} text={folder} />}
        {facts.map(({ fact, text }, index) => (
          <Fact key={index} label={strings.taskFacts[fact]} text={text} />
        ))}
      </dl>
    </div>
  );
}

function Fact({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <div class="argument">
      <dt>{label}</dt>
      <dd>{visibleText(text)}</dd>
    </div>
  );
}
