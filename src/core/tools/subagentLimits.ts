// Selects the tools and the model of a conversation's turns: those of the window, or those that a subagent was given.
import { type ConversationLog } from '../conversation/log.ts';
import { type Model, type Ports } from '../ports/ports.ts';
import { LimitedTools, type OfferedTools } from './offeredTools.ts';

interface Given {
  readonly ports: Pick<Ports, 'settings' | 'model' | 'models'>;
  readonly registry: OfferedTools;
}

/** A subagent has only tools that its parent also has, and the approval settings of the window. */
export function ofConversation(
  { ports, registry }: Given,
  { state }: Pick<ConversationLog, 'state'>,
): { readonly registry: OfferedTools; model(): Model } {
  const { subagent } = state.summary;
  const mayStartAgents = mayStart(subagent?.depth ?? 0, ports);
  const { tools, model } = subagent ?? {};
  return {
    registry: mayStartAgents && tools === undefined ? registry : new LimitedTools(registry, { tools, mayStartAgents }),
    // A model that is no longer configured is replaced by the window's model.
    model: () => (model === undefined ? undefined : ports.models?.get(model)) ?? ports.model(),
  };
}

/** `depth`: the nesting level of the conversation; 0 if the user began it. */
export function mayStart(depth: number, { settings }: Pick<Ports, 'settings'>): boolean {
  return depth < settings()['agents.depth'];
}
