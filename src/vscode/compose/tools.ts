// Composes the built-in tools.
import { type Tool } from '../../core/ports/ports.ts';
import { type SubagentStarter } from '../../core/ports/processes.ts';
import { type UserFiles } from '../../core/ports/userFiles.ts';
import { type Wakes } from '../../core/wakes/wakes.ts';
import { realClock } from '../../node/realClock.ts';
import { askUserTool } from '../../tools/askUser.ts';
import { createAwaitTool } from '../../tools/commands/await.ts';
import { handleTool } from '../../tools/commands/handle.ts';
import { runCommandTool } from '../../tools/commands/runCommand.ts';
import { createRunTaskTool } from '../../tools/commands/runTask.ts';
import { createFileTools } from '../../tools/files/fileTools.ts';
import { type ReadPdf } from '../../tools/files/pdfText.ts';
import { createLoadSkillTool } from '../../tools/loadSkill.ts';
import { readNotificationsTool } from '../../tools/readNotifications.ts';
import { createStartAgentTool } from '../../tools/startAgent.ts';
import { createWakeWhenTool } from '../../tools/wakeWhen.ts';
import { watchTool } from '../../tools/watch.ts';
import { type EditorTasks } from '../tasks/editorTasks.ts';

export function composeTools({
  tasks,
  ofLanguages,
  userFiles,
  agents,
  readPdf,
  wakes,
}: {
  readonly tasks: EditorTasks;
  readonly ofLanguages: readonly Tool[];
  readonly userFiles: UserFiles;
  readonly agents: SubagentStarter;
  readonly readPdf: ReadPdf;
  readonly wakes: Wakes;
}): readonly Tool[] {
  return [
    ...createFileTools(readPdf),
    ...[runCommandTool, watchTool, readNotificationsTool, askUserTool, createLoadSkillTool({ userFiles })],
    ...ofLanguages,
    ...[handleTool, createAwaitTool({ wakes, clock: realClock }), createStartAgentTool(agents)],
    createWakeWhenTool({ wakes, clock: realClock }),
    createRunTaskTool({ tasks, clock: realClock }),
  ];
}
