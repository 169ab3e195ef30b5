// Appends a carrier together with what the delivery point compared: later instructions, later tools, the configuration.
import { type EventDraft } from '../../protocol/event.ts';
import { type RequestConfig } from '../ports/producers.ts';
import { configUsed } from '../prompt/prompting.ts';
import { type TurnDeps } from './turnDeps.ts';

type Carrier = Extract<EventDraft, { type: 'chat_request' | 'tool_call_response' }>;

/**
 * The configuration is known to the model once a carrier has announced it, whether or not a request follows. Both are
 * appended in one step, so that nothing is announced twice or lost.
 */
export function appendCarrier({ log, prompt }: Pick<TurnDeps, 'log' | 'prompt'>, carrier: Carrier): Promise<void> {
  const compared = prompt?.take();
  if (compared === undefined) return log.append(carrier).then(() => undefined);
  const { config, additions } = compared;
  const { instructions, found = [] } = additions;
  const merged = [...(carrier.found ?? []), ...found];
  const draft: EventDraft = {
    ...carrier,
    ...(instructions && { instructions }),
    ...(merged.length > 0 && { found: merged }),
  };
  const used = isKnown(log.state.sampled.used, config) ? [] : [{ draft: configUsed(config) }];
  return log.appendTogether([...used, { draft }]).onDisk;
}

function isKnown(known: Partial<RequestConfig>, config: RequestConfig): boolean {
  const { model, mode, tools, servers, instructions, skills, folders, date } = known;
  if (!model || !mode || !tools || !servers || !instructions || !skills || !folders || !date) return false;
  const { parent } = known;
  const before = { model, mode, tools, servers, instructions, skills, folders, date, ...(parent && { parent }) };
  return JSON.stringify(configUsed(before)) === JSON.stringify(configUsed(config));
}
