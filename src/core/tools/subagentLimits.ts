// Selects the tools, the model and the settings of a conversation's turns: those of the window, those that the user chose
// for it, or those that a subagent was given.
import { missingModel, settingsWith } from '../conversation/choices.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type Model, type Ports } from '../ports/ports.ts';
import { LimitedTools, type OfferedTools } from './offeredTools.ts';

interface LimitDeps {
  readonly ports: Pick<Ports, 'settings' | 'limits' | 'model' | 'models'>;
  readonly registry: OfferedTools;
}

/** A subagent has only tools that its parent also has, and the approval settings of the window. */
export function ofConversation(
  { ports, registry }: LimitDeps,
  { state }: Pick<ConversationLog, 'state'>,
): { readonly registry: OfferedTools; model(): Model; settings(): Settings } {
  const { subagent } = state.summary;
  const mayStartAgents = mayStart(subagent?.depth ?? 0, ports);
  const { tools, model } = subagent ?? {};
  const isAgent = subagent !== undefined;
  return {
    registry: mayStartAgents && !isAgent ? registry : new LimitedTools(registry, { tools, mayStartAgents, isAgent }),
    model: () => {
      const chosen = state.choice.current.model;
      if (chosen !== undefined) return modelOf(ports, chosen) ?? missingModel(chosen);
      // A model that a subagent was given and that is no longer configured is replaced by the window's model.
      return (model === undefined ? undefined : modelOf(ports, model)) ?? ports.model();
    },
    settings: () => settingsWith(ports.settings(), state.choice.current, ports.limits?.()),
  };
}

function modelOf({ models, model }: LimitDeps['ports'], reference: string): Model | undefined {
  return models.get(reference) ?? (model().id === reference ? model() : undefined);
}

/** `depth`: the nesting level of the conversation; 0 if the user began it. */
export function mayStart(depth: number, { settings }: Pick<Ports, 'settings'>): boolean {
  return depth < settings()['agents.depth'];
}
