// Applies the approval policy to a call in a folder with links, secrets and an ignore file.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { judge, type Verdict } from '../../../src/core/consent/approvalPolicy.ts';
import { readHidden } from '../../../src/core/consent/ignoreFile.ts';
import { type ShellSyntax } from '../../../src/core/consent/shell/script.ts';
import { type Tool, type Touched } from '../../../src/core/ports/ports.ts';
import { type InspectedTask } from '../../../src/core/ports/tasks.ts';
import { readSettings, type Settings } from '../../../src/protocol/settings.ts';
import { type Effect } from '../../../src/protocol/tool.ts';
import { createFolderWorkspace } from '../workspace/folderWorkspace.ts';
import { createMemoryPermissions } from './memoryPermissions.ts';

/**
 * Makes a folder for each test of the file, and returns a function that gives the policy's decision on a call in it.
 */
export function useApprovalPolicy() {
  let root: string;
  let folder: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'earshot-policy-'));
    folder = join(root, 'workspace');
    await mkdir(join(folder, '.git'), { recursive: true });
    await mkdir(join(folder, 'src'));
    await writeFile(join(root, 'outside.txt'), '');
    await symlink(root, join(folder, 'up'));
    await symlink(join(folder, '.git'), join(folder, 'notes'));
    await symlink(join(root, 'not-there'), join(folder, 'dangling'));
    await symlink('dangling', join(folder, 'chain'));
    await symlink(join(root, 'nowhere'), join(folder, 'nowhere'));
    await symlink('src/new.ts', join(folder, 'inner'));
    await symlink(root, join(folder, 'src/out'));
    await writeFile(join(folder, '.earshotignore'), 'private/\n*.secret\n!known.secret\n/src/only-here.ts\n');
  });
  afterEach(() => rm(root, { recursive: true }));

  return async (
    effect: Effect,
    touched: Touched | undefined,
    given: {
      mode?: Settings['approvals.mode'];
      commands?: string[];
      rules?: string[];
      plan?: boolean;
      trusted?: boolean;
      shell?: ShellSyntax;
      task?: InspectedTask;
    } = {},
  ): Promise<Verdict> => {
    const workspace = createFolderWorkspace(folder);
    workspace.trusted = given.trusted ?? true;
    const values: Partial<Record<keyof Settings, unknown>> = {
      'approvals.mode': given.mode,
      'approvals.commands': given.commands,
      mode: given.plan === true ? 'plan' : 'agent',
    };
    const { settings } = readSettings((name) => values[name]);
    const permissions = createMemoryPermissions(...(given.rules ?? []));
    const hidden = await readHidden(workspace);
    const shell = given.shell ?? 'bash';
    return judge(
      { conversation: 'c', settings, workspace, hidden, permissions, shell },
      toolOf(effect, touched, given.task),
      {},
    );
  };
}

function toolOf(effect: Effect, touched: Touched | undefined, task: InspectedTask | undefined): Tool {
  return {
    description: { name: `${effect}_tool`, description: '', parameters: {} },
    effect,
    emits: [],
    parse: (value) => ({ ok: true, value }),
    ...(touched !== undefined && { touches: () => touched }),
    inspect: async () => task,
    run: async () => ({ content: '', isError: false }),
  };
}
