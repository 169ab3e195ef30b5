// Composes the tools that ship.
import { type Tool } from '../../core/ports/ports.ts';
import { realClock } from '../../node/realClock.ts';
import { askUserTool } from '../../tools/askUser.ts';
import { awaitTool } from '../../tools/commands/await.ts';
import { handleTool } from '../../tools/commands/handle.ts';
import { runCommandTool } from '../../tools/commands/runCommand.ts';
import { createRunTaskTool } from '../../tools/commands/runTask.ts';
import { fileTools } from '../../tools/files/fileTools.ts';
import { readNotificationsTool } from '../../tools/readNotifications.ts';
import { watchTool } from '../../tools/watch.ts';
import { type EditorTasks } from '../tasks/editorTasks.ts';

export function composeTools({
  tasks,
  ofLanguages,
}: {
  readonly tasks: EditorTasks;
  readonly ofLanguages: readonly Tool[];
}): readonly Tool[] {
  return [
    ...fileTools,
    ...[runCommandTool, watchTool, readNotificationsTool, askUserTool],
    ...ofLanguages,
    ...[handleTool, awaitTool],
    createRunTaskTool({ tasks, clock: realClock }),
  ];
}
