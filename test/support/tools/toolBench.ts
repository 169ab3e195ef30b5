// Calls tools as a conversation does, one at a time or concurrently, with a real log and without a model.
import { type Event } from '../../../src/base/emitter.ts';
import { Slots } from '../../../src/base/slots.ts';
import { Captures } from '../../../src/core/checkpoints/captures.ts';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { type Tool } from '../../../src/core/ports/ports.ts';
import { OutsideTree } from '../../../src/core/conversation/outside/outsideTree.ts';
import { type Checkpoints, type Snapshots, type Store } from '../../../src/core/ports/storage.ts';
import { type Workspace } from '../../../src/core/ports/workspace.ts';
import { OwnEdits } from '../../../src/core/tools/ownEdits.ts';
import { ToolRegistry } from '../../../src/core/tools/registry.ts';
import { runTool, type ToolResponse, type ToolRunDeps } from '../../../src/core/tools/run.ts';
import { createGuideModel } from '../../../src/models/guide/guide.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { readSettings } from '../../../src/protocol/settings.ts';
import { createFileTools } from '../../../src/tools/files/fileTools.ts';
import { createMemoryLog } from '../log/memoryLog.ts';
import { recordingLogger } from '../recordingLogger.ts';
import { bareServices } from '../walk/bareServices.ts';
import { TestFrontend } from '../walk/testFrontend.ts';

export interface ToolBench {
  readonly log: ConversationLog;
  readonly edits: OwnEdits;
  readonly frontend: TestFrontend;
  /** Logged errors. Any of them is a bug. */
  readonly errors: readonly string[];
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolResponse>;
  /** The last read version of the file, as text. */
  seen(path: string): Promise<string | undefined>;
}

export async function createToolBench(
  workspace: Workspace,
  snapshots: Snapshots,
  options: {
    readonly tools?: readonly Tool[];
    readonly checkpoints?: Checkpoints;
    readonly onDidChangeFiles?: Event<void>;
  } = {},
): Promise<ToolBench> {
  const { log, clock } = await createMemoryLog();
  await log.append({ type: 'turn_started', source: 'user' });
  const edits = new OwnEdits();
  const frontend = new TestFrontend();
  const errors: string[] = [];
  const { settings } = readSettings(() => undefined);
  const unused = new Proxy({} as Store, {
    get: () => () => {
      throw new Error('these tools do not use the store');
    },
  });
  const { checkpoints } = options;
  const logger = recordingLogger(errors);
  const captures = checkpoints && new Captures({ log, checkpoints, snapshots, workspace, clock, logger });
  const deps: ToolRunDeps = {
    ...bareServices({ clock, logger }),
    log,
    registry: new ToolRegistry([...createFileTools(), ...(options.tools ?? [])], (error) => errors.push(String(error))),
    outside: new OutsideTree(unused),
    edits,
    workspace,
    frontend,
    snapshots,
    logger,
    captures,
    clock,
    ids: realIds,
    store: unused,
    slots: new Slots(8),
    ...(options.onDidChangeFiles && { onDidChangeFiles: options.onDidChangeFiles }),
    tools: [],
    producers: [],
    model: () => createGuideModel(),
    settings: () => settings,
  };
  return {
    log,
    edits,
    frontend,
    errors,
    call: async (name, args) => {
      const id = realIds.ulid();
      const request = await log.append({ type: 'tool_call_request', id, name, arguments: { ...args } });
      if (request.type !== 'tool_call_request') throw new Error('another event was written');
      const response = await runTool(deps, request, new AbortController().signal);
      const seen = edits.settle(response.seen ?? []);
      await log.append({ ...response, ...(seen.length > 0 && { seen }) });
      edits.release(id);
      return response;
    },
    seen: async (path) => {
      const state = log.state.seen.get(path);
      const bytes = state && (await snapshots.get(state.hash));
      return bytes && new TextDecoder().decode(bytes);
    },
  };
}
