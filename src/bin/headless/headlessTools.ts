// The tools that work without an editor.
import { type Tool } from '../../core/ports/ports.ts';
import { type UserFiles } from '../../core/ports/userFiles.ts';
import { askUserTool } from '../../tools/askUser.ts';
import { type AwaitDeps, createAwaitTool } from '../../tools/commands/await.ts';
import { handleTool } from '../../tools/commands/handle.ts';
import { runCommandTool } from '../../tools/commands/runCommand.ts';
import { createFileTools } from '../../tools/files/fileTools.ts';
import { type ReadPdf } from '../../tools/files/pdfText.ts';
import { createLoadSkillTool } from '../../tools/loadSkill.ts';
import { readNotificationsTool } from '../../tools/readNotifications.ts';
import { todoTool } from '../../tools/todo.ts';
import { createWakeWhenTool, type WakeWhenDeps } from '../../tools/wakeWhen.ts';
import { watchTool } from '../../tools/watch.ts';

export interface HeadlessToolsDeps {
  readonly userFiles?: UserFiles;
  /** Whether the client can answer questions. Default: true. */
  readonly asks?: boolean;
  readonly readPdf?: ReadPdf;
  /** Absent: there are no timers and conditions. */
  readonly wakes?: WakeWhenDeps & AwaitDeps;
}

export function headlessTools({ userFiles, asks = true, readPdf, wakes }: HeadlessToolsDeps): readonly Tool[] {
  return [
    ...createFileTools(readPdf),
    ...[runCommandTool, watchTool, readNotificationsTool, todoTool, handleTool, createAwaitTool(wakes)],
    ...(wakes === undefined ? [] : [createWakeWhenTool(wakes)]),
    createLoadSkillTool({ userFiles }),
    ...(asks ? [askUserTool] : []),
  ];
}
