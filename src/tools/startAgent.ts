// The tool start_agent: starts a subagent, which runs as a handle of the conversation.
import * as z from 'zod';
import { type Tool, type ToolContext, type ToolOutcome } from '../core/ports/ports.ts';
import { type SubagentStarter } from '../core/ports/processes.ts';
import { describeHandleState } from '../core/tools/handleTexts.ts';
import { answer, cancelled, defineTool, refuse } from './defineTool.ts';

const MOST_TASK = 100_000;

export function createStartAgentTool(agents: SubagentStarter): Tool {
  return defineTool({
    name: 'start_agent',
    description:
      'Starts a subagent: an agent that works in the same workspace while you go on. It knows nothing of this conversation: put everything it needs into task. It has your tools, and the user approves its calls as yours. It is a handle: you are notified with its last answer when it ends, await waits for it, handle abort stops it. At most 4 run at once. What it changes in files is reported to you as changes by others. Do short work yourself.',
    effect: 'read',
    traits: {
      guide:
        'Start subagents for searches and parts that can be done apart, with all that they must know; check what they report.',
      startsAgents: true,
      startsHandle: ({ name }) => (typeof name === 'string' ? name : undefined),
    },
    emits: ['stopped', 'failed', 'lost', 'running'],
    arguments: {
      task: z.string().min(1).max(MOST_TASK).describe('What it is to do, with all it must know, and what to answer'),
      name: z
        .string()
        .max(40)
        .optional()
        .describe('Name of the handle; also its name for send_message if that is free. Default: made of the task'),
      tools: z
        .array(z.string().max(200))
        .max(200)
        .optional()
        .describe('The only tools it gets, besides those for messages and notifications; default: yours'),
      model: z.string().max(200).optional().describe('One of the configured models; default: yours'),
    },
    whyNot: ({ name }, { handles }) => (name === undefined ? undefined : handles.whyNot(name)),
    run: (args, context) => start(agents, args, context),
  });
}

interface Arguments {
  readonly task: string;
  readonly name?: string | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly model?: string | undefined;
}

async function start(
  agents: SubagentStarter,
  { task, name: wanted, tools, model }: Arguments,
  { conversation: parent, call, handles, signal }: ToolContext,
): Promise<ToolOutcome> {
  const problem = wanted === undefined ? undefined : handles.whyNot(wanted);
  if (problem !== undefined) return refuse(problem);
  const reserved = handles.reserveName(task, wanted);
  const { name } = reserved;
  try {
    const prepared = await agents.prepare({ parent, task, name, tools, model });
    if (!prepared.ok) return refuse(prepared.failure);
    if (signal.aborted) {
      prepared.value.dispose();
      return cancelled();
    }
    // The handle is on disk before the subagent does anything, so that it can be found after a crash.
    const handle = await handles.adopt(call, prepared.value.process, name).catch((error: unknown) => {
      prepared.value.dispose();
      throw error;
    });
    await prepared.value.begin();
    if (handle.hasEnded) {
      return {
        ...refuse('not_started', `The subagent “${name}” ${describeHandleState(handle)}.`),
        handles: [handle.shown(name)],
      };
    }
    const content = `The subagent “${name}” has begun. You are notified with its last answer when it ends; await waits for it.`;
    return { ...answer(content), handles: [handle.shown(name)] };
  } finally {
    reserved.dispose();
  }
}
