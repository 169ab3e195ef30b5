// All tools that ship, for folding logs without Earshot and for tests about every tool. Those that need the editor
// cannot run.
import { ToolRegistry } from '../../src/core/tools/registry.ts';
import { askUserTool } from '../../src/tools/askUser.ts';
import { createAwaitTool } from '../../src/tools/commands/await.ts';
import { handleTool } from '../../src/tools/commands/handle.ts';
import { runCommandTool } from '../../src/tools/commands/runCommand.ts';
import { createRunTaskTool } from '../../src/tools/commands/runTask.ts';
import { createRunTestsTool } from '../../src/tools/commands/runTests.ts';
import { createFetchUrlTool } from '../../src/tools/fetchUrl.ts';
import { createFileTools } from '../../src/tools/files/fileTools.ts';
import { createDiagnosticsTool } from '../../src/tools/language/diagnostics.ts';
import { createQuickFixTool } from '../../src/tools/language/quickFix.ts';
import { createSymbolsTool } from '../../src/tools/language/symbols.ts';
import { createLoadSkillTool } from '../../src/tools/loadSkill.ts';
import { createMessageTools } from '../../src/tools/messageTools.ts';
import { readNotificationsTool } from '../../src/tools/readNotifications.ts';
import { createSearchTool } from '../../src/tools/searching/search.ts';
import { createStartAgentTool } from '../../src/tools/startAgent.ts';
import { todoTool } from '../../src/tools/todo.ts';
import { createWakeWhenTool } from '../../src/tools/wakeWhen.ts';
import { watchTool } from '../../src/tools/watch.ts';

/** Placeholder for the parts of the editor that a tool needs only when it runs. */
const absent: never = new Proxy(() => absent, { get: () => absent, apply: () => absent }) as never;

export const shippedTools = new ToolRegistry(
  [
    ...createFileTools(),
    ...[runCommandTool, watchTool, readNotificationsTool, askUserTool, todoTool, handleTool],
    ...[createAwaitTool, createWakeWhenTool].map((create) => create(absent)),
    ...[createRunTaskTool, createRunTestsTool, createDiagnosticsTool, createSymbolsTool, createQuickFixTool].map(
      (create) => create(absent),
    ),
    ...[createSearchTool, createFetchUrlTool, createLoadSkillTool, createStartAgentTool].map((create) =>
      create(absent),
    ),
    ...createMessageTools(absent),
  ],
  (error) => {
    throw error;
  },
);
