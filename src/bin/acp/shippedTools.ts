// The tools that work without an editor.
import { type Tool } from '../../core/ports/ports.ts';
import { type UserFiles } from '../../core/ports/userFiles.ts';
import { askUserTool } from '../../tools/askUser.ts';
import { awaitTool } from '../../tools/commands/await.ts';
import { handleTool } from '../../tools/commands/handle.ts';
import { runCommandTool } from '../../tools/commands/runCommand.ts';
import { createFileTools } from '../../tools/files/fileTools.ts';
import { type ReadPdf } from '../../tools/files/pdfText.ts';
import { createLoadSkillTool } from '../../tools/loadSkill.ts';
import { readNotificationsTool } from '../../tools/readNotifications.ts';
import { todoTool } from '../../tools/todo.ts';
import { watchTool } from '../../tools/watch.ts';

/** `asks`: whether the client can answer questions. */
export function shippedTools(userFiles: UserFiles | undefined, asks = true, readPdf?: ReadPdf): readonly Tool[] {
  return [
    ...createFileTools(readPdf),
    ...[runCommandTool, watchTool, readNotificationsTool, todoTool, handleTool, awaitTool],
    createLoadSkillTool({ userFiles }),
    ...(asks ? [askUserTool] : []),
  ];
}
