// The services of a window without other windows, commands, hooks, MCP servers or files of the user, for tests that
// compose core without a disk.
import { failed } from '../../../src/base/errors.ts';
import { type Clock } from '../../../src/base/clock.ts';
import { type Logger } from '../../../src/core/ports/ports.ts';
import { type Lock } from '../../../src/core/ports/storage.ts';
import { Handles } from '../../../src/core/tools/handles.ts';
import { type Services } from '../../../src/core/tools/services.ts';
import { processObserver } from '../../../src/node/processActivity.ts';
import { atTestEnd } from '../endings.ts';
import { createMemoryPermissions } from '../tools/memoryPermissions.ts';

type Bare =
  | ('lock' | 'toolsReady' | 'processes' | 'permissions' | 'userFiles' | 'moreInstructions')
  | ('hooks' | 'shell' | 'surroundings' | 'models' | 'handles' | 'wakes' | 'subagents');

const never = () => ({ dispose: () => undefined });

/** This window is the only one. */
export const freeLock: Lock = {
  acquire: async () => ({
    handedOver: false,
    onDidRequest: never,
    onDidLose: never,
    release: async () => undefined,
  }),
  owner: async () => undefined,
  request: () => new Promise(() => undefined),
};

export function bareServices({
  clock,
  logger,
}: {
  readonly clock: Clock;
  readonly logger: Logger;
}): Pick<Services, Bare> {
  const handles = new Handles({
    supervision: {
      start: async () => failed('not_started', 'No command can be run here.'),
      reattach: async () => undefined,
      runs: async () => [],
      hasUnfinished: async () => false,
      remove: async () => undefined,
    },
    clock,
    logger,
  });
  atTestEnd(async () => handles.dispose());
  return {
    lock: freeLock,
    toolsReady: async () => undefined,
    processes: processObserver,
    permissions: createMemoryPermissions(),
    userFiles: {
      read: async () => undefined,
      list: async () => [],
      readInside: async () => failed('not_found', 'There are no files of the user.'),
    },
    moreInstructions: () => [],
    hooks: { has: () => false, run: async () => ({ added: [] }) },
    shell: () => '/bin/sh',
    surroundings: async () => ({ system: 'Linux' }),
    models: { names: [], get: () => undefined },
    handles,
    wakes: { join: () => ({ dispose: () => undefined }) },
    subagents: {
      usageFor: () => undefined,
      tokensUnderWay: () => 0,
      begin: never,
      changed: () => undefined,
      liveChanged: () => undefined,
    },
  };
}
